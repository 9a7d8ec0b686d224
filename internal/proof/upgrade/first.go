package upgrade

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
)

//go:embed testdata/first.db.gz
var sqliteFile []byte

//go:embed testdata/first.sql.gz
var postgresDump []byte

//go:embed testdata/first.archive.gz
var archiveFile []byte

//go:embed testdata/first.json.gz
var goldenFile []byte

// Schema is the number of the schema that the first release's stores have, on SQLite and on
// PostgreSQL.
const Schema = 3

// SQLite returns the content of a SQLite store that the first release made and closed.
func SQLite() []byte { return unpack(sqliteFile) }

// PostgreSQL returns the SQL commands that make a store of the first release in an empty database.
func PostgreSQL() string { return string(unpack(postgresDump)) }

// Archive returns an archive that the first release exported.
func Archive() []byte { return unpack(archiveFile) }

func unpack(compressed []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic(fmt.Sprint("upgrade: testdata is damaged: ", err))
	}
	content, err := io.ReadAll(z)
	if err != nil {
		panic(fmt.Sprint("upgrade: testdata is damaged: ", err))
	}
	return content
}
