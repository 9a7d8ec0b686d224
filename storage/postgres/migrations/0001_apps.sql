-- Strings are bytea: they may hold any byte, and are ordered by their bytes. Lists of strings are
-- stored with a NUL behind each. The first column of each primary key is what rows are spread by
-- when there are several machines.

-- What an update locks for what is not there; see lock.go.
CREATE TABLE gate (number int8 PRIMARY KEY);
INSERT INTO gate SELECT generate_series(0, 4095);

-- An app, with its latest version in full. Bodies are stored beside the row, and as they are: they
-- are read and replaced as a whole.
CREATE TABLE app (
    id         bytea PRIMARY KEY,
    created    int8 NOT NULL,
    updated    int8 NOT NULL,
    version    int8 NOT NULL,
    owner      bytea NOT NULL,
    editor     bytea NOT NULL,
    groups     bytea NOT NULL,
    components bytea NOT NULL,
    tail       bytea, -- the newest part of the history, still growing
    body       bytea NOT NULL
);
ALTER TABLE app ALTER tail SET STORAGE EXTERNAL, ALTER body SET STORAGE EXTERNAL;
CREATE INDEX app_by_updated ON app (updated);

-- Who may see an app: its owner, behind an o, and, behind a g, each URN that contains one of its
-- groups. With the time of creation, which never changes, so that a new version writes nothing here.
CREATE TABLE app_scope (
    scope   bytea NOT NULL,
    created int8 NOT NULL,
    app     bytea NOT NULL,
    PRIMARY KEY (scope, created, app)
);

-- Each component that powers an element of the latest version of an app.
CREATE TABLE app_component (
    component bytea NOT NULL,
    created   int8 NOT NULL,
    app       bytea NOT NULL,
    PRIMARY KEY (component, created, app)
);

-- What package history keeps of the versions before the latest. Rows never change. They are kept in
-- the page up to its size.
CREATE TABLE app_history (
    app      bytea NOT NULL,
    version  int8 NOT NULL,
    snapshot bool NOT NULL, -- versions from here on can be read without earlier rows
    data     bytea NOT NULL,
    PRIMARY KEY (app, version)
) WITH (toast_tuple_target = 8160);
ALTER TABLE app_history ALTER data SET STORAGE EXTERNAL;
CREATE INDEX app_history_snapshot ON app_history (app, version) WHERE snapshot;

CREATE TABLE tag (
    app     bytea NOT NULL,
    name    bytea NOT NULL,
    version int8 NOT NULL,
    PRIMARY KEY (app, name)
);

-- Components are few and read by everybody: each machine has them all.
CREATE TABLE component (
    name     bytea NOT NULL,
    place    int8 NOT NULL, -- in the order of adding, within the name
    version  bytea NOT NULL,
    id       bytea NOT NULL UNIQUE,
    main     bytea NOT NULL,
    manifest bytea NOT NULL,
    PRIMARY KEY (name, place),
    UNIQUE (name, version)
);

CREATE TABLE answer (
    caller  bytea NOT NULL,
    name    bytea NOT NULL, -- the caller's key
    request bytea NOT NULL,
    result  bytea NOT NULL,
    expires int8 NOT NULL,
    PRIMARY KEY (caller, name)
);
CREATE INDEX answer_by_expires ON answer (expires);
