package urn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/urn"
)

func TestCheckGroup(t *testing.T) {
	for s, ok := range map[string]bool{
		"urn:vitrine:example.test":                   true,
		"urn:vitrine:example.test:site=1":            true,
		"urn:v:n:site=é":                             true,
		"urn:vitrine:" + strings.Repeat("n", 512-12): true,
		"urn:vitrine:" + strings.Repeat("n", 512-11): false,
		"":                       false,
		"urn:vitrine":            false,
		"urn:vitrine:":           false,
		"urn::n":                 false,
		"URN:vitrine:n":          false,
		"urn:vitrine:n:":         false,
		"urn:vitrine:n:site=":    false,
		"urn:vitrine:n:user=1":   false,
		"urn:vitrine:n:site=1:x": false,
		"urn:vitrine:n:site=1 ":  false,
		"urn:vitrine:n:site=\n":  false,
		"http://example.test":    false,
	} {
		if err := urn.CheckGroup(s); (err == nil) != ok {
			t.Errorf("CheckGroup(%q) = %v, want ok = %t", s, err, ok)
		}
	}
}

func TestTheURNsOfACallerAreChecked(t *testing.T) {
	const user, network, site = "urn:v:n:user=1", "urn:v:n", "urn:v:n:site=1"
	tests := []struct {
		what   string
		caller vitrine.Caller
		ok     bool
	}{
		{"a user without rights", vitrine.Caller{URN: user}, true},
		{"networks and sites in each list",
			vitrine.Caller{URN: user, Moderates: []string{network, site}, Reads: []string{site}}, true},
		{"no user", vitrine.Caller{}, false},
		{"a network as user", vitrine.Caller{URN: network}, false},
		{"a site as user", vitrine.Caller{URN: site}, false},
		{"a user of no network", vitrine.Caller{URN: "urn:v:user=1"}, false},
		{"a user whose id is a URN", vitrine.Caller{URN: "urn:v:n:user=" + user}, false},
		{"a user of invalid UTF-8", vitrine.Caller{URN: user + "\xff"}, false},
		{"an empty right", vitrine.Caller{URN: user, Moderates: []string{network, ""}}, false},
		{"a bare scheme as right", vitrine.Caller{URN: user, Moderates: []string{"urn"}}, false},
		{"a vendor as right", vitrine.Caller{URN: user, Moderates: []string{"urn:v"}}, false},
		{"a user as right", vitrine.Caller{URN: user, Moderates: []string{user}}, false},
		{"a malformed right in the second list",
			vitrine.Caller{URN: user, Moderates: []string{network}, Reads: []string{"urn:v"}}, false},
	}
	for _, tt := range tests {
		if err := tt.caller.Check(); (err == nil) != tt.ok {
			t.Errorf("%s: Check = %v, want ok = %t", tt.what, err, tt.ok)
		}
	}
}

func TestContains(t *testing.T) {
	tests := []struct {
		outer, inner string
		want         bool
	}{
		{"urn:v:n", "urn:v:n", true},
		{"urn:v:n", "urn:v:n:site=1", true},
		{"urn:v:n:site=1", "urn:v:n:site=1", true},
		{"urn:v:n:site=1", "urn:v:n:site=10", false},
		{"urn:v:n:site=1", "urn:v:n", false},
		{"urn:v:n", "urn:v:n2:site=1", false},
		{"urn:w:n", "urn:v:n", false},
		{"", "urn:v:n", false},
		{"urn:v:n", "", false},
	}
	for _, tt := range tests {
		if got := urn.Contains(tt.outer, tt.inner); got != tt.want {
			t.Errorf("Contains(%q, %q) = %t", tt.outer, tt.inner, got)
		}
	}
}

func TestContainers(t *testing.T) {
	want := []string{"urn", "urn:v", "urn:v:n", "urn:v:n:site=1"}
	if got := urn.Containers("urn:v:n:site=1"); !slices.Equal(got, want) {
		t.Errorf("Containers = %q, want %q", got, want)
	}
}

// Containers and Contains are two views of one rule.
func FuzzContainers(f *testing.F) {
	f.Add("urn:v:n", "urn:v:n:site=1")
	f.Add("urn:v:n:site=1", "urn:v:n:site=10")
	f.Fuzz(func(t *testing.T, outer, inner string) {
		if urn.CheckGroup(inner) != nil {
			return
		}
		if got, want := slices.Contains(urn.Containers(inner), outer), urn.Contains(outer, inner); got != want {
			t.Errorf("%q in Containers(%q) = %t, Contains = %t", outer, inner, got, want)
		}
	})
}
