//go:build proof

package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// longLife is how many versions an app gets before its writer makes another.
const longLife = 60

// Apps changes apps of its own.
type Apps struct {
	network, urn string // of the network and of the writer
	apps         []*app // the last one is worked on
	// creating is the number of an app that was asked for without a response. It is asked for again
	// with the same Idempotency-Key.
	creating bool
	next     *app // what the last one is like if the change that is under way has been made
	r        *rand.Rand
	count    int // titles
}

// app is what the responses say about one app.
type app struct {
	id     string
	titles []string // of its versions
	tags   map[string]int
}

// NewApps returns the i-th writer of apps in a network, whose URN is given.
func NewApps(network string, i int) *Apps {
	return &Apps{network: network, urn: fmt.Sprintf("%s:user=w%d", network, i),
		r: rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))}
}

// User is the URN of the writer.
func (w *Apps) User() string { return w.urn }

// Owns is true: a writer of apps sees its own ones.
func (w *Apps) Owns() bool { return true }

// appsResponse is a response about apps.
type appsResponse struct {
	ID   string
	Apps []struct{ ID, Version, Title string }
	Tags []struct{ Name, AppVersion string }
}

func (w *Apps) title() string {
	w.count++
	return fmt.Sprintf("%s title %d", w.urn, w.count)
}

// Step makes one change.
func (w *Apps) Step(c Sender) error {
	if len(w.apps) == 0 || len(w.apps[len(w.apps)-1].titles) >= longLife || w.creating {
		return w.create(c)
	}
	a := w.apps[len(w.apps)-1]
	w.next = &app{a.id, slices.Clone(a.titles), maps.Clone(a.tags)}
	if err := w.change(c, w.next); err != nil {
		return err
	}
	w.apps[len(w.apps)-1] = w.next
	return nil
}

// change makes one change, to the app and to what is known of it.
func (w *Apps) change(c Sender, a *app) error {
	tag := fmt.Sprintf("t%d", w.r.IntN(3))
	_, tagged := a.tags[tag]
	old := w.r.IntN(len(a.titles))
	switch n := w.r.IntN(8); {
	case n < 4:
		a.titles = append(a.titles, w.title())
		return w.added(c, a, Request{"PATCH", "/apps/" + a.id, "", patchOf(a), http.StatusOK})
	case n < 5:
		a.titles = append(a.titles, a.titles[old])
		in := map[string]string{"appId": a.id, "appVersion": strconv.Itoa(old)}
		return w.added(c, a, Request{"POST", "/apps/versions/restore", "", in, http.StatusCreated})
	case n < 7 || !tagged:
		a.tags[tag] = old
		in := map[string]string{"appVersion": strconv.Itoa(old)}
		return c.Write(Request{"PUT", "/apps/" + a.id + "/tags/" + tag, "", in, http.StatusCreated}, nil)
	default:
		delete(a.tags, tag)
		return c.Write(Request{"DELETE", "/apps/" + a.id + "/tags/" + tag, "", nil, http.StatusNoContent}, nil)
	}
}

// patchOf is the patch that makes the newest version of an app.
func patchOf(a *app) any {
	n := len(a.titles) - 1
	return []map[string]string{
		{"op": "test", "path": "/apps/0/version", "value": strconv.Itoa(n - 1)},
		{"op": "replace", "path": "/apps/0/title", "value": a.titles[n]},
	}
}

// added sends a request that adds a version, and holds the answer against the one expected.
func (w *Apps) added(c Sender, a *app, q Request) error {
	var out appsResponse
	if err := c.Write(q, &out); err != nil {
		return err
	}
	n := len(a.titles) - 1
	if len(out.Apps) != 1 || out.Apps[0].Version != strconv.Itoa(n) || out.Apps[0].Title != a.titles[n] {
		return Lost("app %s: answered %+v, want version %d, %s", a.id, out, n, a.titles[n])
	}
	return nil
}

// create makes the next app, or makes sure that it was made.
func (w *Apps) create(c Sender) error {
	title := fmt.Sprintf("%s app %d", w.urn, len(w.apps))
	w.creating = true
	var out appsResponse
	in := map[string]any{"title": title, "groups": []string{w.network}}
	if err := c.Write(Request{"POST", "/apps/", fmt.Sprintf("%s-%d", w.urn, len(w.apps)), in, http.StatusCreated},
		&out); err != nil {
		return err
	}
	w.creating = false
	w.apps = append(w.apps, &app{id: out.ID, titles: []string{title}, tags: map[string]int{}})
	return nil
}

// Settle finds out whether the last change was made.
func (w *Apps) Settle(c Sender, maybe bool) error {
	if w.creating || len(w.apps) == 0 {
		return nil
	}
	last := len(w.apps) - 1
	have, err := readApp(c, w.apps[last].id)
	if err != nil {
		return err
	}
	wrong := w.apps[last].differs(have)
	if wrong != nil && maybe && w.next != nil && w.next.differs(have) == nil {
		wrong = nil
	}
	w.apps[last] = have
	return wrong
}

// Verify holds the store against what the writer knows: its present app, or all of them.
func (w *Apps) Verify(c Sender, all bool) error {
	owned, err := w.owned(c)
	if err != nil {
		return err
	}
	if more := len(owned) - len(w.apps); more != 0 && (more != 1 || !w.creating) {
		return Lost("%s has %d apps, want %d (one more asked for: %t)", w.urn, len(owned), len(w.apps), w.creating)
	}
	for i, a := range w.apps {
		if i < len(w.apps)-1 && !all {
			continue
		}
		have, err := readApp(c, a.id)
		if err != nil {
			return err
		}
		if wrong := a.differs(have); wrong != nil {
			return wrong
		}
	}
	if all {
		return w.verifyFeed(c)
	}
	return nil
}

// verifyFeed holds the feed of changes against what the writer knows. The feed may lag behind while other transactions
// are open.
func (w *Apps) verifyFeed(c Sender) (wrong error) {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		told, err := replayApps(func(after string) (page vitrine.ChangesPage[appsvc.Event], err error) {
			path := "/x/changes?limit=500"
			if after != "" {
				path += "&after=" + after
			}
			_, err = c.Read(path, &page)
			return page, err
		})
		if err != nil {
			return err
		}
		wrong = nil
		for _, a := range w.apps {
			if f := told[a.id]; f == nil || f.Versions != len(a.titles) || !maps.Equal(f.Tags, a.tags) {
				wrong = Lost("app %s has %d versions and the tags %v, and the feed tells of %+v", a.id, len(a.titles),
					a.tags, f)
			}
		}
		if wrong == nil || time.Now().After(deadline) {
			return wrong
		}
	}
}

// owned lists the ids of the apps that the writer sees as no more than their owner.
func (w *Apps) owned(c Sender) (ids []string, err error) {
	for path := "/apps/?limit=500"; path != ""; {
		var page appsResponse
		header, err := c.Read(path, &page)
		if err != nil {
			return nil, err
		}
		for _, a := range page.Apps {
			ids = append(ids, a.ID)
		}
		link, _, _ := strings.Cut(header.Get("Link"), ">")
		_, query, found := strings.Cut(link, "?")
		path = ""
		if found {
			path = "/apps/?" + query
		}
	}
	return ids, nil
}

// readApp returns what the service has of an app.
func readApp(c Sender, id string) (*app, error) {
	a := &app{id: id, tags: map[string]int{}}
	var versions, tags appsResponse
	if _, err := c.Read("/apps/"+id+"/versions/?limit=500", &versions); err != nil {
		return nil, err
	}
	slices.Reverse(versions.Apps)
	for n, v := range versions.Apps {
		if v.Version != strconv.Itoa(n) {
			return nil, Lost("app %s: version %s stands where %d should", id, v.Version, n)
		}
		a.titles = append(a.titles, v.Title)
	}
	if _, err := c.Read("/apps/"+id+"/tags/", &tags); err != nil {
		return nil, err
	}
	for _, t := range tags.Tags {
		n, err := strconv.Atoi(t.AppVersion)
		if err != nil {
			return nil, err
		}
		a.tags[t.Name] = n
	}
	return a, nil
}

// differs returns an error unless have is what is known.
func (a *app) differs(have *app) error {
	if !slices.Equal(a.titles, have.titles) {
		return Lost("app %s has the versions %q, want %q", a.id, have.titles, a.titles)
	}
	if !maps.Equal(a.tags, have.tags) {
		return Lost("app %s has the tags %v, want %v", a.id, have.tags, a.tags)
	}
	return nil
}
