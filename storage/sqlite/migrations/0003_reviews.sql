-- A collection of reviews. What is long stands last, and empty blobs are NULL.
CREATE TABLE review_collection (
    key    INTEGER PRIMARY KEY, -- rises in the order of adding
    source TEXT NOT NULL,
    id     TEXT NOT NULL,
    tally  BLOB,
    fields BLOB,
    UNIQUE (source, id)
) STRICT;

CREATE TABLE review (
    key        INTEGER PRIMARY KEY, -- the key of the collection in the upper half, a place in the lower
    collection INTEGER NOT NULL, -- in the key already, here for the index
    id         TEXT NOT NULL,
    data       BLOB,
    UNIQUE (collection, id)
) STRICT;
