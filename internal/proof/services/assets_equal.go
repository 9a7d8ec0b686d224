package services

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

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
		want := one.changes("")
		if got := two.changes(want); got != want {
			t.Fatalf("seed %d, after %d requests, the feed of changes is\n%s\nand that of the other store\n%s", seed, i+1, want, got)
		}
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

// changes returns the feed of the library without its cursors. A driver may leave entries out while other transactions
// are open on its server: with a feed to expect, it waits until that is there.
func (h *history) changes(expected string) string {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		page, err := h.svc.Outbox(ctx, h.lib, assets.ChangesRequest{Limit: 500})
		if err != nil {
			return err.Error()
		}
		for i := range page.Changes {
			page.Changes[i].Cursor = ""
		}
		text, err := json.Marshal(page.Changes)
		if told := fmt.Sprintf("%s %v, more %t", text, err, page.More); expected == "" || told == expected || time.Now().After(deadline) {
			return told
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
	for _, s := range []assets.SearchRequest{{Limit: 3}, {Order: assets.Ascending}, {Query: "red"}, {Query: "漢", Tags: []string{"t"}}, {FolderTree: "Id002"},
		{Query: "re*", Facets: []string{"tags", "folder", "attribute:many", "attribute:k"}}, {Attributes: []assets.AttributeFilter{{Key: "k"}}}} {
		page, err := h.svc.Search(ctx, by.Caller, h.lib, s)
		note(page.AppendJSON(nil), err)
	}
	list, err := h.svc.ListFolders(ctx, by.Caller, h.lib, assets.ListFoldersRequest{})
	text, jsonErr := json.Marshal(list.Items)
	note(text, errors.Join(err, jsonErr))
	for i := range 8 {
		f, err := h.svc.Folder(ctx, by.Caller, h.lib, fmt.Sprintf("Id%03d", i))
		note(f.AppendJSON(nil), err)
	}
	values, err := h.svc.Attributes(ctx, by.Caller, h.lib, "k")
	note(fmt.Append(nil, values), err)
	return out
}
