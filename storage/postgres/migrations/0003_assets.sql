-- A library of assets. Its key is the first column of all that belongs to it, so that it is in one
-- place, and so are its updates and its searches.
CREATE TABLE library (
    key     bytea PRIMARY KEY, -- digest of network and id
    network bytea NOT NULL,
    id      bytea NOT NULL,
    secret  bytea, -- the Key; NULL as long as the library has no State
    last    int8 NOT NULL,
    at      int8 NOT NULL,
    count   int8 NOT NULL,
    tree    int8 NOT NULL,
    top     int8 NOT NULL -- the highest ordinal that was put
);

CREATE TABLE folder (
    library     bytea NOT NULL,
    id          bytea NOT NULL,
    parent      bytea NOT NULL, -- '' = top level
    label       bytea NOT NULL,
    inherit     bool NOT NULL,
    deleted     bool NOT NULL,
    permissions bytea NOT NULL, -- JSON
    PRIMARY KEY (library, id)
);

CREATE TABLE asset (
    library bytea NOT NULL,
    ordinal int8 NOT NULL,
    origin  bytea NOT NULL,
    created int8 NOT NULL,
    updated int8 NOT NULL,
    folders bytea NOT NULL,
    terms   bytea NOT NULL, -- in whose lists it is
    body    bytea NOT NULL,
    PRIMARY KEY (library, ordinal)
);
-- The library comes second, here and below: a server that has no statistics yet would take an index
-- that begins with it for as good as the primary key.
CREATE INDEX asset_by_origin ON asset (origin, library);

-- The inverted index: of each term the ordinals of the assets that have it, in parts that the next
-- ordinals are added to in their place, as long as there is room on the page.
CREATE TABLE asset_list (
    library  bytea NOT NULL,
    term     bytea NOT NULL,
    low      int8 NOT NULL, -- the part has the ordinals from here on, up to the low of the next part
    count    int8 NOT NULL,
    ordinals bytea NOT NULL,
    PRIMARY KEY (library, term, low)
) WITH (fillfactor = 70);

-- The different attributes there are. What assets have one tells the list of its term. Values may be
-- longer than an index holds.
CREATE TABLE asset_value (
    library bytea NOT NULL,
    term    bytea NOT NULL,
    key     bytea NOT NULL, -- a digest
    head    bytea NOT NULL, -- the first bytes of the value
    value   bytea NOT NULL,
    PRIMARY KEY (library, term)
);
CREATE INDEX asset_value_by_key ON asset_value (key, library, head);
