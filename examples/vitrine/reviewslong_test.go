package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A collection of more than 32 MiB is converted, imported, exported and imported again, each in one go: the commands
// name the flag that this needs.
func TestACollectionMayBeLongerThanALine(t *testing.T) {
	dir := t.TempDir()
	table, text := "product_handle,id,rating,author,created_at,body\n", strings.Repeat("It boils and boils. ", 3<<10)
	for n := range 550 {
		table += fmt.Sprintf("kettle,%d,4,Ann,2019-04-03,%s\n", n, text)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reviews := func(status int, says string, args ...string) string {
		t.Helper()
		out := run(t, dir, nil, append([]string{"reviews"}, args...)...)
		if said := out.stderr; out.status != status || !strings.Contains(said, says) &&
			!strings.Contains(out.stdout[:min(len(out.stdout), 1<<10)], says) {
			t.Fatalf("%q: status %d, %q, %.1000q", args, out.status, said, out.stdout)
		}
		return out.stdout
	}
	write("short.csv", table[:2<<20])
	reviews(1, "more than 1048576 bytes: convert and import with a higher -max-line", "convert", "-max-line", "1",
		"short.csv")
	write("shop.csv", table)
	write("shop.ndjson",
		reviews(0, "converted: 550 reviews; 0 rows rejected", "convert", "-max-line", "33", "shop.csv"))
	reviews(1, "allow longer ones (-max-line", "check", "shop.ndjson")
	reviews(0, "550 created", "import", "-db", "a.db", "-max-line", "33", "shop.ndjson")
	exported := reviews(0, "the longest line has 33 MiB: reviews import takes it with -max-line 33", "export", "-db",
		"a.db")
	write("copy.ndjson", exported)
	reviews(0, "550 created", "import", "-db", "b.db", "-max-line", "33", "copy.ndjson")
	if reviews(0, "-max-line", "export", "-db", "b.db") != exported {
		t.Error("the export of the copy is another one")
	}
}
