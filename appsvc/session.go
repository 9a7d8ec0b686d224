package appsvc

import (
	"fmt"

	"github.com/vitrine-go/vitrine"
)

// Session is a Service for one caller: it has the methods that act for a caller, and each checks what this caller may
// do. The client of a remote service (adapters/client) has these methods too, so a program can be written for both.
//
// Service.As makes one, at no cost. A Session keeps the rights that the Caller had then, so a server makes one for each
// request. It is safe for concurrent use.
type Session struct {
	service *Service
	by      vitrine.Caller
	within  int // bytes; 0 = any number
}

// As returns a Session for this caller.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{service: s.made(), by: by} }

// Within returns a Session whose calls return a *MemoryError when they would take more than about this many bytes of
// memory for the content of a large app, before they read or change more. A page of a list takes Limits.PageBytes at
// most, whatever its Session is. A server bounds with it what its requests take together.
func (s *Session) Within(bytes int) *Session { return &Session{s.service, s.by, bytes} }

// MemoryError is the error of a call that would take more memory than its Session may. The call has changed nothing.
type MemoryError struct {
	Bytes int // what it would take, at least
}

// Error says how much memory the call would take.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("this takes about %d bytes of memory, which is more than Session.Within allows", e.Bytes)
}

// mayTake returns a *MemoryError if a call may not take so many bytes.
func (s *Session) mayTake(bytes int) error {
	if s.within > 0 && bytes > s.within {
		return &MemoryError{bytes}
	}
	return nil
}
