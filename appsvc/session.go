package appsvc

import "github.com/vitrine-go/vitrine"

// Session is a Service for one caller: it has the methods that act for a caller, and each checks what this caller may
// do. The client of a remote service (adapters/client) has these methods too, so a program can be written for both.
//
// Service.As makes one, at no cost. A Session keeps the rights that the Caller had then, so a server makes one for each
// request. It is safe for concurrent use.
type Session struct {
	service *Service
	by      vitrine.Caller
}

// As returns a Session for this caller.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{s.made(), by} }
