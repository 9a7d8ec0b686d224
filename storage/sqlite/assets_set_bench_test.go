package sqlite

import (
	"os"
	"testing"

	"github.com/vitrine-go/vitrine/internal/peer"
)

// BenchmarkSets compares the sets with RoaringBitmap, in a module of their own.
func BenchmarkSets(b *testing.B) {
	files := map[string][]byte{}
	for name, from := range map[string]string{"set.go": "assets_set.go", "set_test.go": "testdata/roaring_test.go"} {
		text, err := os.ReadFile(from)
		if err != nil {
			b.Fatal(err)
		}
		files[name] = text
	}
	peer.Test(b, peer.Module(b, []string{"github.com/RoaringBitmap/roaring/v2@v2.30.0"}, files))
}
