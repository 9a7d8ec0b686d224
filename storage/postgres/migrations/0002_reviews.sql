-- A collection of reviews. Sources and ids may be longer than an index holds, so rows are found, and
-- spread, by a digest.
CREATE TABLE review_collection (
    key    bytea PRIMARY KEY, -- digest of source and id
    number int8 NOT NULL UNIQUE, -- in the order of adding
    places int8 NOT NULL, -- that were given to reviews so far
    source bytea NOT NULL,
    id     bytea NOT NULL,
    tally  bytea NOT NULL,
    fields bytea NOT NULL
);

-- How many collections were added.
CREATE TABLE review_collections (number int8 NOT NULL);
INSERT INTO review_collections VALUES (0);

CREATE TABLE review (
    collection bytea NOT NULL, -- its key
    key        bytea NOT NULL, -- digest of the id
    place      int8 NOT NULL, -- in the order of adding, within the collection
    id         bytea NOT NULL,
    data       bytea NOT NULL,
    PRIMARY KEY (collection, key)
);
CREATE INDEX review_by_place ON review (collection, place);
