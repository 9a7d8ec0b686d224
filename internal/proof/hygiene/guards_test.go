//go:build linux

package hygiene

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	module = "../../.."
	// offVariable names the guards that a server is to do without, joined by commas.
	offVariable = "VITRINE_OFF"
)

// limits shorten what the server waits for to seconds, and make room for fewer connections. SECOND is
// the second of this test.
var limits = []program.Edit{
	{File: "examples/server/serve.go", Old: "lastRequests = 30 * time.Second", New: "lastRequests = 3 * SECOND"},
	{File: "examples/server/connections.go", Old: "mostConnections = 1000", New: "mostConnections = 200"},
	{File: "adapters/httpapi/config.go", Old: "c.Limits.Pause = time.Minute", New: "c.Limits.Pause = SECOND"},
	{File: "adapters/httpapi/body.go", Old: "drainedFor    = 3 * time.Second", New: "drainedFor    = SECOND"},
}

// The guards by name, and how a build switches them off: OFF stands for whether it is to.
var guards = map[string][]program.Edit{
	"time for headers": {{File: "examples/server/serve.go",
		Old: "ReadHeaderTimeout:            10 * time.Second,",
		New: "ReadHeaderTimeout:            map[bool]time.Duration{false: SECOND, true: time.Hour}[OFF],"}},
	"time for a body": {{File: "examples/server/serve.go",
		Old: "ReadTimeout:                  time.Minute,",
		New: "ReadTimeout:                  map[bool]time.Duration{false: 2*SECOND, true: time.Hour}[OFF],"}},
	"time for an answer": {{File: "examples/server/serve.go",
		Old: "WriteTimeout:                 2 * time.Minute,",
		New: "WriteTimeout:                 map[bool]time.Duration{false: 2*SECOND, true: time.Hour}[OFF],"}},
	"time between requests": {{File: "examples/server/serve.go",
		Old: "IdleTimeout:                  time.Minute,",
		New: "IdleTimeout:                  map[bool]time.Duration{false: SECOND, true: time.Hour}[OFF],"}},
	"bytes of headers": {{File: "examples/server/serve.go",
		Old: "MaxHeaderBytes:               256 << 10,",
		New: "MaxHeaderBytes:               map[bool]int{false: 256 << 10, true: 64 << 20}[OFF],"}},
	"time to take a refusal": {{File: "adapters/httpapi/body.go",
		Old: "SetReadDeadline(time.Now().Add(drainedFor))",
		New: "SetReadDeadline(time.Now().Add(map[bool]time.Duration{false: drainedFor, true: time.Hour}[OFF]))"}},
	"pause of an upload": {{File: "adapters/httpapi/reviews.go",
		Old: "_ = u.control.SetReadDeadline(time.Now().Add(u.pause))",
		New: "_ = u.control.SetReadDeadline(time.Now().Add(map[bool]time.Duration{false: u.pause, true: time.Hour}[OFF]))"}},
	"time to answer an upload": {{File: "adapters/httpapi/reviews.go",
		Old: "_ = u.control.SetWriteDeadline(time.Time{})",
		New: "if !OFF { _ = u.control.SetWriteDeadline(time.Time{}) }"}, {File: "adapters/httpapi/reviews.go",
		Old: "if u.server != nil && u.server.WriteTimeout > 0 {",
		New: "if u.server != nil && u.server.WriteTimeout > 0 && !OFF {"}},
	"number of connections": {{File: "examples/server/serve.go",
		Old: "min(mostConnections, descriptors()/4)",
		New: "min(map[bool]int{false: mostConnections, true: 1<<30}[OFF], DESCRIPTORS)"}},
	"room among descriptors": {{File: "examples/server/serve.go",
		Old: "DESCRIPTORS",
		New: "map[bool]int{false: descriptors()/4, true: 1<<30}[OFF]"}},
	"requests displace none": {{File: "examples/server/connections.go",
		Old: "if !c.gone && (state == http.StateNew || state == http.StateIdle) {",
		New: "if !c.gone && (state == http.StateNew || state == http.StateIdle || OFF && state == http.StateActive) {"}},
	"errors of a listener are passed on": {{File: "examples/server/connections.go",
		Old: "if err != nil {\n\t\treturn nil, err",
		New: "if err != nil {\n\t\tif OFF { err = hidden{err} }\n\t\treturn nil, err"}},
	"requests are finished": {{File: "examples/server/serve.go",
		Old: "err := s.Shutdown(last)",
		New: "shut := s.Shutdown\n\tif OFF { shut = func(context.Context) error { return s.Close() } }\n\terr := shut(last)"}},
	"time to finish": {{File: "examples/server/serve.go",
		Old: "context.WithTimeout(context.WithoutCancel(ctx), lastRequests)",
		New: "context.WithTimeout(context.WithoutCancel(ctx), map[bool]time.Duration{false: lastRequests, true: time.Hour}[OFF])"}},
	"slow clients spoil no stop": {{File: "examples/server/serve.go",
		Old: "_ = s.Close() // ",
		New: "if OFF { return err }\n\t\t_ = s.Close() // "}},
	"a panic is caught": {{File: "adapters/httpapi/handler.go",
		Old: "cause := recover()",
		New: "var cause any\n\tif !OFF { cause = recover() }"}},
	"a worker's panic is caught": {{File: "reviews/part.go",
		Old: "if v := recover(); v != nil {",
		New: "var v any\n\t\tif !OFF { v = recover() }\n\t\tif v != nil {"}},
}

// faults are what goes wrong when a client asks for it, or when it is switched on like a guard is off.
var faults = []program.Edit{
	{File: "appsvc/create.go", Old: "return s.addVersion(ctx, tx, meta, d, s.limits.AppBytes)",
		New: "app, err := s.addVersion(ctx, tx, meta, d, s.limits.AppBytes)\n" +
			"if in.Title == \"panic\" { panic(\"secret of the panic\") }\nreturn app, err"},
	{File: "reviews/part.go", Old: "\twork()\n",
		New: "\tif switchedOn(\"panicking workers\") { panic(\"secret of the panic\") }\n\twork()\n"},
	{File: "adapters/httpapi/handler.go", Old: "\tc := h.begin(w, r)\n", New: "\tc := h.begin(w, r)\n\tleak()\n"},
	{File: "examples/server/serve.go", Old: "log := slog.New(slog.NewTextHandler(p.stderr, nil))\n",
		New: "log := slog.New(slog.NewTextHandler(p.stderr, nil))\n\tprobe()\n"},
}

// switches is in each package whose guards can be switched off.
const switches = `
func switchedOn(name string) bool {
	for one := range strings.SplitSeq(os.Getenv("` + offVariable + `"), ",") {
		if one == name {
			return true
		}
	}
	return false
}
`

// probe prints what the process holds at every SIGUSR1.
const probe = `
func probe() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&m)
			fmt.Fprintf(os.Stderr, "probe goroutines=%d heap=%d\n", runtime.NumGoroutine(), m.HeapAlloc)
		}
	}()
}

type hidden struct{ error }
`

const leaks = `
var leaked struct {
	sync.Mutex
	memory [][]byte
}

func leak() {
	if switchedOn("leak of goroutines") {
		go func() { select {} }()
	}
	if switchedOn("leak of descriptors") {
		_, _ = syscall.Open("/dev/null", syscall.O_RDONLY, 0)
	}
	if switchedOn("leak of memory") {
		leaked.Lock()
		leaked.memory = append(leaked.memory, make([]byte, 4<<10))
		leaked.Unlock()
	}
}
`

// built builds the server with all switches once.
var built = sync.OnceValues(func() (string, error) {
	b := program.Build{Module: module, Package: "./examples/server", Race: raced, Edits: slices.Clone(limits), Added: map[string]string{
		"examples/server/switches.go":  "package main\n\nimport (\n\"fmt\"\n\"os\"\n\"os/signal\"\n\"runtime\"\n\"strings\"\n\"syscall\"\n)\n" + switches + probe,
		"adapters/httpapi/switches.go": "package httpapi\n\nimport (\n\"os\"\n\"strings\"\n\"sync\"\n\"syscall\"\n)\n" + switches + leaks,
		"reviews/switches.go":          "package reviews\n\nimport (\n\"os\"\n\"strings\"\n)\n" + switches,
	}}
	add := func(name string) {
		for _, e := range guards[name] {
			e.New = strings.ReplaceAll(e.New, "OFF", fmt.Sprintf("switchedOn(%q)", name))
			b.Edits = append(b.Edits, e)
		}
	}
	add("number of connections") // the place of the next one
	for name := range guards {
		if name != "number of connections" {
			add(name)
		}
	}
	b.Edits = append(b.Edits, faults...)
	for i := range b.Edits {
		b.Edits[i].New = strings.ReplaceAll(b.Edits[i].New, "SECOND", fmt.Sprintf("(%d * time.Millisecond)", second.Milliseconds()))
	}
	return b.Run(buildDir)
})

// buildDir holds the programs; it is made and removed by TestMain.
var buildDir string

// TestGuards puts the server without a guard through the scenario that needs it.
func TestGuards(t *testing.T) {
	t.Parallel()
	needed := map[string]bool{}
	for _, s := range scenarios {
		for _, guard := range s.guards {
			needed[guard] = true
			if testing.Short() && raced {
				continue
			}
			t.Run(guard, func(t *testing.T) {
				t.Parallel()
				err := s.on(t, guard)
				if err == nil {
					t.Errorf("%s: nothing is wrong without it", s.name)
				}
				t.Logf("%s: %v", s.name, err)
			})
		}
	}
	for guard := range guards {
		if !needed[guard] {
			t.Errorf("no scenario needs %q", guard)
		}
	}
}
