//go:build proof

package failover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

var (
	// errLost is an acknowledged write that is not there, or one that is there in part.
	errLost = errors.New("lost")
	// errUnknown is a write that may be there.
	errUnknown = errors.New("the outcome is unknown")
	// errBusy is a request after which nothing is there.
	errBusy = errors.New("busy")
)

func lost(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errLost, fmt.Errorf(format, args...))
}

// client sends the requests of one user. One goroutine uses it at a time.
type client struct {
	fleet *fleet
	token string
	r     *rand.Rand
}

// request is what a client sends. The answer must have the status want.
type request struct {
	method, path string
	key          string // Idempotency-Key
	body         any    // bytes as they are, nil = none, else as JSON
	want         int
}

// write sends a request that changes something, through any process, and decodes the answer.
func (c *client) write(q request, out any) error {
	i := c.r.IntN(processes)
	text, _, err := c.send(i, q, nil)
	if err != nil {
		return err
	}
	c.fleet.acked[i].Add(1)
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// read asks any process until it answers.
func (c *client) read(path string, out any) (http.Header, error) {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		text, header, err := c.send(c.r.IntN(processes), request{"GET", path, "", nil, http.StatusOK}, nil)
		if errors.Is(err, errBusy) && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return header, json.Unmarshal(text, out)
	}
}

// send sends a request to one process.
func (c *client) send(process int, q request, header http.Header) ([]byte, http.Header, error) {
	body, isText := q.body.([]byte)
	if !isText && q.body != nil {
		var err error
		if body, err = json.Marshal(q.body); err != nil {
			return nil, nil, err
		}
	}
	r, err := http.NewRequest(q.method, c.fleet.servers[process].URL+q.path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Authorization", "svctoken "+c.token)
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.key != "" {
		r.Header.Set("Idempotency-Key", q.key)
	}
	r.GetBody = nil // the transport may not send it again by itself
	answer, err := c.fleet.http.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return nil, nil, err
	case answer.StatusCode == q.want:
		return text, answer.Header, nil
	case answer.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(text), "not known whether the write was kept"):
		return nil, nil, errUnknown
	case answer.StatusCode == http.StatusServiceUnavailable:
		return nil, nil, errBusy
	}
	log := ""
	if answer.StatusCode >= http.StatusInternalServerError {
		log = "; the process says: " + c.fleet.servers[process].Log()
	}
	// Nobody asks for anything that does not follow from what was answered before.
	return nil, nil, lost("%s %s through process %d: status %d, want %d: %s%s", q.method, q.path, process, answer.StatusCode, q.want, text, log)
}
