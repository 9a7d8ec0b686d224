//go:build proof

package kill

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/proof/replay"
)

// longLife is how many versions an app gets before its writer makes another.
const longLife = 40

// appWriter changes apps of its own, one at a time, and knows what each must be like.
type appWriter struct {
	urn  string
	apps []*app // the last one is worked on
	// creating is the number of an app that was asked for without an answer. It is asked for again
	// with the same Idempotency-Key.
	creating bool
	r        *rand.Rand
	count    int // titles
}

// app is what a writer was answered about one app.
type app struct {
	id       string
	versions []appVersion
	tags     map[string]int
	// pending is what the app is like if the change without an answer has been made; nil = none.
	pending *app
}

// appVersion is a version of an app. at is 0 when no answer told it.
type appVersion struct {
	title string
	at    int64
}

func newAppWriter(i int) *appWriter {
	return &appWriter{urn: fmt.Sprintf("%s:user=w%d", urn, i), r: rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))}
}

func (w *appWriter) user() string { return w.urn }

// answered is an answer with one app.
type answered struct {
	ID   string
	Apps []struct {
		ID, Version, Title string
		UpdatedAt          int64
	}
}

func (w *appWriter) title() string {
	w.count++
	return fmt.Sprintf("%s title %d", w.urn, w.count)
}

// step makes one change.
func (w *appWriter) step(c *client) error {
	if len(w.apps) == 0 || len(w.apps[len(w.apps)-1].versions) >= longLife || w.creating {
		return w.create(c)
	}
	a := w.apps[len(w.apps)-1]
	next := &app{a.id, append([]appVersion(nil), a.versions...), maps.Clone(a.tags), nil}
	tag := fmt.Sprintf("t%d", w.r.IntN(3))
	_, tagged := a.tags[tag]
	var err error
	switch n := w.r.IntN(8); {
	case n < 4:
		next.versions = append(next.versions, appVersion{title: w.title()})
		a.pending = next
		err = w.added(next, func(out *answered) error { return c.send("PATCH", "/apps/"+a.id, "", patch(next), out, http.StatusOK) })
	case n < 5:
		old := w.r.IntN(len(a.versions))
		next.versions = append(next.versions, appVersion{title: a.versions[old].title})
		a.pending = next
		in := map[string]string{"appId": a.id, "appVersion": strconv.Itoa(old)}
		err = w.added(next, func(out *answered) error {
			return c.send("POST", "/apps/versions/restore", "", in, out, http.StatusCreated)
		})
	case n < 7 || !tagged:
		next.tags[tag] = w.r.IntN(len(a.versions))
		a.pending = next
		in := map[string]string{"appVersion": strconv.Itoa(next.tags[tag])}
		err = c.send("PUT", "/apps/"+a.id+"/tags/"+tag, "", in, nil, http.StatusCreated)
	default:
		delete(next.tags, tag)
		a.pending = next
		err = c.send("DELETE", "/apps/"+a.id+"/tags/"+tag, "", nil, nil, http.StatusNoContent)
	}
	if err == nil {
		w.apps[len(w.apps)-1] = next
	}
	return err
}

// added sends a request that adds a version, and holds the answer against the one expected.
func (w *appWriter) added(next *app, send func(*answered) error) error {
	var out answered
	if err := send(&out); err != nil {
		return err
	}
	n := len(next.versions) - 1
	if len(out.Apps) != 1 || out.Apps[0].Version != strconv.Itoa(n) || out.Apps[0].Title != next.versions[n].title {
		return fmt.Errorf("app %s: answered %+v, want version %d, %+v", next.id, out, n, next.versions[n])
	}
	next.versions[n].at = out.Apps[0].UpdatedAt
	return nil
}

func patch(next *app) any {
	n := len(next.versions) - 1
	return []map[string]string{
		{"op": "test", "path": "/apps/0/version", "value": strconv.Itoa(n - 1)},
		{"op": "replace", "path": "/apps/0/title", "value": next.versions[n].title},
	}
}

// create makes the next app, or makes sure that it was made.
func (w *appWriter) create(c *client) error {
	title := fmt.Sprintf("%s app %d", w.urn, len(w.apps))
	w.creating = true
	var out answered
	in := map[string]any{"title": title, "groups": []string{urn}}
	if err := c.send("POST", "/apps/", fmt.Sprintf("%s-%d", w.urn, len(w.apps)), in, &out, http.StatusCreated); err != nil {
		return err
	}
	w.creating = false
	w.apps = append(w.apps, &app{id: out.ID, versions: []appVersion{{title: title}}, tags: map[string]int{}})
	return nil
}

// verify holds the store against what the writer knows: its present app, or all of them.
func (w *appWriter) verify(ctx context.Context, s *opened, all bool) error {
	by := appsvc.Caller{URN: w.urn}
	list, _, err := unpage(s.apps.ListApps(ctx, by, appsvc.ListAppsRequest{Limit: 500}))
	if err != nil {
		return err
	}
	if more := len(list) - len(w.apps); more != 0 && (more != 1 || !w.creating) {
		return lost("%s has %d apps, want %d (one more asked for: %t)", w.urn, len(list), len(w.apps), w.creating)
	}
	told, err := replay.Apps(func(after string) (appsvc.ChangesPage, error) {
		return s.apps.Changes(ctx, by, appsvc.ChangesRequest{After: after, Limit: 500})
	})
	if err != nil {
		return err
	}
	if len(told) != len(list) {
		return lost("%s has %d apps, and the feed tells of %d", w.urn, len(list), len(told))
	}
	for i, a := range w.apps {
		if i < len(w.apps)-1 && !all {
			continue
		}
		have, err := read(ctx, s, by, a.id)
		if err != nil {
			return lost("app %s: %w", a.id, err)
		}
		if f := told[a.id]; f == nil || f.Versions != len(have.versions) || !maps.Equal(f.Tags, have.tags) {
			return lost("app %s has %d versions and the tags %v, and the feed tells of %+v", a.id, len(have.versions), have.tags, f)
		}
		if wrong := a.differs(have); wrong != nil {
			if a.pending == nil {
				return wrong
			}
			if wrongToo := a.pending.differs(have); wrongToo != nil {
				return fmt.Errorf("%w; nor is it what it would be with the change that got no answer: %w", wrong, wrongToo)
			}
		}
		w.apps[i] = have
	}
	return nil
}

// read returns what the store has of an app.
func read(ctx context.Context, s *opened, by appsvc.Caller, id string) (*app, error) {
	a := &app{id: id, tags: map[string]int{}}
	list, more, err := listed(s.apps.ListVersions(ctx, by, appsvc.ListVersionsRequest{AppID: id, Limit: 500}))
	if err != nil || more {
		return nil, fmt.Errorf("versions, more of them: %t: %w", more, err)
	}
	for i := len(list) - 1; i >= 0; i-- {
		if n := len(a.versions); list[i].Version.Number() != int64(n) {
			return nil, fmt.Errorf("version %s stands where %d should", list[i].Version, n)
		}
		c, err := list[i].Body.Content()
		if err != nil {
			return nil, err
		}
		a.versions = append(a.versions, appVersion{c.Title, list[i].UpdatedAt})
	}
	tags, err := s.apps.ListTags(ctx, by, appsvc.ListTagsRequest{AppID: id})
	for _, t := range tags.Items {
		a.tags[t.Name] = int(t.AppVersion.Number())
	}
	return a, err
}

// differs returns an error unless have is what is known.
func (a *app) differs(have *app) error {
	if len(have.versions) != len(a.versions) {
		return lost("app %s has %d versions, want %d", a.id, len(have.versions), len(a.versions))
	}
	for i, v := range a.versions {
		if h := have.versions[i]; h.title != v.title || v.at != 0 && h.at != v.at {
			return lost("version %d of app %s is %+v, want %+v", i, a.id, h, v)
		}
	}
	if !maps.Equal(a.tags, have.tags) {
		return lost("app %s has the tags %v, want %v", a.id, have.tags, a.tags)
	}
	return nil
}

// unpage takes a page apart.
func unpage[T any](p appsvc.Page[T], err error) (items []T, next string, _ error) {
	return p.Items, p.Next, err
}

// listed takes a page apart, and reports whether another one follows.
func listed[T any](p appsvc.Page[T], err error) (items []T, more bool, _ error) {
	return p.Items, p.Next != "", err
}
