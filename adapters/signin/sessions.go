package signin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// wireSession is the session of a browser as it is answered to that browser.
type wireSession struct {
	ID             string     `json:"id"`
	Via            string     `json:"via"`
	Expires        int64      `json:"expires"`
	ConfirmedUntil *int64     `json:"confirmedUntil"`
	Person         wirePerson `json:"person"`
}

func (s *Service) wireOf(ctx context.Context, one *session, idle int64, p *person) (w *wireSession, err error) {
	w = &wireSession{ID: one.ID, Via: one.Via, Expires: idle}
	if one.Via != viaLink {
		w.ConfirmedUntil = orNull(one.Confirmed + confirmation.Milliseconds())
	}
	err = s.db.View(ctx, func(r storage.Reader) (err error) {
		w.Person, err = s.wire(ctx, r, p)
		return err
	})
	return w, err
}

// status serves GET /x/signin, to everybody: what a page may offer, and who has the session of this browser.
func (s *Service) status(r *httpapi.Request) (any, error) {
	type wireOIDC struct {
		Name string `json:"name"`
	}
	out := struct {
		Origin  *string      `json:"origin"`
		Base    string       `json:"base"`
		People  bool         `json:"people"`
		OIDC    *wireOIDC    `json:"oidc"`
		Session *wireSession `json:"session"`
	}{Base: s.BaseURL}
	if s.origin != "" {
		out.Origin = &s.origin
	}
	if s.provider.Provider != nil {
		out.OIDC = &wireOIDC{s.provider.name()}
	}
	var err error
	if out.People, err = s.Any(r.Context()); err != nil {
		return nil, err
	}
	i, err := s.session(r.Request)
	if err == nil && i != nil {
		out.Session, err = s.wireOf(r.Context(), i.session, i.idle, i.person)
	}
	return out, err
}

// begin stores a new session of a person, in place of the one that the browser had, and returns what sets its cookie. A session that is
// confirmed keeps its id.
func (s *Service) begin(ctx context.Context, t storage.Tx, r *httpapi.Request, p *person, via, passkey string, confirms string) (one *session, cookie *http.Cookie, err error) {
	now := s.millis()
	one = &session{ID: newID(), Person: p.ID, Via: via, Passkey: passkey, Browser: browser(r.UserAgent()), CreatedAt: now, Confirmed: now, Expires: now + sessionLife.Milliseconds()}
	if via == viaProvider {
		one.Expires = now + providerLife.Milliseconds()
	}
	for _, c := range r.CookiesNamed(s.cookie) {
		before, err := read[session](ctx, t, sessionKey(hashOf(c.Value)))
		if err != nil {
			return nil, nil, err
		}
		if before == nil {
			continue
		}
		if hashOf(c.Value) == confirms && before.Person == p.ID {
			one.ID, one.CreatedAt = before.ID, before.CreatedAt
			if via != viaProvider {
				one.Expires = before.Expires
			}
		}
		if err := t.Delete(ctx, sessionKey(hashOf(c.Value)), sessionsKey(before.Person, hashOf(c.Value))); err != nil {
			return nil, nil, err
		}
	}
	// Sessions that have ended are of no use any more.
	if err := endSessions(ctx, t, p.ID, func(_ string, s *session) bool { return s.Expires <= now }); err != nil {
		return nil, nil, err
	}
	secret, hash := newSecret("")
	err = t.Put(ctx, stored(sessionKey(hash), one), entry(sessionsKey(p.ID, hash), ""))
	return one, s.cookieOf(secret, int((one.Expires-now)/1000)), err
}

// begun sets the cookie of a new session, and answers with it.
func (s *Service) begun(r *httpapi.Request, one *session, cookie *http.Cookie, p *person) (*wireSession, error) {
	r.Header.Add("Set-Cookie", cookie.String())
	s.access(r.Context(), "signed in", "urn", p.URN, "via", one.Via, "address", r.Address())
	return s.wireOf(r.Context(), one, min(one.Expires, one.CreatedAt+sessionIdle.Milliseconds()), p)
}

// cookieOf returns the cookie with a secret. It is for the whole host: the names that browsers protect from other hosts must be.
func (s *Service) cookieOf(secret string, seconds int) *http.Cookie {
	return &http.Cookie{Name: s.cookie, Value: secret, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode}
}

// browser is what a browser says it is, as far as it is of use in a list.
func browser(agent string) string {
	agent = strings.ToValidUTF8(agent, "")
	for len(agent) > 300 {
		_, size := utf8.DecodeLastRuneInString(agent)
		agent = agent[:len(agent)-size]
	}
	return agent
}

// listSessions serves GET /x/signin/sessions/: the sessions of who asks.
func (s *Service) listSessions(r *httpapi.Request) (any, error) {
	type wire struct {
		ID         string `json:"id"`
		Current    bool   `json:"current"`
		Via        string `json:"via"`
		Browser    string `json:"browser"`
		CreatedAt  int64  `json:"createdAt"`
		LastSeenAt int64  `json:"lastSeenAt"`
		Expires    int64  `json:"expires"`
	}
	own, err := s.own(r)
	if err != nil {
		return nil, err
	}
	list := []wire{}
	err = s.db.View(r.Context(), func(v storage.Reader) error {
		list = list[:0]
		for hash, err := range lastParts(r.Context(), v, record.Prefix(space, "sessions/", own.person.ID)) {
			var i *identity
			if err == nil {
				i, err = s.loadSession(r.Context(), v, hash)
			}
			if err != nil {
				return err
			}
			if i == nil || i.idle <= s.millis() {
				continue
			}
			seen, err := lastSeen(r.Context(), v, "session", i.session.ID)
			if err != nil {
				return err
			}
			list = append(list, wire{i.session.ID, hash == own.hash, i.session.Via, i.session.Browser, i.session.CreatedAt, max(seen, i.session.CreatedAt), i.idle})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b wire) int { return strings.Compare(b.ID, a.ID) })
	return map[string]any{"sessions": list}, err
}

// signOut serves DELETE /x/signin/sessions/{id}: one of the sessions of who asks ends.
func (s *Service) signOut(r *httpapi.Request) (any, error) {
	id := r.Param(0)
	return nil, s.end(r, "signed out", func(_ string, one *session) bool { return one.ID == id })
}

// signOutEverywhere serves DELETE /x/signin/sessions/: all sessions of who asks end.
func (s *Service) signOutEverywhere(r *httpapi.Request) (any, error) {
	return nil, s.end(r, "signed out everywhere", all)
}

// end ends sessions of who asks. It is an error if there is none.
func (s *Service) end(r *httpapi.Request, what string, which func(string, *session) bool) error {
	own, err := s.own(r)
	if err != nil {
		return err
	}
	ended := 0
	err = s.update(r.Context(), func(t storage.Tx) error {
		ended = 0
		return endSessions(r.Context(), t, own.person.ID, func(hash string, one *session) bool {
			if !which(hash, one) {
				return false
			}
			ended++
			return true
		})
	})
	if err != nil {
		return err
	}
	if ended == 0 {
		return notFound("session")
	}
	if which(own.hash, own.session) {
		r.Header.Add("Set-Cookie", s.cookieOf("", -1).String())
	}
	s.access(r.Context(), what, "urn", own.person.URN)
	return nil
}

// failed is the error of a sign-in that did not succeed. Its reason is for the log alone.
func failed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", httpapi.ErrUnauthenticated, fmt.Errorf(format, args...))
}
