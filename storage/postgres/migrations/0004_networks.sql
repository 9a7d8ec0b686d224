-- Each collection of reviews belongs to a network. Those that are there go into the network default.
CREATE TABLE review_network (
    key    bytea PRIMARY KEY, -- digest of the name
    name   bytea NOT NULL,
    number int8 NOT NULL -- how many collections were added
);
INSERT INTO review_network (key, name, number)
    SELECT substring(sha256(int8send(length('default')) || 'default'::bytea) FOR 16), 'default', number
    FROM review_collections WHERE number > 0;
DROP TABLE review_collections;

ALTER TABLE review_collection DROP CONSTRAINT review_collection_number_key;
ALTER TABLE review_collection ADD COLUMN network bytea; -- key of its review_network
UPDATE review_collection SET network = (SELECT key FROM review_network);
ALTER TABLE review_collection ALTER COLUMN network SET NOT NULL;
CREATE UNIQUE INDEX review_collection_in_order ON review_collection (network, number);
