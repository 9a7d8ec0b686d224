package appsvc_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// preview makes a link for 30 days.
func (w *workshop) preview(by vitrine.Caller, app, version, release string) appsvc.Preview {
	w.t.Helper()
	p, err := w.As(by).CreatePreview(context.Background(),
		appsvc.CreatePreviewRequest{AppID: app, Version: version, Release: release, Days: 30, Note: "for the agency"})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// shows checks which version a link shows, "" for none, and that the list of links says so.
func (w *workshop) shows(p appsvc.Preview, app, want string) {
	w.t.Helper()
	shown, err := w.Shown(context.Background(), p.Secret, "")
	if have := shown.App.Version.String(); have != want || (err == nil) != (want != "") {
		w.t.Errorf("it shows %q of %q, %v, want %q", have, shown.App.ID, err, want)
	}
	if want == "" && (err == nil || err.Error() != "there is no such link, or it has ended") {
		w.t.Errorf("it has ended: %v", err)
	}
	list, err := w.As(cat).ListPreviews(context.Background(), app)
	i := slices.IndexFunc(list, func(one appsvc.Preview) bool { return one.ID == p.ID })
	if err == nil && i >= 0 && (list[i].Ended != (want == "") || list[i].Secret != "") {
		w.t.Errorf("in the list: %+v", list[i])
	}
}

// A link shows one version, the latest one, or that of a release, to whoever has its secret.
func TestWhatALinkShows(t *testing.T) {
	w, _ := releasing(t, appsvc.Options{Rights: known})
	app, begun := w.tagged(), w.clock.UnixMilli()
	rel := w.release(ann, to(w.tagged(), "live", 2), to(app, "live", 1), to(app, "production", 2))
	first, latest := w.preview(ann, app, "0", ""), w.preview(ann, app, "latest", "")
	planned := w.preview(ann, app, "", rel.ID)
	w.shows(first, app, "0")
	w.shows(latest, app, "2")
	w.shows(planned, app, "1")
	w.change(app, func(p *appsvc.PatchBuilder) { p.SetTitle("other") })
	w.shows(first, app, "0")
	w.shows(latest, app, "3")
	if !strings.HasPrefix(first.Secret, "sh_") || len(first.Secret) != 46 || first.Secret == latest.Secret {
		t.Errorf("secrets %q, %q", first.Secret, latest.Secret)
	}
	first.Secret = ""
	if want := (appsvc.Preview{ID: first.ID, Version: "0", Note: "for the agency", By: ann.URN, CreatedAt: begun,
		Expires: begun + 30*24*3600_000}); first != want {
		t.Errorf("%+v, want %+v", first, want)
	}
	in := appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version, Name: "x",
		Moves: []appsvc.ReleaseMove{to(app, "live", 2)}}
	if _, err := w.As(ben).UpdateRelease(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	w.shows(planned, app, "2")
	for _, secret := range []string{"", "sh_", planned.ID, latest.Secret + "x"} {
		w.shows(appsvc.Preview{Secret: secret}, app, "")
	}
	_, err := w.Shown(t.Context(), "sh_", "d_e")
	if e := wantCode(t, err, vitrine.CodeInvalid); e.Parameter != "lang" {
		t.Errorf("%+v", e)
	}
}

// A link ends with the rights of its maker, with what it shows, by its time, and when it is revoked. Others of the same
// maker go on where the reason is not theirs.
func TestHowALinkEnds(t *testing.T) {
	type world struct {
		*workshop
		app  string
		rel  appsvc.Release
		link appsvc.Preview
		now  vitrine.Caller // what ann may do now
		gone error
	}
	ctx := context.Background()
	for name, test := range map[string]struct {
		end   func(w *world) error
		again func(w *world) error // nil = it never shows anything again
		rest  bool                 // the other link ends too
	}{
		"its maker is disabled": {func(w *world) error { w.gone = vitrine.ErrForbidden; return nil },
			func(w *world) error { w.gone = nil; return nil }, true},
		"its maker works elsewhere": {func(w *world) error { w.now.Moderates = []string{site2}; return nil },
			func(w *world) error { w.now = ann; return nil }, true},
		"its maker may only read": {
			func(w *world) error { w.now.Moderates, w.now.Reads = nil, []string{site1}; return nil }, nil, true},
		"the app has left its groups": {func(w *world) error { return w.patchGroups(admin, w.app, []string{site2}) },
			func(w *world) error { return w.patchGroups(admin, w.app, []string{site1}) }, false},
		"the app is deleted": {func(w *world) error { return w.As(cat).DeleteApp(ctx, w.app) },
			func(w *world) error { _, err := w.As(cat).UndeleteApp(ctx, w.app); return err }, false},
		"the app is erased": {func(w *world) error {
			err := w.As(cat).DeleteApp(ctx, w.app)
			if err == nil {
				err = w.As(cat).EraseApp(ctx, w.app)
			}
			return err
		}, nil, false},
		"somebody else revokes it": {func(w *world) error {
			return w.As(cat).DeletePreview(ctx, w.app, w.link.ID)
		}, nil,
			false},
		"it is over": {func(w *world) error { w.clock = w.clock.Add(30 * 24 * time.Hour); return nil }, nil, true},
		"the release is cancelled": {
			func(w *world) error { _, err := w.As(cat).CancelRelease(ctx, w.rel.ID, w.rel.Version); return err }, nil,
			false},
		"the release was run": {
			func(w *world) error {
				_, err := w.As(cat).RunRelease(ctx, w.rel.ID, w.rel.Version)
				return err
			}, nil, false},
		"the release has an app that its maker may not see": {func(w *world) error {
			_, err := w.As(admin).UpdateRelease(ctx, appsvc.UpdateReleaseRequest{ID: w.rel.ID, Version: w.rel.Version,
				Moves: []appsvc.ReleaseMove{to(w.app, "live", 1), to(w.appIn(site2), "live", 0)}})
			return err
		}, nil, false},
		"the release leaves the app out": {func(w *world) error {
			_, err := w.As(cat).UpdateRelease(ctx, appsvc.UpdateReleaseRequest{ID: w.rel.ID, Version: w.rel.Version,
				Moves: []appsvc.ReleaseMove{to(w.tagged(), "live", 1)}})
			return err
		}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{now: ann}
			var db storage.Store
			w.workshop, db = releasing(t, appsvc.Options{
				Rights: func(context.Context, string) (vitrine.Caller, []string, error) { return w.now, nil, w.gone }})
			w.app = w.tagged()
			w.rel = w.release(ann, to(w.app, "live", 1))
			w.link = w.preview(ann, w.app, "", w.rel.ID)
			b := w.tagged()
			other := w.preview(ann, b, "latest", "")
			w.shows(w.link, w.app, "1")
			if err := test.end(w); err != nil {
				t.Fatal(err)
			}
			w.shows(w.link, w.app, "")
			w.shows(other, b, map[bool]string{false: "2"}[test.rest])
			if test.again != nil {
				if err := test.again(w); err != nil {
					t.Fatal(err)
				}
				w.shows(w.link, w.app, "1")
			}
			if n := count(t, db, "apps ", w.app); strings.HasSuffix(name, "erased") &&
				count(t, db, "apps shown/", "") != 1 {
				t.Errorf("%d records of an erased app", n)
			}
			if n := count(t, db, "apps ", w.link.Secret); n > 0 {
				t.Errorf("%d records with the secret", n)
			}
		})
	}
}

// Links are for persons who may change the app: keys and agents are refused whatever they ask, who only reads too, and
// for others there is no such app.
func TestWhoMakesLinks(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	app := w.tagged()
	rel, done := w.release(ann, to(app, "live", 1)), w.release(ann, to(app, "other", 1))
	if _, err := w.As(ann).RunRelease(ctx, done.ID, done.Version); err != nil {
		t.Fatal(err)
	}
	elsewhere, taken := w.release(ann, to(w.tagged(), "live", 1)), w.release(ann, appsvc.ReleaseMove{AppID: app,
		Tag: "other", To: appsvc.NoTag()})
	far := w.release(admin, to(app, "live", 1), to(w.appIn(site2), "live", 0))
	link, key := w.preview(ann, app, "0", ""), ann
	key.Key = "vt_12345678"
	tags := vitrine.Caller{URN: ann.URN, Reads: []string{site1}, TagsOnly: true, Tags: []string{"live"}}
	for name, test := range map[string]struct {
		by   vitrine.Caller
		in   appsvc.CreatePreviewRequest
		code string
		at   string
	}{
		"an owner": {by: editor},
		"a key":    {key, appsvc.CreatePreviewRequest{}, vitrine.CodeForbidden, ""},
		"an agent": {agentOf(ann, "writer", "vt_1"), appsvc.CreatePreviewRequest{},
			vitrine.CodeForbidden, ""},
		"a delivery token":   {tags, appsvc.CreatePreviewRequest{}, vitrine.CodeForbidden, ""},
		"who reads":          {rea, appsvc.CreatePreviewRequest{}, vitrine.CodeForbidden, ""},
		"a stranger":         {sue, appsvc.CreatePreviewRequest{}, vitrine.CodeNotFound, ""},
		"an app that is not": {ann, appsvc.CreatePreviewRequest{AppID: "x"}, vitrine.CodeNotFound, ""},
		"neither":            {ann, appsvc.CreatePreviewRequest{Version: "-"}, vitrine.CodeInvalid, "/release"},
		"both": {ann, appsvc.CreatePreviewRequest{Version: "0", Release: rel.ID},
			vitrine.CodeInvalid, "/release"},
		"no version":        {ann, appsvc.CreatePreviewRequest{Version: "01"}, vitrine.CodeInvalid, "/version"},
		"a version to come": {ann, appsvc.CreatePreviewRequest{Version: "3"}, vitrine.CodeNotFound, "/version"},
		"31 days":           {ann, appsvc.CreatePreviewRequest{Days: 31}, vitrine.CodeInvalid, "/days"},
		"days ago":          {ann, appsvc.CreatePreviewRequest{Days: -1}, vitrine.CodeInvalid, "/days"},
		"a huge note": {ann, appsvc.CreatePreviewRequest{Note: strings.Repeat("ä", 1025)},
			vitrine.CodeInvalid, "/note"},
		"a long note":           {ann, appsvc.CreatePreviewRequest{Note: strings.Repeat("ä", 1024)}, "", ""},
		"a release":             {ann, appsvc.CreatePreviewRequest{Release: rel.ID}, "", ""},
		"a release that is not": {ann, appsvc.CreatePreviewRequest{Release: "x"}, vitrine.CodeNotFound, "/release"},
		"a release that is hidden": {ann, appsvc.CreatePreviewRequest{Release: far.ID}, vitrine.CodeNotFound,
			"/release"},
		"a release that is done": {ann, appsvc.CreatePreviewRequest{Release: done.ID}, vitrine.CodeWrongState,
			"/release"},
		"a release of another app": {ann, appsvc.CreatePreviewRequest{Release: elsewhere.ID},
			vitrine.CodeNotApplicable, "/release"},
		"a release without version": {ann, appsvc.CreatePreviewRequest{Release: taken.ID}, vitrine.CodeNotApplicable,
			"/release"},
	} {
		t.Run(name, func(t *testing.T) {
			in := test.in
			in.AppID, in.Days = cmp.Or(in.AppID, app), cmp.Or(in.Days, 1)
			if in.Version = cmp.Or(in.Version, map[bool]string{true: "latest"}[in.Release == ""]); in.Version == "-" {
				in.Version = ""
			}
			_, err := w.As(test.by).CreatePreview(ctx, in)
			if e := wantCode(t, err, test.code); e.Pointer != test.at {
				t.Errorf("at %q, want %q", e.Pointer, test.at)
			}
			if kind := errors.Unwrap(err); err != nil &&
				(errors.Is(kind, vitrine.ErrForbidden) || name == "a stranger") {
				_, err := w.As(test.by).ListPreviews(ctx, app)
				wantCode(t, err, test.code)
				wantCode(t, w.As(test.by).DeletePreview(ctx, app, link.ID), test.code)
			}
		})
	}
	wantCode(t, w.As(ann).DeletePreview(ctx, elsewhere.Moves[0].AppID, link.ID), vitrine.CodeNotFound)
	wantCode(t, w.As(ann).DeletePreview(ctx, app, link.ID), "")
	wantCode(t, w.As(ann).DeletePreview(ctx, app, link.ID), vitrine.CodeNotFound)
}

// An app has 100 links, and those that are over do not count. The audit finds what no Service writes of one.
func TestTheLimitOfLinksAndTheirAudit(t *testing.T) {
	ctx := context.Background()
	w, db := releasing(t, appsvc.Options{})
	app := w.tagged()
	list := func() []appsvc.Preview {
		t.Helper()
		list, err := w.As(ann).ListPreviews(ctx, app)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for range 100 {
		w.preview(ann, app, "latest", "")
	}
	_, err := w.As(ben).CreatePreview(ctx, appsvc.CreatePreviewRequest{AppID: app, Version: "0", Days: 1})
	wantCode(t, err, vitrine.CodeLimit)
	w.preview(ann, w.tagged(), "latest", "")
	if n := len(list()); n != 100 {
		t.Errorf("%d links", n)
	}
	w.clock = w.clock.Add(30 * 24 * time.Hour)
	if n := len(list()); n != 0 {
		t.Errorf("%d links that are over", n)
	}
	old := w.preview(ann, app, "0", "")
	w.clock = w.clock.Add(time.Second)
	if last := w.preview(ann, app, "1", ""); count(t, db, "apps preview/", app) != 2 || list()[0].ID != last.ID ||
		list()[1].ID != old.ID {
		t.Errorf("%+v", list())
	}
	var kept []storage.Entry
	for _, kind := range []string{"preview/", "shown/"} {
		if err := db.View(ctx, func(r storage.Reader) error {
			for e, err := range r.Scan(ctx, storage.Prefix("apps "+kind)) {
				if err != nil {
					return err
				}
				kept = append(kept, e)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	put := func(entries ...storage.Entry) {
		if err := db.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
			for _, e := range entries {
				if err := tx.Delete(ctx, e.Key); err != nil {
					return err
				}
			}
			return tx.Put(ctx, slices.DeleteFunc(entries, func(e storage.Entry) bool { return e.Value == nil })...)
		}); err != nil {
			t.Fatal(err)
		}
	}
	faults := func() (n int) {
		for _, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(ctx, db) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	of := kept[slices.IndexFunc(kept, func(e storage.Entry) bool { return strings.Contains(e.Key, old.ID) })]
	wrong := []storage.Entry{{Key: of.Key}, {Key: kept[len(kept)-1].Key},
		{Key: kept[len(kept)-1].Key, Value: []byte("x")}}
	for _, change := range [][2]string{{`"Version":0`, `"Version":3`}, {ann.URN, "ann"}, {`"Key":""`, `"Key":"vt_1"`},
		{`"Hash":"`, `"Hash":"0`}, {`"Expires":`, `"Expires":9`}, {`"Note":"`, `"Note":"\u0000`}, {"{", ""}} {
		wrong = append(wrong, storage.Entry{Key: of.Key,
			Value: []byte(strings.Replace(string(of.Value), change[0], change[1], 1))})
	}
	for _, e := range wrong {
		if put(e); faults() == 0 {
			t.Errorf("no fault is found in %s %s", e.Key, e.Value)
		}
		put(slices.Clone(kept)...)
	}
	if n := faults(); n != 0 {
		t.Errorf("%d faults at the end", n)
	}
	for _, prefix := range appsvc.Maintenance(appsvc.Limits{}).NotArchived {
		kept = slices.DeleteFunc(kept, func(e storage.Entry) bool { return strings.HasPrefix(e.Key, prefix) })
	}
	if len(kept) > 0 {
		t.Errorf("archives have %v", kept)
	}
}
