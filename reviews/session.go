package reviews

import "github.com/vitrine-go/vitrine"

// Session is a Service for one caller. The client of a remote service (adapters/client) has the same methods, so a
// program can declare an interface with those that it calls, and use either. A Session is safe for concurrent use and
// needs no closing.
type Session struct {
	service *Service
	by      vitrine.Caller
	method  string // that was called, if an agent may call it; see calls
}

// As returns a Session of the caller. It checks nothing: each method of the Session does.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{service: s.made(), by: by} }

// calls returns the Session for the rest of its method with this name. Methods that an agent may call begin with it. In
// all others mayUse and network return ErrForbidden for an agent.
func (s *Session) calls(method string) *Session {
	if s.by.Agent == "" { // saves others the copy
		return s
	}
	named := *s
	named.method = method
	return &named
}
