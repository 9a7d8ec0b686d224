-- Values of package webhook: the positions of endpoints, and the lease of the process that delivers.
CREATE TABLE webhook (
    name  BLOB PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
