package signin

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// wireSession is the session of a browser in a response to that browser.
type wireSession struct {
	ID             string      `json:"id"`
	Via            string      `json:"via"`
	Expires        int64       `json:"expires"`
	ConfirmedUntil *int64      `json:"confirmedUntil"`
	Person         *wirePerson `json:"person"`
	InvitedAnew    *wireAnew   `json:"invitedAnew"`
	// Mail says whether the person has switched mails off; nil if the server sends none.
	Mail *mailSetting `json:"mail,omitempty"`
}

// wireAnew is an invitation of somebody who had a passkey already, as the person sees it.
type wireAnew struct {
	By named `json:"by"`
	At int64 `json:"at"`
}

// wireOf returns a session of a person, which ends at idle if it is not used.
func (s *Service) wireOf(
	ctx context.Context, r storage.Reader, one *session, idle int64, p *person,
) (*wireSession, error) {
	who, err := s.wire(ctx, r, p)
	w := &wireSession{ID: one.ID, Via: one.Via, Expires: idle, Person: who}
	if one.Via != viaLink {
		w.ConfirmedUntil = orNull(one.Confirmed + confirmation.Milliseconds())
	}
	if s.Mail != nil {
		w.Mail = &mailSetting{p.NoMail}
	}
	if a := p.invitedAnew(one); err == nil && a != nil {
		w.InvitedAnew = &wireAnew{At: a.At}
		w.InvitedAnew.By, err = nameOf(ctx, r, a.By)
	}
	return w, err
}

// status serves GET /x/signin, to everybody: the ways to sign in, and the session of this browser.
func (s *Service) status(r *httpapi.Request) (any, error) {
	out := map[string]any{"origin": nil, "base": s.BaseURL, "oidc": nil, "session": nil}
	if s.origin != "" {
		out["origin"] = s.origin
	}
	if s.provider.Provider != nil {
		out["oidc"] = map[string]string{"name": s.provider.name()}
	}
	i, err := s.session(r.Request)
	if err != nil {
		return nil, err
	}
	return view(r.Context(), s.db, func(v storage.Reader) (any, error) {
		if out["people"], err = anybody(r.Context(), v); err == nil && i != nil {
			out["session"], err = s.wireOf(r.Context(), v, i.session, i.idle, i.person)
		}
		return out, err
	})
}

// begin begins a session of the person whom fn returns, in place of the one that the browser had, and returns it for
// the response. A session that is confirmed keeps its id. If fn returns no person, no session begins.
func (s *Service) begin(
	r *httpapi.Request, via, confirms string, fn func(*tx) (p *person, passkey string, err error),
) (w *wireSession, err error) {
	ctx := r.Context()
	err = s.update(ctx, func(t *tx) error {
		w = nil
		p, passkey, err := fn(t)
		if err != nil || p == nil {
			return err
		}
		now := s.millis()
		one := &session{begun{newID(), via, browser(r.UserAgent()), now, now + sessionLife.Milliseconds()}, p.ID,
			passkey, now}
		if via == viaProvider {
			one.Expires = now + providerLife.Milliseconds()
		}
		for _, c := range r.CookiesNamed(s.cookie) {
			hash := hashOf(c.Value)
			before, err := read[session](ctx, t, sessionKey(hash))
			if err != nil {
				return err
			}
			if before == nil {
				continue
			}
			ended, err := read[person](ctx, t, personKey(before.Person))
			if err != nil {
				return err
			}
			if ended != nil {
				t.concerned = append(t.concerned, ended.URN)
			}
			if hash == confirms && before.Person == p.ID {
				one.ID, one.CreatedAt = before.ID, before.CreatedAt
				if via != viaProvider {
					one.Expires = before.Expires
				}
			} else {
				t.unseen = append(t.unseen, seenKey("session", before.ID))
			}
			if err := t.Delete(ctx, sessionKey(hash), sessionsKey(before.Person, hash)); err != nil {
				return err
			}
		}
		// Expired sessions are deleted, and of too many the oldest.
		list, err := sessionsOf(ctx, t, p.ID, 0)
		if err != nil {
			return err
		}
		for i, old := range list {
			if i >= mostSessions-1 || old.Expires <= now {
				t.concerned = append(t.concerned, p.URN)
				if err := t.endSession(ctx, old); err != nil {
					return err
				}
			}
		}
		secret, hash := newSecret("")
		t.committed = append(t.committed, func() {
			r.Header.Add("Set-Cookie", s.cookieOf(secret, int((one.Expires-now)/1000)).String())
		})
		s.accessed(ctx, t, "signed in", "urn", p.URN, "via", via, "address", r.Address())
		if err := t.Put(ctx, keyval.JSON(sessionKey(hash), one), entry(sessionsKey(p.ID, hash), "")); err != nil {
			return err
		}
		w, err = s.wireOf(ctx, t, one, min(one.Expires, one.CreatedAt+sessionIdle.Milliseconds()), p)
		return err
	})
	return w, err
}

// cookieOf returns the cookie with a secret. It is for the whole host, as browsers require for a name with __Host-.
func (s *Service) cookieOf(secret string, seconds int) *http.Cookie {
	return &http.Cookie{Name: s.cookie, Value: secret, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: s.secure,
		SameSite: http.SameSiteLaxMode}
}

// browser returns the beginning of a User-Agent, for lists.
func browser(agent string) string {
	return strings.ToValidUTF8(agent[:min(len(agent), 300)], "")
}

// wireListed is a session in the list of its person.
type wireListed struct {
	begun
	Current    bool  `json:"current"`
	LastSeenAt int64 `json:"lastSeenAt"`
}

// listSessions serves GET /x/signin/sessions/: the sessions of the asker, newest first.
func (s *Service) listSessions(c *call, v storage.Reader) (httpapi.List, error) {
	if err := c.signedIn(); err != nil {
		return httpapi.List{}, err
	}
	ctx, after := c.Context(), c.Text("after")
	list, err := sessionsOf(ctx, v, c.session.person.ID, mostSessions)
	if err != nil {
		return httpapi.List{}, err
	}
	items := func(yield func(hashed, error) bool) {
		for _, one := range list {
			if (after == "" || one.ID < after) && !yield(one, nil) {
				return
			}
		}
	}
	id := func(h hashed) string { return h.ID }
	return httpapi.NewList(c.Request, "sessions", items, id, func(h hashed) (*wireListed, error) {
		i, err := s.loadSession(ctx, v, h.hash)
		if err != nil || i == nil || i.idle <= s.millis() {
			return nil, err
		}
		w := &wireListed{h.begun, h.hash == c.session.hash, i.seen}
		w.Expires = i.idle
		return w, nil
	})
}

// signOut serves DELETE /x/signin/sessions/{id}: it ends one session of the asker.
func (s *Service) signOut(c *call, t *tx) (any, error) {
	return nil, s.end(c, t, "signed out", func(_ string, one *session) bool { return one.ID == c.Param(0) })
}

// signOutEverywhere serves DELETE /x/signin/sessions/: it ends all sessions of the asker.
func (s *Service) signOutEverywhere(c *call, t *tx) (any, error) {
	return nil, s.end(c, t, "signed out everywhere", all)
}

// end ends sessions of the asker. It returns an error if there is none.
func (s *Service) end(c *call, t *tx, what string, which func(string, *session) bool) error {
	if err := c.signedIn(); err != nil {
		return err
	}
	own := c.session
	ended, err := endSessions(c.Context(), t, own.person, which)
	if err != nil {
		return err
	}
	if ended == 0 {
		return fault.NotFound("there is no such session")
	}
	if which(own.hash, own.session) {
		t.committed = append(t.committed, func() { c.Header.Add("Set-Cookie", s.cookieOf("", -1).String()) })
	}
	s.accessed(c.Context(), t, what, "urn", own.person.URN)
	return nil
}

// failed is the error of a sign-in that did not succeed. Only the log gets its reason.
func failed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", httpapi.ErrUnauthenticated, fmt.Errorf(format, args...))
}
