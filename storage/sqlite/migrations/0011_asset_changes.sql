-- The changes of libraries. The place is the number of the library in the upper bits, and 40 bits for a position, which
-- rises by one.
CREATE TABLE asset_change (
    place INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    data  BLOB NOT NULL -- as in app_change
) STRICT;

-- The position of the last entry of the library in asset_change that was removed.
ALTER TABLE library ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
