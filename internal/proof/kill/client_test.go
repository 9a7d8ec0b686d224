//go:build proof

package kill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

const (
	network    = "kill.test"
	urn        = "urn:vitrine:" + network
	signingKey = "a key for this test, nothing more"
	library    = "/services/frontline/api/v4/assetManager//" + network + "/assetLibrary/" + network
)

// errCut is a request that the end of the server left without an answer.
var errCut = errors.New("no answer")

// client sends the requests of one writer.
type client struct {
	url, token string
	http       *http.Client
}

func newClient(tokens *httpapi.Tokens, http *http.Client, url, user string) (*client, error) {
	token, err := tokens.Sign(httpapi.Principal{URN: user, Moderates: []string{urn}}, time.Now().Add(time.Hour))
	return &client{url, token, http}, err
}

// send sends a request and decodes the answer into out. The answer must have the status want.
func (c *client) send(method, path, key string, in, out any, want int) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "svctoken "+c.token)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	r.GetBody = nil // the transport may not send it again by itself
	answer, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	if answer.StatusCode != want {
		// A writer asks for nothing that does not follow from what it was answered before.
		return lost("%s %s: status %d, want %d: %s", method, path, answer.StatusCode, want, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
