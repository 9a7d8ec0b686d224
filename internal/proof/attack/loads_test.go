//go:build proof

package attack

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

var loads = flag.Bool("loads", false, "have many clients send and take as much as they may at once")

// TestMemoryUnderLoads has clients do at once as much as the limits allow. The memory of the server stays bounded.
func TestMemoryUnderLoads(t *testing.T) {
	if !*loads || !measured(t) {
		t.Skip("with -loads, on Linux")
	}
	for name, load := range map[string]func(*server) string{
		"200 patches of long apps":   (*server).patchesOfLongApps,
		"exports that are not read":  (*server).exportsThatAreNotRead,
		"uploads of large reviews":   func(s *server) string { return s.uploadsOf(15<<20, 2) },
		"uploads of 1 MiB a review":  func(s *server) string { return s.uploadsOf(1000<<10, 16) },
		"large collections, slowly":  (*server).largeCollectionsThatDoNotEnd,
		"pictures that are decoded":  (*server).picturesAtOnce,
		"pages of feeds, not read":   (*server).pagesOfFeedsThatAreNotRead,
		"streams of feeds, not read": (*server).streamsOfFeedsThatAreNotRead,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			outcome := load(s)
			u := s.usage()
			t.Logf("%d MiB at most, %d at the end; %s", u.peak>>10, u.now>>10, outcome)
			if u.peak>>10 > mostMiB {
				t.Errorf("the server took %d MiB, at most %d", u.peak>>10, mostMiB)
			}
			s.get("/apps/?limit=1").want(200)
		})
	}
}

// together does something n times at once, and counts the statuses.
func together(n int, do func(i int) reply) string {
	var all sync.WaitGroup
	statuses := make([]int, n)
	for i := range n {
		all.Go(func() { statuses[i] = do(i).status })
	}
	all.Wait()
	counts := map[int]int{}
	for _, status := range statuses {
		counts[status]++
	}
	return fmt.Sprintf("answers %v", counts)
}

// patchesOfLongApps has each of many callers patch one of some apps, which are as long as they may be.
func (s *server) patchesOfLongApps() string {
	s.component("long", "{}").want(201)
	var ids []string
	half := strings.Repeat("0123456789abcdef", 1450<<10/16)
	for range 10 {
		ids = append(ids, s.newApp("long", `{"text":"`+half+`","more":"`+half+`"}`))
	}
	s.usage()
	text := strings.Repeat("fedcba9876543210", 1000<<10/16)
	return together(200, func(i int) reply {
		patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
			`"path":"/apps/0/title","value":"%d"},`+
			`{"op":"add","path":"/apps/0/elements/0/config/most","value":"%s"}]`, i, text)
		return s.send("PATCH", "/apps/"+ids[i%len(ids)], strings.NewReader(patch),
			header("Authorization", "svctoken "+s.user(i)))
	})
}

// longRecord is a line with one review of so many bytes, in the collection i.
func longRecord(i, size int) string {
	line := strings.Replace(record, "<p>x</p>", "<p>"+strings.Repeat("0123456789abcde ", size/16)+"</p>", 1)
	return strings.Replace(line, "old.example", fmt.Sprintf("old%d.example", i), 1)
}

// exportsThatAreNotRead has many clients ask for all reviews of a network and read nothing.
func (s *server) exportsThatAreNotRead() string {
	var lines []io.Reader
	for i := range 100 {
		lines = append(lines, strings.NewReader(longRecord(i, 1<<20)))
	}
	imported := s.send("POST", "/x/reviews/import", io.MultiReader(lines...), header("Content-Type", ndjson)).want(200)
	if !strings.Contains(imported.body, `"errors":0`) {
		s.t.Fatalf("not imported: %.1000s", imported.body)
	}
	s.usage()
	clients := min(*connections, 900) // the server takes 1,000 requests at a time, and others are to be answered
	c := gather(s, clients, func(i int) string {
		return fmt.Sprintf("GET /x/reviews/export HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\n\r\n", s.user(i))
	})
	slowest := c.stays(true, nil)
	return fmt.Sprintf("%d clients, /healthz in %s at most", clients, slowest)
}

// longFeeds gives a library a feed of 6 MiB, in entries of 125 KiB, and the apps one of many entries.
func (s *server) longFeeds() {
	s.t.Helper()
	const assets, changes = 5_000, 48
	var ids []string
	for batch := range assets / 1000 {
		var made struct{ Added []struct{ ID string } }
		s.post(library+"/assets",
			`{"add":[`+repeat(1000,
				fmt.Sprintf(`{"id":"a%d-#","generator":{"id":"blog.example"},"content":{}}`, batch))+
				`]}`).want(200).read(&made)
		for _, a := range made.Added {
			ids = append(ids, a.ID)
		}
	}
	list, err := json.Marshal(ids)
	if err != nil || len(ids) != assets {
		s.t.Fatalf("%d assets were made: %v", len(ids), err)
	}
	for i := range changes {
		s.post(library+"/attributes",
			fmt.Sprintf(`{"assets":%s,%q:[{"key":"k","value":"v"}]}`, list, []string{"add", "remove"}[i%2])).want(200)
	}
	s.component("c", "{}").want(201)
	id := s.newApp("c", "{}")
	for range 1000 {
		s.send("PUT", "/apps/"+id+"/tags/t", strings.NewReader(`{"appVersion":"0"}`)).want(201)
		s.send("DELETE", "/apps/"+id+"/tags/t", nil).want(204)
	}
}

// pagesOfFeedsThatAreNotRead has many clients ask for a page of a feed of 6 MiB and read nothing.
func (s *server) pagesOfFeedsThatAreNotRead() string {
	s.longFeeds()
	s.usage()
	const clients = 120
	c := gather(s, clients, func(i int) string {
		return fmt.Sprintf("GET %s/changes?limit=500 HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\n\r\n",
			library, s.user(i))
	})
	return fmt.Sprintf("%d clients, /healthz in %s at most", clients, c.stays(true, nil))
}

// streamsOfFeedsThatAreNotRead has many clients follow the feed of a library, and that of the apps, from its beginning
// and read nothing.
func (s *server) streamsOfFeedsThatAreNotRead() string {
	s.longFeeds()
	s.usage()
	const clients = 128
	c := gather(s, clients, func(i int) string {
		return fmt.Sprintf("GET %s?limit=500 HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nAccept: "+
			"text/event-stream\r\n\r\n",
			[]string{library + "/changes", "/x/changes"}[i%2], s.user(i/8))
	})
	for i, conn := range c.clients { // until all have begun, which keeps the processor busy
		begun := make([]byte, len("HTTP/1.1 200"))
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.ReadFull(conn, begun); err != nil || string(begun) != "HTTP/1.1 200" {
			s.t.Fatalf("stream %d begins with %q, %v", i, begun, err)
		}
	}
	return fmt.Sprintf("%d clients, /healthz in %s at most", clients, c.stays(true, nil))
}

// uploads is how many uploads of reviews are under way at a time.
const uploads = 32

// uploader is the caller of upload i, so that as many as may be are under way for each network and caller.
func (s *server) uploader(i int) string {
	urn := fmt.Sprintf("urn:vitrine:network%d.test", i/8)
	return s.sign(
		httpapi.Principal{Caller: vitrine.Caller{URN: fmt.Sprintf("%s:user=%d", urn, i/4), Moderates: []string{urn}}})
}

// uploadsOf has as many uploads at a time as there may be send reviews of so many bytes, n in a line, and then
// replace them.
func (s *server) uploadsOf(size, n int) (outcome string) {
	before, after, _ := strings.Cut(strings.TrimSpace(record), "<p>x</p>")
	open, review, _ := strings.Cut(before, `{"id":"r"`)
	end, closing := after[:len(after)-len("]}")], "]}\n"
	for _, text := range []string{"0123456789abcde ", "fedcba987654321 "} {
		outcome += together(uploads, func(i int) reply {
			parts := []io.Reader{strings.NewReader(open)}
			for j := range n {
				head := fmt.Sprintf(`{"id":"r%d"%s`, j, review)
				if j > 0 {
					head = "," + head
				}
				parts = append(parts, strings.NewReader(head), repeated(text, size/len(text)), strings.NewReader(end))
			}
			parts = append(parts, strings.NewReader(closing))
			r := s.send("POST", "/x/reviews/import", io.MultiReader(parts...), header("Content-Type", ndjson),
				header("Authorization", "svctoken "+s.uploader(i)))
			if r.status == 200 && !strings.Contains(r.body, `"errors":0`) {
				s.t.Errorf("not imported: %.1000s", r.body)
			}
			return r
		}) + "; "
	}
	return outcome
}

// largeCollectionsThatDoNotEnd has as many uploads at a time as there may be send a title of 15 MiB and then wait.
func (s *server) largeCollectionsThatDoNotEnd() string {
	title := strings.Repeat("0123456789abcdef", 15<<20/16)
	c := gather(s, uploads, func(i int) string {
		return fmt.Sprintf("POST /x/reviews/import HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken "+
			"%s\r\nContent-Type: %s\r\nContent-Length: 900000000\r\n\r\n", s.uploader(i), ndjson) +
			`{"source":"https://old.example/","title":"` + title + `",`
	})
	slowest := c.stays(true, func(_ int, conn net.Conn) { _, _ = io.WriteString(conn, strings.Repeat(" ", 2<<10)) })
	return fmt.Sprintf("%d clients, /healthz in %s at most", uploads, slowest)
}
