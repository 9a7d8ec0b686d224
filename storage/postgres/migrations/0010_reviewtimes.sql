-- When a review was written, in microseconds since 1970, for lists of the latest. The text is
-- YYYY-MM-DDThh:mm:ss, a fraction if any, and Z, ±hh:mm or nothing (UTC).
ALTER TABLE review ADD COLUMN time int8;
UPDATE review SET time =
    (extract(epoch FROM substring(t.created FOR 19)::timestamp)::int8
        - CASE WHEN t.created ~ '[+-]\d\d:\d\d$' AND length(t.created) > 24
            THEN (substring(right(t.created, 5) FOR 2)::int8 * 3600 + right(t.created, 2)::int8 * 60)
                * CASE left(right(t.created, 6), 1) WHEN '-' THEN -1 ELSE 1 END
            ELSE 0 END) * 1000000
        + coalesce(rpad(left(substring(t.created FROM '\.(\d+)'), 6), 6, '0')::int8, 0)
    FROM (SELECT collection, key, convert_from(data, 'UTF8')::json ->> 'created' AS created FROM review) t
    WHERE t.collection = review.collection AND t.key = review.key;
ALTER TABLE review ALTER COLUMN time SET NOT NULL;
CREATE INDEX review_by_time ON review (collection, time DESC, substring(id FOR 1000));

-- Sources and ids may be longer than an index holds; see keyOrder in reviews.go.
CREATE INDEX review_collection_by_key ON review_collection
    (network, substring(source FOR 1000), (CASE WHEN length(source) < 1000 THEN substring(id FOR 1000) ELSE '' END));
CREATE INDEX review_collection_by_id ON review_collection (network, substring(id FOR 1000));
