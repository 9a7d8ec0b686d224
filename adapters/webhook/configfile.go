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

	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Limits of a configuration.
const (
	MaxConfig    = 1 << 20 // bytes of the JSON text
	MaxEndpoints = 100
	MaxName      = 128   // characters of a name
	MaxURL       = 2_048 // bytes of a URL
	MaxGroups    = 100   // groups of an endpoint
)

// config is an endpoint as it stands in the JSON text. The secret is a string or a list of two.
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
		e, member, err := c.endpoint()
		if err == nil && slices.ContainsFunc(out, func(o Endpoint) bool { return o.Name == e.Name }) {
			member, err = "name", fmt.Errorf("%q is the name of an earlier webhook: each has its own", e.Name)
		}
		if err != nil {
			return nil, strictjson.Within(fmt.Sprintf("/%d/%s", i, member), err)
		}
		out = append(out, e)
	}
	return out, nil
}

// endpoint returns c as an Endpoint. If a member is wrong, it returns the name of the member and what would be right.
func (c config) endpoint() (e Endpoint, member string, err error) {
	e = Endpoint{Name: c.Name, URL: c.URL}
	if err := checkName(c.Name); err != nil {
		return e, "name", err
	}
	if err := checkURL(c.URL); err != nil {
		return e, "url", err
	}
	if e.Secrets, err = parseSecrets(c.Secret); err != nil {
		return e, "secret", err
	}
	if err := checkTypes(c.Types); err != nil {
		return e, "types", err
	}
	e.Types, e.Groups = set(c.Types), set(c.Groups)
	return e, "groups", checkGroups(c.Groups)
}

// set returns a list in order, each item once: every change is compared with it, however often the file repeats an item. A list
// that is absent stays nil, which stands for all, and any other does not become nil.
func set(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

// checkName accepts a name of 1 to MaxName characters without control characters.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("a webhook needs a name")
	case utf8.RuneCountInString(name) > MaxName:
		return fmt.Errorf("a name has at most %d characters", MaxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("a name has no control characters")
	}
	return nil
}

// checkURL accepts an absolute http or https URL. Its errors do not repeat the URL: it may hold a secret.
func checkURL(s string) error {
	if s == "" {
		return errors.New("a webhook needs a url")
	}
	if len(s) > MaxURL {
		return fmt.Errorf("a URL of %d bytes is too long: at most %d", len(s), MaxURL)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("want an absolute URL that begins with https:// or http://")
	case u.User != nil:
		return errors.New("a URL with a user or a password is not accepted: the signature tells the receiver who sends")
	case strings.Contains(s, "#"):
		return errors.New("a URL with a fragment is not accepted: a fragment is not sent")
	}
	return nil
}

// checkTypes accepts nil and a list of known types. An empty list is refused, since it would match nothing.
func checkTypes(types []string) error {
	if types != nil && len(types) == 0 {
		return errors.New("an empty list matches no change: leave it out for all types")
	}
	for _, t := range types {
		if !slices.Contains(Types(), t) {
			return fmt.Errorf("%q is no type of change: want some of %s", t, strings.Join(Types(), ", "))
		}
	}
	return nil
}

// checkGroups accepts nil and a list of URNs of networks and sites. An empty list is refused, since it would match nothing.
func checkGroups(groups []string) error {
	if groups != nil && len(groups) == 0 {
		return errors.New("an empty list matches no change: leave it out for all groups")
	}
	if len(groups) > MaxGroups {
		return fmt.Errorf("%d groups: at most %d", len(groups), MaxGroups)
	}
	for _, g := range groups {
		if err := urn.CheckGroup(g); err != nil {
			return err
		}
	}
	return nil
}
