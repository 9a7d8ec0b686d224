package signin

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Provider is an OpenID Connect provider through which people sign in. The values of a claim give them rights.
type Provider struct {
	Name         string            `json:"name"`     // the name on the sign-in page; "" = the host of Issuer
	Issuer       string            `json:"issuer"`   // its address, https://id.example.com
	ClientID     string            `json:"clientID"` // of this server at the provider
	ClientSecret string            `json:"-"`        // "" for a client without one
	Network      string            `json:"network"`  // URN of the network that its people belong to
	Claim        string            `json:"claim"`    // of the ID token: a text or a list of texts, such as groups
	Scopes       []string          `json:"scopes"`   // requested besides openid, profile and email, for the claim
	Gives        map[string]Rights `json:"gives"`    // by the values of the claim
}

// ParseProvider reads the JSON of a Provider, with clientSecretFile in the place of a secret. The network may be only
// its name, and the claim is groups unless another one is named. readSecret reads the file with the secret of the
// client; it is not called where none is named.
func ParseProvider(text []byte, readSecret func(name string) ([]byte, error)) (*Provider, error) {
	var in struct {
		Provider
		ClientSecretFile string `json:"clientSecretFile"`
	}
	if err := strictjson.Decode(text, &in); err != nil {
		return nil, err
	}
	p := &in.Provider
	p.Claim = cmp.Or(p.Claim, "groups")
	if !strings.Contains(p.Network, ":") {
		p.Network = "urn:vitrine:" + p.Network
	}
	u, err := url.Parse(p.Issuer)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" &&
		(u.Scheme != "http" || u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1"):
		return nil, fmt.Errorf("/issuer: %q is no address such as https://id.example.com", p.Issuer)
	case p.ClientID == "":
		return nil, errors.New("/clientID: is missing")
	case urn.CheckGroup(p.Network) != nil || p.Network != networkOf(p.Network):
		return nil, fmt.Errorf("/network: %q names no network", p.Network)
	case len(p.Gives) == 0:
		return nil, errors.New("/gives: want rights for values of the claim: else nobody could sign in")
	}
	for value, rights := range p.Gives {
		if err := rights.check(); err != nil {
			return nil, fmt.Errorf("/gives/%s%w", value, err)
		}
	}
	if in.ClientSecretFile != "" {
		secret, err := readSecret(in.ClientSecretFile)
		if err != nil {
			return nil, fmt.Errorf("/clientSecretFile: %w", err)
		}
		p.ClientSecret = strings.TrimSpace(string(secret))
	}
	return p, nil
}

// provider is a Provider with its discovery document, which is read when somebody first signs in.
type provider struct {
	*Provider
	mu    sync.Mutex
	found *oidc.Provider
}

func (p *provider) name() string {
	u, _ := url.Parse(p.Issuer)
	return cmp.Or(p.Name, u.Hostname())
}

// client returns a context with the client that sends requests to the provider. It lasts longer than one request, since
// keys are read again with it.
func client(ctx context.Context) context.Context {
	return oidc.ClientContext(context.WithoutCancel(ctx), &http.Client{Timeout: 10 * time.Second})
}

// errProvider is the kind of an error of a provider that does not respond, or not as a provider does.
var errProvider = errors.New("the OpenID Connect provider cannot be asked")

// CheckProvider logs a warning if the provider does not respond now. It notices a mistyped issuer before people do. It
// returns without one when ctx is done.
func (s *Service) CheckProvider(ctx context.Context) {
	if s.provider.Provider == nil {
		return
	}
	asked := make(chan error, 1)
	go func() {
		_, err := s.provider.get(ctx)
		asked <- err
	}()
	select {
	case <-ctx.Done():
	case err := <-asked:
		if err != nil {
			s.Log.WarnContext(ctx, "nobody can sign in through the provider",
				"issuer", s.provider.Issuer, "cause", err)
		}
	}
}

// get returns the discovery document of the provider, or errProvider while it cannot be read.
func (p *provider) get(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil {
		found, err := oidc.NewProvider(client(ctx), p.Issuer)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errProvider, err)
		}
		p.found = found
	}
	return p.found, nil
}

// config returns the OAuth configuration of this server. Its redirect address never depends on a request.
func (s *Service) config(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: s.provider.ClientID, ClientSecret: s.provider.ClientSecret, Endpoint: p.Endpoint(),
		RedirectURL: s.BaseURL + "/x/signin/oidc/callback",
		Scopes:      append([]string{oidc.ScopeOpenID, "profile", "email"}, s.provider.Scopes...)}
}

// asksProvider is the kind of ceremonies with a provider.
const asksProvider = "oidc"

// oidcCookie returns the cookie that binds the callback of a provider to the browser that began to sign in.
func (s *Service) oidcCookie(value string, seconds int) *http.Cookie {
	c := s.cookieOf(value, seconds)
	c.Name += "-oidc"
	return c
}

// beginProvider serves GET /x/signin/oidc: 303 to the provider.
func (s *Service) beginProvider(r *httpapi.Request) (any, error) {
	to, confirm := r.Text("to"), r.Flag("confirm")
	switch {
	case r.Wrong():
		return nil, nil
	case s.provider.Provider == nil:
		return nil, fault.NotFound("there is no such provider")
	case to != "" && to[0] != '#' || len(to) > 1000:
		return nil, fault.Invalid("to", "want a fragment of the console's page, which begins with #")
	}
	p, err := s.provider.get(r.Context())
	if err != nil {
		return nil, err
	}
	c := ceremony{Kind: asksProvider, To: to, Verifier: oauth2.GenerateVerifier()}
	c.State, _ = newSecret("")
	c.Nonce, _ = newSecret("")
	options := []oauth2.AuthCodeOption{oidc.Nonce(c.Nonce), oauth2.S256ChallengeOption(c.Verifier)}
	if i, err := s.session(r.Request); err != nil {
		return nil, err
	} else if confirm && i != nil {
		c.Session, c.Person = i.hash, i.person.ID
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	name, err := s.putCeremony(r.Context(), c)
	if err != nil {
		return nil, err
	}
	r.Header.Add("Set-Cookie", s.oidcCookie(name, int(ceremonyLife.Seconds())).String())
	r.Redirect(s.config(p).AuthCodeURL(c.State, options...))
	return nil, nil
}

// finishProvider serves GET /x/signin/oidc/callback: 303 to the console, or 403 for a person without rights.
func (s *Service) finishProvider(r *httpapi.Request) (any, error) {
	code, state, problem := r.Text("code"), r.Text("state"), r.Text("error")
	cookies := r.CookiesNamed(s.cookie + "-oidc")
	if r.Wrong() || s.provider.Provider == nil {
		return nil, fault.NotFound("there is no such provider")
	}
	r.Header.Add("Set-Cookie", s.oidcCookie("", -1).String())
	if len(cookies) != 1 {
		return nil, failed("the response of the provider came to another browser")
	}
	ctx := r.Context()
	c, err := s.takeCeremony(ctx, cookies[0].Value, asksProvider)
	switch {
	case err != nil:
		return nil, err
	case subtle.ConstantTimeCompare([]byte(state), []byte(c.State)) != 1:
		return nil, failed("the response of the provider is for another sign-in")
	case problem != "":
		return nil, failed("the provider returned an error: %.100q", problem)
	}
	claims, err := s.claims(ctx, code, c)
	if err != nil {
		return nil, err
	}
	var denied error
	_, err = s.begin(r, viaProvider, c.Session, func(t *tx) (*person, string, error) {
		var p *person
		p, denied, err = s.identify(ctx, t, claims)
		if err == nil && p != nil && c.Person != "" && c.Person != p.ID {
			err = failed("another person has confirmed")
		}
		return p, "", err
	})
	if err != nil {
		return nil, err
	}
	if denied != nil {
		s.access(ctx, "sign-in failed", "address", r.Address(), "cause", denied.Error())
		s.errorPage(r, http.StatusForbidden,
			s.provider.name()+" knows you, but none of your groups there has rights here. Ask an administrator.")
		return nil, nil
	}
	r.Redirect(s.BaseURL + "/" + c.To)
	return nil, nil
}

// errorPage is for people who come back from the provider and are not signed in.
func (s *Service) errorPage(r *httpapi.Request, status int, why string) {
	r.Page(status, fmt.Appendf(nil, `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Not signed in</title>
<h1>Not signed in</h1>
<p>%s</p>
<p><a href="%s">Back</a></p>
</html>
`, html.EscapeString(why), html.EscapeString(s.BaseURL+"/")))
}

// asPage shows a failed sign-in as a page, since a person sees the response.
func (s *Service) asPage(serve func(*httpapi.Request) (any, error)) func(*httpapi.Request) (any, error) {
	return func(r *httpapi.Request) (any, error) {
		out, err := serve(r)
		if errors.Is(err, errProvider) {
			s.Log.WarnContext(r.Context(), "a sign-in has failed", "issuer", s.provider.Issuer, "cause", err)
			s.errorPage(r, http.StatusServiceUnavailable,
				s.provider.name()+" does not answer at the moment. Try again, or sign in with a passkey.")
			return nil, nil
		}
		if errors.Is(err, httpapi.ErrUnauthenticated) {
			s.errorPage(r, http.StatusUnauthorized, "It took too long, or something else came in between. Try again.")
			return nil, nil
		}
		return out, err
	}
}

// claims are the claims of an ID token about a person.
type claims struct {
	subject, name, email string
	values               []string // of the claim that gives rights
}

// claims exchanges the code for an ID token and verifies it: signature, issuer, client, times, nonce.
func (s *Service) claims(ctx context.Context, code string, c *ceremony) (out claims, err error) {
	p, err := s.provider.get(ctx)
	if err != nil {
		return out, err
	}
	asking, cancel := context.WithTimeout(client(ctx), 15*time.Second)
	defer cancel()
	token, err := s.config(p).Exchange(asking, code, oauth2.VerifierOption(c.Verifier))
	if failure, ok := errors.AsType[*oauth2.RetrieveError](err); ok && failure.Response.StatusCode < 500 {
		return out, failed("the provider rejected the code: %s", failure.ErrorCode)
	}
	if err != nil {
		return out, errProvider
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := p.Verifier(&oidc.Config{ClientID: s.provider.ClientID, Now: s.Now}).Verify(asking, raw)
	if err != nil {
		return out, failed("the ID token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(c.Nonce)) != 1 {
		return out, failed("the ID token is for another sign-in")
	}
	var all map[string]any
	if err := verified.Claims(&all); err != nil {
		return out, failed("the ID token: %w", err)
	}
	if at, given := all["auth_time"].(float64); c.Session != "" &&
		(!given || s.Now().Sub(time.Unix(int64(at), 0)) > confirmation) {
		return out, failed("the provider did not ask for the password again")
	}
	out.subject = verified.Subject
	out.name, _ = all["name"].(string)
	out.email, _ = all["email"].(string)
	switch value := all[s.provider.Claim].(type) {
	case string:
		out.values = []string{value}
	case []any:
		for _, one := range value {
			if text, ok := one.(string); ok {
				out.values = append(out.values, text)
			}
		}
	}
	return out, nil
}

// identify returns the person of the claims, with the rights that these give, and makes one at the first sign-in.
// denied is why they may not sign in. A person whose claims give no rights loses those that they had.
func (s *Service) identify(ctx context.Context, t *tx, c claims) (p *person, denied, err error) {
	var rights Rights
	var values []string
	for _, value := range c.values {
		if gives, known := s.provider.Gives[value]; known && !slices.Contains(values, value) {
			rights, values = rights.union(gives), append(values, value)
		}
	}
	id, err := text(ctx, t, subjectKey(s.provider.Issuer, c.subject))
	switch {
	case err != nil:
		return nil, nil, err
	case id != "":
		if p, err = personOf(ctx, t, id); err != nil {
			return nil, nil, err
		}
		if p.Provider == nil || p.Provider.Subject != c.subject { // the key of a long subject is cut
			return nil, nil, fmt.Errorf("the record of the subject %q names another person", c.subject)
		}
	case len(values) == 0:
		return nil, fault.Forbidden("nobody at this server has rights by these values of %s", s.provider.Claim), nil
	default:
		if p, err = s.newPerson(ctx, t, s.provider.Network+":user="+uuid.NewString()); err != nil {
			return nil, nil, err
		}
		if err := t.Put(ctx, entry(subjectKey(s.provider.Issuer, c.subject), p.ID)); err != nil {
			return nil, nil, err
		}
	}
	p.Rights, p.Provider = rights, &identified{s.provider.Issuer, c.subject, values}
	if p.Name = c.name; checkText(p.Name, mostName) != nil {
		p.Name = "somebody of " + s.provider.name()
	}
	if p.Email = c.email; checkText(p.Email, mostEmail) != nil {
		p.Email = ""
	}
	if len(values) == 0 {
		if _, err := endSessions(ctx, t, p, all); err != nil {
			return nil, nil, err
		}
	}
	if err := putPerson(ctx, t, p); err != nil {
		return nil, nil, err
	}
	if p.Disabled || len(values) == 0 {
		return nil, fault.Forbidden("%s has no rights", p.URN), nil
	}
	return p, nil, nil
}
