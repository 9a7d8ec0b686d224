//go:build proof && linux

package hygiene

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// limits shorten what the server waits for to seconds, and make room for fewer connections. SECOND is
// the second of this test.
var limits = []program.Edit{
	{File: "examples/vitrine/serve.go", Old: "lastRequests = 30 * time.Second", New: "lastRequests = 3 * SECOND"},
	{File: "examples/vitrine/serve.go", Old: "ReadHeaderTimeout:            10 * time.Second,",
		New: "ReadHeaderTimeout: SECOND,"},
	{File: "examples/vitrine/serve.go", Old: "ReadTimeout:                  time.Minute,",
		New: "ReadTimeout: 2*SECOND,"},
	{File: "examples/vitrine/serve.go", Old: "WriteTimeout:                 2 * time.Minute,",
		New: "WriteTimeout: 2*SECOND,"},
	{File: "examples/vitrine/serve.go", Old: "IdleTimeout:                  time.Minute,", New: "IdleTimeout: SECOND,"},
	{File: "examples/vitrine/connections.go", Old: "mostConnections = 1000", New: "mostConnections = 200"},
	{File: "adapters/httpapi/limits.go", Old: "&l.Pause, 30*time.Second", New: "&l.Pause, SECOND"},
	{File: "adapters/httpapi/slots.go", Old: "clientRate     = 64 << 10", New: "clientRate = 64 << 20"},
	{File: "internal/drain/drain.go", Old: "const Patience = time.Second", New: "const Patience = SECOND"},
}

// built builds the server with shortened limits once, and builtAsItIs with its own.
var (
	built       = sync.OnceValues(func() (string, error) { return build("short", limits) })
	builtAsItIs = sync.OnceValues(func() (string, error) { return build("plain", nil) })
)

func build(name string, edits []program.Edit) (string, error) {
	dir := filepath.Join(buildDir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	edits = slices.Clone(edits)
	for i := range edits {
		edits[i].New = strings.ReplaceAll(edits[i].New, "SECOND",
			fmt.Sprintf("(%d * time.Millisecond)", second.Milliseconds()))
	}
	return program.Build{Module: "../../..", Package: "./examples/vitrine", Race: raced, Edits: edits}.Run(dir)
}

// buildDir holds the programs; it is made and removed by TestMain.
var buildDir string

// scenario is something that happens to a server. An error says what went wrong.
type scenario struct {
	name        string
	run         func(*server) error
	patient     bool // with the server's own limits: on a busy machine short ones would cut off what must be whole
	descriptors int  // how many the system lets the server have; 0 for as many as there are
	ends        bool // it ends the server
}

var scenarios = []scenario{
	{name: "headers that come slowly", run: slowHeaders},
	{name: "a body that comes slowly", run: slowBody},
	{name: "an upload that takes long", run: longUpload},
	{name: "an upload that pauses", run: pausedUpload},
	{name: "a connection that is kept and not used", run: keptConnection},
	{name: "connections closed by half", run: halfClosed},
	{name: "answers that are not read", run: slowReaders},
	{name: "clients that go away", run: goneClients},
	{name: "a flood of idle connections", run: idleFlood},
	{name: "a flood where descriptors are few", run: fewDescriptors, descriptors: 120},
	{name: "a stop under load", run: stopUnderLoad, patient: true, ends: true},
	{name: "a stop with clients that do not end", run: stopWithSlowClients, ends: true},
}

// on puts a server through the scenario, and looks at what is left.
func (sc scenario) on(t *testing.T) error {
	build := built
	if sc.patient {
		build = builtAsItIs
	}
	s := start(t, build, sc.descriptors)
	err := s.warm()
	for i := 0; i < 5 && err != nil; i++ {
		err = s.warm()
	}
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.settled()
	if err != nil {
		return err
	}
	if err := sc.run(s); err != nil {
		return err
	}
	if sc.ends {
		return s.sound()
	}
	if err := s.alive(); err != nil {
		return err
	}
	if err := s.returned(before); err != nil {
		return err
	}
	return errors.Join(s.stop(), s.sound())
}

// settled is what the server holds when the connections of warm are closed.
func (s *server) settled() (last holds, err error) {
	for range 100 {
		now, err := s.probe()
		if err != nil || now.sockets == last.sockets && now.goroutines == last.goroutines {
			return now, err
		}
		last = now
		time.Sleep(20 * time.Millisecond)
	}
	return last, nil
}

// warm has the server open what it keeps open.
func (s *server) warm() error {
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() { errs[i] = s.alive() })
	}
	all.Wait()
	return errors.Join(errs...)
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			// The server's limits are a second or so. A client that a busy machine keeps from running for longer meets
			// them too, but hardly three times. What the log says counts at once.
			for i := 0; ; i++ {
				err := sc.on(t)
				if err == nil {
					return
				}
				if t.Log(err); i == 2 || errors.Is(err, errUnsound) {
					t.Fatal(err)
				}
			}
		})
	}
}

// stop ends the server as an operator does.
func (s *server) stop() error {
	if err := s.Signal(stopSignal); err != nil {
		return err
	}
	return s.ended()
}

// ended waits for the end of a server that was told to stop.
func (s *server) ended() error {
	status, err := s.Wait(2 * patience)
	switch {
	case err != nil:
		return err
	case status == program.RaceStatus:
		return fmt.Errorf("%w: the race detector has found something: %s", errUnsound, s.said())
	case status != 0:
		return fmt.Errorf("the server ended with status %d: %s", status, s.said())
	}
	return nil
}
