//go:build proof

package webhook

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// request is a delivery as the receiver got it.
type request struct {
	header http.Header
	body   []byte
}

// secretOf returns a secret with a key of n bytes.
func secretOf(n int, c byte) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(c), n)))
}

// deliveries returns what a receiver gets while an app and its tags change, signed with these secrets.
func deliveries(t *testing.T, secrets ...string) []request {
	t.Helper()
	got := make(chan request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- request{r.Header.Clone(), body}
	}))
	defer server.Close()
	secret := fmt.Sprintf("%q", secrets[0])
	if len(secrets) == 2 {
		secret = fmt.Sprintf("[%q,%q]", secrets[0], secrets[1])
	}
	endpoints, err := webhook.Parse(
		[]byte(`[{"name":"receiver","url":"` + server.URL + `/hook?a=b","secret":` + secret + `}]`))
	if err != nil {
		t.Fatal(err)
	}
	db := memory.New()
	apps := appsvc.New(db, nil)
	d := webhook.New(db, webhook.Services{Apps: apps},
		&webhook.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err := d.Set(t.Context(), endpoints); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx) }()
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=é", Moderates: []string{"urn:vitrine:example.test"},
		Components: true}
	if _, err := apps.As(me).CreateApp(t.Context(),
		appsvc.CreateAppRequest{Title: "One", Groups: me.Moderates}); err != nil {
		t.Fatal(err)
	}
	names := []string{"map", "é", "@scope/a b", "\"\\/<>&", "\U0001f600", strings.Repeat("x", 128)}
	for _, name := range names {
		manifest := fmt.Appendf(nil, `{"name":%q,"version":"1","main":"/map.js","configSchema":{}}`, name)
		if _, err := apps.As(me).CreateComponent(t.Context(),
			appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)}); err != nil {
			t.Fatal(err)
		}
	}
	var out []request
	for range 1 + len(names) {
		select {
		case r := <-got:
			out = append(out, r)
		case <-time.After(time.Minute):
			t.Fatalf("%d deliveries", len(out))
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return out
}

func verifier(t *testing.T, secret string) *standardwebhooks.Webhook {
	t.Helper()
	v, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheLibraryAcceptsDeliveries(t *testing.T) {
	for _, n := range []int{24, 32, 64} {
		one, two := secretOf(n, 1), secretOf(n, 2)
		for _, secrets := range [][]string{{one}, {one, two}, {two, one}} {
			for _, r := range deliveries(t, secrets...) {
				for _, secret := range secrets {
					if err := verifier(t, secret).Verify(r.body, r.header); err != nil {
						t.Errorf("%d secrets: %v: %v %s", len(secrets), err, r.header, r.body)
					}
				}
				if err := verifier(t, secretOf(n, 3)).Verify(r.body, r.header); !errors.Is(err,
					standardwebhooks.ErrNoMatchingSignature) {
					t.Errorf("with another secret: %v", err)
				}
			}
		}
	}
}

// A delivery that was altered is refused, and so is one that is sent again later.
func TestTheLibraryRefusesWhatIsNotADelivery(t *testing.T) {
	secret := secretOf(32, 1)
	v := verifier(t, secret)
	all := deliveries(t, secret)
	for i, r := range all {
		at, err := strconv.ParseInt(r.header.Get("webhook-timestamp"), 10, 64)
		if err != nil || time.Since(time.Unix(at, 0)) > time.Minute {
			t.Errorf("webhook-timestamp: %v, %v", r.header, err)
		}
		for what, alter := range map[string]func(r *request){
			"another body":     func(r *request) { r.body = append(r.body[:len(r.body)-1], ' ', '}') },
			"another delivery": func(r *request) { r.body = all[(i+1)%len(all)].body },
			"another id":       func(r *request) { r.header.Set("webhook-id", r.header.Get("webhook-id")+"x") },
			"another time":     func(r *request) { r.header.Set("webhook-timestamp", fmt.Sprint(at+1)) },
			"an earlier time":  func(r *request) { r.header.Set("webhook-timestamp", fmt.Sprint(at-600)) },
			"another signature": func(r *request) {
				r.header.Set("webhook-signature", all[(i+1)%len(all)].header.Get("webhook-signature"))
			},
			"no signature": func(r *request) { r.header.Del("webhook-signature") },
			"no id":        func(r *request) { r.header.Del("webhook-id") },
			"no time":      func(r *request) { r.header.Del("webhook-timestamp") },
		} {
			altered := request{r.header.Clone(), append([]byte(nil), r.body...)}
			alter(&altered)
			if v.Verify(altered.body, altered.header) == nil {
				t.Errorf("%s is accepted", what)
			}
		}
		if err := v.Verify(r.body, r.header); err != nil {
			t.Errorf("unaltered: %v", err)
		}
	}
}
