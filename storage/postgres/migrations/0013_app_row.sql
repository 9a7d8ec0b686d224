-- The latest version of an app stays in the row of the app up to the size of a page. The server then reads and writes one row
-- for it. Otherwise it cuts all above 2 KB into pieces of 2 KB and keeps these in another table, with an index of its own.
ALTER TABLE app SET (toast_tuple_target = 8160);
