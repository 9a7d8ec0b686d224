package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/reviews"
)

// Endpoint is an address that changes are posted to.
type Endpoint struct {
	// Name identifies the endpoint from one configuration to the next: its position in the feed is stored under it.
	Name string
	// URL is where deliveries are posted. It may have a secret in its path or query, so it is in no log and no error.
	URL string
	// Secrets sign each delivery. There are two of them while receivers change from one to the other.
	Secrets []Secret
	// Types are the types of changes that the endpoint gets. nil = all. The type app.left comes to endpoints with
	// Groups only.
	Types []string
	// Groups are URNs of networks and sites. The endpoint gets the changes of the apps with a group that one of these
	// contains, app.left in place of a change that takes an app out of them, the changes of the assets and reviews of
	// these networks, those of releases that move only tags of such apps, and no changes of components. nil = the
	// changes of all apps, assets, reviews, releases and components.
	Groups []string
	// Tags are names of tags. The endpoint gets the moves of these alone, of the types tag.set and tag.deleted, and of
	// the moves of one release the first one. nil = everything, as Types and Groups say.
	Tags []string
	// Header returns headers that each delivery has besides, to authorize it for instance. It is a function so that
	// printing an Endpoint prints no value. nil = none.
	Header func() http.Header `json:"-"`
	// Wait is how long there must be no more changes before those that wait are posted, as one delivery of the type
	// batch. It is posted after ten times as long at the latest. 0 = each change has a delivery of its own.
	Wait time.Duration
}

// wantsApps reports whether the endpoint asks for a type of change of apps and components, and wants whether it asks
// for a type. Groups do not count here, since they may name networks whose first library is created later.
func (e Endpoint) wantsApps() bool {
	return e.Types == nil ||
		slices.ContainsFunc(e.Types, func(t string) bool { return t != assets.EventType && t != reviews.EventType })
}

func (e Endpoint) wants(t string) bool { return e.Types == nil || slices.Contains(e.Types, t) }

// scope returns a text that stands for the choice of feeds that the endpoint gets.
func (e Endpoint) scope() string {
	return fmt.Sprint(e.wantsApps(), e.wants(assets.EventType), e.wants(reviews.EventType), e.Groups == nil, e.Groups)
}

// matches reports whether the endpoint asks for the type of the change and for one of its groups.
func (e Endpoint) matches(c change) bool {
	if !e.wants(c.Type) || e.Tags != nil && !slices.Contains(e.Tags, c.Tag) {
		return false
	}
	if c.Each != nil && e.Groups != nil {
		return !slices.ContainsFunc(c.Each, func(groups []string) bool { return !e.covers(groups) })
	}
	return e.Groups == nil || e.covers(c.Groups)
}

// covers reports whether one of the endpoint's groups contains one of these, so that its changes concern the endpoint.
// Callers check first whether the endpoint asks for all groups.
func (e Endpoint) covers(groups []string) bool {
	return slices.ContainsFunc(groups, func(inner string) bool {
		return slices.ContainsFunc(e.Groups, func(outer string) bool { return urn.Contains(outer, inner) })
	})
}

// Limits of a configuration.
const (
	MaxConfig    = 1 << 20 // bytes of the JSON text
	MaxEndpoints = 100
	MaxName      = 128   // characters of a name
	MaxURL       = 2_048 // bytes of a URL
	MaxGroups    = 100   // groups of an endpoint
	MaxTags      = 100   // tags of an endpoint
	MaxHeader    = 8_192 // bytes of the further headers of an endpoint
	MaxWait      = time.Hour
)

// moves are the types of changes that have a tag.
var moves = []string{string(appsvc.TagSet), string(appsvc.TagDeleted)}

// ownHeaders are the headers that a delivery has anyway, or that HTTP needs for itself.
var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Connection", "Transfer-Encoding", "Trailer", "Te",
	"Upgrade", "Keep-Alive", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}

// config is an endpoint in the JSON text. The secret is a string or a list of two.
type config struct {
	Name   string          `json:"name"`
	URL    string          `json:"url"`
	Secret json.RawMessage `json:"secret"`
	Types  []string        `json:"types"`
	Groups []string        `json:"groups"`
	Tags   []string        `json:"tags"`

	Headers map[string]string `json:"headers"`
	Wait    *string           `json:"wait"`
}

// Parse reads a configuration: a JSON array of objects with the members name, url and secret, and optionally types,
// groups, tags, headers and wait. The error names the place of the first fault by a JSON pointer. It never repeats a
// secret or a URL.
func Parse(text []byte) ([]Endpoint, error) {
	if len(text) > MaxConfig {
		return nil, fmt.Errorf("the webhooks take %d bytes: at most %d", len(text), MaxConfig)
	}
	var list []config
	if err := strictjson.Decode(text, &list); err != nil {
		return nil, err
	}
	if len(list) > MaxEndpoints {
		return nil, fmt.Errorf("there are %d webhooks: at most %d", len(list), MaxEndpoints)
	}
	out := make([]Endpoint, 0, len(list))
	for i, c := range list {
		member, err := c.check()
		if err == nil && slices.ContainsFunc(out, func(o Endpoint) bool { return o.Name == c.Name }) {
			member, err = "name", fmt.Errorf("%q is the name of an earlier webhook: each has its own", c.Name)
		}
		var secrets []Secret
		if err == nil {
			member = "secret"
			secrets, err = parseSecrets(c.Secret)
		}
		if err != nil {
			return nil, strictjson.Within(fmt.Sprintf("/%d/%s", i, member), err)
		}
		e := Endpoint{Name: c.Name, URL: c.URL, Secrets: secrets, Types: set(c.Types), Groups: set(c.Groups),
			Tags: set(c.Tags)}
		if e.Tags != nil && e.Types == nil {
			e.Types = set(moves)
		}
		if len(c.Headers) > 0 {
			header := http.Header{}
			for name, value := range c.Headers {
				header.Set(name, value)
			}
			e.Header = func() http.Header { return header }
		}
		if c.Wait != nil {
			e.Wait, _ = time.ParseDuration(*c.Wait) // check has read it
		}
		out = append(out, e)
	}
	return out, nil
}

// check checks all members but the secret. If one is wrong, it returns the name of the member and what would be right.
// An error does not repeat the URL, which may contain a secret. An empty list is rejected, since it would match
// nothing.
func (c config) check() (member string, err error) {
	u, fault := url.Parse(c.URL)
	switch {
	case c.Name == "":
		return "name", errors.New("a webhook needs a name")
	case utf8.RuneCountInString(c.Name) > MaxName:
		return "name", fmt.Errorf("a name has at most %d characters", MaxName)
	case strings.ContainsFunc(c.Name, unicode.IsControl):
		return "name", errors.New("a name has no control characters")
	case c.URL == "":
		return "url", errors.New("a webhook needs a url")
	case len(c.URL) > MaxURL:
		return "url", fmt.Errorf("a URL of %d bytes is too long: at most %d", len(c.URL), MaxURL)
	case fault != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "url", errors.New("want an absolute URL that begins with https:// or http://")
	case u.User != nil:
		return "url",
			errors.New("a URL with a user or a password is not accepted: the signature tells the receiver who sends")
	case strings.Contains(c.URL, "#"):
		return "url", errors.New("a URL with a fragment is not accepted: a fragment is not sent")
	case c.Types != nil && len(c.Types) == 0:
		return "types", errors.New("an empty list matches no change: leave it out for all types")
	case c.Groups != nil && len(c.Groups) == 0:
		return "groups", errors.New("an empty list matches no change: leave it out for all groups")
	case len(c.Groups) > MaxGroups:
		return "groups", fmt.Errorf("%d groups: at most %d", len(c.Groups), MaxGroups)
	case c.Tags != nil && len(c.Tags) == 0:
		return "tags", errors.New("an empty list matches no change: leave it out for all changes")
	case len(c.Tags) > MaxTags:
		return "tags", fmt.Errorf("%d tags: at most %d", len(c.Tags), MaxTags)
	}
	if c.Wait != nil {
		if wait, err := time.ParseDuration(*c.Wait); err != nil || wait < time.Second || wait > MaxWait {
			return "wait", fmt.Errorf("want a duration of 1s to %s, such as 30s", MaxWait)
		}
	}
	for _, t := range c.Tags {
		if !appsvc.ValidTagName(t) {
			return "tags", fmt.Errorf("%q cannot name a tag", t)
		}
	}
	size, seen := 0, map[string]bool{}
	for name, value := range c.Headers {
		canonical := http.CanonicalHeaderKey(name)
		switch size += len(name) + len(value); {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return !strings.ContainsRune("!#$%&'*+-.^_`|~", r) && (r > 'z' || r < '0' || r > '9' && r < 'A' ||
				r > 'Z' && r < 'a')
		}):
			return "headers", fmt.Errorf("%q cannot name a header", name)
		case slices.Contains(ownHeaders, canonical) || seen[canonical]:
			return "headers", fmt.Errorf("the header %s is set by the delivery itself, or given twice", canonical)
		case strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }):
			return "headers", fmt.Errorf("the value of %s is not ASCII text of one line", canonical)
		case size > MaxHeader:
			return "headers", fmt.Errorf("they have more than %d bytes", MaxHeader)
		}
		seen[canonical] = true
	}
	for _, t := range c.Types {
		if c.Tags != nil && !slices.Contains(moves, t) {
			return "types", fmt.Errorf("%q has no tag: with tags want %s", t, strings.Join(moves, " or "))
		}
		if !slices.Contains(Types(), t) {
			return "types", fmt.Errorf("%q is no type of change: want some of %s", t, strings.Join(Types(), ", "))
		}
	}
	for _, g := range c.Groups {
		if err := urn.CheckGroup(g); err != nil {
			return "groups", err
		}
	}
	return "", nil
}

// set returns a sorted list with each item once. A list that is absent stays nil, which stands for all, and any other
// does not become nil.
func set(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}
