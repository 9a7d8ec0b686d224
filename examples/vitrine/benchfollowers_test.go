package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// benchFollowers is how many follow the feed of changes at the same time.
const benchFollowers = 1000

var eventLine = []byte("\nevent: ")

// follow follows the feed of changes of an app as one of the followers, from now on. It calls came with the time at
// which events came, and how many.
func follow(b *testing.B, t benchTarget, follower int, app string, came func(at time.Time, events int)) {
	b.Helper()
	c := dial(b, t.Addr)
	b.Cleanup(func() { c.Close() })
	_, err := fmt.Fprintf(c,
		"GET /x/changes?after=now&app=%s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nAccept: "+
			"text/event-stream\r\n\r\n",
		strings.TrimPrefix(app, "/apps/"), t.Followers[follower%len(t.Followers)])
	if err != nil {
		b.Fatal(err)
	}
	for line := []byte(nil); len(line) != 2; { // until the stream has begun
		first := line == nil
		if line, err = c.in.ReadSlice('\n'); err != nil || first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			b.Fatalf("%s: %v", line, err)
		}
	}
	go func() {
		in := make([]byte, 4<<10)
		for held := 0; ; {
			n, err := c.in.Read(in[held:])
			if err != nil {
				return // the benchmark has ended
			}
			have := in[:held+n]
			if events := bytes.Count(have, eventLine); events > 0 {
				came(time.Now(), events)
			}
			held = copy(in, have[max(0, len(have)-len(eventLine)+1):]) // the beginning of a line that is cut
		}
	}()
}

// BenchmarkFollowers measures patches by 32 clients while a thousand streams follow the feed: of apps that nobody
// changes, and of the apps that are changed, each of one. The servers take turns. Every event must come.
func BenchmarkFollowers(b *testing.B) {
	var measure []func() float64
	var came, made [3]atomic.Int64
	names := []string{"none", "idle", "active"}
	for i, name := range names {
		s := startBench(b, forFollowers+filepath.Join(b.TempDir(), name+".db"))
		changed := len(s.Apps) - 1 // the last one stays as it is
		versions := make([]int, changed)
		for f := range benchFollowers {
			switch name {
			case "idle":
				follow(b, s, f, s.Latest, func(_ time.Time, n int) { came[i].Add(int64(n)) })
			case "active":
				follow(b, s, f, s.Apps[f%changed], func(_ time.Time, n int) { came[i].Add(int64(n)) })
			}
		}
		measure = append(measure, func() float64 {
			rate := patches(b, s, benchClients, versions, time.Second)
			made[i].Store(0)
			for app, n := range versions {
				made[i].Add(int64(n))
				if app == 0 && benchFollowers > changed {
					made[i].Add(int64(n)) // the last follower has the first app too
				}
			}
			return rate
		})
	}
	figures, ratios := inTurns(5, measure...)
	for end := time.Now().Add(time.Minute); came[2].Load() < made[2].Load() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if came[2].Load() != made[2].Load() || came[1].Load() != 0 {
		b.Errorf("%d events of %d changes came, and %d of an app that was not changed", came[2].Load(), made[2].Load(),
			came[1].Load())
	}
	report(b, names, figures, ratios)
}

// BenchmarkFollowerLatency measures how long after a patch was sent its event comes to a follower of the process that
// stores it, and to one of another process on the same file.
func BenchmarkFollowerLatency(b *testing.B) {
	const samples = 200
	file := filepath.Join(b.TempDir(), "bench.db")
	own := startBench(b, file)
	other := startBench(b, besideOther+file)
	other.Apps = own.Apps
	arrived := make([]chan time.Time, 2)
	for i, t := range []benchTarget{own, other} {
		arrived[i] = make(chan time.Time, samples)
		follow(b, t, 0, own.Apps[0], func(at time.Time, events int) {
			for range events {
				arrived[i] <- at
			}
		})
	}
	c := dial(b, own.Addr)
	defer c.Close()
	took := make([][]float64, 2) // milliseconds
	for n := range samples {
		begun := time.Now()
		if err := c.patch(own, 0, n); err != nil {
			b.Fatal(err)
		}
		for i := range arrived {
			select {
			case at := <-arrived[i]:
				took[i] = append(took[i], float64(at.Sub(begun).Microseconds())/1000)
			case <-time.After(time.Minute):
				b.Fatalf("event %d does not come", n)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, name := range []string{"own", "other"} {
		slices.Sort(took[i])
		b.ReportMetric(took[i][samples/2], name+"-median-ms")
		b.ReportMetric(took[i][samples*99/100], name+"-p99-ms")
	}
}
