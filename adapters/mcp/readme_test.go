package mcp_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
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

// server is one of a file of servers.
type server struct {
	Type, URL, Command string
	Headers            headers
	Args               []string
	Env                map[string]string
}

// readmeServer returns the server of a block of JSON in README.md, with another address and the key.
func readmeServer(t *testing.T, url string, block int) server {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Servers map[string]server `json:"mcpServers"`
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(readme, -1)
	text := strings.NewReplacer("$KEY", "agent", "http://127.0.0.1:8080", url).Replace(string(blocks[block][1]))
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	return file.Servers["vitrine"]
}

// An assistant that only starts programs is connected by the other block. The test needs npm.
func TestTheReadmeConnectsByStandardInput(t *testing.T) {
	w := newWorld(t)
	dir, server := installed(t, "mcp-remote@0.15.1"), readmeServer(t, w.url, 1)
	run := exec.CommandContext(t.Context(), server.Command, server.Args...)
	run.Dir, run.Env = dir, append(os.Environ(), "MCP_REMOTE_CONFIG_DIR="+dir)
	for name, value := range server.Env {
		run.Env = append(run.Env, name+"="+value)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "assistant", Version: "1"}, nil).Connect(t.Context(),
		&sdk.CommandTransport{Command: run}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if tools, err := session.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != len(w.schemas) {
		t.Errorf("%v %v", tools, err)
	}
}

// The file of servers in README.md connects a client, and the table there names all tools.
func TestTheReadmeConnectsAnAssistant(t *testing.T) {
	w := newWorld(t)
	server := readmeServer(t, w.url, 0)
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
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if !strings.Contains(string(readme), "`"+tool.Name+"`") {
			t.Errorf("README.md does not name %s", tool.Name)
		}
	}
}
