//go:build proof && linux

package hygiene

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// scenario is something that happens to a server. An error says what went wrong.
type scenario struct {
	name        string
	run         func(*server) error
	guards      []string // that it fails without, one at a time
	off         []string // what is awake anyway
	descriptors int      // how many the system lets the server have; 0 for as many as there are
	ends        bool     // it ends the server
}

var scenarios = []scenario{
	{name: "headers that come slowly", run: slowHeaders, guards: []string{"time for headers"}},
	{name: "a body that comes slowly", run: slowBody, guards: []string{"time for a body"}},
	{name: "a refused body that comes slowly", run: slowRefusal, guards: []string{"time to take a refusal"}},
	{name: "an upload that takes long", run: longUpload, guards: []string{"time to answer an upload"}},
	{name: "an upload that pauses", run: pausedUpload, guards: []string{"pause of an upload"}},
	{name: "a connection that is kept and not used", run: keptConnection, guards: []string{"time between requests"}},
	{name: "many and long headers", run: manyHeaders, guards: []string{"bytes of headers"}},
	{name: "connections closed by half", run: halfClosed},
	{name: "answers that are not read", run: slowReaders, guards: []string{"time for an answer"}},
	{name: "clients that go away", run: goneClients},
	{name: "a flood of idle connections", run: idleFlood, guards: []string{"number of connections", "requests displace none"}},
	{name: "a flood where descriptors are few", run: fewDescriptors, guards: []string{"room among descriptors"}, descriptors: 120},
	{name: "descriptors run out", run: noDescriptors, guards: []string{"errors of a listener are passed on"},
		off: []string{"number of connections", "room among descriptors"}, descriptors: 120},
	{name: "a panic in a handler", run: panicInHandler, guards: []string{"a panic is caught"}},
	{name: "a panic in a worker", run: panicInWorker, guards: []string{"a worker's panic is caught"}, off: []string{"panicking workers"}},
	{name: "a stop under load", run: stopUnderLoad, guards: []string{"requests are finished"}, ends: true,
		off: []string{"time for a body", "time for an answer", "pause of an upload", "time to finish"}}, // a busy machine proves nothing
	{name: "a stop with clients that do not end", run: stopWithSlowClients,
		guards: []string{"time to finish", "slow clients spoil no stop"}, ends: true},
	{name: "many requests", run: manyRequests, guards: []string{"leak of goroutines", "leak of descriptors", "leak of memory"}},
}

// on puts a server, without a guard, through the scenario, and looks at what is left.
func (sc scenario) on(t *testing.T, guard string) error {
	s := start(t, append(slices.Clone(sc.off), guard), sc.descriptors)
	err := s.warm()
	for i := 0; i < 5 && err != nil; i++ {
		err = s.warm()
	}
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.settled()
	if err != nil {
		t.Fatal(err)
	}
	if err := sc.run(s); err != nil {
		return err
	}
	if s.figure != "" {
		t.Log(s.figure)
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
				err := sc.on(t, "")
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
