-- The moves of a tag, kept for good, also when the tag is deleted. Tags of the first release have none until they
-- move again.
CREATE TABLE tag_move (
    app    TEXT NOT NULL, -- the id
    name   TEXT NOT NULL,
    number INTEGER NOT NULL, -- 1 for the first move of the tag
    at     INTEGER NOT NULL,
    caller TEXT NOT NULL,
    source INTEGER NOT NULL, -- the version before; -1 = there was no tag
    target INTEGER NOT NULL, -- the version after; -1 = the tag was deleted
    PRIMARY KEY (app, name, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_name ON tag_move (app, name) WHERE number = 1; -- each name once
