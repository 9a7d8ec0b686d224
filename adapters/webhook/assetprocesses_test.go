package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// opening is the services of one process on a store that several processes share.
type opening struct {
	assets *assets.Service
	db     storage.Store
}

// Changes of libraries reach their endpoints from a store that several processes use: one process changes, another
// delivers, and a third goes on where that one ended.
func TestChangesOfAssetsAcrossProcesses(t *testing.T) {
	t.Parallel()
	db := memory.New()
	deliverFrom(t, func() opening { return opening{assets.New(db, nil), db} })
}

// libraryOf is the library of a network, and libraryMe its moderator.
func libraryOf(network string) assets.Library { return assets.Library{Network: network, ID: network} }

func libraryMe(network string) vitrine.Caller {
	urn := "urn:vitrine:" + network
	return vitrine.Caller{URN: urn + ":user=me", Moderates: []string{urn}}
}

// add adds an asset and returns its id.
func (o opening) add(t *testing.T, network, id string) string {
	t.Helper()
	made, err := o.assets.As(libraryMe(network)).ChangeAssets(t.Context(), libraryOf(network),
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{
			{ID: id, Generator: assets.Generator{ID: "blog.example"}, Content: []byte(`{"content":"x"}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	return made.Added[0].ID
}

// deliver begins to deliver, and returns what ends that.
func (o opening) deliver(t *testing.T, got *bodies) (end func()) {
	t.Helper()
	d := New(o.db, Services{Assets: o.assets}, nil)
	d.transport = got
	if err := d.Set(t.Context(),
		[]Endpoint{to("all"), to("a", in("urn:vitrine:a.test")), to("apps", of("app.created"))}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := cancelable(t)
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	return func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func deliverFrom(t *testing.T, open func() opening) {
	writer, first, second := open(), open(), open()
	old := writer.add(t, "a.test", "before")
	got := &bodies{got: map[string][]string{}}
	end := first.deliver(t, got)
	from, err := writer.assets.As(libraryMe("a.test")).Changes(t.Context(), libraryOf("a.test"),
		vitrine.ChangesRequest{After: vitrine.Now})
	if err != nil {
		t.Fatal(err)
	}

	writer.add(t, "a.test", "1")
	writer.add(t, "b.test", "1") // in a library that is new
	ctx, me, lib := t.Context(), libraryMe("a.test"), libraryOf("a.test")
	if _, err := writer.assets.As(me).ChangeAttributes(ctx, lib,
		assets.ChangeAttributesRequest{Assets: []string{old},
			Add: []assets.Attribute{{Key: "k", Value: "v"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.assets.As(me).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "Drafts"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.assets.As(me).ChangeAssets(ctx, lib,
		assets.ChangeAssetsRequest{Remove: []string{old}}); err != nil {
		t.Fatal(err)
	}
	got.wait(t, "all", 5)
	end()
	writer.add(t, "a.test", "2") // while nobody delivers
	end = second.deliver(t, got)
	got.wait(t, "all", 6)
	writer.add(t, "b.test", "2")
	got.wait(t, "all", 7)
	got.wait(t, "a", 5)
	end()

	inA, inB := writer.told(t, "a.test", from.Next), writer.told(t, "b.test", "")
	got.mu.Lock()
	defer got.mu.Unlock()
	var all []string
	for _, body := range got.got["all"] {
		if strings.Contains(body, "b.test") {
			all = append(all, body)
		}
	}
	for host, want := range map[string][]string{"a": inA, "apps": nil} {
		if !slices.Equal(got.got[host], want) {
			t.Errorf("%s got\n%s\nwant\n%s", host, strings.Join(got.got[host], "\n"), strings.Join(want, "\n"))
		}
	}
	if !slices.Equal(all, inB) || len(got.got["all"]) != len(inA)+len(inB) {
		t.Errorf("of b.test came\n%s\nwant\n%s\nand %d in all", strings.Join(all, "\n"), strings.Join(inB, "\n"),
			len(got.got["all"]))
	}
}

// told returns the changes of a library after a cursor, as they are delivered.
func (o opening) told(t *testing.T, network, after string) (all []string) {
	t.Helper()
	page, err := o.assets.As(libraryMe(network)).Changes(t.Context(), libraryOf(network),
		vitrine.ChangesRequest{After: after})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Changes {
		e.Cursor = ""
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		at := time.UnixMilli(e.At).UTC().Format("2006-01-02T15:04:05.000Z")
		all = append(all,
			fmt.Sprintf(`{"type":"assets.changed","timestamp":"%s","data":%s,"library":{"network":"%s","id":"%s"}}}`,
				at, data[:len(data)-1], network, network))
	}
	return all
}
