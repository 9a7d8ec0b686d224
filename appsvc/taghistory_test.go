package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// nobody has no rights.
var nobody = vitrine.Caller{URN: network + ":user=nobody"}

func (w *workshop) tagMoves(id, name string) []appsvc.TagMove {
	w.t.Helper()
	var out []appsvc.TagMove
	for m, err := range w.As(admin).AllTagMoves(context.Background(),
		appsvc.ListTagMovesRequest{AppID: id, Name: name, Limit: 2}) {
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func TestAMoveHasANote(t *testing.T) {
	ctx, w := t.Context(), newWorkshop(t)
	id := w.tagged()
	in := appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.NewVersion(1), Note: strings.Repeat("é", 1024),
		IdempotencyKey: "k"}
	if _, err := w.As(admin).PutTag(ctx, in); err != nil {
		t.Fatal(err)
	}
	if moves := w.tagMoves(id, "live"); moves[0].Note != in.Note {
		t.Errorf("%+v", moves)
	}
	for note, want := range map[string]error{"another reason": vitrine.ErrUnprocessable,
		in.Note + "é": vitrine.ErrInvalid, "\x00": vitrine.ErrInvalid} {
		in.Note = note
		if _, err := w.As(admin).PutTag(ctx, in); !errors.Is(err, want) {
			t.Errorf("a note of %d bytes with the same key: %v, want %v", len(note), err, want)
		}
	}
}

func TestATagRemembersItsMoves(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.tagged()
	begin := w.clock.UnixMilli()
	put := func(by vitrine.Caller, name string, v vitrine.Version) {
		t.Helper()
		w.clock = w.clock.Add(time.Second)
		if _, err := w.As(by).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: name, Version: v}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func() {
		t.Helper()
		w.clock = w.clock.Add(time.Second)
		if err := w.As(admin).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "live"}); err != nil {
			t.Fatal(err)
		}
	}
	v0, v1, v2 := vitrine.NewVersion(0), vitrine.NewVersion(1), vitrine.NewVersion(2)
	put(editor, "live", v1)
	put(editor, "live", v1) // moves nothing
	put(admin, "live", vitrine.Latest)
	put(admin, "Live", v0) // another tag
	w.clock = w.clock.Add(-time.Hour)
	put(editor, "live", v0) // though the clock was set back
	w.clock = w.clock.Add(time.Hour)
	remove()
	remove2 := w.As(admin).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "live"})
	checkKind(t, remove2, vitrine.ErrNotFound)
	put(editor, "live", v2)
	remove()
	want := []appsvc.TagMove{
		{At: begin + 8000, By: admin.URN, From: v2},
		{At: begin + 7000, By: editor.URN, To: v2},
		{At: begin + 6000, By: admin.URN, From: v0},
		{At: begin + 3000, By: editor.URN, From: v2, To: v0},
		{At: begin + 3000, By: admin.URN, From: v1, To: v2},
		{At: begin + 1000, By: editor.URN, To: v1},
	}
	if got := w.tagMoves(id, "live"); !slices.Equal(got, want) {
		t.Errorf("moves\n%+v, want\n%+v", got, want)
	}
}

func TestWhoseTagsHaveAHistory(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.tagged("live")
	for _, name := range []string{"Live", "", "-", "a b", "\xff", strings.Repeat("x", 129)} {
		_, err := w.As(editor).ListTagMoves(ctx, appsvc.ListTagMovesRequest{AppID: id, Name: name})
		checkKind(t, err, vitrine.ErrNotFound)
	}
	_, hidden := w.As(nobody).ListTagMoves(ctx, appsvc.ListTagMovesRequest{AppID: id, Name: "live"})
	_, absent := w.As(nobody).ListTagMoves(ctx, appsvc.ListTagMovesRequest{AppID: "absent", Name: "live"})
	checkHidden(t, hidden, absent, id, "absent")
	for _, limit := range []int{-1, 501} {
		_, err := w.As(editor).ListTagMoves(ctx, appsvc.ListTagMovesRequest{AppID: id, Name: "live", Limit: limit})
		checkKind(t, err, vitrine.ErrInvalid)
	}
}

func TestACursorOfAHistoryIsOfNoOther(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id, other := w.tagged("live", "Live"), w.tagged("live")
	next := func(id, name string) string {
		w.putTag(id, name, vitrine.NewVersion(0))
		w.putTag(id, name, vitrine.NewVersion(2))
		page, err := w.As(editor).ListTagMoves(ctx, appsvc.ListTagMovesRequest{AppID: id, Name: name, Limit: 1})
		if err != nil || page.Next == "" {
			t.Fatalf("page %+v, %v", page, err)
		}
		return page.Next
	}
	good := next(id, "live")
	for _, bad := range []string{next(id, "Live"), next(other, "live"), "x", good + "=", good + "\n", good[1:],
		"AAAAAAAAAAAAAAAA", "1", strings.Repeat("x", 1000)} {
		_, err := w.As(editor).ListTagMoves(ctx, appsvc.ListTagMovesRequest{AppID: id, Name: "live", After: bad})
		checkKind(t, err, vitrine.ErrInvalid)
		if e := new(vitrine.Error); !errors.As(err, &e) || e.Parameter != "before" {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

func TestPutTagMovesOnlyFromWhereItShould(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	v0, v1, v2 := vitrine.NewVersion(0), vitrine.NewVersion(1), vitrine.NewVersion(2)
	for _, test := range []struct {
		name   string
		at     vitrine.Version // zero = no tag
		from   appsvc.TagGuard
		to     vitrine.Version
		failed bool
	}{
		{"no guard, no tag", vitrine.Version{}, appsvc.TagGuard{}, v1, false},
		{"no guard, a tag", v0, appsvc.TagGuard{}, v1, false},
		{"from there", v0, appsvc.PointsTo(v0), v1, false},
		{"from there to there", v1, appsvc.PointsTo(v1), v1, false},
		{"from elsewhere", v0, appsvc.PointsTo(v2), v1, true},
		{"from elsewhere to where it is", v1, appsvc.PointsTo(v0), v1, true},
		{"from a version that is not there", v0, appsvc.PointsTo(vitrine.NewVersion(9)), v1, true},
		{"from a version, no tag", vitrine.Version{}, appsvc.PointsTo(v0), v1, true},
		{"new", vitrine.Version{}, appsvc.NoTag(), v1, false},
		{"new, but there", v0, appsvc.NoTag(), v1, true},
		{"new, but there already", v1, appsvc.NoTag(), v1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := w.tagged()
			if !test.at.IsZero() {
				w.putTag(id, "live", test.at)
			}
			_, err := w.As(editor).PutTag(ctx,
				appsvc.PutTagRequest{AppID: id, Name: "live", Version: test.to, From: test.from})
			if test.failed != (err != nil) {
				t.Fatalf("error %v", err)
			}
			want := test.to
			if test.failed {
				want = test.at
				e := new(vitrine.Error)
				if !errors.As(err, &e) || e.Kind != vitrine.ErrConflict || e.Code != vitrine.CodeMoved ||
					e.PointsTo != test.at || e.Version != v2 {
					t.Errorf("error %#v", err)
				}
			}
			if got := w.tagVersion(id, "live"); got != want {
				t.Errorf("it points to %q, want %q", got, want)
			}
		})
	}
	id := w.tagged("live")
	for _, from := range []appsvc.TagGuard{appsvc.PointsTo(vitrine.Version{}), appsvc.PointsTo(vitrine.Latest)} {
		_, err := w.As(editor).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: "live", Version: v0, From: from})
		checkKind(t, err, vitrine.ErrInvalid)
		if _, err := json.Marshal(from); !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("marshalled: %v", err)
		}
	}
	_, err := w.As(nobody).PutTag(ctx,
		appsvc.PutTagRequest{AppID: id, Name: "live", Version: v0, From: appsvc.PointsTo(v0)})
	checkKind(t, err, vitrine.ErrNotFound) // rights come before the guard
}

// A guarded move that was made and is sent again with its key is answered as before, though the tag is no longer
// where the guard says.
func TestAGuardedMoveCanBeRepeated(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.tagged("live")
	in := appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.NewVersion(2),
		From: appsvc.PointsTo(vitrine.NewVersion(1)), IdempotencyKey: "k"}
	for range 3 {
		tag, err := w.As(editor).PutTag(ctx, in)
		if err != nil || tag.AppVersion != in.Version {
			t.Fatalf("%+v, %v", tag, err)
		}
	}
	if got := w.tagMoves(id, "live"); len(got) != 2 {
		t.Errorf("%d moves, want 2: %+v", len(got), got)
	}
	for _, from := range []appsvc.TagGuard{{}, appsvc.NoTag(), appsvc.PointsTo(vitrine.NewVersion(0))} {
		other := in
		other.From = from
		_, err := w.As(editor).PutTag(ctx, other)
		if e := new(vitrine.Error); !errors.As(err, &e) || e.Code != vitrine.CodeKeyReused {
			t.Errorf("with another guard: %v", err)
		}
	}
	in.IdempotencyKey = "another"
	_, err := w.As(editor).PutTag(ctx, in)
	checkKind(t, err, vitrine.ErrConflict)
}

func TestAnAppHasOnlySoManyNamesOfTags(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	store := memory.New()
	w.Service = appsvc.New(store, nil)
	create := func() string {
		app, err := w.As(editor).CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}})
		if err != nil {
			t.Fatal(err)
		}
		return app.ID
	}
	id, other := create(), create()
	v0 := vitrine.NewVersion(0)
	name := func(n int) string { return fmt.Sprint("tag-", n) }
	w.putTag(id, name(0), v0)
	checkKind(t, w.As(editor).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: name(0)}), nil)
	var others []storage.Entry // of tags that were deleted, too
	for _, e := range slices.Concat(stored(t, store, "move/"), stored(t, store, "moved/")) {
		for n := 1; n < 9_999; n++ {
			others = append(others, storage.Entry{Key: strings.Replace(e.Key, name(0), name(n), 1), Value: e.Value})
		}
	}
	put(t, store, others...)
	w.putTag(id, "last", v0)
	_, err := w.As(editor).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: "one-more", Version: v0})
	if e := new(vitrine.Error); !errors.As(err, &e) || e.Kind != vitrine.ErrUnprocessable ||
		e.Code != vitrine.CodeLimit {
		t.Errorf("the name after 10,000: %v", err)
	}
	for _, again := range []string{"last", name(0), name(9_998)} {
		w.putTag(id, again, v0)
	}
	w.putTag(other, "one-more", v0)
}

func TestATagMoveIsJSON(t *testing.T) {
	for want, m := range map[string]appsvc.TagMove{
		`{"at":5,"by":{"urn":"urn:a:b:user=c"},"from":"0","to":"12"}`: {At: 5, By: "urn:a:b:user=c",
			From: vitrine.NewVersion(0), To: vitrine.NewVersion(12)},
		`{"at":0,"by":{"urn":""},"from":null,"to":null}`: {},
	} {
		text, err := json.Marshal(m)
		if err != nil || string(text) != want {
			t.Errorf("%s, %v; want %s", text, err, want)
		}
		var back appsvc.TagMove
		if err := json.Unmarshal(text, &back); err != nil || back != m {
			t.Errorf("%+v, %v; want %+v", back, err, m)
		}
	}
}

func TestATagGuardIsJSON(t *testing.T) {
	for text, want := range map[string]appsvc.TagGuard{`null`: appsvc.NoTag(),
		`"0"`: appsvc.PointsTo(vitrine.NewVersion(0)), `"17"`: appsvc.PointsTo(vitrine.NewVersion(17))} {
		var got appsvc.TagGuard
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if back, err := json.Marshal(want); err != nil || string(back) != text {
			t.Errorf("%s, %v; want %s", back, err, text)
		}
	}
	for _, text := range []string{`""`, `"00"`, `"latest"`, `"-1"`, `0`, `true`, `{}`, `[]`, `"+1"`,
		`"9223372036854775808"`} {
		var got appsvc.TagGuard
		if err := json.Unmarshal([]byte(text), &got); !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
