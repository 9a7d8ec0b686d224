// Package upgrade proves that stores and archives made by earlier releases stay whole.
//
// The directory testdata holds a SQLite file, a dump of a PostgreSQL database and an archive as the
// first release wrote them, with a row of every kind, and what that release answered about them. The
// tests open or import a copy with today's code and compare every answer with that of the release that
// wrote the rows. An object in an answer may have members that the first release did not know; nothing may be
// missing or different.
//
// Other proofs use [SQLite] and [Check] where they need a store with an old schema.
package upgrade
