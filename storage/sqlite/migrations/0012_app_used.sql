-- Each component that powers an element of some version of an app, the latest or an older one. Rows are never removed.
-- The name '' stands for every component: of the apps of the first release only the latest version is known here.
CREATE TABLE app_used (
    component TEXT NOT NULL,
    app       TEXT NOT NULL, -- the id
    PRIMARY KEY (component, app)
) STRICT, WITHOUT ROWID;
INSERT INTO app_used (component, app)
    SELECT component, id FROM app_component JOIN app ON key = app
    UNION SELECT '', id FROM app WHERE version > 0;
