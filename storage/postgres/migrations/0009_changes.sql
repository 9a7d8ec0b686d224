-- The feeds of changes. The key and the identity are random.
CREATE TABLE feed (
    key            bytea NOT NULL,
    identity       bytea NOT NULL,
    removed_round  int8 NOT NULL, -- the position of the last entry of app_change that was removed
    removed_number int8 NOT NULL
);
INSERT INTO feed VALUES (
    sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), uuid_send(gen_random_uuid()), 0, 0
);

-- The changes of apps, tags and components; see feed.go for the order.
CREATE TABLE app_change (
    round  int8 NOT NULL,
    number int8 NOT NULL,
    at     int8 NOT NULL,
    names  bytea NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (round, number)
);
CREATE SEQUENCE app_change_number OWNED BY app_change.number;
