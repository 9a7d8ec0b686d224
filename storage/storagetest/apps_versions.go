package storagetest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var versionRules = []appRule{
	// Ids come from URLs, so a caller can send any text. Wildcards, quotes, another case, another Unicode form or a
	// very long id must not find another app, and must not make the query itself fail.
	{"an absent app is ErrNotFound, whatever characters its id has", func(t *testing.T, s appsvc.Store) {
		add(t, s, newHead("a", 0), "first")
		for _, id := range []string{"", "b", "A", "a ", " a", "a%", "_", "*", "' OR 1=1 --", "ä", "a\u0301", "\U0001f600", strings.Repeat("x", 5000)} {
			_, err := tryRead(s, headOf(id))
			checkError(t, err, vitrine.ErrNotFound, "Head(%.20q)", id)
			for _, v := range []vitrine.Version{{}, vitrine.Latest, vitrine.NewVersion(0), vitrine.NewVersion(1)} {
				_, err := tryRead(s, appOf(id, v))
				checkError(t, err, vitrine.ErrNotFound, "App(%.20q, %s)", id, v)
			}
			checkApps(t, read(t, s, versions(appsvc.VersionQuery{AppID: id})), nil)
		}
	}},
	// The zero Version names no version. It is not the same as Latest, nor as version 0.
	{"an absent version of an existing app is ErrNotFound", func(t *testing.T, s appsvc.Store) {
		add(t, s, newHead("a", 0), "first")
		for _, v := range []vitrine.Version{{}, vitrine.NewVersion(1), vitrine.NewVersion(2), vitrine.NewVersion(math.MaxInt64 - 1)} {
			_, err := tryRead(s, appOf("a", v))
			checkError(t, err, vitrine.ErrNotFound, "App(a, %s)", v)
		}
	}},
	// The Service finds out by ErrExists that another writer was faster, and reads the app again. A gap in the numbers
	// or a replaced version would lose history.
	{"AddVersion accepts only the number after the latest version, or 0 for a new app; any other is ErrExists", func(t *testing.T, s appsvc.Store) {
		try := func(id string, number int, want error) {
			t.Helper()
			h := newHead(id, number)
			err := s.Update(ctx, func(w tx) error { return w.AddVersion(ctx, h, bodyOf(h, "try")) })
			checkError(t, err, want, "AddVersion(%s, %d)", id, number)
		}
		try("a", 1, appsvc.ErrExists)
		try("a", math.MaxInt64-1, appsvc.ErrExists)
		try("a", 0, nil)
		try("a", 0, appsvc.ErrExists)
		try("a", 2, appsvc.ErrExists)
		try("a", 1, nil)
		try("a", 1, appsvc.ErrExists)
		try("a", 0, appsvc.ErrExists)
		try("b", 2, appsvc.ErrExists)
		try("b", 0, nil)
		checkApps(t, read(t, s, versions(appsvc.VersionQuery{AppID: "a"})),
			[]appsvc.App{titled(newHead("a", 1), "try"), titled(newHead("a", 0), "try")})
	}},
	// Owner, groups and components of older versions do not count: the Service decides by the Head who may read and
	// edit the app.
	{"Head returns the data of the latest version", func(t *testing.T, s appsvc.Store) {
		first := newHead("a", 0)
		add(t, s, first, "first")
		checkHead(t, read(t, s, headOf("a")), first)
		second := newHead("a", 1)
		second.UpdatedBy, second.Groups, second.Components = owner, []string{network, "urn:other:Ünï.test:site=é"}, nil
		add(t, s, second, "second")
		checkHead(t, read(t, s, headOf("a")), second)
	}},
	// A driver that keeps groups in a table of their own must store their positions as well.
	{"groups keep the order in which they were given", func(t *testing.T, s appsvc.Store) {
		h := newHead("a", 0)
		h.Groups = []string{network + ":site=2", network, site1, "urn:a:b"}
		add(t, s, h, "")
		checkHead(t, read(t, s, headOf("a")), h)
	}},
	// A driver may store a version as the difference from another one, but must return the same bytes. The titles
	// differ by little and by much, and two apps are written in turns, so that differences between versions, full
	// copies and neighbouring rows are all tried.
	{"every version stays readable as it was stored, byte for byte", func(t *testing.T, s appsvc.Store) {
		var want []appsvc.App
		for v := range 60 {
			h, title := newHead("a", v), fmt.Sprintf("title %d", v/2) // every second one is that of the version before
			if v%7 == 0 {
				title = strings.Repeat("long ", int(v)*10)
			}
			add(t, s, h, title)
			add(t, s, newHead("neighbour", v), title)
			want = append(want, titled(h, title))
		}
		for v, app := range want {
			checkApps(t, []appsvc.App{read(t, s, appOf("a", vitrine.NewVersion(v)))}, []appsvc.App{app})
		}
		latest := read(t, s, appOf("a", vitrine.Latest))
		checkApps(t, []appsvc.App{latest}, want[len(want)-1:])
		slices.Reverse(want)
		checkApps(t, read(t, s, versions(appsvc.VersionQuery{AppID: "a"})), want)
	}},
	// The zero Version in Before means from the newest, and Limit 0 means all. Before may name a version that does not
	// exist: a cursor may have any number.
	{"Versions yields the versions below Before, newest first, and stops after Limit", func(t *testing.T, s appsvc.Store) {
		const count = 25
		var all []appsvc.App // newest first
		for v := range count {
			add(t, s, newHead("a", v), "")
			all = slices.Insert(all, 0, titled(newHead("a", v), ""))
		}
		for _, before := range []vitrine.Version{{}, vitrine.NewVersion(0), vitrine.NewVersion(1), vitrine.NewVersion(2), vitrine.NewVersion(13), vitrine.NewVersion(count - 1), vitrine.NewVersion(count), vitrine.NewVersion(count + 1), vitrine.NewVersion(math.MaxInt64 - 1)} {
			for _, limit := range []int{0, 1, 2, 7, count, count + 1, math.MaxInt32} {
				want := slices.DeleteFunc(slices.Clone(all), func(a appsvc.App) bool { return !before.IsZero() && a.Version.Compare(before) >= 0 })
				if limit > 0 {
					want = want[:min(limit, len(want))]
				}
				checkApps(t, read(t, s, versions(appsvc.VersionQuery{AppID: "a", Before: before, Limit: limit})), want)
			}
		}
	}},
	// Ids, URNs, groups, components and bodies are stored byte for byte, with no Unicode normalization. Control
	// characters and text that looks like SQL or like a format string mean nothing.
	{"text in any language or script is returned unchanged", func(t *testing.T, s appsvc.Store) {
		for i, text := range []string{"ä", "a\u0308", "日本語", "עברית", "\U0001f468\u200d\U0001f469", "\u0001\u001f\u007f", "\u2028", "\\\"'`", "%s?$1:x", "<&>", " x "} {
			h := newHead(fmt.Sprint(i), 0)
			h.ID, h.Owner, h.UpdatedBy = h.ID+text, owner+text, editor+text
			h.Groups, h.Components = []string{site1 + text}, []string{text}
			add(t, s, h, text)
			checkHead(t, read(t, s, headOf(h.ID)), h)
			checkApps(t, []appsvc.App{read(t, s, appOf(h.ID, vitrine.NewVersion(0)))}, []appsvc.App{titled(h, text)})
		}
	}},
	// Ids are compared byte by byte. A column with a collation that folds case or trims spaces would merge these apps.
	{"ids that differ in case, in Unicode form or by a space are different apps", func(t *testing.T, s appsvc.Store) {
		ids := []string{"straße", "STRASSE", "Straße", "ä", "a\u0308", "Ä", "x", "x ", " x", "X", "1", "01", "1.0"}
		for _, id := range ids {
			add(t, s, newHead(id, 0), id)
		}
		for _, id := range ids {
			checkApps(t, []appsvc.App{read(t, s, appOf(id, vitrine.Latest))}, []appsvc.App{titled(newHead(id, 0), id)})
		}
	}},
	// The body is random enough that compression does not make it small. The second large version differs from the
	// first in one byte, and small versions come before and after, so a store of differences meets each change of size.
	{"bodies of 4 MiB are stored, also between small ones", func(t *testing.T, s appsvc.Store) {
		big := bytes.Repeat([]byte("0123456789abcde\n"), 4<<20/16)
		for i := range big { // so that little of it can be compressed
			big[i] += byte(i * i >> 7 & 15)
		}
		changed := bytes.Clone(big)
		changed[2<<20] = '!'
		want := []appsvc.Body{bodyOf(newHead("a", 0), "small"), jsonText(big), jsonText(changed), bodyOf(newHead("a", 3), "small again")}
		for v, body := range want {
			update(t, s, func(w tx) error { return w.AddVersion(ctx, newHead("a", v), body) })
		}
		for v, body := range want {
			if got := read(t, s, appOf("a", vitrine.NewVersion(v))); !bytes.Equal(got.Body, body) {
				t.Errorf("version %d: a body of %d bytes came back as %d other bytes", v, len(body), len(got.Body))
			}
		}
	}},
}

// jsonText wraps text into a body.
func jsonText(text []byte) appsvc.Body {
	h := newHead("a", 0)
	return bodyOf(h, strings.ToValidUTF8(string(text), "?"))
}
