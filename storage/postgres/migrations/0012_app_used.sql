-- Each component that powers an element of some version of an app, the latest or an older one. Rows are never removed.
-- The empty name stands for every component: of the apps of the first release only the latest version is known here.
CREATE TABLE app_used (
    component bytea NOT NULL,
    app       bytea NOT NULL,
    PRIMARY KEY (component, app)
);
INSERT INTO app_used (component, app)
    SELECT component, app FROM app_component
    UNION SELECT ''::bytea, id FROM app WHERE version > 0;
