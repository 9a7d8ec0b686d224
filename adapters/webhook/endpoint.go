package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	if !e.wants(c.Type) {
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
)

// config is an endpoint in the JSON text. The secret is a string or a list of two.
type config struct {
	Name   string          `json:"name"`
	URL    string          `json:"url"`
	Secret json.RawMessage `json:"secret"`
	Types  []string        `json:"types"`
	Groups []string        `json:"groups"`
}

// Parse reads a configuration: a JSON array of objects with the members name, url and secret, and optionally types
// and groups. The error names the place of the first fault by a JSON pointer. It never repeats a secret or a URL.
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
		out = append(out,
			Endpoint{Name: c.Name, URL: c.URL, Secrets: secrets, Types: set(c.Types), Groups: set(c.Groups)})
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
	}
	for _, t := range c.Types {
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
