//go:build proof && linux

package hygiene

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const stopSignal = syscall.SIGTERM

// stopUnderLoad stops a server that is busy. What it has accepted it answers in full: requests of
// which it holds the half, answers of which the client has read the half, an upload.
func stopUnderLoad(s *server) error {
	path, err := s.longAnswer()
	if err != nil {
		return err
	}
	load := s.load()
	defer load.end()
	time.Sleep(300 * time.Millisecond)
	reading, err := s.reader(path)
	if err != nil {
		return err
	}
	defer reading.Close()
	if _, err := reading.in.Peek(1); err != nil {
		return err
	}
	endUpload, err := s.uploading()
	if err != nil {
		return err
	}
	defer endUpload()
	head := s.request("POST", "/apps/",
		fmt.Sprintf("Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n", len(oneApp)))
	var half []*client
	for range 10 {
		c, err := s.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := io.WriteString(c, head); err != nil {
			return err
		}
		if line, err := c.in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
			return fmt.Errorf("the server does not want the body: %q, %v", line, err)
		}
		_, _ = c.in.ReadString('\n')
		half = append(half, c)
	}
	begin := time.Now()
	if err := s.Signal(stopSignal); err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond)

	for _, c := range half {
		if _, err := io.WriteString(c, oneApp); err != nil {
			return fmt.Errorf("the server took half of a request: %w", err)
		}
		if status, _, err := c.answer(patience); err != nil || status != 201 {
			return fmt.Errorf("a request of which the server took half is answered with %d, %v", status, err)
		}
	}
	answer, err := http.ReadResponse(reading.in, nil)
	if err != nil {
		return err
	}
	if text, err := io.ReadAll(answer.Body); err != nil || !json.Valid(text) {
		return fmt.Errorf("an answer was cut off after %d bytes: %v", len(text), err)
	}
	if err := endUpload(); err != nil {
		return err
	}
	if err := s.ended(); err != nil {
		return err
	}
	if took := time.Since(begin); took > 2*patience {
		return fmt.Errorf("the server took %s to stop", took)
	}
	return load.end()
}

// load is clients that write and read for as long as they are answered.
type load struct {
	all      sync.WaitGroup
	ended    atomic.Bool
	answered atomic.Int64
	mu       sync.Mutex
	err      error
}

func (s *server) load() *load {
	l := &load{}
	for range 8 {
		l.all.Go(func() {
			for !l.ended.Load() {
				_, err := s.do("POST", "/apps/", oneApp, 201)
				if err == nil {
					_, err = s.do("GET", "/apps/?limit=20", "", 200)
				}
				if errors.Is(err, syscall.ECONNREFUSED) {
					return
				}
				if err != nil && !refused(err) {
					l.mu.Lock()
					l.err = errors.Join(l.err, err)
					l.mu.Unlock()
					return
				}
				l.answered.Add(1)
			}
		})
	}
	return l
}

// refused reports whether the connection ended before anything of an answer came, as it does where
// the server did not take it up any more.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.HasSuffix(err.Error(), ": EOF")
}

// end waits for the clients and says what they met with.
func (l *load) end() error {
	l.ended.Store(true)
	l.all.Wait()
	if l.answered.Load() == 0 {
		return errors.New("no client was answered: this shows nothing")
	}
	return l.err
}

// stopWithSlowClients stops a server whose clients would never end. It ends in bounded time, and no
// less well.
func stopWithSlowClients(s *server) error {
	c, err := s.upload()
	if err != nil {
		return err
	}
	defer c.Close()
	silent, err := s.dial()
	if err != nil {
		return err
	}
	defer silent.Close()
	going := make(chan struct{})
	go func() {
		defer close(going)
		for c.chunk(fmt.Sprintf(record, "YQ==")) == nil {
			time.Sleep(50 * time.Millisecond)
		}
	}()
	time.Sleep(200 * time.Millisecond)
	err = s.stop()
	c.Close()
	<-going
	return err
}
