-- A library of assets. Its number and an asset's ordinal make the asset's place: the number in the
-- upper bits, 40 bits for the ordinal.
CREATE TABLE library (
    number  INTEGER PRIMARY KEY,
    network TEXT NOT NULL,
    id      TEXT NOT NULL,
    secret  BLOB,             -- the Key; NULL as long as the library has no State
    last    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    tree    INTEGER NOT NULL,
    edits   INTEGER NOT NULL, -- updates that added, changed or removed assets
    UNIQUE (network, id)
) STRICT;

CREATE TABLE folder (
    library     INTEGER NOT NULL REFERENCES library,
    id          TEXT NOT NULL,
    parent      TEXT NOT NULL, -- '' = top level
    label       TEXT NOT NULL,
    inherit     INTEGER NOT NULL,
    deleted     INTEGER NOT NULL,
    permissions TEXT NOT NULL, -- JSON
    PRIMARY KEY (library, id)
) STRICT, WITHOUT ROWID;

-- What is long stands last. The list of folders is stored with a NUL behind each.
CREATE TABLE asset (
    place   INTEGER PRIMARY KEY,
    origin  BLOB NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    folders BLOB,
    body    BLOB NOT NULL
) STRICT;
CREATE INDEX asset_by_origin ON asset (origin);

-- The inverted index: rowid is the place. Terms are encoded so that the tokenizer, which folds case
-- and splits, passes them whole; it keeps which asset has a term, not where or how often, and no text.
CREATE VIRTUAL TABLE asset_term USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
);

-- Attributes, for their values. A search finds them as terms.
CREATE TABLE attribute (
    library INTEGER NOT NULL,
    key     TEXT NOT NULL,
    value   TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    PRIMARY KEY (library, key, value, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX attribute_by_asset ON attribute (library, ordinal);
