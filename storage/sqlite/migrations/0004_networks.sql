-- Each collection of reviews belongs to a network. Those that are there go into the network default.
CREATE TABLE review_collection_by_network (
    key     INTEGER PRIMARY KEY, -- rises in the order of adding
    network TEXT NOT NULL,
    source  TEXT NOT NULL,
    id      TEXT NOT NULL,
    tally   BLOB,
    fields  BLOB,
    UNIQUE (network, source, id)
) STRICT;
INSERT INTO review_collection_by_network (key, network, source, id, tally, fields)
    SELECT key, 'default', source, id, tally, fields FROM review_collection ORDER BY key;
DROP TABLE review_collection;
ALTER TABLE review_collection_by_network RENAME TO review_collection;
CREATE INDEX review_collection_in_order ON review_collection (network); -- and by key within it
