-- An app, with its latest version in full. What is long stands last, so that reading the rest does
-- not pass over it. Lists of strings are stored with a NUL behind each, and empty blobs as NULL.
CREATE TABLE app (
    key        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    created    INTEGER NOT NULL,
    updated    INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    owner      TEXT NOT NULL,
    editor     TEXT NOT NULL,
    groups     BLOB,
    components BLOB,
    tail       BLOB, -- the newest part of the history, still growing
    body       BLOB
) STRICT;
CREATE INDEX app_by_created ON app (created DESC, id);
CREATE INDEX app_by_updated ON app (updated DESC, id);
CREATE INDEX app_by_owner ON app (owner);

-- Each URN that contains a group of an app.
CREATE TABLE app_scope (
    scope TEXT NOT NULL,
    app   INTEGER NOT NULL REFERENCES app,
    PRIMARY KEY (scope, app)
) STRICT, WITHOUT ROWID;

-- Each component that powers an element of the latest version of an app.
CREATE TABLE app_component (
    component TEXT NOT NULL,
    app       INTEGER NOT NULL REFERENCES app,
    PRIMARY KEY (component, app)
) STRICT, WITHOUT ROWID;

-- What package history keeps of the versions before the latest. Rows never change.
CREATE TABLE app_history (
    key  INTEGER PRIMARY KEY, -- the key of the app in the upper half, a version in the lower
    data BLOB NOT NULL
) STRICT;

CREATE TABLE tag (
    app     TEXT NOT NULL, -- the id
    name    TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (app, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE component (
    key      INTEGER PRIMARY KEY, -- rises in the order of adding
    id       TEXT NOT NULL UNIQUE,
    name     TEXT NOT NULL,
    version  TEXT NOT NULL,
    main     TEXT NOT NULL,
    manifest BLOB,
    UNIQUE (name, version)
) STRICT;
CREATE INDEX component_by_name ON component (name);

CREATE TABLE answer (
    key     INTEGER PRIMARY KEY,
    caller  TEXT NOT NULL,
    name    TEXT NOT NULL, -- the caller's key
    request BLOB,
    result  BLOB,
    expires INTEGER NOT NULL,
    UNIQUE (caller, name)
) STRICT;
CREATE INDEX answer_by_expires ON answer (expires);
