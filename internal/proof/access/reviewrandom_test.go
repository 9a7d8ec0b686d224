//go:build proof

package access

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Networks of the random requests, and two that are left out or malformed.
var someNetworks = []string{"example.test", "other.test", "example.te", "nowhere.test", "the only one", network}

// randomReviews makes random requests about reviews.
type randomReviews struct{ random }

// file is a file of a few collections, of sources and ids that all networks have.
func (m *randomReviews) file() string {
	var out strings.Builder
	for range 1 + m.IntN(3) {
		ratings := make([]int, m.IntN(4))
		for i := range ratings {
			ratings[i] = 1 + m.IntN(3)
		}
		line := records(one(&m.random, []string{"shop", "blog"}), ratings...)
		if m.IntN(3) == 0 {
			line = strings.Replace(line, `["default"]`, `["x","y"]`, 1) // for which the reviews have a rating too few
		}
		out.WriteString(line)
	}
	return out.String()
}

// request is a request of a caller about a network.
func (m *randomReviews) request(name string) request {
	in := request{method: "POST", media: "application/x-ndjson", body: m.file()}
	switch m.IntN(3) {
	case 0:
		return get(ofNetwork("/x/reviews/export", name))
	case 1:
		in.path = ofNetwork("/x/reviews/import?dryRun=true", name)
	default:
		in.path = ofNetwork("/x/reviews/import", name)
	}
	return in
}

// about is the network that a request means: the one that it names or, left out, the caller's only one;
// "" for none.
func about(c caller, name string) string {
	if name != "the only one" {
		return name
	}
	only := map[string]bool{}
	for _, u := range c.Moderates {
		if rest, ok := strings.CutPrefix(u, "urn:vitrine:"); ok && !strings.Contains(rest, ":") {
			only[rest], name = true, rest
		}
	}
	if len(only) != 1 {
		return ""
	}
	return name
}

// An answer about the reviews of one network depends on that network alone. Every request goes to one
// world with all networks, and to a world that has seen nothing but the requests about its network: the
// answers must be the same, and be given to no one else than moderators of the whole network.
func TestReviewsOfOneNetworkDependOnNoOther(t *testing.T) {
	worlds, requests := 40, 60
	if *wantedWorlds > 0 {
		worlds = *wantedWorlds
	}
	if testing.Short() {
		worlds = min(worlds, 5)
	}
	done := 0
	for seed := range worlds {
		m := &randomReviews{random{world: newWorld(t), Rand: rand.New(rand.NewPCG(uint64(seed), 11))}}
		alone := map[string]*world{}
		for _, name := range append([]string{""}, someNetworks...) {
			alone[name] = newWorld(t)
		}
		for range requests {
			c, name := m.caller(), one(&m.random, someNetworks)
			if m.IntN(2) == 0 {
				c = builder // whose requests succeed
			}
			in, meant := m.request(name), about(c, name)
			got, want := m.send(c, in), alone[meant].send(c, in)
			if got.seen() != want.seen() {
				t.Fatalf("world %d: %s about %q is answered\n%s\nand where no other network has reviews\n%s", seed, got.what, name, got.seen(), want.seen())
			}
			if (got.status == 200) != moderatesWhole(c, meant) {
				t.Fatalf("world %d: %s about %q: %d %s", seed, got.what, name, got.status, got.body)
			}
			if got.status == 200 {
				done++
			}
			if strings.HasPrefix(in.path, "/x/reviews/import") && strings.Contains(got.body, "canary.test") {
				t.Fatalf("world %d: %s tells an address: %s", seed, got.what, got.body)
			}
		}
	}
	if done < worlds*requests/8 {
		t.Errorf("of %d requests %d succeeded", worlds*requests, done)
	}
}

func moderatesWhole(c caller, name string) bool {
	for _, u := range c.Moderates {
		if name != "" && u == fmt.Sprint("urn:vitrine:", name) {
			return true
		}
	}
	return false
}
