package archive_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/vitrine-go/vitrine/storage/archive"
)

// testdata/README.md says what is in the archive.
func TestAnArchiveOfTheReleaseBeforeIsImported(t *testing.T) {
	zipped, err := os.ReadFile("testdata/a5a6f64.ndjson.gz")
	check(t, err)
	unzipped, err := gzip.NewReader(bytes.NewReader(zipped))
	check(t, err)
	want, err := io.ReadAll(unzipped)
	check(t, err)
	counts := archive.Counts{Components: 6, Apps: 6, Versions: 208, Tags: 7, TagMoves: 312, Answers: 22, Libraries: 3, Folders: 21, Assets: 81, Collections: 12, Reviews: 150}

	s := inMemory()
	if got, err := archive.Import(ctx, s, bytes.NewReader(zipped), nil); err != nil || got != counts {
		t.Errorf("imported %#v, %v, want %#v", got, err, counts)
	}
	if got, _ := export(t, s); !bytes.Equal(got, want) {
		t.Error("the export is another archive")
	}
}
