//go:build proof

package crash

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// direct sends the requests of one writer to one server.
type direct struct {
	url, token string
	http       *http.Client
}

// newDirect returns a direct of a writer, who moderates the network or does not.
func newDirect(tokens *httpapi.Tokens, http *http.Client, url, user string, moderates bool) (*direct, error) {
	who := httpapi.Principal{Caller: vitrine.Caller{URN: user}}
	if moderates {
		who.Moderates = []string{urn}
	}
	token, err := tokens.Sign(who, time.Now().Add(time.Hour))
	return &direct{url, token, http}, err
}

// Write sends a request. The end of the server may leave its outcome unknown.
func (c *direct) Write(q Request, out any) error {
	text, _, err := Send(c.http, c.url, c.token, q, nil)
	if errors.Is(err, ErrCut) {
		return errors.Join(ErrUnknown, err)
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// Read reads from a server that nobody kills meanwhile.
func (c *direct) Read(path string, out any) (http.Header, error) {
	text, header, err := Send(c.http, c.url, c.token, Request{Method: "GET", Path: path, Want: http.StatusOK}, nil)
	if err != nil {
		return nil, err
	}
	return header, json.Unmarshal(text, out)
}
