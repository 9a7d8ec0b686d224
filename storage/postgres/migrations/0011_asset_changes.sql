-- The changes of libraries; see feed.go for the order.
CREATE TABLE asset_change (
    library bytea NOT NULL,
    round   int8 NOT NULL,
    number  int8 NOT NULL,
    at      int8 NOT NULL,
    names   bytea NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (library, round, number)
);
CREATE SEQUENCE asset_change_number OWNED BY asset_change.number;
-- For those who wait for changes of any library.
CREATE INDEX asset_change_in_order ON asset_change (round, number);

-- The position of the last entry of the library in asset_change that was removed.
ALTER TABLE library ADD COLUMN removed_round int8 NOT NULL DEFAULT 0, ADD COLUMN removed_number int8 NOT NULL DEFAULT 0;
