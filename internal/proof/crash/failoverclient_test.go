//go:build proof

package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// client sends the requests of one user. One goroutine uses it at a time.
type client struct {
	fleet *fleet
	token string
	r     *rand.Rand
}

// Write sends a request through any process.
func (c *client) Write(q Request, out any) error {
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

// Read asks any process until it answers.
func (c *client) Read(path string, out any) (http.Header, error) {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		text, header, err := c.send(c.r.IntN(processes), Request{Method: "GET", Path: path, Want: http.StatusOK}, nil)
		if errors.Is(err, ErrBusy) && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return header, json.Unmarshal(text, out)
	}
}

// send sends a request to one process.
func (c *client) send(process int, q Request, header http.Header) ([]byte, http.Header, error) {
	text, header, err := Send(c.fleet.http, c.fleet.servers[process].URL, c.token, q, header)
	if err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrUnknown) {
		err = fmt.Errorf("process %d: %w; it says: %s", process, err, c.fleet.servers[process].Log())
	}
	return text, header, err
}
