-- Each version that was restored, with the older version whose content it has.
CREATE TABLE app_restoration (
    app     bytea NOT NULL,
    version int8 NOT NULL,
    source  int8 NOT NULL, -- the older version
    PRIMARY KEY (app, version)
);
