//go:build proof

package failover

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof/replay"
)

// assetWriter adds, replaces and removes assets of a generator of its own.
type assetWriter struct {
	name  string
	have  map[string]asset // by foreign id
	next  map[string]asset // have, if the change that is under way has been made
	made  int              // requests that have changed something: so many entries the feed has of the writer
	r     *rand.Rand
	count int
}

// asset is what a writer was answered about an asset. id is empty when no answer told it.
type asset struct{ id, text string }

func newAssetWriter(i int) *assetWriter {
	return &assetWriter{name: fmt.Sprintf("g%d", i), have: map[string]asset{}, r: rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))}
}

func (w *assetWriter) user() string { return urn + ":user=" + w.name }

// step changes up to four assets in one request.
func (w *assetWriter) step(c *client) error {
	w.next = maps.Clone(w.have)
	var in struct {
		Add    []map[string]any `json:"add,omitempty"`
		Remove []string         `json:"remove,omitempty"`
	}
	var foreign []string
	for range 1 + w.r.IntN(4) {
		w.count++
		id := fmt.Sprintf("%s-%d", w.name, w.r.IntN(60))
		if old, found := w.have[id]; slices.Contains(foreign, id) {
			continue
		} else if found && old.id != "" && w.r.IntN(3) == 0 {
			in.Remove = append(in.Remove, old.id)
			delete(w.next, id)
		} else {
			text := fmt.Sprintf("%sword%d of every %s", w.name, w.count, w.name)
			in.Add = append(in.Add, map[string]any{"id": id, "generator": map[string]string{"id": w.name}, "content": map[string]string{"content": text}})
			w.next[id] = asset{old.id, text}
		}
		foreign = append(foreign, id)
	}
	var out struct {
		Added []struct {
			ID      string
			Content struct{ ID string }
		}
	}
	if err := c.write(request{"POST", library + "/assets", "", in, http.StatusOK}, &out); err != nil {
		return err
	}
	if len(out.Added) != len(in.Add) {
		return lost("%d assets added, want %d", len(out.Added), len(in.Add))
	}
	for _, a := range out.Added {
		w.next[a.Content.ID] = asset{a.ID, w.next[a.Content.ID].text}
	}
	w.have = w.next
	w.made++
	return nil
}

// settle finds out whether the last change was made.
func (w *assetWriter) settle(c *client, maybe bool) error {
	have, err := w.read(c)
	if err != nil {
		return err
	}
	wrong := w.differ(w.have, have)
	if wrong != nil && maybe && w.differ(w.next, have) == nil {
		wrong = nil
		w.made++
	}
	w.have = have
	return wrong
}

func (w *assetWriter) verify(c *client, all bool) error {
	have, err := w.read(c)
	if err != nil {
		return err
	}
	if wrong := w.differ(w.have, have); wrong != nil || !all {
		return wrong
	}
	return w.verifyFeed(c)
}

// verifyFeed compares the feed of the library with the changes that the writer made and with the stored assets. The feed may lag
// behind while other transactions are open.
func (w *assetWriter) verifyFeed(c *client) error {
	there := map[string]bool{}
	for _, a := range w.have {
		there[a.id] = true
	}
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		told, err := replay.Assets(func(after string) (page assets.ChangesPage, err error) {
			query := url.Values{"limit": {"500"}}
			if after != "" {
				query.Set("after", after)
			}
			_, err = c.read(library+"/changes?"+query.Encode(), &page)
			return page, err
		})
		if err != nil {
			return err
		}
		ids := told.AddedBy(w.user())
		switch {
		case told.Made[w.user()] == w.made && maps.Equal(ids, there):
			return nil
		case time.Now().After(deadline) || told.Made[w.user()] > w.made:
			return lost("%s has made %d changes and has the assets %v, and the feed tells of %d and %v", w.name, w.made, there, told.Made[w.user()], ids)
		}
	}
}

// read searches for all that is the writer's own.
func (w *assetWriter) read(c *client) (map[string]asset, error) {
	var found struct {
		Assets []struct {
			ID      string
			Content struct{ ID, Content string }
		}
		Paging struct{ Total int }
	}
	if _, err := c.read(library+"/assets?"+url.Values{"query": {"every " + w.name}, "limit": {"500"}}.Encode(), &found); err != nil {
		return nil, err
	}
	have := map[string]asset{}
	for _, a := range found.Assets {
		have[a.Content.ID] = asset{a.ID, a.Content.Content}
	}
	if found.Paging.Total != len(have) {
		return nil, lost("a search counts %d assets and shows %d", found.Paging.Total, len(have))
	}
	return have, nil
}

func (w *assetWriter) differ(want, have map[string]asset) error {
	for id, a := range want {
		if h := have[id]; h.text != a.text || a.id != "" && h.id != a.id {
			return lost("asset %s of %s is %+v, want %+v", id, w.name, h, a)
		}
	}
	if len(have) != len(want) {
		return lost("%s has %d assets, want %d", w.name, len(have), len(want))
	}
	return nil
}
