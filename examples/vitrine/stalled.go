package main

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// This file measures for how long the server has only been waiting for the client of a connection.

// waits counts the requests of a connection that handlers work on, and how many of these wait for the client. Over
// HTTP/1 there is one at most.
type waits struct {
	mu                sync.Mutex
	requests, waiting int
	since             time.Time // of the last change
}

// add changes both numbers.
func (w *waits) add(requests, waiting int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests += requests
	w.waiting += waiting
	w.since = time.Now()
}

// stalled returns since when the server has been waiting for the client. waits is false if it works on a request.
func (c *connection) stalled() (since time.Time, waits bool) {
	if write := c.write.Load(); write != 0 {
		return time.Unix(0, write), true
	}
	c.waits.mu.Lock()
	defer c.waits.mu.Unlock()
	return c.waits.since, c.waits.waiting == c.waits.requests
}

// Write notes the time at which it begins, since it waits if the client does not read.
func (c *connection) Write(p []byte) (int, error) {
	c.write.Store(time.Now().UnixNano())
	defer c.write.Store(0)
	return c.pieceConn.Write(p)
}

// watchedBody is the body of a request. A handler that reads it waits for the client.
type watchedBody struct {
	io.ReadCloser
	of *connection
}

// Read reads from the body.
func (b watchedBody) Read(p []byte) (int, error) {
	b.of.waits.add(0, 1)
	defer b.of.waits.add(0, -1)
	return b.ReadCloser.Read(p)
}

// watchedWriter is a response over HTTP/2. A handler that writes waits for the client, which says how much it takes.
type watchedWriter struct {
	http.ResponseWriter
	of *connection
}

// Write writes to the response.
func (w watchedWriter) Write(p []byte) (int, error) {
	w.of.waits.add(0, 1)
	defer w.of.waits.add(0, -1)
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
