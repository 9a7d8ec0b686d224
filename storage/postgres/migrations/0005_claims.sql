-- Claims replace gates; see claim.go. A claim never outlives its transaction, so it need not survive
-- the server either.
DROP TABLE gate;
CREATE UNLOGGED TABLE claim (key bytea PRIMARY KEY);

-- Processes of the first release, which used gates, do not look whether the schema has changed since
-- they started. These columns and this table are named in all of their writes that use no gate, so a
-- process that is still running fails instead of writing.
ALTER TABLE app RENAME COLUMN tail TO recent;
ALTER TABLE library RENAME COLUMN network TO network_name;
ALTER TABLE component RENAME TO components;
