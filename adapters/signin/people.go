package signin

import (
	"cmp"
	"context"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// wirePerson is a person as administrators and moderators see them. Lists are never null.
type wirePerson struct {
	account
	LastSeenAt *int64      `json:"lastSeenAt"`
	Passkeys   int         `json:"passkeys"`
	MayOwn     bool        `json:"mayOwn"` // only an administrator invites the person
	Invitation *invitation `json:"invitation"`
	Provider   *identified `json:"provider"`
}

// wire returns a person as in responses.
func (s *Service) wire(ctx context.Context, r storage.Reader, p *person) (*wirePerson, error) {
	w := &wirePerson{account: p.account, Passkeys: len(p.Passkeys), MayOwn: p.mayOwn()}
	if p.Invitation != nil && p.Invitation.Expires > s.millis() {
		w.Invitation = &invitation{By: p.Invitation.By, Expires: p.Invitation.Expires}
	}
	if p.Provider != nil {
		w.Provider = &identified{Issuer: p.Provider.Issuer, Values: p.Provider.Values}
	}
	seen, err := lastSeen(ctx, r, "person", p.ID)
	w.LastSeenAt = orNull(seen)
	return w, err
}

// orNull returns nil for 0.
func orNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// people serves GET /x/people/.
func (s *Service) people(r *httpapi.Request) (httpapi.List, error) {
	if r.URL.Query().Has("urn") {
		return s.names(r)
	}
	return reads(s, s.listPeople)(r)
}

// listPeople lists the people whom the asker manages.
func (s *Service) listPeople(c *call, v storage.Reader) (httpapi.List, error) {
	words := strings.Fields(strings.ToLower(c.Text("q")))
	networks, err := c.networks()
	if err != nil {
		return httpapi.List{}, err
	}
	people, id := c.people(c.Context(), v, networks, c.Text("after")), func(p *person) string { return p.ID }
	return httpapi.NewList(c.Request, "people", people, id, func(p *person) (*wirePerson, error) {
		if !matches(p, words) {
			return nil, nil
		}
		return s.wire(c.Context(), v, p)
	})
}

// people yields all people for an administrator, else those of some networks, after an id, in the order in which they
// were made.
func (a asker) people(
	ctx context.Context, r storage.Reader, networks []string, after string,
) iter.Seq2[*person, error] {
	var ranges []storage.Range
	in := func(prefix string) {
		one := storage.Prefix(prefix)
		one.Skip = len(prefix)
		if after != "" {
			one.From = prefix + keyval.Part(after) + "\x00"
		}
		ranges = append(ranges, one)
	}
	if a.rights.Admin {
		in(keyval.Prefix(space, "person/"))
		return keyval.Map(r.Scan(ctx, ranges...), decoded[person])
	}
	for _, network := range networks {
		in(keyval.Prefix(space, "network/", network))
	}
	keys := keyval.Map(r.Scan(ctx, ranges...), func(e storage.Entry) (string, error) {
		return personKey(e.Key[strings.LastIndexByte(e.Key, ' ')+1:]), nil
	})
	return keyval.Map(keyval.Load(ctx, r, keys, atOnce), decoded[person])
}

// atOnce is how many records are read in one round trip.
const atOnce = 50

// matches reports whether each of the words is in the name or the address of a person, in small letters.
func matches(p *person, words []string) bool { return hasWords(p.Name+" "+p.Email, words) }

// hasWords reports whether each of the words is in a text, in small letters.
func hasWords(text string, words []string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// mostNamesakes is how many people of a network Namesakes looks at.
const mostNamesakes = 1000

// Namesakes returns the people of a network in whose names all words of a query are, in the order in which they were
// made. It looks at 1,000 people, and leaves out those who are disabled. It suits appsvc.Options.People.
func (s *Service) Namesakes(ctx context.Context, network, query string) (found []appsvc.Person, err error) {
	words := strings.Fields(strings.ToLower(query))
	err = s.db.View(ctx, func(r storage.Reader) error {
		found = nil
		looked := 0
		for p, err := range (asker{}).people(ctx, r, []string{network}, "") {
			if err != nil {
				return err
			}
			if looked++; looked > mostNamesakes {
				break
			}
			if !p.Disabled && hasWords(p.Name, words) {
				found = append(found, appsvc.Person{URN: p.URN, Name: p.Name})
			}
		}
		return nil
	})
	return found, err
}

// named is the name of the person with a URN.
type named struct {
	URN  string `json:"urn"`
	Name string `json:"name"`
}

// nameOf returns the URN with the name of its person, "" if there is none.
func nameOf(ctx context.Context, r storage.Reader, user string) (named, error) {
	p, _, err := byURN(ctx, r, user)
	if err != nil || p == nil {
		return named{URN: user}, err
	}
	return named{user, p.Name}, nil
}

// names serves GET /x/people/?urn=…: the names of people by their URNs, for callers of the same network.
func (s *Service) names(r *httpapi.Request) (httpapi.List, error) {
	urns := r.All("urn")
	if len(urns) > mostURNs || len(r.URL.Query()) > 1 {
		return httpapi.List{}, fault.Invalid("urn", "want 1 to 100 of them, and no other parameter")
	}
	a, err := s.asker(r)
	if err != nil {
		return httpapi.List{}, err
	}
	ctx := r.Context()
	var keys []string
	for i, u := range urns {
		if own := networkOf(u); !slices.Contains(urns[:i], u) && urn.CheckUser(u) == nil &&
			(a.manages(own) || networkOf(a.URN) == own) {
			keys = append(keys, urnKey(u))
		}
	}
	return view(ctx, s.db, func(v storage.Reader) (httpapi.List, error) {
		ids, err := v.Get(ctx, keys...)
		if err != nil {
			return httpapi.List{}, err
		}
		found := func(yield func(string, error) bool) {
			for _, id := range ids {
				if len(id) > 0 && !yield(personKey(string(id)), nil) { // empty if the person was deleted
					return
				}
			}
		}
		people := keyval.Map(keyval.Load(ctx, v, found, mostURNs), decoded[person])
		id := func(p *person) string { return p.ID }
		return httpapi.NewList(r, "people", people, id, func(p *person) (*named, error) {
			return &named{p.URN, p.Name}, nil
		})
	})
}

// given is the body of POST and PATCH of a person.
type given struct {
	profile
	URN     *string `json:"urn"`
	Network *string `json:"network"`
}

// check returns an error if something is malformed.
func (p profile) check() error {
	if err := checkText(p.Name, mostName); err != nil {
		return fault.Invalid("/name", "%s", err)
	}
	if p.Email != "" {
		if err := checkText(p.Email, mostEmail); err != nil || !strings.Contains(p.Email, "@") {
			return fault.Invalid("/email", "want an address of at most %d bytes, or an empty text", mostEmail)
		}
	}
	return p.Rights.check()
}

// createPerson serves POST /x/people/.
func (s *Service) createPerson(c *call, t *tx) (any, error) {
	if _, err := c.networks(); err != nil {
		return nil, err
	}
	var in given
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	network := networkOf(c.URN)
	if in.Network != nil {
		network = *in.Network
	}
	user := network + ":user=" + uuid.NewString()
	switch {
	case checkNetwork(network) != nil:
		return nil, checkNetwork(network)
	case in.URN != nil && in.Network != nil:
		return nil, fault.Invalid("/urn", "it names its network: want it without the member network")
	case in.URN != nil && !c.rights.Admin:
		return nil, fault.Forbidden("only an administrator may give a person a URN that is there already")
	case in.URN != nil:
		if user = *in.URN; urn.CheckUser(user) != nil {
			return nil, fault.Invalid("/urn", "%s", urn.CheckUser(user))
		}
	}
	if err := in.grown(Rights{}); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if !c.manages(networkOf(user)) {
		return nil, fault.Forbidden("you do not moderate %s", networkOf(user))
	}
	if err := c.mayGive(in.Rights); err != nil {
		return nil, err
	}
	ctx := c.Context()
	if _, taken, err := byURN(ctx, t, user); err != nil {
		return nil, err
	} else if taken {
		return nil, wrongState("the URN %s belongs to another person, or did so once", user)
	}
	p, err := s.newPerson(ctx, t, user)
	if err != nil {
		return nil, err
	}
	p.profile, p.GivenURN = in.profile, in.URN != nil
	p.giver(c.URN)
	if err := putPerson(ctx, t, p); err != nil {
		return nil, err
	}
	s.accessed(ctx, t, "person made", "urn", p.URN, "by", c.URN)
	c.Located("/x/people/" + p.ID)
	return s.wire(ctx, t, p)
}

// checkNetwork returns an error unless network is the URN of one.
func checkNetwork(network string) error {
	if urn.CheckGroup(network) != nil || network != networkOf(network) {
		return fault.Invalid("/network", "%q is not the URN of a network, such as urn:vitrine:example.test", network)
	}
	return nil
}

// mayGive returns an error if the asker lacks one of these rights.
func (a asker) mayGive(rights Rights) error {
	if lacks := a.rights.lacks(rights); lacks != "" {
		return fault.Forbidden("nobody gives what they do not have: you lack %s", lacks)
	}
	return nil
}

// subject returns the person of a path, if the asker may see them. managed is why the asker may not manage them, nil if
// they may.
func (c *call) subject(r storage.Reader) (p *person, managed, err error) {
	p, err = personOf(c.Context(), r, c.Param(0))
	switch {
	case err != nil:
		return nil, nil, err
	case c.manages(networkOf(p.URN)):
		if lacks := c.rights.lacks(p.Rights); lacks != "" {
			managed = fault.Forbidden("this person has a right that you lack: %s", lacks)
		}
		return p, managed, nil
	case c.is(p.ID):
		return p, fault.Forbidden("you may change your name and address alone"), nil
	default:
		return nil, nil, fault.NotFound("there is no such person")
	}
}

// managed returns the person of a path, or an error if the asker may not manage them.
func (c *call) managed(r storage.Reader) (*person, error) {
	p, managed, err := c.subject(r)
	return p, cmp.Or(err, managed)
}

// getPerson serves GET /x/people/{id}, also for the person.
func (s *Service) getPerson(c *call, v storage.Reader) (any, error) {
	p, _, err := c.subject(v)
	if err != nil {
		return nil, err
	}
	return s.wire(c.Context(), v, p)
}

// changePerson serves PATCH /x/people/{id}. Everybody may change their own name and address.
func (s *Service) changePerson(c *call, t *tx) (any, error) {
	was, managed, err := c.subject(t)
	if err != nil {
		return nil, err
	}
	ctx := c.Context()
	p, err := personOf(ctx, t, was.ID) // a copy that shares no list with was
	if err != nil {
		return nil, err
	}
	in := given{profile: p.profile}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if in.URN != nil || in.Network != nil {
		return nil, fault.Invalid("/urn", "the URN of a person, and with it the network, never changes")
	}
	if err := in.grown(was.Rights); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	p.profile = in.profile
	rights := !reflect.DeepEqual(p.Rights, was.Rights)
	if managed == nil {
		managed = c.mayGive(p.Rights)
	} else if c.is(p.ID) && !rights && p.Disabled == was.Disabled {
		managed = nil
	}
	switch {
	case managed != nil:
		return nil, managed
	case s.Mail != nil && p.Email != was.Email && was.mayOwn() && !c.is(p.ID) && !c.rights.Admin:
		// Mails tell what the person owns, and lead back to a lost account.
		return nil, fault.Forbidden("this person has or had a passkey, or has the URN of a token: only they and an " +
			"administrator change the address that their mails are sent to")
	case rights && p.Provider != nil:
		return nil, wrongState("the rights of this person are those that %s gives, and are set at each sign-in",
			p.Provider.Issuer)
	case was.gains(p):
		p.giver(c.URN)
	}
	if !p.Admin || p.Disabled {
		if err := notLast(ctx, t, was); err != nil {
			return nil, err
		}
	}
	if p.Disabled && !was.Disabled {
		if err := lockOut(ctx, t, p); err != nil {
			return nil, err
		}
	}
	if err := putPerson(ctx, t, p); err != nil {
		return nil, err
	}
	s.accessed(ctx, t, "person changed", "urn", p.URN, "by", c.URN)
	return s.wire(ctx, t, p)
}

// gains reports whether a person with the new record now has a right that p lacks.
func (p *person) gains(now *person) bool {
	// What an administrator may give themself counts too.
	had, has := rightsOf(p.Rights.caller(p.URN)), now.Rights
	has.Admin = has.Admin && !p.Admin
	return had.lacks(has) != "" || p.Disabled && !now.Disabled
}

// notLast returns an error if p is an administrator, and there is no other one who can sign in.
func notLast(ctx context.Context, t storage.Reader, p *person) error {
	if !p.Admin || p.Disabled {
		return nil
	}
	for id, err := range lastParts(ctx, t, keyval.Prefix(space, "admin/")) {
		if err != nil {
			return err
		}
		if id == p.ID {
			continue
		}
		other, err := personOf(ctx, t, id)
		if err != nil {
			return err
		}
		if other.canSignIn() || !p.canSignIn() {
			return nil
		}
	}
	return wrongState("this is the last administrator who can sign in: make another one first")
}

func (p *person) canSignIn() bool { return len(p.Passkeys) > 0 || p.Provider != nil }

// lockOut ends the sessions of a person, and the invitation.
func lockOut(ctx context.Context, t *tx, p *person) error {
	if err := dropInvitation(ctx, t, p); err != nil {
		return err
	}
	_, err := endSessions(ctx, t, p, all)
	return err
}

// deletePersonWith serves DELETE /x/people/{id}. With comments=true it also erases the person's comments: first before
// the person is deleted, so that the request can be repeated after an error, and again afterwards, since the person may
// have commented meanwhile.
func (s *Service) deletePersonWith(r *httpapi.Request) (any, error) {
	comments, user := r.Flag("comments"), ""
	switch {
	case r.Wrong():
		return nil, nil
	case comments && s.Erase == nil:
		return nil, fault.Invalid("comments", "there is nothing that could be erased with a person here")
	case !comments:
		return s.writes(s.deletePerson)(r)
	}
	_, err := reads(s, func(c *call, v storage.Reader) (any, error) {
		p, err := c.managed(v)
		if err == nil {
			err = notLast(c.Context(), v, p)
		}
		if err == nil {
			user = p.URN
		}
		return nil, err
	})(r)
	if err == nil {
		err = s.Erase(r.Context(), user)
	}
	if err == nil {
		_, err = s.writes(s.deletePerson)(r)
	}
	if err == nil {
		err = s.Erase(r.Context(), user)
	}
	return nil, err
}

// deletePerson deletes a person. The URN stays taken, and who gave the person rights stays known.
func (s *Service) deletePerson(c *call, t *tx) (any, error) {
	ctx := c.Context()
	p, err := c.managed(t)
	if err == nil {
		err = notLast(ctx, t, p)
	}
	if err == nil {
		err = lockOut(ctx, t, p)
	}
	if err != nil {
		return nil, err
	}
	for id, err := range lastParts(ctx, t, keyval.Prefix(space, "keys/", p.ID)) {
		if err != nil {
			return nil, err
		}
		k, err := read[key](ctx, t, keyKey(id))
		if err == nil && k != nil {
			err = dropKey(ctx, t, k)
		}
		if err != nil {
			return nil, err
		}
	}
	keys := []string{personKey(p.ID), networkKey(networkOf(p.URN), p.ID), adminKey(p.ID)}
	if p.Provider != nil {
		keys = append(keys, subjectKey(p.Provider.Issuer, p.Provider.Subject))
	}
	keys = append(keys, mailedKey(p.URN))
	if err := changeMailbox(ctx, t, p.ID, func(box *mailbox) { box.Due = 0 }); err != nil {
		return nil, err
	}
	t.unseen = append(t.unseen, seenKey("person", p.ID))
	for _, k := range p.Passkeys {
		t.unseen = append(t.unseen, seenKey("passkey", k.ID))
	}
	if len(p.Givers) > 0 {
		if err := t.Put(ctx, keyval.JSON(goneKey(p.ID), gone{p.Givers})); err != nil {
			return nil, err
		}
	}
	s.accessed(ctx, t, "person deleted", "urn", p.URN, "by", c.URN)
	return nil, t.Delete(ctx, keys...)
}

// Rights returns the current rights of a person, and the people who have invited them or given them rights. It returns
// ErrForbidden for a disabled or deleted person, with these people all the same, and ErrNotFound for a URN that no
// person ever had, such as that of a signed token. It suits appsvc.Options.
func (s *Service) Rights(ctx context.Context, user string) (c vitrine.Caller, givers []string, err error) {
	err = s.db.View(ctx, func(r storage.Reader) error {
		c, givers = vitrine.Caller{}, nil
		id, err := text(ctx, r, urnKey(user))
		switch {
		case err != nil:
			return err
		case id == "":
			return fault.NotFound("there is no such person")
		}
		p, err := read[person](ctx, r, personKey(id))
		if err != nil {
			return err
		}
		if p == nil {
			was, err := read[gone](ctx, r, goneKey(id))
			if err == nil && was != nil {
				givers = was.Givers
			}
			return cmp.Or[error](err, fault.Forbidden("%s was deleted", user))
		}
		givers = p.Givers
		if p.Disabled {
			return fault.Forbidden("%s is disabled", user)
		}
		c = p.Rights.caller(p.URN)
		return nil
	})
	return c, givers, err
}

// Any reports whether there are people.
func (s *Service) Any(ctx context.Context) (bool, error) {
	return view(ctx, s.db, func(r storage.Reader) (bool, error) { return anybody(ctx, r) })
}

// Person is what a program may know of a person.
type Person struct {
	URN, Name, Email string
	Rights           Rights
	Disabled         bool
	Passkeys         int       // how many
	Provider         string    // the issuer through which the person signs in, or ""
	Invited          time.Time // until when an invitation is good that was not used, or zero
	Seen             time.Time // to the hour; zero if the person has never signed in
}

// People returns all people of a store, in the order in which they were made.
func People(ctx context.Context, db storage.Store) ([]Person, error) {
	return view(ctx, db, func(r storage.Reader) (list []Person, err error) {
		for p, err := range (asker{rights: Rights{Admin: true}}).people(ctx, r, nil, "") {
			if err != nil {
				return nil, err
			}
			one := Person{URN: p.URN, Name: p.Name, Email: p.Email, Rights: p.Rights, Disabled: p.Disabled,
				Passkeys: len(p.Passkeys)}
			if p.Provider != nil {
				one.Provider = p.Provider.Issuer
			}
			if p.Invitation != nil {
				one.Invited = time.UnixMilli(p.Invitation.Expires).UTC()
			}
			seen, err := lastSeen(ctx, r, "person", p.ID)
			if err != nil {
				return nil, err
			}
			if seen > 0 {
				one.Seen = time.UnixMilli(seen).UTC()
			}
			list = append(list, one)
		}
		return list, nil
	})
}

// Count returns how many people and keys a store has.
func Count(ctx context.Context, db storage.Store) (people, keys int64, err error) {
	err = db.View(ctx, func(r storage.Reader) error {
		people, keys = 0, 0
		for prefix, n := range map[string]*int64{"person/": &people, "key/": &keys} {
			for _, err := range lastParts(ctx, r, keyval.Prefix(space, prefix)) {
				if err != nil {
					return err
				}
				*n++
			}
		}
		return nil
	})
	return people, keys, err
}

func anybody(ctx context.Context, r storage.Reader) (bool, error) {
	for _, err := range lastParts(ctx, r, keyval.Prefix(space, "person/")) {
		return err == nil, err
	}
	return false, nil
}
