package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// position is what is stored of an endpoint: how far its deliveries are, and when the next attempt is due. It is
// stored under the endpoint's name.
type position struct {
	// Term is random for each time that a process takes the lease. A process that takes over replaces it first, so
	// that the one before cannot replace the position any more.
	Term string `json:"term"`
	// Key is random and makes the ids of deliveries. With it the same change has the same id at each attempt,
	// whichever process makes it.
	Key []byte `json:"key"`
	// Receiver is a digest of the URL and the secrets. When it changes, Off, Failed, Refused and Until go back to zero: they
	// tell about the receiver before.
	Receiver string `json:"receiver"`
	// Sources are the sources whose feeds the endpoint reads, with their scope, and Marks says how far, by the name of the
	// feed. A feed in the scope without a mark was created later, as that of a new library, and is read from its beginning.
	Sources map[string]string `json:"sources"`
	Marks   map[string]mark   `json:"marks"`

	Off     bool  `json:"off,omitempty"`     // the receiver answered 410
	Failed  int   `json:"failed,omitempty"`  // attempts since one was accepted, a change was given up as refused, or the receiver changed
	Refused int   `json:"refused,omitempty"` // attempts at the next change that were refused as such
	Until   int64 `json:"until,omitempty"`   // the next attempt is due then, in milliseconds since the epoch
}

// mark is how far the deliveries of a feed are. Times are milliseconds since the epoch.
type mark struct {
	After string `json:"after"` // a cursor: everything before it is done
	At    int64  `json:"at"`    // the time of the last change before After
	// Since is set when the feed no longer goes back to After or has changed its identity, and is then read from its
	// beginning: changes before this time count as delivered, and are passed over.
	Since int64 `json:"since,omitempty"`
}

// stored is the name under which an endpoint's position is stored.
func (e Endpoint) stored() string { return "endpoint/" + e.Name }

// receiver returns a digest of the URL and the secrets. It is an HMAC with the secrets as keys, so it does not reveal them.
func (e Endpoint) receiver() string {
	sum := sha256.New()
	for _, s := range e.Secrets {
		sum.Write(s.mac("vitrine webhook receiver\n", e.URL))
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

// newPosition returns a position that has read nothing yet.
func (e Endpoint) newPosition() position {
	p := position{Key: make([]byte, 24), Receiver: e.receiver(), Sources: map[string]string{}, Marks: map[string]mark{}}
	_, _ = rand.Read(p.Key) // never fails
	return p
}

// readPosition decodes a stored position.
func readPosition(text []byte) (p position, err error) {
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("the stored position is damaged: %w", err)
	}
	if p.Sources == nil || p.Marks == nil {
		return p, errors.New("the stored position is damaged: it has no sources")
	}
	return p, nil
}

// text encodes the position. Equal positions have equal texts, since the members of maps are sorted.
func (p position) text() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic("webhook: " + err.Error()) // a position has nothing that cannot be marshaled
	}
	return text
}

// id returns the webhook-id of a change: an HMAC of the feed and its cursor. So every attempt, by whichever process,
// has the same id, and nobody can tell from it how many changes there are.
func (p position) id(feed string, c change) string {
	key := Secret{func() []byte { return p.Key }}
	return "msg_" + base64.RawURLEncoding.EncodeToString(key.mac(feed, "\x00", c.Cursor)[:18])
}

// forget removes the marks of a source, except those of the feeds in but.
func (p *position) forget(source string, but []feed) {
	for name := range p.Marks {
		of := name == source || strings.HasPrefix(name, source+"/")
		if of && !slices.ContainsFunc(but, func(f feed) bool { return f.name == name }) {
			delete(p.Marks, name)
		}
	}
}

// register stores the position of an endpoint that the store does not know yet.
func (d *Deliverer) register(ctx context.Context, e Endpoint) error {
	known, err := d.store.Get(ctx, e.stored())
	if err != nil || known != nil {
		return err
	}
	p := e.newPosition()
	if err := d.begin(ctx, e, &p); err != nil {
		return err
	}
	// If the value is there by now, another process has registered the same name.
	_, err = d.store.Swap(ctx, e.stored(), nil, p.text())
	return err
}

// begin brings the sources of a position in line with the endpoint. It removes the sources and feeds that the endpoint no
// longer wants, and adds those that are missing, beginning with the changes that come. If the endpoint asks for more feeds
// of a source than before, the new feeds begin with the changes that come too.
func (d *Deliverer) begin(ctx context.Context, e Endpoint, p *position) error {
	for _, s := range d.sources {
		scope, has := p.Sources[s.name()]
		if !s.wants(e) { // if it asks for the source again later, that begins with the changes that come
			p.forget(s.name(), nil)
			delete(p.Sources, s.name())
			continue
		}
		if has && scope == s.scope(e) {
			continue
		}
		feeds, err := s.feeds(ctx, e)
		if err != nil {
			return err
		}
		p.forget(s.name(), feeds)
		for _, f := range feeds {
			if _, known := p.Marks[f.name]; known {
				continue
			}
			end, err := f.read(ctx, latest, e)
			if err != nil {
				return err
			}
			p.Marks[f.name] = mark{After: end.next, At: now()}
		}
		p.Sources[s.name()] = s.scope(e)
	}
	return nil
}
