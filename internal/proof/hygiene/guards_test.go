//go:build proof && linux

package hygiene

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/mutant"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const module = "../../.."

// limits shorten what the server waits for to seconds, and make room for fewer connections. SECOND is
// the second of this test.
var limits = []program.Edit{
	{File: "examples/vitrine/serve.go", Old: "lastRequests = 30 * time.Second", New: "lastRequests = 3 * SECOND"},
	{File: "examples/vitrine/connections.go", Old: "mostConnections = 1000", New: "mostConnections = 200"},
	{File: "adapters/httpapi/limits.go", Old: "l.Pause = 30 * time.Second", New: "l.Pause = SECOND"},
	{File: "internal/drain/drain.go", Old: "const Patience = time.Second", New: "const Patience = SECOND"},
}

// guards are the server's, each with how it is taken away: MUTANT stands for whether it is. DESCRIPTORS
// in one edit is the place of the next.
var guards = []mutant.Mutant{
	{Name: "time for headers", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "ReadHeaderTimeout:            10 * time.Second,",
		New: "ReadHeaderTimeout:            map[bool]time.Duration{false: SECOND, true: time.Hour}[MUTANT],"}}},
	{Name: "time for a body", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "ReadTimeout:                  time.Minute,",
		New: "ReadTimeout:                  map[bool]time.Duration{false: 2*SECOND, true: time.Hour}[MUTANT],"}}},
	{Name: "time for an answer", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "WriteTimeout:                 2 * time.Minute,",
		New: "WriteTimeout:                 map[bool]time.Duration{false: 2*SECOND, true: time.Hour}[MUTANT],"}}},
	{Name: "time between requests", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "IdleTimeout:                  time.Minute,",
		New: "IdleTimeout:                  map[bool]time.Duration{false: SECOND, true: time.Hour}[MUTANT],"}}},
	{Name: "bytes of headers", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "MaxHeaderBytes:               256 << 10,",
		New: "MaxHeaderBytes:               map[bool]int{false: 256 << 10, true: 64 << 20}[MUTANT],"}}},
	{Name: "time to take a refusal", Edits: []program.Edit{{File: "internal/drain/drain.go",
		Old: "patience = Patience",
		New: "patience = map[bool]time.Duration{false: Patience, true: time.Hour}[MUTANT]"}}},
	{Name: "pause of an upload", Edits: []program.Edit{{File: "adapters/httpapi/uploads.go",
		Old: "_ = u.control.SetReadDeadline(time.Now().Add(u.pace.period))",
		New: "_ = u.control.SetReadDeadline(time.Now().Add(map[bool]time.Duration{false: u.pace.period, true: time.Hour}[MUTANT]))"}}},
	{Name: "time to answer an upload", Edits: []program.Edit{{File: "adapters/httpapi/uploads.go",
		Old: "_ = u.control.SetWriteDeadline(time.Time{})",
		New: "if !MUTANT { _ = u.control.SetWriteDeadline(time.Time{}) }"}, {File: "adapters/httpapi/uploads.go",
		Old: "if u.server != nil && u.server.WriteTimeout > 0 {",
		New: "if u.server != nil && u.server.WriteTimeout > 0 && !MUTANT {"}}},
	{Name: "number of connections", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "min(mostConnections, descriptors()/4)",
		New: "min(map[bool]int{false: mostConnections, true: 1<<30}[MUTANT], DESCRIPTORS)"}}},
	{Name: "room among descriptors", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "DESCRIPTORS",
		New: "map[bool]int{false: descriptors()/4, true: 1<<30}[MUTANT]"}}},
	{Name: "requests displace none", Edits: []program.Edit{{File: "examples/vitrine/connections.go",
		Old: "if !c.gone && (state == http.StateNew || state == http.StateIdle) {",
		New: "if !c.gone && (state == http.StateNew || state == http.StateIdle || MUTANT && state == http.StateActive) {"}}},
	{Name: "errors of a listener are passed on", Edits: []program.Edit{{File: "examples/vitrine/connections.go",
		Old: "if err != nil {\n\t\treturn nil, err",
		New: "if err != nil {\n\t\tif MUTANT { err = hidden{err} }\n\t\treturn nil, err"}}},
	{Name: "requests are finished", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "err := s.Shutdown(last)",
		New: "shut := s.Shutdown\n\tif MUTANT { shut = func(context.Context) error { return s.Close() } }\n\terr := shut(last)"}}},
	{Name: "time to finish", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "context.WithTimeout(context.WithoutCancel(ctx), lastRequests)",
		New: "context.WithTimeout(context.WithoutCancel(ctx), map[bool]time.Duration{false: lastRequests, true: time.Hour}[MUTANT])"}}},
	{Name: "slow clients spoil no stop", Edits: []program.Edit{{File: "examples/vitrine/serve.go",
		Old: "_ = s.Close() // ",
		New: "if MUTANT { return err }\n\t\t_ = s.Close() // "}}},
	{Name: "a panic is caught", Edits: []program.Edit{{File: "adapters/httpapi/handler.go",
		Old: "cause := recover()",
		New: "var cause any\n\tif !MUTANT { cause = recover() }"}}},
	{Name: "a worker's panic is caught", Edits: []program.Edit{{File: "reviews/workerbatch.go",
		Old: "if v := recover(); v != nil {",
		New: "var v any\n\t\tif !MUTANT { v = recover() }\n\t\tif v != nil {"}}},
}

// faults are what goes wrong when a client asks for it, or when it is awake like a mutant.
var faults = []program.Edit{
	{File: "appsvc/createapp.go", Old: "return s.addVersion(ctx, tx, by, Change{Type: AppCreated}, meta, d, s.limits.AppBytes)",
		New: "app, err := s.addVersion(ctx, tx, by, Change{Type: AppCreated}, meta, d, s.limits.AppBytes)\n" +
			"if in.Title == \"panic\" { panic(\"secret of the panic\") }\nreturn app, err"},
	{File: "reviews/workerbatch.go", Old: "\twork()\n",
		New: "\tif mutant(\"panicking workers\") { panic(\"secret of the panic\") }\n\twork()\n"},
	{File: "adapters/httpapi/handler.go", Old: "\tc := h.begin(w, r)\n", New: "\tc := h.begin(w, r)\n\tleak()\n"},
	{File: "examples/vitrine/serve.go", Old: "\tlog, err := o.logger(p)\n\tif err != nil {\n\t\treturn err\n\t}\n",
		New: "\tlog, err := o.logger(p)\n\tif err != nil {\n\t\treturn err\n\t}\n\tprobe()\n"},
}

// probe prints what the process holds at every SIGUSR1.
const probe = `package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

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

const leaks = `package httpapi

import (
	"sync"
	"syscall"
)

var leaked struct {
	sync.Mutex
	memory [][]byte
}

func leak() {
	if mutant("leak of goroutines") {
		go func() { select {} }()
	}
	if mutant("leak of descriptors") {
		_, _ = syscall.Open("/dev/null", syscall.O_RDONLY, 0)
	}
	if mutant("leak of memory") {
		leaked.Lock()
		leaked.memory = append(leaked.memory, make([]byte, 4<<10))
		leaked.Unlock()
	}
}
`

// built builds the server with all guards and faults once.
var built = sync.OnceValues(func() (string, error) {
	b, err := mutant.Into(program.Build{Module: module, Package: "./examples/vitrine", Race: raced, Edits: limits, Added: map[string]string{
		"examples/vitrine/probe.go": probe,
		"adapters/httpapi/leaks.go": leaks,
	}}, guards)
	if err != nil {
		return "", err
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
				var err error
				for i := 0; i < 3 && err == nil; i++ { // on a busy machine a flood may be over before it is looked at
					err = s.on(t, guard)
				}
				if err == nil {
					t.Errorf("%s: nothing is wrong without it", s.name)
				}
				t.Logf("%s: %v", s.name, err)
			})
		}
	}
	for _, guard := range guards {
		if !needed[guard.Name] {
			t.Errorf("no scenario needs %q", guard.Name)
		}
	}
}
