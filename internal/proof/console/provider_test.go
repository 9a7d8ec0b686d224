//go:build proof

package console

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// newProvider is an OpenID Connect provider that knows Eva Holm, who is always signed in there and belongs to these
// groups.
func newProvider(t *testing.T, groups *atomic.Value) *httptest.Server {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	var p *httptest.Server
	var nonce atomic.Value
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize",
			"token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}, "response_types_supported": []string{"code"},
			"subject_types_supported": []string{"public"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"keys": []any{map[string]string{"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig", "e": "AQAB",
				"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes())}}})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		nonce.Store(r.FormValue("nonce"))
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?code=good&state="+url.QueryEscape(r.FormValue("state")),
			http.StatusSeeOther)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now().Unix()
		unsigned := jwt.NewWithClaims(jwt.SigningMethodRS256,
			jwt.MapClaims{"iss": p.URL, "sub": "eva", "aud": "vitrine", "exp": now + 3600, "iat": now, "auth_time": now,
				"nonce": nonce.Load(), "name": "Eva Holm", "groups": groups.Load()})
		unsigned.Header["kid"] = "1"
		token, err := unsigned.SignedString(key)
		if err != nil {
			t.Error(err)
		}
		answer(w, map[string]string{"access_token": "x", "token_type": "Bearer", "id_token": token})
	})
	p = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// other waits until the tab that the page has opened is signed in, closes it, and comes back.
func (p *person) other(name string) {
	p.T.Helper()
	var tabs []string
	for end := time.Now().Add(time.Minute); len(tabs) < 2 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		p.must("GET", "/window/handles", nil, &tabs)
	}
	if len(tabs) < 2 {
		p.T.Fatal("no other tab is opened")
	}
	p.must("POST", "/window", map[string]any{"handle": tabs[1]}, nil)
	p.who(name)
	p.must("DELETE", "/window", nil, nil)
	p.must("POST", "/window", map[string]any{"handle": tabs[0]}, nil)
}

// A person of an organisation signs in at its provider, comes back to the view that was asked for, and loses nothing
// when the session ends while they type: another tab signs in.
func TestSigningInAtAProvider(t *testing.T) {
	var groups atomic.Value
	groups.Store([]string{"editors"})
	provider := newProvider(t, &groups)
	dir := t.TempDir()
	secret, config := filepath.Join(dir, "secret"), filepath.Join(dir, "oidc.json")
	text := fmt.Sprintf(`{"issuer":%q,"clientID":"vitrine","clientSecretFile":%q,"network":%q,"claim":"groups",`+
		`"gives":{"editors":{"moderates":[%q]}}}`, provider.URL, secret, network, network)
	for name, content := range map[string]string{secret: "a secret of this test", config: text} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := accounts{world: newWorld(t, "-oidc", config)}
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`))
	p, _ := w.newcomer()
	p.Open(w.url + "/#/apps/" + id)
	const button = `//dialog//a[starts-with(., "Sign in with ")]`
	p.Click(button)
	p.who("Eva Holm")
	p.saved(0)
	p.Click(`//button[contains(@class, "who")]`)
	p.See(`//dialog//dd[contains(., "editors") and contains(., "` + provider.URL + `")]`)
	p.Click(`//dialog` + named("Close"))

	p.Run(new(any), `async () => { window.before = true; }`)
	p.ForgetCookies()
	p.Retype(field("question"), "typed without a session")
	p.See(`//dialog//h2[.="Sign in again"]`)
	p.Click(button)
	p.other("Eva Holm")
	w.stored(id, `{"question":"typed without a session"}`)
	p.Until(`() => window.before && !document.querySelector("dialog")`)

	p.Run(new(any), `async () => {
		const fetched = window.fetch;
		window.fetch = (url, options) => {
			if (options?.method !== "POST" || !String(url).endsWith("/x/keys/")) return fetched(url, options);
			window.fetch = fetched;
			return Promise.resolve(new Response('{"error":"confirm","code":"needs_confirmation"}', { status: 403 }));
		};
	}`)
	p.view("/keys")
	p.Click(named("New secret key"))
	p.Type(field("Name"), "importer")
	p.Click(`//dialog` + named("Make the key"))
	p.Click(`//dialog[.//h2[.="Is it still you?"]]//a`)
	p.other("Eva Holm")
	p.See(`//dialog//pre[starts-with(., "vt_")]`)

	groups.Store([]string{"others"})
	p.Run(new(any), `async () => fetch("x/signin/sessions/", { method: "DELETE" })`)
	q, _ := w.newcomer()
	q.Open(w.url)
	q.Click(button)
	q.See(`//*[contains(., "knows you")]`)
}
