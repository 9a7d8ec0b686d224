//go:build proof && linux

package hygiene

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// client is a connection over which a scenario speaks as it likes.
type client struct {
	net.Conn
	in *bufio.Reader
}

func (s *server) dial() (*client, error) {
	conn, err := net.Dial("tcp", s.addr())
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(5 * patience)) // nothing waits for ever
	return &client{conn, bufio.NewReader(conn)}, nil
}

// request is the begin of a request with a token.
func (s *server) request(method, path, headers string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\n%s\r\n", method, path, s.token,
		headers)
}

// drip sends text a byte at a time until the other side is not there any more, or for as long as
// patience lasts. The channel is closed then.
func (c *client) drip(text string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		end := time.Now().Add(patience)
		for i := 0; time.Now().Before(end); i++ {
			if _, err := c.Write([]byte{text[i%len(text)]}); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return done
}

// answer reads an answer, and reports whether there was one. The server may close the connection
// without one, but not let the client wait.
func (c *client) answer(most time.Duration) (status int, body string, err error) {
	_ = c.SetReadDeadline(time.Now().Add(most))
	answer, err := http.ReadResponse(c.in, nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, "", fmt.Errorf("no answer, and the connection is open, after %s", most)
	}
	if err != nil {
		return 0, "", nil // closed
	}
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// ended says what is wrong when the server has not closed the connection within a time.
func (c *client) ended(most time.Duration) error {
	_ = c.SetReadDeadline(time.Now().Add(most))
	if _, err := io.Copy(io.Discard, c.in); errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the connection is open after %s", most)
	}
	return nil
}

func slowHeaders(s *server) error {
	errs := make([]error, 3)
	var all sync.WaitGroup
	for i, text := range []string{"", "x", "X-Slow: yes\r\n"} {
		c, err := s.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		if text != "" {
			if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n"); err != nil {
				return err
			}
			defer func(done <-chan struct{}) { <-done }(c.drip(text))
			defer c.Close()
		}
		all.Go(func() { errs[i] = c.ended(patience / 2) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func slowBody(s *server) error {
	c, err := s.dial()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c,
		s.request("POST", "/apps/", "Content-Type: application/json\r\nContent-Length: 100000\r\n")); err != nil {
		return err
	}
	dripped := c.drip(" ")
	status, _, err := c.answer(patience - second)
	c.Close()
	<-dripped
	if err == nil && status != 0 && status != 400 {
		err = fmt.Errorf("answered with %d", status)
	}
	return err
}

// record is a line of the import format.
const record = `{"source":"https://old.example.test","title":"T","created":"2020-01-02T03:04:05Z","id":"%s",` +
	`"dimensions":["default"],` +
	`"reviews":[{"id":"r1","imported_display_name":"N","title":"t","body_html":"<p>x</p>",` +
	`"created":"2020-01-02T03:04:05Z","ratings":[50]}]}` + "\n"

// upload begins an import of reviews whose lines are sent in chunks.
func (s *server) upload() (*client, error) {
	c, err := s.dial()
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(c,
		s.request("POST", "/x/reviews/import", "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n"))
	return c, err
}

func (c *client) chunk(text string) error {
	_, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(text), text)
	return err
}

// uploading begins an upload that goes on, a line at a time, until end is called, which says what is
// wrong with the answer.
func (s *server) uploading() (end func() error, err error) {
	c, err := s.upload()
	if err != nil {
		return nil, err
	}
	last, sent := make(chan struct{}), make(chan error, 1)
	lines := 0
	go func() {
		defer close(sent)
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			select {
			case <-last:
				tick.Stop()
				sent <- c.chunk("")
				return
			case <-tick.C:
			}
			if err := c.chunk(fmt.Sprintf(record,
				base64.StdEncoding.EncodeToString(fmt.Append(nil, lines)))); err != nil {
				sent <- fmt.Errorf("after %d lines: %w", lines, err)
				return
			}
			lines++
		}
	}()
	var once sync.Once
	return func() (err error) {
		once.Do(func() {
			defer c.Close()
			close(last)
			if err = <-sent; err != nil {
				return
			}
			status, body, wrong := c.answer(patience)
			if err = wrong; err == nil &&
				(status != 200 || !strings.Contains(body, fmt.Sprintf(`"created":%d,`, lines))) {
				err = fmt.Errorf("an upload of %d lines is answered with %d %s", lines, status, body)
			}
		})
		return err
	}, nil
}

// longUpload takes longer than any request may, with others beside it that are not to wait.
func longUpload(s *server) error {
	end, err := s.uploading()
	if err != nil {
		return err
	}
	defer end()
	for begin := time.Now(); time.Since(begin) < patience/2; time.Sleep(100 * time.Millisecond) {
		if err := s.alive(); err != nil {
			return fmt.Errorf("beside an upload: %w", err)
		}
	}
	return end()
}

func pausedUpload(s *server) error {
	for _, begin := range []string{"", fmt.Sprintf(record, "YQ=="), `{"sou`} {
		c, err := s.upload()
		if err != nil {
			return err
		}
		defer c.Close()
		if begin != "" {
			if err := c.chunk(begin); err != nil {
				return err
			}
		}
		status, body, err := c.answer(patience / 2)
		if err == nil && status != 200 {
			err = fmt.Errorf("answered with %d %s", status, body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func keptConnection(s *server) error {
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, s.request("GET", "/apps/", "")); err != nil {
		return err
	}
	if status, body, err := c.answer(patience); err != nil || status != 200 {
		return fmt.Errorf("answered with %d %s, %v", status, body, err)
	}
	return c.ended(patience / 2)
}

// halfClosed sends nothing more after a whole request, or after a part of one.
func halfClosed(s *server) error {
	post := s.request("POST", "/apps/",
		fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(oneApp)))
	for _, h := range []struct {
		name, text string
		want       []int
	}{
		{"after a request", s.request("GET", "/apps/?limit=1", ""), []int{200, 503}},
		{"after a change", post + oneApp, []int{201, 503}},
		{"within a body", post + oneApp[:10], []int{400}},
		{"within headers", post[:len(post)-2], []int{400}},
		{"before anything", "", nil},
	} {
		for range 20 {
			if err := s.half(h.text, h.want); err != nil {
				return fmt.Errorf("%s: %w", h.name, err)
			}
		}
	}
	return nil
}

// half sends text and closes its side. Afterwards there is a whole answer, or none.
func (s *server) half(text string, want []int) error {
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		return err
	}
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	status, body, err := c.answer(patience / 2)
	if err != nil || status == 0 {
		return err
	}
	for _, ok := range want {
		if status == ok {
			return c.ended(patience / 2)
		}
	}
	return fmt.Errorf("answered with %d %s", status, body)
}

// longAnswer makes an app whose list of versions is some 8 MB long.
func (s *server) longAnswer() (path string, err error) {
	const component = `{"name":"long","version":"1","main":"https://example.test/x.js","configSchema":{}}`
	if _, err := s.do("POST", "/components/", component, 201); err != nil {
		return "", err
	}
	text := strings.Repeat("0123456789abcdef", 200<<10/16)
	made, err := s.do("POST", "/apps/",
		`{"title":"Long","groups":["`+urn+
			`:site=1"],"elements":[{"component":{"name":"long","version":"1"},"config":{"text":"`+text+`"}}]}`, 201)
	if err != nil {
		return "", err
	}
	_, id, _ := strings.Cut(string(made), `{"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	for v := range 40 {
		patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
			`"path":"/apps/0/title","value":"Long %d"}]`, v, v)
		if _, err := s.do("PATCH", "/apps/"+id, patch, 200); err != nil {
			return "", err
		}
	}
	return "/apps/" + id + "/versions/?limit=500", nil
}

// reader asks for a long answer over a connection that takes in little at a time.
func (s *server) reader(path string) (*client, error) {
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 8<<10)
		})
	}}
	conn, err := small.Dial("tcp", s.addr())
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(5 * patience))
	_, err = io.WriteString(conn, s.request("GET", path, "Connection: close\r\n"))
	return &client{conn, bufio.NewReader(conn)}, err
}

func slowReaders(s *server) error {
	path, err := s.longAnswer()
	if err != nil {
		return err
	}
	var readers []*client
	for range 3 { // as many as a caller has room for
		c, err := s.reader(path)
		if err != nil {
			return err
		}
		defer c.Close()
		readers = append(readers, c)
	}
	for begin := time.Now(); time.Since(begin) < patience/2; time.Sleep(100 * time.Millisecond) {
		if err := s.alive(); err != nil {
			return fmt.Errorf("beside slow readers: %w", err)
		}
	}
	for _, c := range readers {
		answer, err := http.ReadResponse(c.in, nil)
		if err != nil {
			continue // nothing of it came
		}
		if answer.StatusCode == http.StatusServiceUnavailable {
			continue // there was no room for it beside the others
		}
		if n, err := io.Copy(io.Discard, answer.Body); err == nil {
			return fmt.Errorf("an answer of %d bytes that was not read for %s is whole", n, patience/2)
		}
	}
	return nil
}

// goneClients leave at every moment of a request.
func goneClients(s *server) error {
	path, err := s.longAnswer()
	if err != nil {
		return err
	}
	post := s.request("POST", "/apps/",
		fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(oneApp))) + oneApp
	for i := 0; i < len(post); i += 7 {
		c, err := s.dial()
		if err != nil {
			return err
		}
		if _, err := io.WriteString(c, post[:i]); err != nil {
			return err
		}
		_ = c.Conn.(*net.TCPConn).SetLinger(i % 2) // 0: with a reset
		c.Close()
	}
	for range 20 {
		c, err := s.reader(path)
		if err != nil {
			return err
		}
		_, _ = c.in.Peek(1)
		c.Close()
	}
	c, err := s.upload()
	if err != nil {
		return err
	}
	defer c.Close()
	return c.chunk(fmt.Sprintf(record, "YQ=="))
}
