package httpapi

import "testing"

func TestAnswersOfHandlersAreNoRefusals(t *testing.T) {
	for _, p := range []string{
		"", "HTTP/1.1", "HTTP/1.1 400 Bad Request\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
		"HTTP/1.1 400 Bad Request\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/plain; " +
			"charset=utf-8\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n", `{"error":"HTTP/1.1 400 Bad Request"}`,
	} {
		if got := rewritten([]byte(p)); got != nil {
			t.Errorf("%q becomes %q", p, got)
		}
	}
}
