package signin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const (
	network = "urn:vitrine:example.test"
	other   = "urn:vitrine:other.test"
)

// world is a server with its people.
type world struct {
	t       *testing.T
	db      storage.Store
	people  *signin.Service
	handler http.Handler
	streams *httpapi.Streams
	tokens  *httpapi.Tokens
	log     *bytes.Buffer
	base    string
	now     time.Duration // that the clock is ahead
	opened  int           // browsers, each with an address of its own
}

// newWorld returns a server at a base URL. change may change its options.
func newWorld(t *testing.T, base string, change ...func(*signin.Options)) *world {
	t.Helper()
	db := memory.New()
	t.Cleanup(func() { _ = db.Close() })
	return newWorldOver(t, db, base, change...)
}

func newWorldOver(t *testing.T, db storage.Store, base string, change ...func(*signin.Options)) *world {
	t.Helper()
	w := &world{t: t, db: db, base: base, streams: httpapi.NewStreams(), log: new(bytes.Buffer)}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	var err error
	if w.tokens, err = httpapi.NewTokens([]byte(strings.Repeat("k", 32)), nil); err != nil {
		t.Fatal(err)
	}
	o := signin.Options{BaseURL: base, Otherwise: w.tokens.Authenticate, Log: log, Now: w.clock}
	for _, fn := range change {
		fn(&o)
	}
	if w.people, err = signin.New(w.db, o); err != nil {
		t.Fatal(err)
	}
	w.handler, err = httpapi.New(httpapi.Config{Apps: appsvc.New(w.db, nil), Authenticate: w.people.Authenticate,
		Extras:  w.people.Endpoints(),
		Streams: w.streams, Log: log, Observer: httpapi.AccessLog(log)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// clock is what the server takes for the time.
func (w *world) clock() time.Time { return time.Now().Add(w.now) }

// browser is a browser with its cookies, and an authenticator with passkeys.
type browser struct {
	*world
	address string
	cookies map[string]string
	origin  string
	auth    virtualwebauthn.Authenticator
	key     virtualwebauthn.Credential
	headers map[string]string
}

func (w *world) browser() *browser {
	origin := strings.Join(strings.SplitN(w.base, "/", 4)[:3], "/")
	key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	for len(key.Key.AttestationData()) != 77 { // the library writes coordinates without leading zeros, which is wrong
		key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	}
	w.opened++
	return &browser{world: w, address: fmt.Sprintf("10.0.%d.%d", w.opened/200, w.opened%200),
		cookies: map[string]string{}, origin: origin, auth: virtualwebauthn.NewAuthenticator(), key: key}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// text returns a member of the body, by a path of members.
func (a answer) text(path string) string {
	switch v := a.value(path).(type) {
	case string:
		return v
	case nil:
		return ""
	default:
		out, _ := json.Marshal(v)
		return string(out)
	}
}

func (a answer) value(path string) any {
	var v any
	_ = json.Unmarshal(a.body, &v)
	for name := range strings.SplitSeq(path, ".") {
		if m, ok := v.(map[string]any); ok {
			v = m[name]
		} else {
			return nil
		}
	}
	return v
}

// send sends a request with the cookies of the browser.
func (b *browser) send(method, path string, body any) answer {
	b.t.Helper()
	return b.sendContext(b.t.Context(), method, path, body)
}

func (b *browser) sendContext(ctx context.Context, method, path string, body any) answer {
	b.t.Helper()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		if raw, ok := body.(string); ok {
			text = []byte(raw)
		}
		in = bytes.NewReader(text)
	}
	r := httptest.NewRequestWithContext(ctx, method, b.origin+path, in)
	r.RemoteAddr = b.address + ":1234"
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", "test")
	for name, value := range b.headers {
		r.Header.Set(name, value)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	out := w.Result()
	for _, c := range out.Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	return answer{out.StatusCode, out.Header, w.Body.Bytes()}
}

// want sends a request and fails the test if the status is another one.
func (b *browser) want(status int, method, path string, body any) answer {
	b.t.Helper()
	a := b.send(method, path, body)
	if a.status != status {
		b.t.Fatalf("%s %s: %d %s, want %d; the log: %s", method, path, a.status, a.body, status,
			b.log.String()[max(0, b.log.Len()-600):])
	}
	return a
}

type object = map[string]any

func (b *browser) party() virtualwebauthn.RelyingParty {
	host, _, _ := strings.Cut(strings.SplitN(b.origin, "/", 3)[2], ":")
	return virtualwebauthn.RelyingParty{ID: host, Name: "Vitrine", Origin: b.origin}
}

// attest answers a question for a new passkey.
func (b *browser) attest(asked answer) object {
	b.t.Helper()
	options, err := virtualwebauthn.ParseAttestationOptions(asked.text("publicKey"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.auth.Options.UserHandle = []byte(options.UserID)
	b.auth.AddCredential(b.key)
	made := virtualwebauthn.CreateAttestationResponse(b.party(), b.auth, b.key, *options)
	return object{"ceremony": asked.text("ceremony"), "name": "phone", "credential": json.RawMessage(made)}
}

// assert answers a question for a passkey that is there.
func (b *browser) assert(asked answer) object {
	b.t.Helper()
	options, err := virtualwebauthn.ParseAssertionOptions(asked.text("publicKey"))
	if err != nil {
		b.t.Fatal(err)
	}
	made := virtualwebauthn.CreateAssertionResponse(b.party(), b.auth, b.key, *options)
	return object{"ceremony": asked.text("ceremony"), "credential": json.RawMessage(made)}
}

// accept registers a passkey with the link of an invitation, and is signed in then.
func (b *browser) accept(link string) answer {
	b.t.Helper()
	secret := link[strings.Index(link, "#invite=")+len("#invite="):]
	asked := b.want(200, "POST", "/x/signin/register/begin", object{"invitation": secret})
	return b.want(201, "POST", "/x/signin/register/finish", b.attest(asked))
}

// signIn signs in with the passkey.
func (b *browser) signIn() answer {
	b.t.Helper()
	return b.want(200, "POST", "/x/signin/finish", b.assert(b.want(200, "POST", "/x/signin/begin", object{})))
}

// confirm shows the passkey again.
func (b *browser) confirm() {
	b.t.Helper()
	b.want(200, "POST", "/x/signin/finish", b.assert(b.want(200, "POST", "/x/signin/begin", object{"confirm": true})))
}

// invited returns a browser in which a new person has signed in.
func (w *world) invited(name string, rights signin.Rights) *browser {
	w.t.Helper()
	link, err := w.people.Invite(w.t.Context(), signin.Invitation{Name: name, Network: network, Rights: rights})
	if err != nil {
		w.t.Fatal(err)
	}
	b := w.browser()
	b.accept(link)
	return b
}

// id returns the id of the person who is signed in.
func (b *browser) id() string { return b.send("GET", "/x/signin", nil).text("session.person.id") }

// withToken returns a program that sends a token or a key instead of cookies.
func (w *world) withToken(token string) *browser {
	b := w.browser()
	b.headers = map[string]string{"Authorization": "Bearer " + token, "Sec-Fetch-Site": ""}
	return b
}

// everything returns all entries of a store.
func everything(t *testing.T, db storage.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := db.View(t.Context(), func(r storage.Reader) error {
		for e, err := range r.Scan(t.Context(), storage.Range{}) {
			if err != nil {
				return err
			}
			out[e.Key] = string(e.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
