//go:build proof

package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

// Assets adds, replaces and removes assets of a generator of its own.
type Assets struct {
	network, library string // the URN of the network, and the path of its library
	name             string
	have             map[string]asset // by foreign id
	next             map[string]asset // have, if the change that is under way has been made
	// requests that have changed something: so many entries the feed has of the writer
	made  int
	r     *rand.Rand
	count int
}

// asset is what a writer was answered about an asset. id is empty when no answer told it.
type asset struct{ id, text string }

// NewAssets returns the i-th writer of assets in a network, whose URN is given, and in its library, whose path is
// given.
func NewAssets(network, library string, i int) *Assets {
	return &Assets{network: network, library: library, name: fmt.Sprintf("g%d", i), have: map[string]asset{},
		r: rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))}
}

// User is the URN of the writer.
func (w *Assets) User() string { return w.network + ":user=" + w.name }

// Owns is false: the feed of a library is for moderators.
func (w *Assets) Owns() bool { return false }

// Step changes up to four assets in one request.
func (w *Assets) Step(c Sender) error {
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
			in.Add = append(in.Add,
				map[string]any{"id": id, "generator": map[string]string{"id": w.name},
					"content": map[string]string{"content": text}})
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
	if err := c.Write(Request{"POST", w.library + "/assets", "", in, http.StatusOK}, &out); err != nil {
		return err
	}
	if len(out.Added) != len(in.Add) {
		return Lost("%d assets added, want %d", len(out.Added), len(in.Add))
	}
	for _, a := range out.Added {
		w.next[a.Content.ID] = asset{a.ID, w.next[a.Content.ID].text}
	}
	w.have = w.next
	w.made++
	return nil
}

// Settle finds out whether the last change was made.
func (w *Assets) Settle(c Sender, maybe bool) error {
	have, err := w.read(c)
	if err != nil {
		return err
	}
	wrong := w.differ(w.have, have)
	if wrong != nil && maybe && w.next != nil && w.differ(w.next, have) == nil {
		wrong = nil
		w.made++
	}
	w.have = have
	return wrong
}

// Verify holds the service against what the writer knows.
func (w *Assets) Verify(c Sender, all bool) error {
	have, err := w.read(c)
	if err != nil {
		return err
	}
	if wrong := w.differ(w.have, have); wrong != nil || !all {
		return wrong
	}
	return w.verifyFeed(c)
}

// verifyFeed compares the feed of the library with the changes that the writer made and with the stored assets. The
// feed may lag behind while other transactions are open.
func (w *Assets) verifyFeed(c Sender) error {
	there := map[string]bool{}
	for _, a := range w.have {
		there[a.id] = true
	}
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		told, err := replayAssets(func(after string) (page vitrine.ChangesPage[assets.Event], err error) {
			query := url.Values{"limit": {"500"}}
			if after != "" {
				query.Set("after", after)
			}
			_, err = c.Read(w.library+"/changes?"+query.Encode(), &page)
			return page, err
		})
		if err != nil {
			return err
		}
		ids := told.AddedBy(w.User())
		switch {
		case told.Made[w.User()] == w.made && maps.Equal(ids, there):
			return nil
		case time.Now().After(deadline) || told.Made[w.User()] > w.made:
			return Lost("%s has made %d changes and has the assets %v, and the feed tells of %d and %v", w.name, w.made,
				there, told.Made[w.User()], ids)
		}
	}
}

// read searches for all that is the writer's own.
func (w *Assets) read(c Sender) (map[string]asset, error) {
	var found struct {
		Assets []struct {
			ID      string
			Content struct{ ID, Content string }
		}
		Paging struct{ Total int }
	}
	if _, err := c.Read(w.library+"/assets?"+url.Values{"query": {"every " + w.name}, "limit": {"500"}}.Encode(),
		&found); err != nil {
		return nil, err
	}
	have := map[string]asset{}
	for _, a := range found.Assets {
		have[a.Content.ID] = asset{a.ID, a.Content.Content}
	}
	if found.Paging.Total != len(have) {
		return nil, Lost("a search counts %d assets and shows %d", found.Paging.Total, len(have))
	}
	return have, nil
}

func (w *Assets) differ(want, have map[string]asset) error {
	for id, a := range want {
		if h := have[id]; h.text != a.text || a.id != "" && h.id != a.id {
			return Lost("asset %s of %s is %+v, want %+v", id, w.name, h, a)
		}
	}
	if len(have) != len(want) {
		return Lost("%s has %d assets, want %d", w.name, len(have), len(want))
	}
	return nil
}
