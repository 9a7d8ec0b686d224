-- The terms of the index, each with its assets: what a search counts within an update.
CREATE VIRTUAL TABLE asset_vocabulary USING fts5vocab (asset_term, instance);
