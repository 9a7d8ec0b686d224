package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/vitrine-go/vitrine/adapters/signin"
)

// idp is an OpenID Connect provider. change may change the claims of the next token, and sign what signs it.
type idp struct {
	*httptest.Server
	key    *rsa.PrivateKey
	sub    string
	groups []string
	change func(claims object)
	sign   *rsa.PrivateKey
	asked  url.Values // by the last authorization request
	down   bool
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &idp{key: key, sign: key, sub: "ann", groups: []string{"editors"}, change: func(object) {}}
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, object{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize",
			"token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}, "response_types_supported": []string{"code"},
			"subject_types_supported": []string{"public"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, object{
			"keys": []object{{"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig", "e": "AQAB",
				"n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes())}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if p.down || r.FormValue("code") != "good" ||
			base64.RawURLEncoding.EncodeToString(sum[:]) != p.asked.Get("code_challenge") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(map[bool]int{true: 503, false: 400}[p.down])
			_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
			return
		}
		claims := object{"iss": p.URL, "sub": p.sub, "aud": "vitrine", "exp": time.Now().Add(time.Hour).Unix(),
			"iat": time.Now().Unix(), "auth_time": time.Now().Unix(),
			"nonce": p.asked.Get("nonce"), "name": "Ann of the provider", "email": "ann@example.test",
			"groups": p.groups}
		p.change(claims)
		unsigned := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims(claims))
		unsigned.Header["kid"] = "1"
		token, err := unsigned.SignedString(p.sign)
		if err != nil {
			t.Error(err)
		}
		answer(w, object{"access_token": "x", "token_type": "Bearer", "id_token": token})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// worldWith returns a server with a provider.
func worldWith(t *testing.T, p *idp, gives map[string]signin.Rights) *world {
	return newWorld(t, localBase, func(o *signin.Options) {
		o.Provider = &signin.Provider{Issuer: p.URL, ClientID: "vitrine", ClientSecret: "provider canary",
			Network: network, Claim: "groups", Gives: gives}
	})
}

var editors = map[string]signin.Rights{"editors": {Moderates: []string{network + ":site=news"}},
	"bosses": {Admin: true}}

// start follows the link to the provider, and returns where it comes back to.
func (b *browser) start(p *idp, query string) string {
	b.t.Helper()
	got := b.want(303, "GET", "/x/signin/oidc"+query, nil)
	to, err := url.Parse(got.header.Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), p.URL+"/authorize?") {
		b.t.Fatal(got.header)
	}
	p.asked = to.Query()
	if p.asked.Get("redirect_uri") != localBase+"/x/signin/oidc/callback" ||
		p.asked.Get("code_challenge_method") != "S256" || p.asked.Get("nonce") == "" {
		b.t.Fatalf("asked %v", p.asked)
	}
	return "/x/signin/oidc/callback?code=good&state=" + p.asked.Get("state")
}

func TestAProvider(t *testing.T) {
	p := newIDP(t)
	w := worldWith(t, p, editors)
	b := w.browser()
	if got := b.want(200, "GET", "/x/signin", nil); got.text("oidc.name") != "127.0.0.1" {
		t.Errorf("%s", got.body)
	}
	b.headers = map[string]string{"Sec-Fetch-Site": "cross-site"} // as a browser that comes back
	back := b.want(303, "GET", b.start(p, "?to=%23/apps"), nil)
	if back.header.Get("Location") != localBase+"/#/apps" {
		t.Errorf("comes back to %v", back.header)
	}
	b.headers = nil
	me := b.want(200, "GET", "/x/me", nil)
	if me.text("moderates") != `["`+network+`:site=news"]` || !strings.HasPrefix(me.text("urn"), network+":user=") {
		t.Errorf("me: %s", me.body)
	}
	session := b.want(200, "GET", "/x/signin", nil)
	if session.text("session.person.provider.values") != `["editors"]` || session.text("session.via") != "oidc" ||
		session.text("session.person.name") != "Ann of the provider" {
		t.Errorf("the session: %s", session.body)
	}
	b.want(403, "POST", "/x/signin/register/begin", object{})

	// The same subject is the same person, whatever the address; the rights are those of today.
	p.groups = []string{"bosses", "others"}
	p.change = func(c object) { c["email"] = "other@example.test" }
	b.want(303, "GET", b.start(p, ""), nil)
	again := b.want(200, "GET", "/x/me", nil)
	if again.text("urn") != me.text("urn") || again.text("components") != "true" {
		t.Errorf("me: %s", again.body)
	}
	b.want(409, "PATCH", "/x/people/"+b.id(), object{"moderates": []string{other}})
	b.want(409, "POST", "/x/people/"+b.id()+"/invite", object{})
	p.change = func(object) {}
	// Who loses the values loses the rights, the sessions and what keys could do.
	key := w.withToken(b.want(201, "POST", "/x/keys/",
		object{"name": "k", "kind": "secret", "components": true}).text("key"))
	if got := key.want(200, "GET", "/x/me", nil); got.text("components") != "true" {
		t.Errorf("%s", got.body)
	}
	p.groups = nil
	other := w.browser()
	refused := other.want(403, "GET", other.start(p, ""), nil)
	if !strings.Contains(refused.header.Get("Content-Type"), "text/html") ||
		!strings.Contains(string(refused.body), "knows you") {
		t.Errorf("%v %s", refused.header, refused.body)
	}
	b.want(401, "GET", "/x/me", nil)
	if got := key.want(200, "GET", "/x/me", nil); got.text("components") != "false" {
		t.Errorf("%s", got.body)
	}
	// A stranger without values becomes no person.
	p.sub = "stranger"
	other.want(403, "GET", other.start(p, ""), nil)
	for key := range everything(t, w.db) {
		if strings.Contains(key, "stranger") {
			t.Errorf("there is %s", key)
		}
	}
	if log := w.log.String(); strings.Contains(log, "canary") || strings.Contains(log, "@example.test") {
		t.Errorf("the log: %s", log)
	}
	w.now = 13 * time.Hour
	p.sub, p.groups = "ann", []string{"editors"}
	p.change = func(c object) { c["exp"] = time.Now().Add(100 * time.Hour).Unix() }
	b.want(303, "GET", b.start(p, ""), nil)
	w.now += 13 * time.Hour
	b.want(401, "GET", "/x/me", nil)
	// Who is disabled stays so, whatever the provider says.
	b.want(303, "GET", b.start(p, ""), nil)
	w.invited("Admin", signin.Rights{Admin: true}).want(200, "PATCH", "/x/people/"+b.id(), object{"disabled": true})
	other.want(403, "GET", other.start(p, ""), nil)
}

func TestAnswersOfAProviderThatAreNotGood(t *testing.T) {
	p := newIDP(t)
	w := worldWith(t, p, editors)
	b := w.browser()
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(object){
		"for another client": func(c object) { c["aud"] = "other" },
		"another nonce":      func(c object) { c["nonce"] = "other" },
		"no nonce":           func(c object) { delete(c, "nonce") },
		"another issuer":     func(c object) { c["iss"] = "https://evil.test" },
		"expired":            func(c object) { c["exp"] = time.Now().Add(-time.Hour).Unix() },
		"signed by another":  func(c object) { p.sign = stranger },
	} {
		p.change, b.address = change, "10.1.0."+strconv.Itoa(len(name))
		if got := b.send("GET", b.start(p, ""), nil); got.status != 401 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	p.change, p.sign = func(object) {}, p.key
	callback := b.start(p, "")
	b.address = "10.2.0.1"
	w.browser().want(401, "GET", callback, nil) // another browser
	b.want(401, "GET", strings.Replace(callback, "state=", "state=x", 1), nil)
	b.want(401, "GET", callback, nil) // it was answered, though wrongly
	callback = b.start(p, "")
	kept := b.cookies["vitrine-8080-oidc"]
	b.want(303, "GET", callback, nil)
	b.cookies["vitrine-8080-oidc"], b.address = kept, "10.2.0.2"
	b.want(401, "GET", callback, nil)
	b.want(401, "GET", strings.Replace(b.start(p, ""), "code=good", "error=access_denied", 1), nil)
	b.want(401, "GET", strings.Replace(b.start(p, ""), "good", "bad", 1), nil)
	w.people = nil
	other := worldWith(t, p, editors).browser()
	for _, to := range []string{"https://evil.test", "//evil.test", "/x", "javascript:alert(1)"} {
		other.want(400, "GET", "/x/signin/oidc?to="+url.QueryEscape(to), nil)
	}
	p.down = true
	other.unanswered(other.start(p, ""))
}

// unanswered looks at the page of a person whose provider does not respond.
func (b *browser) unanswered(path string) {
	b.t.Helper()
	got := b.want(503, "GET", path, nil)
	if !strings.Contains(got.header.Get("Content-Type"), "text/html") ||
		!strings.Contains(string(got.body), "127.0.0.1 does not answer") {
		b.t.Errorf("%v %s", got.header, got.body)
	}
}

// The log and the page name the provider, not the store.
func TestAProviderThatDoesNotRespond(t *testing.T) {
	p := newIDP(t)
	w := worldWith(t, p, editors)
	p.Close()
	w.people.CheckProvider(t.Context())
	w.browser().unanswered("/x/signin/oidc")
	if log := w.log.String(); !strings.Contains(log, "nobody can sign in through the provider") ||
		strings.Contains(log, "store") {
		t.Error(log)
	}
}

// A server that stops does not wait for a provider that takes its time, and does not complain about it.
func TestCheckProviderEndsWithItsContext(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	p := &idp{Server: httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-answer
	}))}
	t.Cleanup(p.Close)
	defer close(answer)
	w := worldWith(t, p, editors)
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-asked; stop() }()
	w.people.CheckProvider(ctx)
	if log := w.log.String(); log != "" {
		t.Error(log)
	}
}

// Who has a session confirms it at the provider, which must have asked for the password just now.
func TestConfirmingAtAProvider(t *testing.T) {
	p := newIDP(t)
	p.groups = []string{"bosses"}
	w := worldWith(t, p, editors)
	b := w.browser()
	b.want(303, "GET", b.start(p, ""), nil)
	w.now = 6 * time.Minute
	b.want(403, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})
	p.change = func(c object) { c["auth_time"] = time.Now().Add(-time.Hour).Unix() }
	callback := b.start(p, "?confirm=true")
	if p.asked.Get("prompt") != "login" || p.asked.Get("max_age") != "0" {
		t.Errorf("asked %v", p.asked)
	}
	b.want(401, "GET", callback, nil)
	p.change = func(c object) { c["auth_time"] = time.Now().Add(w.now).Unix() }
	b.want(303, "GET", b.start(p, "?confirm=true"), nil)
	b.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})
	p.sub = "somebody else"
	b.want(401, "GET", b.start(p, "?confirm=true"), nil)
}

func TestParseProvider(t *testing.T) {
	secret := func(string) ([]byte, error) { return []byte("s3cret\n"), nil }
	good := `{"issuer":"https://id.example.test","clientID":"v","clientSecretFile":"f","network":"example.test",` +
		`"claim":"groups","gives":{"editors":{"moderates":["urn:vitrine:example.test"]}}}`
	p, err := signin.ParseProvider([]byte(good), secret)
	if err != nil || p.ClientSecret != "s3cret" || p.Network != network || p.Gives["editors"].Moderates[0] != network {
		t.Fatalf("%+v, %v", p, err)
	}
	for name, change := range map[string][2]string{
		"an unknown member": {`"claim"`, `"claims"`}, "http": {"https://", "http://"}, "no client": {`"v"`, `""`},
		"no network":        {"example.test\",\"claim", "a b\",\"claim"},
		"a malformed right": {`urn:vitrine:example.test"]`, `urn"]`}, "an unknown right": {"moderates", "owns"},
		"no rights": {`"editors":{"moderates":["urn:vitrine:example.test"]}`, ""},
	} {
		if _, err := signin.ParseProvider([]byte(strings.Replace(good, change[0], change[1], 1)), secret); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
