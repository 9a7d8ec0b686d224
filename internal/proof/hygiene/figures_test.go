//go:build proof && linux

package hygiene

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var wantedFlood = flag.Int("flood", 0, "how many idle connections are opened to the server as it is; 0 = none")

// TestFigures prints what a flood costs the server as it is, and how it answers meanwhile.
func TestFigures(t *testing.T) {
	if *wantedFlood == 0 {
		t.Skip("-flood asks for it")
	}
	binary, err := program.Build{Module: module, Package: "./examples/vitrine"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := startBinary(t, binary, nil, 0)
	if err := s.warm(); err != nil {
		t.Fatal(err)
	}
	quiet := s.latencies(t)
	before, err := s.resident()
	if err != nil {
		t.Fatal(err)
	}
	err = s.flood(*wantedFlood, func() error {
		during := s.latencies(t)
		after, err := s.resident()
		if err != nil {
			return err
		}
		sockets, _, err := s.descriptors()
		t.Logf("%d idle connections: %d are kept, for %d KB more", *wantedFlood, sockets-1, after-before)
		t.Logf("a request on a connection of its own, median and longest of %d: %s and %s, without them %s and %s", len(during),
			during[len(during)/2], during[len(during)-1], quiet[len(quiet)/2], quiet[len(quiet)-1])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

// latencies returns how long each of some reads took, the shortest first.
func (s *server) latencies(t *testing.T) []time.Duration {
	t.Helper()
	var all []time.Duration
	for range 500 {
		begin := time.Now()
		if _, err := s.do("GET", "/apps/?limit=1", "", 200); err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return all
}
