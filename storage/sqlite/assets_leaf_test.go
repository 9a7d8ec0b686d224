package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

// pagesOfAnIndex returns the list of segments of a small index, and its pages.
func pagesOfAnIndex(t testing.TB) (segments []byte, pages [][]byte) {
	ctx := context.Background()
	db, err := Open(t.TempDir()+"/x.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Assets().Update(ctx, assets.Library{Network: "n", ID: "n"}, func(w assets.Tx) error {
		for i := int64(1); i <= 40; i++ {
			x := assets.Index{Terms: []string{"all", "allow", fmt.Sprint("n", i%7), fmt.Sprint("z", i)}}
			if err := w.PutAsset(ctx, assets.Record{Ordinal: i * 1000, Body: assets.Body("{}")}, x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.view(ctx, func(c *conn) error {
		rows := c.query("SELECT id, block FROM asset_term_data WHERE id >= $1", structureKey)
		defer rows.close()
		for rows.next() {
			if rows.int(0) == structureKey {
				segments = rows.blob(1)
			} else {
				pages = append(pages, rows.blob(1))
			}
		}
		return rows.err
	})
	if err != nil || len(segments) == 0 || len(pages) == 0 {
		t.Fatalf("%d bytes, %d pages, error %v", len(segments), len(pages), err)
	}
	return segments, pages
}

// A damaged index is read to an error or to nonsense, never to a panic or without an end.
func FuzzSegments(f *testing.F) {
	segments, _ := pagesOfAnIndex(f)
	f.Add(segments)
	f.Add(append(segments[:8:8], bytes.Repeat([]byte{0xff}, 40)...))
	f.Fuzz(func(t *testing.T, block []byte) {
		list, err := segmentsOf(block)
		for _, s := range list {
			if s.id <= 0 || s.first > s.last || err != nil {
				t.Errorf("segment %d of pages %d to %d, error %v", s.id, s.first, s.last, err)
			}
		}
	})
}

func FuzzLeaf(f *testing.F) {
	_, pages := pagesOfAnIndex(f)
	for _, page := range pages {
		for _, key := range []string{"0all", "0allow", "0n3", "0never", "0", "1"} {
			f.Add(page, []byte(key))
		}
	}
	f.Add([]byte{0, 0, 0, 6, 0xff, 0xff, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []byte("0a"))
	f.Fuzz(func(t *testing.T, page, key []byte) {
		l, err := leafOf(page)
		if err != nil {
			return
		}
		list, _, behind, err := l.find(key)
		if behind && list != nil || err != nil && list != nil {
			t.Errorf("a list of %d bytes, behind all: %t, error %v", len(list), behind, err)
		}
		rest, _ := l.rest()
		for _, list := range [][]byte{list, rest} {
			w := walk{segment: &segment{}, first: 1, last: 1 << 62}
			if _, err := w.places(list); err == nil && len(w.out) > len(list) {
				t.Errorf("%d places in %d bytes", len(w.out), len(list))
			}
		}
	})
}

// A number has up to nine bytes, and what is cut off is zero.
func TestVarints(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want int64
		rest int
	}{
		{[]byte{0}, 0, 0}, {[]byte{0x7f, 1}, 127, 1}, {[]byte{0x81, 0}, 128, 0}, {[]byte{0xff, 0x7f}, 1<<14 - 1, 0},
		{[]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 0x02}, 1<<8 + 2, 0},
		{bytes.Repeat([]byte{0xff}, 10), -1, 1}, {[]byte{0xff, 0xff}, 0, 0}, {nil, 0, 0},
	} {
		in := varints{c.b}
		if got := in.next(); got != c.want || len(in.b) != c.rest {
			t.Errorf("%x: %d with %d bytes behind, want %d with %d", c.b, got, len(in.b), c.want, c.rest)
		}
	}
}
