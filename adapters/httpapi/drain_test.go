package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// sendAll sends a whole request before it looks at the answer, as most clients do.
func (w *world) sendAll(request string, size int64) (*http.Response, error) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(conn, endless{}, size); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

func TestClientsThatSendEverythingFirstReadTheRefusal(t *testing.T) {
	w := newWorld(t)
	token := w.token(editor)
	for name, c := range map[string]struct {
		line, auth, media string
		size              int64
		status            int
	}{
		"401 of 5 MB":   {"POST /apps/", "none", "application/json", 5e6, 401},
		"401 of 16 MiB": {"POST /apps/", "none", "application/json", 16 << 20, 401},
		"413 of 5 MB":   {"POST /apps/", token, "application/json", 5e6, 413},
		"415 of 5 MB":   {"POST /apps/", token, "text/plain", 5e6, 415},
		"400 of 5 MB":   {"POST /apps/?spam=1", token, "application/json", 5e6, 400},
		"404 of 5 MB":   {"POST /spam/", token, "application/json", 5e6, 404},
		"405 of 5 MB":   {"PUT /apps/", token, "application/json", 5e6, 405},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := w.sendAll(fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
				c.line, c.auth, c.media, c.size), c.size)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != c.status || !strings.Contains(string(text), `"error"`) {
				t.Errorf("%d %s, %v", answer.StatusCode, text, err)
			}
		})
	}
}

func TestMoreThanFourBodiesAreNotDrained(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) { c.Limits.Body = 1 << 20 })
	begin := time.Now()
	w.raw("POST", "POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4194305\r\n\r\n").want(401)
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("answered after %s", took)
	}
}

func TestAClientThatWaitsToGoOnIsRefusedAtOnce(t *testing.T) {
	w := newWorld(t)
	begin := time.Now()
	// The status would be 100 if the server asked for the body.
	w.raw("POST", "POST /apps/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n").want(401)
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("answered after %s", took)
	}
}

func TestARefusalDoesNotWaitForASlowBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t) // whose server sets no time limits of its own
	w.raw("POST", "POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\nslow").want(401)
}
