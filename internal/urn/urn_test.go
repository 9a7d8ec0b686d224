package urn_test

import (
	"slices"
	"strings"
	"testing"

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

func TestCheckCaller(t *testing.T) {
	const user, network, site = "urn:v:n:user=1", "urn:v:n", "urn:v:n:site=1"
	tests := []struct {
		what  string
		user  string
		lists [][]string
		ok    bool
	}{
		{"a user without rights", user, nil, true},
		{"networks and sites in each list", user, [][]string{{network, site}, {site}}, true},
		{"no user", "", nil, false},
		{"a network as user", network, nil, false},
		{"a site as user", site, nil, false},
		{"a user of no network", "urn:v:user=1", nil, false},
		{"a user whose id is a URN", "urn:v:n:user=" + user, nil, false},
		{"a user of invalid UTF-8", user + "\xff", nil, false},
		{"an empty right", user, [][]string{{network, ""}}, false},
		{"a bare scheme as right", user, [][]string{{"urn"}}, false},
		{"a vendor as right", user, [][]string{{"urn:v"}}, false},
		{"a user as right", user, [][]string{{user}}, false},
		{"a malformed right in the second list", user, [][]string{{network}, {"urn:v"}}, false},
	}
	for _, tt := range tests {
		if err := urn.CheckCaller(tt.user, tt.lists...); (err == nil) != tt.ok {
			t.Errorf("%s: CheckCaller = %v, want ok = %t", tt.what, err, tt.ok)
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
