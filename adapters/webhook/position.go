package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/lease"
	"github.com/vitrine-go/vitrine/storage"
)

// The records of webhooks are in a space of their own:
//
//	lease              of the process that delivers, see package lease
//	position/<name>    how far the deliveries to the endpoint of this name are: position
const space = "webhooks"

var leaseKey = keyval.Key(space, "lease/")

func positionKey(name string) string { return keyval.Key(space, "position/", name) }

// Maintenance says that no archive has records of webhooks: a copy of a store must not deliver again.
func Maintenance() storage.Maintenance {
	return storage.Maintenance{NotArchived: []string{space + " "}}
}

// position is the stored state of an endpoint: how far its deliveries are, and when the next attempt is due. It is
// stored under the endpoint's name, and once it is there, only the holder of the lease writes it.
type position struct {
	// Key is random and makes the ids of deliveries. With it the same change has the same id at each attempt,
	// whichever process makes it.
	Key []byte `json:"key"`
	// Receiver is a digest of the URL, the headers and the secrets. When it changes, Off, Failed, Rejected and Until go
	// back to zero: they belong to the old receiver.
	Receiver string `json:"receiver"`
	// Marks says how far, by the name of the feed, and Scope which feeds the endpoint gets. A feed in the scope without
	// a mark was created later, as that of a new library, and is read from its beginning.
	Scope string          `json:"scope"`
	Marks map[string]mark `json:"marks"`

	Off bool `json:"off,omitempty"` // the receiver returned 410
	// attempts since one was accepted, a change was rejected too often, or the receiver changed
	Failed   int `json:"failed,omitempty"`
	Rejected int `json:"rejected,omitempty"` // attempts at the next change that the receiver rejected
	// of an endpoint with tags: change.Release of the last move that it has got; the others of the release are left out
	Told  string `json:"told,omitempty"`
	Until int64  `json:"until,omitempty"` // the next attempt is due then, in milliseconds since the epoch
}

// mark is how far the deliveries of a feed are. Times are milliseconds since the epoch.
type mark struct {
	After string `json:"after"` // a cursor: everything before it is done
	At    int64  `json:"at"`    // the time of the last change before After
	// Since is set when the feed no longer goes back to After or has changed its identity, and is then read from its
	// beginning: changes before this time count as delivered, and are skipped.
	Since int64 `json:"since,omitempty"`
}

// receiver returns a digest of the URL, the headers and the secrets. It is an HMAC with the secrets as keys, so it does
// not reveal them.
func (e Endpoint) receiver() string {
	sum := sha256.New()
	for _, s := range e.Secrets {
		parts := []string{"vitrine webhook receiver\n", e.URL}
		if e.Header != nil {
			var b strings.Builder
			_ = e.Header().Write(&b) // in the order of the names
			parts = append(parts, "\n", b.String())
		}
		sum.Write(s.mac(parts...))
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

// newPosition returns a position that has read nothing yet.
func (e Endpoint) newPosition() position {
	p := position{Key: make([]byte, 24), Receiver: e.receiver(), Marks: map[string]mark{}}
	_, _ = rand.Read(p.Key) // never fails
	return p
}

// text returns the position as it is stored. Equal positions have equal texts, since JSON sorts the members of maps.
func (p position) text() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic("webhook: " + err.Error()) // a position has nothing that cannot be marshaled
	}
	return string(text)
}

// id returns the webhook-id of a change: an HMAC of the feed and its cursor. So every attempt, by whichever process,
// has the same id, and does not reveal how many changes there are.
func (p position) id(feed string, c change) string {
	key := Secret{func() []byte { return p.Key }}
	return "msg_" + base64.RawURLEncoding.EncodeToString(key.mac(feed, "\x00", c.Cursor)[:18])
}

// readPosition returns the stored position of an endpoint, and reports whether there is one.
func (d *Deliverer) readPosition(ctx context.Context, e Endpoint) (p position, found bool, err error) {
	found, err = lease.Read(ctx, d.db, positionKey(e.Name), &p)
	if err == nil && found && p.Marks == nil {
		err = keyval.Damaged(positionKey(e.Name), errors.New("it has no marks"))
	}
	return p, found, err
}

// State is what a store has of an endpoint, for the tools of an operator. Unlike Progress it is known without a
// Deliverer.
type State struct {
	Endpoint string    // its name
	Done     time.Time // when the last change was made that the endpoint has got, or does not get
	Disabled bool      // as in Progress
	Failed   int       // attempts since one was accepted
	Next     time.Time // when the next attempt is due, if some have failed
}

// States returns the states of all endpoints that a store knows, in the order of their names, also of those that no
// configuration has any more.
func States(ctx context.Context, db storage.Store) (all []State, err error) {
	err = db.View(ctx, func(r storage.Reader) error {
		prefix := positionKey("")
		for e, err := range r.Scan(ctx, storage.Prefix(prefix)) {
			if err != nil {
				return err
			}
			var p position
			if err := keyval.Decode(e, &p); err != nil {
				return err
			}
			s := State{Endpoint: strings.TrimPrefix(e.Key, prefix), Disabled: p.Off, Failed: p.Failed,
				Next: time.UnixMilli(p.Until).UTC()}
			for _, m := range p.Marks {
				if at := time.UnixMilli(m.At).UTC(); at.After(s.Done) {
					s.Done = at
				}
			}
			all = append(all, s)
		}
		return nil
	})
	return all, err
}

// register stores the position of an endpoint that the store does not know yet.
func (d *Deliverer) register(ctx context.Context, e Endpoint) error {
	_, known, err := d.readPosition(ctx, e)
	if err != nil || known {
		return err
	}
	p := e.newPosition()
	if err := d.begin(ctx, e, &p); err != nil {
		return err
	}
	// If it is there by now, another process has registered the same name.
	return lease.Begin(ctx, d.db, positionKey(e.Name), p)
}

// begin brings the marks of a position in line with the scope of the endpoint. A feed that the endpoint did not get
// before begins with the changes that come, and one that it no longer gets loses its mark.
func (d *Deliverer) begin(ctx context.Context, e Endpoint, p *position) error {
	if p.Scope == e.scope() {
		return nil
	}
	before := p.Marks
	p.Scope, p.Marks = e.scope(), map[string]mark{}
	for _, s := range d.sources {
		feeds, err := s.feeds(ctx, e)
		if err != nil {
			return err
		}
		for _, f := range feeds {
			m, known := before[f.name]
			if !known {
				end, err := f.read(ctx, vitrine.Now, e)
				if err != nil {
					return err
				}
				m = mark{After: end.next, At: time.Now().UnixMilli()}
			}
			p.Marks[f.name] = m
		}
	}
	return nil
}
