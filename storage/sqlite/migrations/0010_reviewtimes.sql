-- When a review was written, in microseconds since 1970, for lists of the latest. The text is
-- YYYY-MM-DDThh:mm:ss, a fraction if any, and Z, ±hh:mm or nothing (UTC). What is long stands last.
CREATE TABLE review_with_time (
    key        INTEGER PRIMARY KEY, -- the key of the collection in the upper half, a place in the lower
    collection INTEGER NOT NULL, -- in the key already, here for the index
    time       INTEGER NOT NULL,
    id         TEXT NOT NULL,
    data       BLOB,
    UNIQUE (collection, id)
) STRICT;
INSERT INTO review_with_time (key, collection, time, id, data)
    SELECT key, collection,
        (unixepoch(substr(created, 1, 19))
            - CASE WHEN substr(created, -6, 1) IN ('+', '-') AND length(created) > 24
                THEN (substr(created, -5, 2) * 3600 + substr(created, -2) * 60) * iif(substr(created, -6, 1) = '-', -1, 1)
                ELSE 0 END) * 1000000
            + CASE WHEN substr(created, 20, 1) = '.' THEN CAST(round(CAST(substr(created, 20, 7) AS REAL) * 1000000) AS INTEGER) ELSE 0 END,
        id, data
    FROM (SELECT *, json_extract(CAST(data AS TEXT), '$.created') AS created FROM review) ORDER BY key;
DROP TABLE review;
ALTER TABLE review_with_time RENAME TO review;
CREATE INDEX review_by_time ON review (collection, time DESC, id);
CREATE INDEX review_collection_by_id ON review_collection (network, id);
