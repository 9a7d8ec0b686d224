package mcp_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// headers adds headers to requests.
type headers map[string]string

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// The file of servers in README.md connects a client, and the table there names all tools.
func TestTheReadmeConnectsAnAssistant(t *testing.T) {
	w := newWorld(t)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Servers map[string]struct {
			Type, URL string
			Headers   headers
		} `json:"mcpServers"`
	}
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(readme)
	text := strings.NewReplacer("$KEY", "agent", "http://127.0.0.1:8080", w.url).Replace(string(block[1]))
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	server := file.Servers["vitrine"]
	session, err := sdk.NewClient(&sdk.Implementation{Name: "assistant", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &http.Client{Transport: server.Headers}}, nil)
	if err != nil || server.Type != "http" {
		t.Fatal(err, server)
	}
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if !strings.Contains(string(readme), "`"+tool.Name+"`") {
			t.Errorf("README.md does not name %s", tool.Name)
		}
	}
}
