-- The feeds of changes. The key and the identity are random; a backup has another identity.
CREATE TABLE feed (
    key      BLOB NOT NULL,
    identity BLOB NOT NULL,
    removed  INTEGER NOT NULL -- the position of the last entry of app_change that was removed
) STRICT;
INSERT INTO feed VALUES (randomblob(32), randomblob(16), 0);

-- The changes of apps, tags and components.
CREATE TABLE app_change (
    position INTEGER PRIMARY KEY, -- rises by one
    at       INTEGER NOT NULL,
    data     BLOB NOT NULL -- the number of names, their keys, and what the domain keeps
) STRICT;

-- Strings that many entries have alike.
CREATE TABLE change_name (
    key  INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
