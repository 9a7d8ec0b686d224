-- Values of package webhook: the positions of endpoints, and the lease of the process that delivers. They change often,
-- so a page keeps room for the rows that replace its own.
CREATE TABLE webhook (
    name  bytea PRIMARY KEY,
    value bytea NOT NULL
) WITH (fillfactor = 50);
