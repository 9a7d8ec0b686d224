package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// golden is what the first release answered about its stores.
type golden struct {
	Now     int64 // milliseconds since the epoch, after the last change
	Callers map[string]httpapi.Principal
	Repeats []exchange // requests whose answer is kept for their idempotency key
	Reads   []exchange
	Reviews []string // lines of the export
}

// exchange is a request and the answer of the first release.
type exchange struct {
	As     string // the name of the caller
	Method string
	Path   string
	Key    string // Idempotency-Key
	Body   string
	Status int
	Answer json.RawMessage // of a success
}

// Check reads everything that the first release's stores hold, through the services, and returns an
// error for the first answer that is not the one of the first release. It also repeats the requests
// whose answers are kept: each must be answered as before and change nothing.
func Check(ctx context.Context, s archive.Stores) error {
	g, err := readGolden()
	if err != nil {
		return err
	}
	h, err := g.handler(s)
	if err != nil {
		return err
	}
	for _, pass := range []struct {
		name string
		list []exchange
	}{{"", g.Reads}, {"repeated: ", g.Repeats}, {"after the repeats: ", g.Reads[:1]}} {
		for _, x := range pass.list {
			if err := x.check(ctx, h); err != nil {
				return fmt.Errorf("%s%s: %s %s: %w", pass.name, x.As, x.Method, x.Path, err)
			}
		}
	}
	if err := checkUses(ctx, s.Apps); err != nil {
		return err
	}
	return g.checkReviews(ctx, s.Reviews)
}

func readGolden() (g golden, err error) {
	err = json.Unmarshal(unpack(goldenFile), &g)
	return g, err
}

// handler serves the stores. Its clock stands just after the last change of the first release, so that
// the kept answers have not expired.
func (g golden) handler(s archive.Stores) (http.Handler, error) {
	now := func() time.Time { return time.UnixMilli(g.Now) }
	return httpapi.New(httpapi.Config{
		Apps:    appsvc.New(s.Apps, &appsvc.Options{Now: now}),
		Assets:  assets.New(s.Assets, &assets.Options{Now: now}),
		BaseURL: "https://vitrine.first.test",
		Authenticate: func(r *http.Request) (httpapi.Principal, error) {
			token, err := httpapi.RequestToken(r)
			return g.Callers[token], err
		},
		Log: slog.New(slog.DiscardHandler),
	})
}

func (x exchange) check(ctx context.Context, h http.Handler) error {
	in := httptest.NewRequestWithContext(ctx, x.Method, x.Path, strings.NewReader(x.Body))
	in.Header.Set("Authorization", "svctoken "+x.As)
	if x.Body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	if x.Key != "" {
		in.Header.Set("Idempotency-Key", x.Key)
	}
	out := httptest.NewRecorder()
	h.ServeHTTP(out, in)
	if out.Code != x.Status {
		return fmt.Errorf("the answer is %d %s, want %d", out.Code, out.Body, x.Status)
	}
	if len(x.Answer) == 0 {
		return nil
	}
	return compare(out.Body.Bytes(), x.Answer)
}

// checkReviews compares what is exported. The first release knew no networks, so that its reviews are all in
// the default one.
func (g golden) checkReviews(ctx context.Context, s reviews.Store) error {
	service, operator := reviews.New(s, nil), reviews.Caller{Operator: true}
	networks, err := service.Networks(ctx, operator)
	if err != nil {
		return err
	}
	if !slices.Equal(networks, []string{reviews.DefaultNetwork}) {
		return fmt.Errorf("the networks of reviews are %q, want %q alone", networks, reviews.DefaultNetwork)
	}
	var out bytes.Buffer
	if err := service.Export(ctx, operator, reviews.ExportRequest{Network: reviews.DefaultNetwork, To: &out}); err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	if len(lines) != len(g.Reviews) {
		return fmt.Errorf("the export of reviews has %d lines, want %d", len(lines), len(g.Reviews))
	}
	for i, l := range lines {
		if err := compare(l, []byte(g.Reviews[i])); err != nil {
			return fmt.Errorf("line %d of the export of reviews: %w", i+1, err)
		}
	}
	return nil
}

// compare reports what of want is missing from have, or different there.
func compare(have, want []byte) error {
	a, err := decode(have)
	if err != nil {
		return err
	}
	b, err := decode(want)
	if err != nil {
		return err
	}
	return within(a, b, "")
}

// decode keeps the text of numbers.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// within reports where have lacks what want has. Objects may have more members, lists may not have
// more items. at is a JSON pointer.
func within(have, want any, at string) error {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v, want an object", at, have)
		}
		for name := range w {
			if _, ok := h[name]; !ok {
				return fmt.Errorf("%s/%s is missing", at, name)
			}
			if err := within(h[name], w[name], at+"/"+name); err != nil {
				return err
			}
		}
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return fmt.Errorf("%s is %v, want a list of %d", at, have, len(w))
		}
		for i := range w {
			if err := within(h[i], w[i], fmt.Sprintf("%s/%d", at, i)); err != nil {
				return err
			}
		}
	default:
		if have != want {
			return fmt.Errorf("%s is %v, want %v", at, have, want)
		}
	}
	return nil
}
