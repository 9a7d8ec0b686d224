-- The moves of a tag, kept for good, also when the tag is deleted. Tags of the first release have none until they
-- move again.
CREATE TABLE tag_move (
    app    bytea NOT NULL,
    name   bytea NOT NULL,
    number int8 NOT NULL, -- 1 for the first move of the tag
    at     int8 NOT NULL,
    caller bytea NOT NULL,
    source int8 NOT NULL, -- the version before; -1 = there was no tag
    target int8 NOT NULL, -- the version after; -1 = the tag was deleted
    PRIMARY KEY (app, name, number)
);
CREATE INDEX tag_name ON tag_move (app, name) WHERE number = 1; -- each name once
