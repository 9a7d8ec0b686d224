package webhook

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// bodies is a RoundTripper that keeps the bodies that each host gets.
type bodies struct {
	mu  sync.Mutex
	got map[string][]string
}

func (b *bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got[r.URL.Host] = append(b.got[r.URL.Host], string(text))
	return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
}

// wait waits until a host got so many bodies.
func (b *bodies) wait(t *testing.T, host string, count int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		b.mu.Lock()
		n := len(b.got[host])
		b.mu.Unlock()
		if n >= count {
			return
		}
	}
	t.Fatalf("%s got %d changes, want %d", host, len(b.got[host]), count)
}

// Every change of an app, a tag or a component is delivered as it is in the feed, without its cursor.
func TestChangesOfApps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memory.New()
		apps := appsvc.New(db, nil)
		d := New(db, Services{Apps: apps}, nil)
		to1, to2 := "urn:vitrine:example.test:site=1", "urn:vitrine:example.test:site=2"
		got := &bodies{got: map[string][]string{}}
		d.transport = got
		if err := d.Set(t.Context(),
			[]Endpoint{to("all"), to("one", in(to1)), to("left", in(to1), of("app.left")),
				to("tags", of("tag.deleted"))}); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		ctx, stop := cancelable(t)
		go func() {
			defer close(done)
			_ = d.Run(ctx)
		}()
		me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"},
			Components: true}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			settle()
		}
		app, err := apps.As(me).CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "One", Groups: []string{to1}})
		must(err)
		_, err = apps.As(me).PutTag(t.Context(),
			appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
		must(err)
		_, err = apps.As(me).Patch(t.Context(), app.ID,
			strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
				`"path":"/apps/0/groups/0",`+
				`"value":"`+to2+`"}]`))
		must(err)
		must(apps.As(me).DeleteTag(t.Context(), appsvc.DeleteTagRequest{AppID: app.ID, Name: "production"}))
		_, err = apps.As(me).CreateComponent(t.Context(),
			appsvc.CreateComponentRequest{
				Manifest: strings.NewReader(`{"name":"map","version":"1","main":"/map.js","configSchema":{}}`)})
		must(err)
		stop()
		<-done
		data := func(kind, rest string) string {
			return fmt.Sprintf(`{"type":%q,"timestamp":"TIME","data":{"type":%q,"at":AT,"by":{"urn":%q},%s}}`, kind,
				kind, me.URN, rest)
		}
		about := fmt.Sprintf(`"app":%q`, app.ID)
		created, set := data("app.created", about+`,"version":"0"`),
			data("tag.set", about+`,"tag":"production","from":null,"to":"0"`)
		left := fmt.Sprintf(`{"type":"app.left","timestamp":"TIME","data":{"type":"app.left","at":AT,%s}}`, about)
		deleted := data("tag.deleted", about+`,"tag":"production","from":"0","to":null`)
		for host, want := range map[string][]string{
			"all": {created, set, data("app.updated", about+`,"version":"1"`), deleted,
				data("component.created", `"component":{"name":"map","version":"1"}`)},
			"one":  {created, set, left},
			"left": {left},
			"tags": {deleted},
		} {
			var have []string
			for _, body := range got.got[host] {
				body = regexp.MustCompile(`"timestamp":"2000-01-01T00:00:0\d\.\d{3}Z"`).ReplaceAllString(body,
					`"timestamp":"TIME"`)
				have = append(have, regexp.MustCompile(`"at":9466848\d{5}`).ReplaceAllString(body, `"at":AT`))
			}
			if !slices.Equal(have, want) {
				t.Errorf("%s got\n%s\nwant\n%s", host, strings.Join(have, "\n"), strings.Join(want, "\n"))
			}
		}
	})
}

// A cursor that the feed does not know is one of an earlier feed.
func TestForeignCursorsAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		p := f.start(to("a"))
		f.apps.add("apps", "tag.set", 1)
		settle()
		p.end()
		db := memory.New()
		apps := appsvc.New(db, nil)
		putRecord(t, db, positionKey("a"), json.RawMessage(f.position("a")))
		me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
		if _, err := apps.As(me).CreateApp(t.Context(),
			appsvc.CreateAppRequest{Title: "One", Groups: me.Moderates}); err != nil {
			t.Fatal(err)
		}
		d := New(db, Services{Apps: apps}, nil)
		got := &bodies{got: map[string][]string{}}
		d.transport = got
		if err := d.Set(t.Context(), []Endpoint{to("a")}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := cancelable(t)
		go func() {
			time.Sleep(time.Second)
			stop()
		}()
		if err := d.Run(ctx); err != nil || len(got.got["a"]) != 1 {
			t.Errorf("%v, %v", got.got, err)
		}
	})
}
