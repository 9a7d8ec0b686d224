package webhook

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// An endpoint with tags gets the moves of these, and one for each run of a release and each roll back of it, also
// across a restart.
func TestTagsOfAnEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		live := func(e *Endpoint) { e.Tags = []string{"live", "test"} }
		header := func(e *Endpoint) { e.Header = func() http.Header { return http.Header{"X-Key": {"CANARY"}} } }
		p := f.start(to("a", live, of("tag.set", "tag.deleted"), header), to("b", live, of("tag.set"), in("urn:v:b")))
		f.apps.add("apps", "app.created", 1)
		f.apps.move("tag.set", 2, "live", "")
		f.apps.move("tag.set", 3, "draft", "")
		f.apps.move("tag.deleted", 4, "test", "")
		f.apps.move("tag.set", 5, "draft", "r1")
		f.apps.move("tag.set", 6, "live", "r1")
		f.apps.move("tag.set", 7, "live", "r1", "urn:v:b")
		settle()
		for _, d := range f.to.got {
			if got := d.header.Get("X-Key"); (got == "CANARY") != (d.host == "a") {
				t.Errorf("%s gets the header %q", d.host, got)
			}
		}
		f.expect("moves of tags", "a:2 a:4 a:6 b:7")
		p.end()
		p = f.start(to("a", live, of("tag.set", "tag.deleted"), header))
		f.apps.move("tag.set", 8, "test", "r1")
		f.apps.move("tag.set", 9, "test", "r1 back")
		f.apps.move("tag.set", 10, "live", "r1 back")
		settle()
		f.expect("the rest of a release, and its roll back", "a:9")
		p.end()
		if strings.Contains(f.log.String(), "CANARY") {
			t.Error("the log has the value of a header")
		}
	})
}

// A batch comes when nothing has come for a while, or after ten times as long. Retries have what has come since.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		wait := func(e *Endpoint) { e.Wait = 30 * time.Second }
		batch := func(what, want string, after time.Duration) string {
			t.Helper()
			begun := time.Now()
			var got []delivery
			for end := begun.Add(after + time.Minute); len(got) == 0 && time.Now().Before(end); got = f.to.all() {
				time.Sleep(time.Second)
				synctest.Wait()
			}
			if len(got) != 1 || got[0].kind != "batch" || got[0].batch != want {
				t.Fatalf("%s: %+v, want %q", what, got, want)
			}
			if late := got[0].at.Sub(begun) - after; late < -2*time.Second || late > 2*time.Second {
				t.Errorf("%s: came %v late", what, late)
			}
			return got[0].id
		}
		p := f.start(to("a", wait))
		settle()
		f.apps.add("apps", "tag.set", 1)
		time.Sleep(20 * time.Second)
		f.apps.add("apps", "tag.set", 2)
		batch("two", "1 2 ", 30*time.Second)

		stop := make(chan struct{})
		go func() {
			for i := 10; i < 100; i++ {
				select {
				case <-stop:
					return
				default:
					f.apps.add("apps", "tag.set", i)
					time.Sleep(19 * time.Second)
				}
			}
		}()
		synctest.Wait()
		batch("more and more", "10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 ", 5*time.Minute)
		close(stop)
		time.Sleep(2 * time.Minute)
		f.to.take()

		f.to.set(func(delivery) (int, error) { return 500, nil })
		f.apps.add("apps", "tag.set", 200)
		first := batch("refused", "200 ", 30*time.Second)
		p.end()
		f.to.set(nil)
		f.apps.add("apps", "tag.set", 201)
		p = f.start(to("a", wait))
		if again := batch("repeated", "200 201 ", 30*time.Second); again == first {
			t.Error("another batch has the same id")
		}
		for i := range 1001 {
			f.apps.addUnheard(time.Now(), "apps", "tag.set", i)
		}
		f.apps.add("apps", "tag.set", 1001)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := f.to.all(); len(got) != 1 || !strings.HasPrefix(got[0].batch, "0 1 2 ") ||
			!strings.HasSuffix(got[0].batch, " 998 999 truncated") {
			t.Errorf("many: %+v", got)
		}
		time.Sleep(5 * time.Minute)
		f.expect("what was delivered", "")
		p.end()
	})
}

// Moves of tags and releases of a service are told apart by their entries in its feed.
func TestReleasesOfAService(t *testing.T) {
	ctx := t.Context()
	svc := appsvc.New(memory.New(), nil)
	ann := svc.As(vitrine.Caller{URN: "urn:v:a:user=ann", Moderates: []string{"urn:v:a"}})
	var in appsvc.CreateReleaseRequest
	in.Name = "Spring"
	for range 2 {
		app, err := ann.CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: []string{"urn:v:a"}})
		if err != nil {
			t.Fatal(err)
		}
		in.Moves = append(in.Moves, appsvc.ReleaseMove{AppID: app.ID, Tag: "live", To: appsvc.PointsTo(app.Version)})
	}
	rel, err := ann.CreateRelease(ctx, in)
	for _, act := range []func(context.Context, string, vitrine.Version) (appsvc.Release, error){ann.RunRelease,
		ann.UndoRelease} {
		if err == nil {
			rel, err = act(ctx, rel.ID, rel.Version)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	read, err := appSource{svc}.read(ctx, "", Endpoint{})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, c := range read.changes {
		if c.Tag != "" {
			told[fmt.Sprint(c.Tag, " ", strings.TrimPrefix(c.Release, rel.ID))]++
		}
	}
	if len(told) != 2 || told["live false"] != 2 || told["live true"] != 2 {
		t.Errorf("%v", told)
	}
}
