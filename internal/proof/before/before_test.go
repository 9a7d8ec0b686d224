//go:build proof

// Package before measures this release beside the one before it, over HTTP, since that is what both have in common. Each kind of
// work runs on both in turn, round after round; what is told are medians of processor time of the server and of the wall.
package before

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var (
	before = flag.String("before", "", "program of the release before; without it nothing is measured")
	rounds = flag.Int("rounds", 3, "how often each kind of work runs on each side")
	apps   = flag.Int("apps", 10_000, "apps in the lists")
	posts  = flag.Int("posts", 20_000, "posts in the library")
	spell  = flag.Duration("spell", 3*time.Second, "how long a kind of work runs at a time")
	only   = flag.String("only", "", "measure only the kinds of work whose name has this")
	onPG   = flag.Bool("postgres", false, "on PostgreSQL instead of SQLite")
)

const (
	network = "urn:vitrine:example.test"
	key     = "a key for measurements alone, nothing more"
	library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
)

// side is a program with its server and what is in its store.
type side struct {
	t       *testing.T
	name    string
	server  *program.Server
	cluster *cluster.Cluster // nil on SQLite
	token   string
	apps    []string
	version []atomic.Int64
	folders []string
	posts   atomic.Int64
	reviews atomic.Int64
}

// client takes no gzip, since the two releases compress from different lengths on.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}

func start(t *testing.T, name, binary string) *side {
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, "v.db")
	var database *cluster.Cluster
	if *onPG {
		database = cluster.New(t, &cluster.Options{Fsync: true})
		db = database.URL("postgres")
	}
	server, err := program.StartServer(nil, binary, "serve", "-addr", "127.0.0.1:0", "-db", db, "-key-file", keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	tokens, err := httpapi.NewTokens([]byte(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Sign(httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}, Components: true}}, time.Now().Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return &side{t: t, name: name, server: server, cluster: database, token: token}
}

// send sends a request as a moderator, and reads the answer into out unless that is nil. It reports false
// for a conflict.
func (s *side) send(method, path, body string, out any) bool {
	r, err := http.NewRequest(method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		s.t.Errorf("%s: %s %s: %v", s.name, method, path, err)
		return true
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode == http.StatusConflict {
		if err := json.Unmarshal(text, out); err != nil {
			s.t.Errorf("%s: %s %s: %s", s.name, method, path, text)
		}
		return false
	}
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%d %.200s", answer.StatusCode, text)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		s.t.Errorf("%s: %s %s: %v", s.name, method, path, err)
	}
	return true
}

// cpu is the processor time that the server has used, and its database.
func (s *side) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.server.Pid()))
	if err != nil {
		s.t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	used := time.Duration(user+system) * 10 * time.Millisecond
	if s.cluster != nil {
		used += s.cluster.Processor()
	}
	return used
}

// parallel calls do n times at once, each with its number, again and again until the time is over; it returns the calls.
func parallel(n int, most time.Duration, do func(client int)) (calls int64) {
	ctx, stop := context.WithTimeout(context.Background(), most)
	defer stop()
	var all sync.WaitGroup
	var count atomic.Int64
	for i := range n {
		all.Go(func() {
			for ctx.Err() == nil {
				do(i)
				count.Add(1)
			}
		})
	}
	all.Wait()
	return count.Load()
}

const clients = 32

// fill makes what the kinds of work need.
func (s *side) fill() {
	s.send("POST", "/components/", `{"name":"text","version":"1.0.0","main":"https://cdn.example.test/text.js","configSchema":{}}`, nil)
	element := `{"component":{"name":"text","version":"1.0.0"},"config":{"text":"%s"}}`
	big := fmt.Sprintf(element, strings.Repeat("lorem ipsum dolor ", 300))
	small := fmt.Sprintf(element, "short")
	for i := range clients {
		var made struct{ ID string }
		s.send("POST", "/apps/", fmt.Sprintf(`{"title":"big %d","groups":[%q],"elements":[%s]}`, i, network, big), &made)
		s.apps = append(s.apps, made.ID)
		s.send("PUT", "/apps/"+made.ID+"/tags/production", `{"appVersion":"0"}`, nil)
	}
	s.version = make([]atomic.Int64, clients)
	var left atomic.Int64
	left.Store(int64(*apps))
	parallelUntil(&left, func(i int64) {
		s.send("POST", "/apps/", fmt.Sprintf(`{"title":"app %d","groups":["%s:site=%d"],"elements":[%s]}`, i, network, i%100, small), nil)
	})
	var made struct{ Folders []struct{ ID string } }
	list := make([]string, 200)
	for i := range list {
		list[i] = fmt.Sprintf(`{"label":"folder %d"}`, i)
	}
	s.send("POST", library+"/folders", `{"create":[`+strings.Join(list, ",")+`]}`, &made)
	for _, f := range made.Folders {
		s.folders = append(s.folders, f.ID)
	}
	for s.posts.Load() < int64(*posts) {
		s.add(200)
	}
}

// parallelUntil calls do with the numbers from left down to 1.
func parallelUntil(left *atomic.Int64, do func(i int64)) {
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				do(i)
			}
		})
	}
	all.Wait()
}

// add adds posts to the library, in one request. Words have the frequencies of a language.
func (s *side) add(n int) {
	list := make([]string, n)
	for i := range list {
		number := s.posts.Add(1)
		rng := rand.New(rand.NewPCG(uint64(number), 7))
		words := make([]string, 20)
		for k := range words {
			words[k] = "w" + strconv.Itoa(int(1/(rng.Float64()+1e-5)))
		}
		folder := ""
		if len(s.folders) > 0 {
			folder = fmt.Sprintf(`,"folders":[%q]`, s.folders[rng.IntN(len(s.folders))])
		}
		list[i] = fmt.Sprintf(`{"id":"p%d","generator":{"id":"camera %d"},"content":{"text":"common %s"},"safe_tags":["t%d","u%d"],"via":%d%s}`,
			number, rng.IntN(5), strings.Join(words, " "), rng.IntN(50), rng.IntN(1000), rng.IntN(8), folder)
	}
	s.send("POST", library+"/assets", `{"add":[`+strings.Join(list, ",")+`]}`, nil)
}

// collection is a line of an import with a hundred reviews.
func (s *side) collection() string {
	var b strings.Builder
	n := s.reviews.Add(1)
	fmt.Fprintf(&b, `{"source":"https://old.example.test","title":"T","created":"2020-01-02T03:04:05Z","id":"%08d","dimensions":["default"],"reviews":[`, n)
	for i := range 100 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"r%d","imported_display_name":"N","title":"round","body_html":"<p>%s</p>","created":"2020-01-02T03:04:05Z","ratings":[50]}`, i, strings.Repeat("text ", 60))
	}
	b.WriteString("]}\n")
	return b.String()
}

// work is a kind of work; it returns how much was done, in its unit.
type work struct {
	name, unit string
	do         func(s *side) float64
}

func patch(s *side, app int) {
	s.send("PATCH", "/apps/"+s.apps[app], rename(s.version[app].Add(1)-1), nil)
}

// patchHot changes the title of the last app. All clients do it at once, so most are told that another one was faster, with the version that
// the app has now, and try again for that.
func patchHot(s *side) {
	hot := &s.version[clients-1]
	for v := hot.Load(); ; {
		var latest struct{ Version string }
		if s.send("PATCH", "/apps/"+s.apps[clients-1], rename(v), &latest) {
			hot.Store(max(hot.Load(), v+1))
			return
		}
		v, _ = strconv.ParseInt(latest.Version, 10, 64)
	}
}

// rename is a patch for a version.
func rename(v int64) string {
	return fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title","value":"title %d"}]`, v, v)
}

// tagHot moves a tag of the last app.
func tagHot(s *side, client int) {
	s.send("PUT", fmt.Sprintf("/apps/%s/tags/t%d", s.apps[clients-1], client), fmt.Sprintf(`{"appVersion":"%d"}`, rand.IntN(2)), nil)
}

func search(query string) func(*side) float64 {
	return func(s *side) float64 {
		return float64(parallel(1, *spell, func(int) { s.send("GET", library+"/assets?"+query, "", nil) }))
	}
}

var works = []work{
	{"PATCH, 32 clients", "patch", func(s *side) float64 { return float64(parallel(clients, *spell, func(i int) { patch(s, i) })) }},
	{"PATCH, 1 client", "patch", func(s *side) float64 { return float64(parallel(1, *spell, func(i int) { patch(s, i) })) }},
	{"PATCH, one hot app", "patch", func(s *side) float64 { return float64(parallel(clients, *spell, func(int) { patchHot(s) })) }},
	{"PUT tags, one hot app", "tag", func(s *side) float64 {
		return float64(parallel(clients, *spell, func(i int) { tagHot(s, i) }))
	}},
	{"GET latest", "get", func(s *side) float64 {
		return float64(parallel(clients, *spell, func(i int) { s.send("GET", "/apps/"+s.apps[i], "", nil) }))
	}},
	{"GET tagged", "get", func(s *side) float64 {
		return float64(parallel(clients, *spell, func(i int) { s.send("GET", "/apps/"+s.apps[i]+"/tagged/production", "", nil) }))
	}},
	{"list, page of 50", "page", func(s *side) float64 {
		return float64(parallel(1, *spell, func(int) { s.send("GET", "/apps/?limit=50", "", nil) }))
	}},
	{"assets by 200", "post", func(s *side) float64 { return 200 * float64(parallel(1, *spell, func(int) { s.add(200) })) }},
	{"assets singly", "post", func(s *side) float64 { return float64(parallel(1, *spell, func(int) { s.add(1) })) }},
	{"search, common word", "page", search("query=common&limit=50")},
	{"search, two words", "page", search("query=w1+w2&limit=50")},
	{"search, prefix", "page", search("query=w12*&limit=50")},
	{"search, three facets", "page", search("query=common&limit=50&facets=generator,tags,folder")},
	{"import of reviews", "MB", func(s *side) (mb float64) {
		lines := make([]string, 100)
		for end := time.Now().Add(*spell); time.Now().Before(end); {
			for i := range lines {
				lines[i] = s.collection()
			}
			file := strings.Join(lines, "")
			s.send("POST", "/x/reviews/import", file, nil)
			mb += float64(len(file)) / 1e6
		}
		return mb
	}},
}

func TestBesideTheReleaseBefore(t *testing.T) {
	if *before == "" {
		t.Skip("no program of the release before is given: -args -before PROGRAM")
	}
	binary, err := program.Build{Module: "../../..", Package: "./examples/vitrine"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sides := []*side{start(t, "before", *before), start(t, "now", binary)}
	for _, s := range sides {
		at := time.Now()
		s.fill()
		t.Logf("%s: filled in %.1f s", s.name, time.Since(at).Seconds())
	}
	for _, w := range works {
		if !strings.Contains(w.name, *only) {
			continue
		}
		var wall, cpu [2][]float64 // microseconds of each side
		for range *rounds {
			for i, s := range sides {
				c, at := s.cpu(), time.Now()
				n := w.do(s)
				wall[i] = append(wall[i], time.Since(at).Seconds()*1e6/n)
				cpu[i] = append(cpu[i], (s.cpu()-c).Seconds()*1e6/n)
			}
		}
		median := func(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }
		t.Logf("%-22s wall %8.0f -> %8.0f µs a %s, %.2fx the speed   processor %8.0f -> %8.0f µs, %.2fx", w.name,
			median(wall[0]), median(wall[1]), w.unit, median(wall[0])/median(wall[1]), median(cpu[0]), median(cpu[1]), median(cpu[1])/median(cpu[0]))
	}
}
