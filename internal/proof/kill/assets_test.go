//go:build proof

package kill

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof/replay"
)

// assetWriter adds, replaces and removes assets of a generator of its own.
type assetWriter struct {
	name    string
	have    map[string]asset // by foreign id
	pending map[string]asset // have, if the change without an answer has been made; nil = none
	made    int              // requests that have changed something: so many entries the feed has of the writer
	r       *rand.Rand
	count   int
}

// asset is what a writer was answered about an asset. id is empty when no answer told it.
type asset struct{ id, text string }

func newAssetWriter(i int) *assetWriter {
	return &assetWriter{name: fmt.Sprintf("g%d", i), have: map[string]asset{}, r: rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))}
}

func (w *assetWriter) user() string { return urn + ":user=" + w.name }

// step changes up to four assets in one request.
func (w *assetWriter) step(c *client) error {
	next := maps.Clone(w.have)
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
			delete(next, id)
			foreign = append(foreign, id)
			continue
		}
		text := fmt.Sprintf("%sword%d of every %s", w.name, w.count, w.name)
		in.Add = append(in.Add, map[string]any{"id": id, "generator": map[string]string{"id": w.name}, "content": map[string]string{"content": text}})
		next[id] = asset{w.have[id].id, text}
		foreign = append(foreign, id)
	}
	w.pending = next
	var out struct {
		Added []struct {
			ID      string
			Content struct{ ID string }
		}
	}
	if err := c.send("POST", library+"/assets", "", in, &out, http.StatusOK); err != nil {
		return err
	}
	if len(out.Added) != len(in.Add) {
		return fmt.Errorf("%d assets added, want %d", len(out.Added), len(in.Add))
	}
	for _, a := range out.Added {
		next[a.Content.ID] = asset{a.ID, next[a.Content.ID].text}
	}
	w.have, w.pending = next, nil
	w.made++
	return nil
}

// verify holds the store against what the writer knows, by a search for all that is its own.
func (w *assetWriter) verify(ctx context.Context, s *opened, _ bool) error {
	by := assets.Caller{URN: w.user(), Moderates: []string{urn}}
	have := map[string]asset{}
	found, err := s.assets.Search(ctx, by, assets.Library{Network: network, ID: network}, assets.SearchRequest{Query: "every " + w.name, Limit: 500})
	if err != nil {
		return err
	}
	for _, a := range found.Assets {
		text, err := a.MarshalJSON()
		if err != nil {
			return err
		}
		var in struct {
			ID      string
			Content struct{ ID, Content string }
		}
		if err := json.Unmarshal(text, &in); err != nil {
			return err
		}
		have[in.Content.ID] = asset{in.ID, in.Content.Content}
	}
	if int(found.Paging.Total) != len(have) {
		return lost("a search counts %d assets and shows %d", found.Paging.Total, len(have))
	}
	if wrong := differ(w.name, w.have, have); wrong != nil {
		if w.pending == nil {
			return wrong
		}
		if wrongToo := differ(w.name, w.pending, have); wrongToo != nil {
			return fmt.Errorf("%w; nor with the change that got no answer: %w", wrong, wrongToo)
		}
		w.made++ // without an answer
	}
	w.have, w.pending = have, nil
	return w.verifyFeed(ctx, s, by)
}

// verifyFeed compares the feed of the library with the changes that the writer made and with the stored assets.
func (w *assetWriter) verifyFeed(ctx context.Context, s *opened, by assets.Caller) error {
	told, err := replay.Assets(func(after string) (assets.ChangesPage, error) {
		return s.assets.Changes(ctx, by, assets.Library{Network: network, ID: network}, assets.ChangesRequest{After: after, Limit: 500})
	})
	if err != nil {
		return lost("%s: %w", w.name, err)
	}
	if told.Made[w.user()] != w.made {
		return lost("%s has made %d changes, and the feed tells of %d", w.name, w.made, told.Made[w.user()])
	}
	there := map[string]bool{}
	for _, a := range w.have {
		there[a.id] = true
	}
	if ids := told.AddedBy(w.user()); !maps.Equal(ids, there) {
		return lost("%s has the assets %v, and the feed tells of %v", w.name, there, ids)
	}
	return nil
}

func differ(name string, want, have map[string]asset) error {
	for id, a := range want {
		if h := have[id]; h.text != a.text || a.id != "" && h.id != a.id {
			return lost("asset %s of %s is %+v, want %+v", id, name, h, a)
		}
	}
	if len(have) != len(want) {
		return lost("%s has %d assets, want %d", name, len(have), len(want))
	}
	return nil
}
