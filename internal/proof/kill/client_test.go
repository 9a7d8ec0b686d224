//go:build proof

package kill

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/writers"
)

const (
	network    = "kill.test"
	urn        = "urn:vitrine:" + network
	signingKey = "a key for this test, nothing more"
	library    = "/services/frontline/api/v4/assetManager//" + network + "/assetLibrary/" + network
)

// client sends the requests of one writer to one server.
type client struct {
	url, token string
	http       *http.Client
}

// newClient returns a client of a writer, who moderates the network or does not.
func newClient(tokens *httpapi.Tokens, http *http.Client, url, user string, moderates bool) (*client, error) {
	who := httpapi.Principal{Caller: vitrine.Caller{URN: user}}
	if moderates {
		who.Moderates = []string{urn}
	}
	token, err := tokens.Sign(who, time.Now().Add(time.Hour))
	return &client{url, token, http}, err
}

// Write sends a request. The end of the server may leave its outcome unknown.
func (c *client) Write(q writers.Request, out any) error {
	text, _, err := writers.Send(c.http, c.url, c.token, q, nil)
	if errors.Is(err, writers.ErrCut) {
		return errors.Join(writers.ErrUnknown, err)
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// Read reads from a server that nobody kills meanwhile.
func (c *client) Read(path string, out any) (http.Header, error) {
	text, header, err := writers.Send(c.http, c.url, c.token, writers.Request{Method: "GET", Path: path, Want: http.StatusOK}, nil)
	if err != nil {
		return nil, err
	}
	return header, json.Unmarshal(text, out)
}
