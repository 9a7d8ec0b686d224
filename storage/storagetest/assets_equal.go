package storagetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

// AssetsEqual has two stores, empty ones, go through the same random history of so many requests, and
// fails when anybody is answered other bytes by the one than by the other.
func AssetsEqual(t *testing.T, a, b assets.Store, seed uint64, requests int) {
	t.Helper()
	one, two := newHistory(t, a, seed), newHistory(t, b, seed)
	for i := range requests {
		one.act()
		two.act()
		for c, by := range one.callers {
			got, want := two.answers(two.callers[c]), one.answers(by)
			for j := range want {
				if !bytes.Equal(got[j], want[j]) {
					t.Fatalf("seed %d, after %d requests, %s is answered\n%s\nand by the other store\n%s", seed, i+1, by.URN, want[j], got[j])
				}
			}
		}
	}
}

// answers returns what a caller is answered to questions of every kind.
func (h *history) answers(by modelCaller) [][]byte {
	var out [][]byte
	note := func(answer []byte, err error) {
		if err != nil {
			answer = []byte(err.Error())
		}
		out = append(out, answer)
	}
	for _, s := range []assets.Search{{Limit: 3}, {Order: assets.Ascending}, {Query: "red"}, {Query: "漢", Tags: []string{"t"}}, {FolderTree: "Id002"}} {
		page, err := h.svc.Search(ctx, by.Caller, h.lib, s)
		note(page.AppendJSON(nil), err)
	}
	list, err := h.svc.Folders(ctx, by.Caller, h.lib, assets.ListFolders{})
	text, jsonErr := json.Marshal(list)
	note(text, errors.Join(err, jsonErr))
	for i := range 8 {
		f, err := h.svc.Folder(ctx, by.Caller, h.lib, fmt.Sprintf("Id%03d", i))
		note(f.AppendJSON(nil), err)
	}
	values, err := h.svc.Attributes(ctx, by.Caller, h.lib, "k")
	note(fmt.Append(nil, values), err)
	return out
}
