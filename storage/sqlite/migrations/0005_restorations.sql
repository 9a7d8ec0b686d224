-- Each version that was restored, with the older version whose content it has.
CREATE TABLE app_restoration (
    key    INTEGER PRIMARY KEY, -- the key of the app in the upper half, the version in the lower, as in app_history
    source INTEGER NOT NULL     -- the older version
) STRICT;
