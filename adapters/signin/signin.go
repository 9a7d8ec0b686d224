package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/required"
	"github.com/vitrine-go/vitrine/storage"
)

// Lifetimes.
const (
	sessionLife    = 30 * 24 * time.Hour
	sessionIdle    = 7 * 24 * time.Hour
	providerLife   = 12 * time.Hour // of a session through a provider
	invitationLife = 7 * 24 * time.Hour
	ceremonyLife   = 5 * time.Minute
	confirmation   = 5 * time.Minute // how long a sign-in or a confirmation counts
	cacheLife      = time.Second
	changesLife    = 10 * time.Minute // how long it is stored whom a change concerns
	seenEvery      = time.Hour        // how often a time of last use is written
)

// Limits of records.
const (
	mostName     = 128 // characters
	mostEmail    = 254 // bytes
	mostPasskeys = 20
	mostSessions = 1000 // of a person
	mostURNs     = 100  // of names in one request

	mostPeople  = 10_000 // of a network
	mostSecret  = 100    // secret keys of a person
	mostPublic  = 1000   // public keys that read a network, and as many that its people have made
	mostKeyTags = 100
	mostRights  = 100 // of a person or a key: networks, sites, roles and groups together
)

// Options are the options of New.
type Options struct {
	// BaseURL is the address of the base path: where the console is, and where people sign in. Passkeys need https, or
	// the host localhost. Elsewhere, and without a BaseURL, nobody can sign in, and only tokens and keys work.
	BaseURL string
	// Otherwise authenticates requests with neither a session nor a key, such as those with a signed token. nil = they
	// are 401.
	Otherwise func(*http.Request) (httpapi.Principal, error)
	// Provider is an OpenID Connect provider; nil for none.
	Provider *Provider
	// Manages returns nil if a caller may manage a folder of an asset library, and so may let public keys show it. nil
	// = no key shows folders.
	Manages func(ctx context.Context, by vitrine.Caller, network, library, folder string) error
	// Erase removes what a person has written elsewhere, such as comments. DELETE /x/people/{id}?comments=true calls
	// it. nil = that parameter is 400.
	Erase func(ctx context.Context, user string) error
	// Mail sends a mail. It is called by one of the processes of a store at a time, see SendMails, and has 15 seconds.
	// After an error that wraps ErrRejected the mail is given up, after any other one it is tried again for a day. The
	// error is logged. nil = there are no mails.
	Mail func(ctx context.Context, m Mail) error
	// Log gets a line "access" for who signed in or failed to, was invited or changed, and for keys. nil means
	// slog.Default().
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service keeps people, their sessions and keys in a store. It is safe for concurrent use.
type Service struct {
	Options
	db       storage.Store
	indexed  atomic.Bool // the store has the indices of public keys
	changes  *feed.Feeds
	origin   string // of BaseURL, "" if nobody can sign in
	secure   bool   // the cookie is sent only over TLS
	cookie   string // its name
	passkeys *webauthn.WebAuthn
	attempts attempts
	provider provider

	mu      sync.Mutex
	known   map[string]*identity // by the hash of a secret
	changed <-chan struct{}      // closed when known may be out of date
	seen    map[string]int64     // when a time of last use was written last, by its key
}

// New returns a Service over a store, or an error if the options are wrong. It panics if the store is nil.
func New(db storage.Store, o Options) (*Service, error) {
	required.Argument("signin.New", "store", db)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Otherwise == nil {
		o.Otherwise = func(*http.Request) (httpapi.Principal, error) {
			return httpapi.Principal{}, fmt.Errorf("%w: no session and no key", httpapi.ErrUnauthenticated)
		}
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	s := &Service{Options: o, db: db, known: map[string]*identity{}, seen: map[string]int64{},
		changed: db.Changed(space),
		changes: feed.New(db, changesLife)}
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("signin: BaseURL: %w", err)
	}
	if host := u.Hostname(); u.Scheme == "https" && host != "" && net.ParseIP(host) == nil || u.Scheme == "http" &&
		host == "localhost" {
		s.origin, s.secure, s.cookie = u.Scheme+"://"+u.Host, u.Scheme == "https", "__Host-vitrine"
		if !s.secure { // some browsers reject the prefix without TLS; cookies are for all ports of a host
			s.cookie = "vitrine-" + u.Port()
		}
		s.passkeys, err = webauthn.New(&webauthn.Config{RPID: host, RPDisplayName: "Vitrine",
			RPOrigins:             []string{s.origin},
			AttestationPreference: protocol.PreferNoAttestation,
			Timeouts: webauthn.TimeoutsConfig{
				Login:        webauthn.TimeoutConfig{Enforce: true, Timeout: ceremonyLife, TimeoutUVD: ceremonyLife},
				Registration: webauthn.TimeoutConfig{Enforce: true, Timeout: ceremonyLife, TimeoutUVD: ceremonyLife},
			}})
		if err != nil {
			return nil, fmt.Errorf("signin: BaseURL %s: %w", o.BaseURL, err)
		}
	}
	if s.provider.Provider = o.Provider; o.Provider != nil && s.origin == "" {
		return nil, errors.New("signin: a provider needs a BaseURL with https, or http://localhost")
	}
	return s, nil
}

// Origin is where people sign in, such as https://host.example; "" means nowhere.
func (s *Service) Origin() string { return s.origin }

// Watch calls fn when people, sessions or keys have changed in any process, until ctx is done. users are the URNs of
// those whom the changes concern; without any, the changes may concern everybody. fn is called for a user once a second
// at most. With httpapi.Streams.Recheck as fn, streams end as soon as the rights of those who read them.
func (s *Service) Watch(ctx context.Context, fn func(users ...string)) {
	changed := s.db.Changed(space)
	at, _, _, err := s.changedSince(ctx, 0)
	called := map[string]time.Time{} // when fn was called for a user within the last second; everybody is ""
	var due []string                 // for whom fn is to be called
	for {
		wake, pause := changed, cacheLife
		for _, user := range due {
			pause = min(pause, cacheLife-time.Since(called[user]))
		}
		var later <-chan time.Time
		if err != nil || len(due) > 0 {
			later = time.After(pause)
		}
		if err != nil { // the store does not respond, or is closed and wakes at once
			wake = nil
		}
		select {
		case <-wake:
		case <-later:
		case <-ctx.Done():
			return
		}
		// Before fn, so that no change meanwhile is missed and no cached identity is used.
		s.mu.Lock()
		s.forget()
		changed = s.changed
		s.mu.Unlock()
		var users []string
		var missed bool
		if at, users, missed, err = s.changedSince(ctx, at); missed {
			users = []string{""}
		}
		maps.DeleteFunc(called, func(_ string, at time.Time) bool { return time.Since(at) >= cacheLife })
		users = append(due, users...)
		slices.Sort(users)
		due = nil
		var now []string
		for _, user := range slices.Compact(users) {
			if _, recently := called[user]; recently {
				due = append(due, user)
			} else {
				now, called[user] = append(now, user), time.Now()
			}
		}
		if len(now) > 0 && now[0] == "" {
			fn()
		} else if len(now) > 0 {
			fn(now...)
		}
	}
}

// changedSince returns the position of the last change, and the URNs of those whom the changes after a position
// concern. missed is true if some of these are not known any more.
func (s *Service) changedSince(ctx context.Context, after feed.Position) (last feed.Position, users []string,
	missed bool, err error) {
	err = s.db.View(ctx, func(r storage.Reader) error {
		last, users, missed = after, nil, false
		for e, err := range (feed.Feed{Space: space}).Entries(ctx, r, after, 0) {
			if err != nil {
				return err
			}
			missed = missed || e.Position != last+1
			last, users = e.Position, append(users, strings.Split(string(e.Data), "\n")...)
		}
		return nil
	})
	if err != nil {
		return after, nil, false, err
	}
	return last, users, missed, nil
}

// Endpoints are for httpapi.Config.
func (s *Service) Endpoints() []httpapi.Extra {
	get := func(path string, serve func(*httpapi.Request) (any, error), query ...string) httpapi.Extra {
		return httpapi.Extra{Method: http.MethodGet, Path: path, Status: http.StatusOK, Query: query, Serve: serve}
	}
	list := func(path string, list func(*httpapi.Request) (httpapi.List, error), query ...string) httpapi.Extra {
		return httpapi.Extra{Method: http.MethodGet, Path: path, Status: http.StatusOK, Query: query, List: list}
	}
	post := func(path string, status int, serve func(*httpapi.Request) (any, error)) httpapi.Extra {
		return httpapi.Extra{Method: http.MethodPost, Path: path, Status: status, JSON: true, Serve: serve}
	}
	put := func(path string, serve func(*httpapi.Request) (any, error)) httpapi.Extra {
		return httpapi.Extra{Method: http.MethodPut, Path: path, Status: http.StatusOK, JSON: true, Serve: serve}
	}
	patch := func(path string, serve func(*httpapi.Request) (any, error)) httpapi.Extra {
		return httpapi.Extra{Method: http.MethodPatch, Path: path, Status: http.StatusOK, JSON: true, Serve: serve}
	}
	remove := func(path string, serve func(*httpapi.Request) (any, error)) httpapi.Extra {
		return httpapi.Extra{Method: http.MethodDelete, Path: path, Status: http.StatusNoContent, Serve: serve}
	}
	public := func(e httpapi.Extra) httpapi.Extra {
		e.Public = true
		return e
	}
	revoke := remove("/x/keys/{id}", s.revokeKey)
	revoke.Query = []string{"folder"}
	deletion := remove("/x/people/{id}", s.deletePersonWith)
	deletion.Query = []string{"comments"}
	var mails []httpapi.Extra
	if s.Mail != nil {
		mails = []httpapi.Extra{get("/x/me/mail", reads(s, s.mailOf)), put("/x/me/mail", s.writes(s.setMail))}
	}
	return append(mails,
		public(get("/x/signin", s.status)),
		public(post("/x/signin/invitation", 200, s.limited(s.lookAtInvitation))),
		public(post("/x/signin/register/begin", 200, s.limited(s.beginRegistration))),
		public(post("/x/signin/register/finish", 201, s.limited(s.finishRegistration))),
		public(post("/x/signin/begin", 200, s.limited(s.beginSignIn))),
		public(post("/x/signin/finish", 200, s.limited(s.finishSignIn))),
		public(post("/x/signin/link", 200, s.limited(s.followLink))),
		public(get("/x/signin/oidc", s.asPage(s.limited(s.beginProvider)), "to", "confirm")),
		public(get("/x/signin/oidc/callback", s.asPage(s.limited(s.finishProvider)), "code", "state", "error",
			"error_description", "error_uri", "iss", "session_state", "scope", "authuser", "prompt", "hd")),
		list("/x/signin/passkeys/", reads(s, s.listPasskeys)),
		patch("/x/signin/passkeys/{id}", s.writes(s.renamePasskey)),
		remove("/x/signin/passkeys/{id}", s.writes(s.removePasskey)),
		list("/x/signin/sessions/", reads(s, s.listSessions)),
		remove("/x/signin/sessions/", s.writes(s.signOutEverywhere)),
		remove("/x/signin/sessions/{id}", s.writes(s.signOut)),
		list("/x/people/", s.people, "urn", "q"),
		post("/x/people/", 201, s.writes(s.createPerson)),
		get("/x/people/{id}", reads(s, s.getPerson)),
		patch("/x/people/{id}", s.writes(s.changePerson)),
		deletion,
		post("/x/people/{id}/invite", 201, s.writes(s.invitePerson)),
		list("/x/keys/", s.keys, "folder"),
		post("/x/keys/", 201, s.newKey),
		get("/x/keys/{id}", reads(s, s.getKey)),
		revoke,
	)
}

// access writes a line of the log.
func (s *Service) access(ctx context.Context, what string, more ...any) {
	s.Log.InfoContext(ctx, "access", append([]any{"what", what}, more...)...)
}

// millis is the time as records have it.
func (s *Service) millis() int64 { return s.Now().UnixMilli() }

// wrongState is the error of a change that the state of a person, or of their passkeys, does not allow.
func wrongState(format string, args ...any) error {
	return fault.Conflict(vitrine.CodeWrongState, vitrine.Version{}, format, args...)
}

func at(pointer string, i int) string { return fmt.Sprintf("%s/%d", pointer, i) }

// checkText returns an error unless s has 1 to most characters, none of which is a control character.
func checkText(s string, most int) error {
	switch {
	case strings.TrimSpace(s) == "":
		return errors.New("is empty")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("has control characters")
	case utf8.RuneCountInString(s) > most:
		return fmt.Errorf("is too long: at most %d characters", most)
	}
	return nil
}

// confirmed returns an error unless the session was begun, or confirmed, just now. A session by a link, and a token,
// need no confirmation, since they have no passkey or provider.
func (s *Service) confirmed(i *identity) error {
	if i != nil && i.session.Via != viaLink && s.millis()-i.session.Confirmed > confirmation.Milliseconds() {
		return &vitrine.Error{Kind: vitrine.ErrForbidden, Code: vitrine.CodeConfirm,
			Reason: "this needs the passkey, or the provider, to be shown again: confirm, and then send the request " +
				"once more"}
	}
	return nil
}

// KeepBase notes the BaseURL in the store, if people can sign in there, for a program that makes invitations without
// knowing it.
func (s *Service) KeepBase(ctx context.Context) error {
	if before, err := Base(ctx, s.db); err != nil || s.origin == "" || before == s.BaseURL {
		return err
	}
	return s.db.Update(ctx, transient, storage.UpdateOptions{}, func(t storage.Tx) error {
		return t.Put(ctx, entry(baseKey, s.BaseURL))
	})
}

// Base returns the address that KeepBase has noted last, "" if there is none.
func Base(ctx context.Context, db storage.Store) (string, error) {
	return view(ctx, db, func(r storage.Reader) (string, error) { return text(ctx, r, baseKey) })
}
