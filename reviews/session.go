package reviews

import "github.com/vitrine-go/vitrine"

// Session is a Service for one caller. The client of a remote service (adapters/client) has the same methods, so a
// program can declare an interface with those that it calls, and use either. A Session is safe for concurrent use and
// needs no closing.
type Session struct {
	service *Service
	by      vitrine.Caller
}

// As returns a Session of the caller. It checks nothing: each method of the Session does.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{s.made(), by} }
