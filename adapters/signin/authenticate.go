package signin

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/storage"
)

// The prefixes of secrets, by which people and scanners of files recognise them.
const (
	secretPrefix     = "vt_"
	publicPrefix     = "pk_"
	invitationPrefix = "in_"
)

// identity is the caller of a request: a session or a key.
type identity struct {
	principal httpapi.Principal
	read      time.Time // when it was looked up
	// The fields below are those of a session.
	person  *person
	session *session
	hash    string // of its secret
	seen    int64  // when it was used last
	idle    int64  // when it ends if it is not used
}

// Authenticate is for httpapi.Config. It accepts secret keys in the place of tokens, public keys in the parameter key
// of x/public/, and the session in the cookie if there is no token. Options.Otherwise authenticates all other requests.
func (s *Service) Authenticate(r *http.Request) (httpapi.Principal, error) {
	if !hasToken(r) {
		i, err := s.session(r)
		if err != nil {
			return httpapi.Principal{}, err
		}
		if i != nil {
			s.used(r.Context(), "person", i.person.ID)
			s.used(r.Context(), "session", i.session.ID)
			return i.principal, nil
		}
		return s.Otherwise(r)
	}
	token, err := httpapi.RequestToken(r)
	if err != nil {
		return httpapi.Principal{}, err
	}
	public := strings.HasPrefix(token, publicPrefix)
	if !public && !strings.HasPrefix(token, secretPrefix) {
		return s.Otherwise(r)
	}
	if public != httpapi.OfPage(r) {
		return httpapi.Principal{},
			fmt.Errorf("%w: a public key is for pages, as the parameter key of x/public/, and a secret one is not",
				httpapi.ErrUnauthenticated)
	}
	i, err := s.lookup(r.Context(), hashOf(token), s.loadKey)
	if err != nil {
		return httpapi.Principal{}, err
	}
	if i == nil {
		return httpapi.Principal{}, fmt.Errorf("%w: there is no such key, or it has ended", httpapi.ErrUnauthenticated)
	}
	s.used(r.Context(), "key", i.principal.Key)
	return i.principal, nil
}

// hasToken reports whether a request has a token. A cookie does not count then.
func hasToken(r *http.Request) bool {
	return len(r.Header["Authorization"]) > 0 || strings.Contains(r.URL.RawQuery, "svctoken") &&
		r.URL.Query().Has("svctoken")
}

// session returns the session of a request, nil if it has no valid one.
func (s *Service) session(r *http.Request) (*identity, error) {
	if s.cookie == "" || hasToken(r) {
		return nil, nil
	}
	cookies := r.CookiesNamed(s.cookie)
	if len(cookies) != 1 || len(cookies[0].Value) > 100 {
		return nil, nil
	}
	return s.lookup(r.Context(), hashOf(cookies[0].Value), s.loadSession)
}

// lookup returns what load returns for a hash, or has returned within the last second, unless people have changed
// since. It returns nil for an identity that has ended.
func (s *Service) lookup(
	ctx context.Context, hash string, load func(context.Context, storage.Reader, string) (*identity, error),
) (i *identity, err error) {
	now := s.Now()
	s.mu.Lock()
	select {
	case <-s.changed:
		s.forget()
	default:
	}
	i, changed := s.known[hash], s.changed
	s.mu.Unlock()
	if i == nil || now.Sub(i.read) >= cacheLife {
		i, err = view(ctx, s.db, func(r storage.Reader) (*identity, error) { return load(ctx, r, hash) })
		if err != nil || i == nil {
			return nil, err
		}
		i.read = now
		s.mu.Lock()
		if s.changed == changed {
			if len(s.known) >= 10_000 {
				clear(s.known)
			}
			s.known[hash] = i
		}
		s.mu.Unlock()
	}
	if at := i.principal.Expires; !at.IsZero() && !s.Now().Before(at) {
		return nil, nil
	}
	return i, nil
}

// forget empties the cache of identities. It is called with mu locked.
func (s *Service) forget() {
	clear(s.known)
	s.changed = s.db.Changed(space)
}

// loadSession returns the session with a hash, nil if it has ended or its person is disabled.
func (s *Service) loadSession(ctx context.Context, r storage.Reader, hash string) (*identity, error) {
	one, err := read[session](ctx, r, sessionKey(hash))
	if err != nil || one == nil {
		return nil, err
	}
	p, err := read[person](ctx, r, personKey(one.Person))
	if err != nil || p == nil || p.Disabled {
		return nil, err
	}
	seen, err := lastSeen(ctx, r, "session", one.ID)
	if err != nil {
		return nil, err
	}
	seen = max(seen, one.CreatedAt)
	i := &identity{person: p, session: one, hash: hash, seen: seen,
		idle: min(seen+sessionIdle.Milliseconds(), one.Expires)}
	i.principal = httpapi.Principal{Caller: p.Rights.caller(p.URN), Expires: time.UnixMilli(i.idle)}
	return i, nil
}

// loadKey returns the key with a hash, nil if it has ended or its maker is disabled.
func (s *Service) loadKey(ctx context.Context, r storage.Reader, hash string) (*identity, error) {
	id, err := text(ctx, r, secretKey(hash))
	if err != nil || id == "" {
		return nil, err
	}
	k, err := read[key](ctx, r, keyKey(id))
	if err != nil || k == nil || k.Hash != hash {
		return nil, err
	}
	i := &identity{}
	if k.Kind == kindSecret {
		p, err := read[person](ctx, r, personKey(k.Person))
		if err != nil || p == nil || p.Disabled {
			return nil, err
		}
		i.principal.Caller = k.Rights.both(p.Rights.caller(p.URN)).caller(p.URN)
		i.principal.NotOwner = !k.owner()
		if k.Agent {
			i.principal.Agent = k.Name
		}
	} else {
		i.principal.Caller = vitrine.Caller{URN: k.user(), Reads: k.Reads, TagsOnly: true, Tags: k.Tags,
			PublicReviews: k.Reviews, PublicList: k.List, PublicFolders: k.Folders}
	}
	i.principal.Key = k.Prefix
	if k.Expires != nil {
		i.principal.Expires = time.UnixMilli(*k.Expires)
	}
	return i, nil
}

// used stores when something was used, to the hour. An error is ignored.
func (s *Service) used(ctx context.Context, kind, id string) {
	key, now := seenKey(kind, id), s.millis()
	s.mu.Lock()
	due := now-s.seen[key] >= seenEvery.Milliseconds()
	if due {
		if len(s.seen) >= 100_000 {
			clear(s.seen)
		}
		s.seen[key] = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cacheLife)
	defer cancel()
	_ = s.db.Update(ctx, transient, storage.UpdateOptions{}, func(t storage.Tx) error {
		if before, err := lastSeen(ctx, t, kind, id); err != nil || now-before < seenEvery.Milliseconds() {
			return err
		}
		return t.Put(ctx, entry(key, strconv.FormatInt(now, 10)))
	})
}

// lastSeen returns when something was used last, 0 for never.
func lastSeen(ctx context.Context, r storage.Reader, kind, id string) (int64, error) {
	value, err := text(ctx, r, seenKey(kind, id))
	at, _ := strconv.ParseInt(value, 10, 64)
	return at, err
}
