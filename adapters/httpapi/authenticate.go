package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// The places where a token may be have the same name.
const (
	tokenScheme    = "svctoken" // in WWW-Authenticate
	tokenParameter = "svctoken" // of the query
)

// tokenSchemes are the words that may stand before a token in the Authorization header. Upper and lower case are alike.
var tokenSchemes = []string{tokenScheme, "bearer"}

// defaultTokenBytes is the longest token, in bytes, unless Limits.Token says otherwise. It is far more than a token of
// Tokens has; an identity provider may put more into its own.
const defaultTokenBytes = 16 << 10

// ErrUnauthenticated is the kind of an error of Config.Authenticate that becomes a 401: the request does not prove who
// sent it. The text of the error goes to the log, not to the client.
var ErrUnauthenticated = errors.New("unauthenticated")

// Unauthenticated returns an error of Config.Authenticate that becomes a 401 with this sentence. It wraps
// ErrUnauthenticated.
func Unauthenticated(sentence string) error { return &TokenError{Reason: sentence} }

// provenance is the source of an identity. The handler puts one into the context of each request that it gives to
// Config.Authenticate, and RequestToken writes into it, so that it also works on a copy of the request with a context
// of its own.
type provenance struct {
	limit  int         // of a token, in bytes
	page   bool        // the token is the key of a page, in the query of x/public/
	header atomic.Bool // RequestToken found a token in the header
	query  atomic.Bool // RequestToken found a token in the query
}

// provenanceKey is the key of the provenance in a context.
type provenanceKey struct{}

// RequestToken returns the token of a request: the one in the header "Authorization: svctoken <token>" or
// "Authorization: Bearer <token>", or in the query parameter svctoken. Below x/public/ the parameter is called key (see
// OfPage). The error wraps ErrUnauthenticated if there is no token or more than one, if the scheme of the header is
// another one, and if the token has more than Limits.Token bytes.
//
// Call it inside Config.Authenticate, with the request given there or a copy that keeps its context. The
// handler then knows that the identity comes from a token that the client sent on purpose. Every other
// identity is ambient: see Config.Authenticate.
func RequestToken(r *http.Request) (string, error) {
	from, ok := r.Context().Value(provenanceKey{}).(*provenance)
	if !ok {
		from = &provenance{limit: defaultTokenBytes}
	}
	parameters := parseQuery(r.URL.RawQuery).Values[tokenParameter]
	headers, token := r.Header["Authorization"], ""
	// A header of another scheme counts as a token too: it and a token in the query may stand for different users.
	switch {
	case len(headers) == 1 && len(parameters) == 0:
		if scheme, sent, _ := strings.Cut(headers[0], " "); slices.Contains(tokenSchemes, strings.ToLower(scheme)) {
			token = strings.Trim(sent, " ")
		}
	case len(headers) == 0 && len(parameters) == 1:
		token = parameters[0]
	}
	if token == "" {
		return "", fmt.Errorf("%w: want exactly one token", ErrUnauthenticated)
	}
	if len(token) > from.limit {
		return "", fmt.Errorf("%w: the token has %d bytes; at most %d are allowed", ErrUnauthenticated, len(token),
			from.limit)
	}
	if len(parameters) > 0 {
		from.query.Store(true)
	} else {
		from.header.Store(true)
	}
	return token, nil
}

// OfPage reports whether the token of a request that Config.Authenticate gets is the parameter key of a request to
// x/public/, as pages send it.
func OfPage(r *http.Request) bool {
	from, ok := r.Context().Value(provenanceKey{}).(*provenance)
	return ok && from.page
}

// authenticate calls Config.Authenticate and sets c.by. An error that wraps ErrUnauthenticated is always the same 401,
// so a client learns nothing by guessing. A TokenError, for a token with a valid signature, is a 401 with its reason.
// Any other error is a 503.
//
// A Principal that fails Check is a mistake of Authenticate, which is logged. It is 503 if it has Tags without
// TagsOnly, else 401. A Principal without a URN and without such Tags is no mistake: nobody was recognised, so it is
// 401.
func (h *handler) authenticate(c *call) error {
	h.Streams.mu.Lock() // first, so that a stream notices a Recheck that comes while it begins
	c.again = h.Streams.again
	h.Streams.mu.Unlock()
	from := &provenance{limit: h.Limits.Token, page: c.route != nil && c.route.is(shared)}
	r := c.r.WithContext(context.WithValue(c.r.Context(), provenanceKey{}, from))
	r.Body = http.NoBody // it is read later, by its endpoint
	by, err := h.Authenticate(r)
	if told, ok := errors.AsType[*TokenError](err); ok {
		c.tokenURN = told.URN
		return errorf(http.StatusUnauthorized, "%s", c.withoutSecrets(told.Reason))
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrUnauthenticated):
		c.reason = err.Error()
		return errNoToken
	case errors.Is(err, context.Canceled) && c.r.Context().Err() != nil: // the client has disconnected
		return err
	default:
		c.log("Authenticate failed: for a sender who is not known it returns httpapi.Unauthenticated", err)
		return errNoIdentity
	}
	if len(by.Tags) > 0 && !by.TagsOnly { // it looks restricted, and would have all its other rights
		c.log("Authenticate gave a principal with Tags and without TagsOnly", errors.New("want TagsOnly, or no Tags"))
		return errNoIdentity
	}
	if by.URN == "" {
		c.reason = "Authenticate returned a Principal without a URN, and no error"
		return errNobody
	}
	if err := by.Caller.Check(); err != nil {
		c.log("Authenticate gave a malformed principal", err)
		return errNobody
	}
	by.Operator = false // that is for a program that calls the services itself
	c.by = by
	// A token in the header is not ambient, since a browser adds no such header by itself. A token in the query is not
	// ambient either, unless the request also carries a cookie or a client certificate: a form of another site can name
	// any token in its query.
	certified := c.r.TLS != nil && len(c.r.TLS.PeerCertificates) > 0
	c.ambient = !from.header.Load() && (!from.query.Load() || certified || c.r.Header["Cookie"] != nil)
	return nil
}

// secretsOf returns the possible tokens of a request: those in Authorization headers, and those in the query both as
// they were sent, escaped, and decoded. It returns all of them, also where RequestToken rejects the request for having
// two, since an error of Authenticate may quote any of them. The longest come first.
func secretsOf(r *http.Request) []string {
	var secrets []string
	for _, header := range r.Header["Authorization"] {
		_, token, _ := strings.Cut(header, " ")
		secrets = append(secrets, strings.Trim(token, " "))
	}
	delivers := strings.Contains(r.URL.Path, publicPath)
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err != nil || name != tokenParameter &&
			!(delivers && name == keyParameter) {
			continue
		}
		plain, _ := url.QueryUnescape(value)
		secrets = append(secrets, value, plain)
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return s == "" })
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	return secrets
}

// hiddenToken replaces a token.
const hiddenToken = "[token]"

// likeToken finds text that looks like a token, wherever a client may have put it by mistake: the text after svctoken
// or Bearer in the form of a query, a header or a path, and a JSON Web Token, also one that was cut off. Any character
// may be escaped, also more than once.
var likeToken = regexp.MustCompile(`(?i:(?:` + escapable("svctoken") + `|` + escapable("bearer") +
	`)(?:=|:|\+|\s|%(?:25)*(?:3d|3a|20))+)[^\s"<&]+` +
	`|\b(?:vt|pk|in|sh)_[\w-]{43}` + // keys and invitations of package signin, and links to show
	`|` + escapable("eyJ") + `[\w%=-]*(?:(?:\.|%(?:25)*2[eE])[\w.%=-]+|$|…)`)

// escapable returns a pattern for a word of letters, each as it is or escaped.
func escapable(word string) string {
	var b strings.Builder
	for _, letter := range []byte(word) {
		// of either case: an escape hides it
		fmt.Fprintf(&b, "(?:%c|%%(?:25)*(?i:%02x|%02x))", letter, letter, letter^0x20)
	}
	return b.String()
}

// withoutSecrets replaces the tokens of the request in a text, and whatever else looks like a token.
func (c *call) withoutSecrets(text string) string {
	return likeToken.ReplaceAllString(c.withoutOwn(text), hiddenToken)
}

// briefly does what withoutSecrets does, and cuts the text to the length that a line of the log may have. It cuts after
// it has replaced the request's own tokens, so that no part of one stays, and before it searches for text that looks
// like a token, so that a long path costs no time.
func (c *call) briefly(text string) string {
	return likeToken.ReplaceAllString(truncated(c.withoutOwn(text)), hiddenToken)
}

// withoutOwn replaces the tokens of the request, which are in its header and its query, in a text.
func (c *call) withoutOwn(text string) string {
	for _, secret := range secretsOf(c.r) {
		text = strings.ReplaceAll(text, secret, hiddenToken)
	}
	return text
}

// Principal is the caller who sends a request, and the time at which its identity expires. Config.Authenticate returns
// it. The domains document what a right allows; the handler itself checks only TagsOnly. Operator is always cleared.
//
// Reads makes a reading token: its holder reads the apps of these networks and sites, and changes nothing. TagsOnly
// with Tags makes a delivery token: its holder may read GET /apps/{id}/tagged/{tag} for these tags and the apps of
// Reads, and nothing else, whatever else the Principal has. The responses name no users and no groups, so a delivery
// token may stand in a public page.
type Principal struct {
	vitrine.Caller
	// Expires is when the identity ends, which GET /x/me tells; zero = unknown. The handler does not check it:
	// Authenticate returns an error for an expired identity.
	Expires time.Time
}

// Check returns an error that begins with the name of a claim: if URN does not name a user, a URN in Moderates or Reads
// names neither a network nor a site, there are Tags without TagsOnly, or a text is not UTF-8 or has a U+0000.
func (p Principal) Check() error {
	if p.URN == "" {
		return errors.New("sub: missing; want the URN of a user, urn:<vendor>:<network>:user=<id>")
	}
	if err := urn.CheckUser(p.URN); err != nil {
		return fmt.Errorf("sub: %w", err)
	}
	for i, u := range p.Moderates {
		if err := urn.CheckGroup(u); err != nil {
			return fmt.Errorf("moderates/%d: %w", i, err)
		}
	}
	for i, u := range p.Reads {
		if err := urn.CheckGroup(u); err != nil {
			return fmt.Errorf("reads/%d: %w", i, err)
		}
	}
	if len(p.Tags) > 0 && !p.TagsOnly {
		return errors.New("tags: given without TagsOnly; want TagsOnly to be true, which restricts the caller to " +
			"these tags")
	}
	for _, s := range slices.Concat(p.Roles, p.Groups, p.Tags) {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return fmt.Errorf("roles, groups and tags: %q is not valid UTF-8 or has U+0000", s)
		}
	}
	return nil
}

// wireCaller is the caller as it sees itself. An empty list is [] in its JSON, and never null.
type wireCaller struct {
	URN        string   `json:"urn"`
	Moderates  []string `json:"moderates"`
	Reads      []string `json:"reads"`
	Tags       []string `json:"tags"`
	Roles      []string `json:"roles"`
	Groups     []string `json:"groups"`
	Components bool     `json:"components"`
	Owner      bool     `json:"owner"`           // apps of the user, and permissions that name the user, count
	Agent      string   `json:"agent,omitempty"` // the name of the API key, if it is an agent's
	Expires    *int64   `json:"expires"`         // milliseconds since the epoch; null = unknown
	// Absent names the domains that this service leaves out: "apps", "assets" or "reviews".
	Absent []string `json:"absent,omitempty"`
}

// me serves GET /x/me: who the caller is and what it may do. 200 with a wireCaller; 403 for a delivery token. Pages use
// it, since they cannot read a session cookie and should not decode tokens.
func me(c *call) error {
	out := wireCaller{URN: c.by.URN, Moderates: c.by.Moderates, Reads: c.by.Reads, Tags: c.by.Tags, Roles: c.by.Roles,
		Groups:     c.by.Groups,
		Components: c.by.Components, Owner: c.by.Owns(c.by.URN), Agent: c.by.Agent}
	if !c.by.Expires.IsZero() {
		at := c.by.Expires.UnixMilli()
		out.Expires = &at
	}
	if c.h.Apps == nil {
		out.Absent = append(out.Absent, "apps")
	}
	if c.h.Assets == nil {
		out.Absent = append(out.Absent, "assets")
	}
	if c.h.Reviews == nil {
		out.Absent = append(out.Absent, "reviews")
	}
	c.w.Header()["Vary"] = varyCaller
	return c.json(out, nil)
}
