package assets

import "github.com/vitrine-go/vitrine"

// Session is a Service for one caller: it has the methods that act for a caller, and each checks what this caller may
// do. The client of a remote service, package adapters/client, has them again. A program that names the methods it
// needs in an interface runs with both.
//
// A Session has nothing but the Service and the Caller. It is safe for concurrent use and needs
// no closing.
type Session struct {
	service *Service
	by      vitrine.Caller
	method  string // that was called, if an agent may call it; see calls
}

// As returns a Session for this caller. The caller's rights are looked up in each call, so a Session never grants a
// right that was revoked meanwhile, except those that the Caller itself states, such as Moderates and Roles.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{service: s.made(), by: by} }

// calls returns the Session for the rest of its method with this name. Methods that an agent may call begin with it. In
// all others authorize returns ErrForbidden for an agent.
func (s *Session) calls(method string) *Session {
	if s.by.Agent == "" { // saves others the copy
		return s
	}
	named := *s
	named.method = method
	return &named
}
