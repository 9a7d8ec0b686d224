package signin

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// wirePerson is a person as administrators and moderators see them. Lists are never null.
type wirePerson struct {
	ID         string   `json:"id"`
	URN        string   `json:"urn"`
	Name       string   `json:"name"`
	Email      string   `json:"email"`
	Admin      bool     `json:"admin"`
	Moderates  []string `json:"moderates"`
	Reads      []string `json:"reads"`
	Roles      []string `json:"roles"`
	Groups     []string `json:"groups"`
	Components bool     `json:"components"`
	Disabled   bool     `json:"disabled"`
	CreatedAt  int64    `json:"createdAt"`
	LastSeenAt *int64   `json:"lastSeenAt"`

	Passkeys   int             `json:"passkeys"`
	Invitation *wireInvitation `json:"invitation"`
	Provider   *wireProvider   `json:"provider"`
}

type wireInvitation struct {
	By      string `json:"by"`
	Expires int64  `json:"expires"`
}

type wireProvider struct {
	Issuer string   `json:"issuer"`
	Values []string `json:"values"`
}

// wire returns a person as they are answered.
func (s *Service) wire(ctx context.Context, r storage.Reader, p *person) (wirePerson, error) {
	w := wirePerson{ID: p.ID, URN: p.URN, Name: p.Name, Email: p.Email, Admin: p.Admin, Moderates: p.Moderates, Reads: p.Reads, Roles: p.Roles,
		Groups: p.Groups, Components: p.Components, Disabled: p.Disabled, CreatedAt: p.CreatedAt, Passkeys: len(p.Passkeys)}
	if p.Invitation != nil && p.Invitation.Expires > s.millis() {
		w.Invitation = &wireInvitation{p.Invitation.By, p.Invitation.Expires}
	}
	if p.Provider != nil {
		w.Provider = &wireProvider{p.Provider.Issuer, p.Provider.Values}
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

// listPeople serves GET /x/people/.
func (s *Service) listPeople(r *httpapi.Request) (any, error) {
	if r.URL.Query().Has("urn") {
		return s.names(r)
	}
	limit, after, words := r.Limit(), r.Text("after"), strings.Fields(strings.ToLower(r.Text("q")))
	a, err := s.asker(r)
	if err == nil {
		err = a.managesSome()
	}
	if err != nil || r.Wrong() {
		return nil, err
	}
	if limit, err = pageOf(limit); err != nil {
		return nil, err
	}
	people, next := []wirePerson{}, ""
	err = s.db.View(r.Context(), func(v storage.Reader) error {
		people, next = people[:0], ""
		for p, err := range a.people(r.Context(), v, after) {
			if err != nil {
				return err
			}
			if !matches(p, words) {
				continue
			}
			if len(people) == limit {
				next = people[limit-1].ID
				return nil
			}
			w, err := s.wire(r.Context(), v, p)
			if err != nil {
				return err
			}
			people = append(people, w)
		}
		return nil
	})
	if next != "" {
		r.Next(next)
	}
	return map[string]any{"people": people}, err
}

// pageOf returns how many items a page has.
func pageOf(limit int) (int, error) {
	if limit == 0 {
		limit = usualPage
	}
	if limit < 1 || limit > mostPage {
		return 0, &vitrine.Error{Kind: vitrine.ErrInvalid, Code: vitrine.CodeInvalid, Parameter: "limit", Reason: "want 1 to 500"}
	}
	return limit, nil
}

// people yields the people whom the asker manages, after an id, in the order in which they were made.
func (a asker) people(ctx context.Context, r storage.Reader, after string) func(func(*person, error) bool) {
	var ranges []storage.Range
	prefixes := []string{record.Prefix(space, "person/")}
	if !a.rights.Admin {
		prefixes = nil
		for _, m := range a.Moderates {
			if m == networkOf(m) {
				prefixes = append(prefixes, record.Prefix(space, "network/", m))
			}
		}
	}
	for _, prefix := range prefixes {
		in := storage.Prefix(prefix)
		in.Skip = len(prefix)
		if after != "" {
			in.From = prefix + record.Part(after) + "\x00"
		}
		ranges = append(ranges, in)
	}
	return func(yield func(*person, error) bool) {
		last := ""
		for e, err := range r.Scan(ctx, ranges...) {
			var p *person
			id := e.Key[strings.LastIndexAny(e.Key, " /")+1:]
			switch {
			case err != nil:
			case id == last:
				continue // a network that stands twice in Moderates
			case a.rights.Admin:
				p, err = decoded[person](e)
			default:
				p, err = personOf(ctx, r, id)
			}
			last = id
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// matches reports whether each of the words is in the name or the address of a person, in small letters.
func matches(p *person, words []string) bool {
	text := strings.ToLower(p.Name + " " + p.Email)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// names serves GET /x/people/?urn=…: who a URN is, for callers of the same network.
func (s *Service) names(r *httpapi.Request) (any, error) {
	urns := r.All("urn")
	if len(urns) > mostURNs || r.URL.Query().Has("q") || r.URL.Query().Has("after") {
		return nil, &vitrine.Error{Kind: vitrine.ErrInvalid, Code: vitrine.CodeInvalid, Parameter: "urn", Reason: "want 1 to 100 of them, and no other parameter"}
	}
	a := asker{r.By.Caller, rightsOf(r.By.Caller), nil}
	if i, err := s.session(r.Request); err != nil {
		return nil, err
	} else if i != nil {
		a.rights.Admin = i.rights.Admin
	}
	type named struct {
		URN  string `json:"urn"`
		Name string `json:"name"`
	}
	people := []named{}
	var keys []string
	for i, u := range urns {
		if own := networkOf(u); !slices.Contains(urns[:i], u) && (a.manages(own) || networkOf(a.URN) == own) && urn.CheckUser(u) == nil {
			keys = append(keys, urnKey(u))
		}
	}
	err := s.db.View(r.Context(), func(v storage.Reader) error {
		people = people[:0]
		ids, err := v.Get(r.Context(), keys...)
		if err != nil {
			return err
		}
		for _, id := range ids {
			p, err := read[person](r.Context(), v, personKey(string(id)))
			if err != nil {
				return err
			}
			if p != nil {
				people = append(people, named{p.URN, p.Name})
			}
		}
		return nil
	})
	return map[string]any{"people": people}, err
}

// changes are what POST and PATCH of a person may have.
type changes struct {
	Name       *string   `json:"name"`
	Email      *string   `json:"email"`
	Network    *string   `json:"network"`
	URN        *string   `json:"urn"`
	Admin      *bool     `json:"admin"`
	Moderates  *[]string `json:"moderates"`
	Reads      *[]string `json:"reads"`
	Roles      *[]string `json:"roles"`
	Groups     *[]string `json:"groups"`
	Components *bool     `json:"components"`
	Disabled   *bool     `json:"disabled"`
}

// set puts a value in the place of another, if there is one.
func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// apply changes a person, and returns an error for what is malformed.
func (c changes) apply(p *person) error {
	set(&p.Name, c.Name)
	set(&p.Email, c.Email)
	set(&p.Admin, c.Admin)
	set(&p.Moderates, c.Moderates)
	set(&p.Reads, c.Reads)
	set(&p.Roles, c.Roles)
	set(&p.Groups, c.Groups)
	set(&p.Components, c.Components)
	set(&p.Disabled, c.Disabled)
	if err := checkText(p.Name, mostName); err != nil {
		return invalid("/name", "%w", err)
	}
	if p.Email != "" {
		if err := checkText(p.Email, mostEmail); err != nil || !strings.Contains(p.Email, "@") {
			return invalid("/email", "want an address of at most %d bytes, or an empty text", mostEmail)
		}
	}
	return p.Rights.check()
}

// createPerson serves POST /x/people/.
func (s *Service) createPerson(r *httpapi.Request) (any, error) {
	a, err := s.asker(r)
	if err == nil {
		err = a.managesSome()
	}
	var in changes
	if err == nil {
		err = r.Decode(&in)
	}
	if err != nil {
		return nil, err
	}
	p := &person{ID: newID()}
	network := networkOf(a.URN)
	set(&network, in.Network)
	switch {
	case urn.CheckGroup(network) != nil || network != networkOf(network):
		return nil, invalid("/network", "%q is no URN of a network: want urn:<vendor>:<network>", network)
	case in.URN != nil && in.Network != nil:
		return nil, invalid("/urn", "it names its network: want it without the member network")
	case in.URN != nil && !a.rights.Admin:
		return nil, forbidden("only an administrator may give a person a URN that is there already")
	case in.URN != nil:
		if p.URN = *in.URN; urn.CheckUser(p.URN) != nil {
			return nil, invalid("/urn", "%w", urn.CheckUser(p.URN))
		}
	default:
		p.URN = network + ":user=" + uuid.NewString()
	}
	if err := in.apply(p); err != nil {
		return nil, err
	}
	if err := s.create(r.Context(), p, &a); err != nil {
		return nil, err
	}
	r.Located("/x/people/" + p.ID)
	return s.view(r, p.ID)
}

// create stores a new person, if the asker may make such a one.
func (s *Service) create(ctx context.Context, p *person, a *asker) error {
	p.CreatedAt = s.millis()
	p.giver(a.URN)
	err := s.update(ctx, func(t storage.Tx) error {
		if err := a.again(ctx, t); err != nil {
			return err
		}
		if !a.manages(networkOf(p.URN)) {
			return forbidden("you do not moderate %s", networkOf(p.URN))
		}
		if lacks := a.rights.lacks(p.Rights); lacks != "" {
			return forbidden("nobody gives what they do not have: you lack %s", lacks)
		}
		if used, err := text(ctx, t, urnKey(p.URN)); err != nil {
			return err
		} else if used != "" {
			return wrongState("the URN %s belongs to another person, or did so once", p.URN)
		}
		return putPerson(ctx, t, p)
	})
	if err == nil {
		s.access(ctx, "person made", "urn", p.URN, "by", a.URN)
	}
	return err
}

// view answers with a person.
func (s *Service) view(r *httpapi.Request, id string) (w wirePerson, err error) {
	err = s.db.View(r.Context(), func(v storage.Reader) error {
		p, err := personOf(r.Context(), v, id)
		if err == nil {
			w, err = s.wire(r.Context(), v, p)
		}
		return err
	})
	return w, err
}

// getPerson serves GET /x/people/{id}, also for the person.
func (s *Service) getPerson(r *httpapi.Request) (any, error) {
	a, err := s.asker(r)
	if err != nil {
		return nil, err
	}
	w, err := s.view(r, r.Param(0))
	if err == nil && !a.manages(networkOf(w.URN)) && (a.session == nil || a.session.person.ID != w.ID) {
		err = notFound("person")
	}
	return w, err
}

// changePerson serves PATCH /x/people/{id}. Everybody may change their own name and address.
func (s *Service) changePerson(r *httpapi.Request) (any, error) {
	var in changes
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	if in.URN != nil || in.Network != nil {
		return nil, invalid("/urn", "the URN of a person, and with it the network, never changes")
	}
	plain := changes{Name: in.Name, Email: in.Email}
	err := s.change(r, "person changed", func(ctx context.Context, t storage.Tx, a asker, p *person, managed error) error {
		before, was := p.Rights, *p
		if err := in.apply(p); err != nil {
			return err
		}
		own := a.session != nil && a.session.person.ID == p.ID
		if managed != nil && !(own && in == plain) {
			return managed
		}
		if lacks := a.rights.lacks(p.Rights); lacks != "" && managed == nil {
			return forbidden("nobody gives what they do not have: you lack %s", lacks)
		}
		rights := in.Admin != nil || in.Components != nil || in.Moderates != nil || in.Reads != nil || in.Roles != nil || in.Groups != nil
		if rights {
			if p.Provider != nil {
				return wrongState("the rights of this person are those that %s gives, and are judged at each sign-in", p.Provider.Issuer)
			}
			if lacks := before.lacks(p.Rights); lacks != "" {
				p.giver(a.URN)
			}
		}
		if was.Admin && !was.Disabled && (!p.Admin || p.Disabled) {
			if err := notLast(ctx, t, p); err != nil {
				return err
			}
		}
		if p.Disabled && !was.Disabled {
			if err := dropInvitation(ctx, t, p); err != nil {
				return err
			}
			if err := endSessions(ctx, t, p.ID, all); err != nil {
				return err
			}
		}
		return putPerson(ctx, t, p)
	})
	if err != nil {
		return nil, err
	}
	return s.view(r, r.Param(0))
}

// change changes the person of a path. fn is given why the asker may not manage the person, nil if they may; nothing of p counts unless fn
// stores it.
func (s *Service) change(r *httpapi.Request, what string, fn func(context.Context, storage.Tx, asker, *person, error) error) error {
	a, err := s.asker(r)
	if err != nil {
		return err
	}
	ctx, user := r.Context(), ""
	err = s.update(ctx, func(t storage.Tx) error {
		if err := a.again(ctx, t); err != nil {
			return err
		}
		p, err := personOf(ctx, t, r.Param(0))
		if err != nil {
			return err
		}
		own := a.session != nil && a.session.person.ID == p.ID
		if !own && !a.manages(networkOf(p.URN)) {
			return notFound("person")
		}
		var managed error
		if !a.manages(networkOf(p.URN)) {
			managed = forbidden("you may change your name and address alone")
		} else if lacks := a.rights.lacks(p.Rights); lacks != "" {
			managed = forbidden("this person has a right that you lack: %s", lacks)
		}
		user = p.URN
		return fn(ctx, t, a, p, managed)
	})
	if err == nil {
		s.access(ctx, what, "urn", user, "by", a.URN)
	}
	return err
}

// again reads the rights of a person who has signed in once more, in the transaction in which they count.
func (a *asker) again(ctx context.Context, t storage.Tx) error {
	if a.session == nil {
		return nil
	}
	p, err := read[person](ctx, t, personKey(a.session.person.ID))
	if err != nil {
		return err
	}
	if p == nil || p.Disabled {
		return forbidden("you may not do this any more")
	}
	a.Caller = p.Rights.caller(p.URN)
	a.rights = callerRights(p.Rights, a.Caller)
	return nil
}

// notLast returns an error if there is no other administrator than p who can sign in.
func notLast(ctx context.Context, t storage.Tx, p *person) error {
	for id, err := range lastParts(ctx, t, record.Prefix(space, "admin/")) {
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
		if len(other.Passkeys) > 0 || other.Provider != nil || len(p.Passkeys) == 0 && p.Provider == nil {
			return nil
		}
	}
	return wrongState("this is the last administrator who can sign in: make another one first")
}

// deletePerson serves DELETE /x/people/{id}. The URN stays taken.
func (s *Service) deletePerson(r *httpapi.Request) (any, error) {
	return nil, s.change(r, "person deleted", func(ctx context.Context, t storage.Tx, a asker, p *person, managed error) error {
		if managed != nil {
			return managed
		}
		if p.Admin && !p.Disabled {
			if err := notLast(ctx, t, p); err != nil {
				return err
			}
		}
		if err := dropInvitation(ctx, t, p); err != nil {
			return err
		}
		if err := endSessions(ctx, t, p.ID, all); err != nil {
			return err
		}
		for id, err := range lastParts(ctx, t, record.Prefix(space, "keys/", p.ID)) {
			if err != nil {
				return err
			}
			k, err := read[key](ctx, t, keyKey(id))
			if err == nil && k != nil {
				err = dropKey(ctx, t, k)
			}
			if err != nil {
				return err
			}
		}
		if p.Provider != nil {
			if err := t.Delete(ctx, subjectKey(p.Provider.Issuer, p.Provider.Subject)); err != nil {
				return err
			}
		}
		return t.Delete(ctx, personKey(p.ID), networkKey(networkOf(p.URN), p.ID), adminKey(p.ID))
	})
}

// Rights returns what a person may do now, and who has invited them or given them rights. It returns ErrForbidden for one who is disabled
// or was deleted, and ErrNotFound for a URN that no person ever had, such as that of a signed token. It suits appsvc.Options.
func (s *Service) Rights(ctx context.Context, user string) (c vitrine.Caller, givers []string, err error) {
	err = s.db.View(ctx, func(r storage.Reader) error {
		id, err := text(ctx, r, urnKey(user))
		if err != nil {
			return err
		}
		if id == "" {
			return notFound("person")
		}
		p, err := read[person](ctx, r, personKey(id))
		if err == nil && (p == nil || p.Disabled) {
			err = forbidden("%s may not do anything any more", user)
		}
		if err == nil {
			c, givers = p.Rights.caller(p.URN), p.Givers
		}
		return err
	})
	return c, givers, err
}

// Any reports whether there are people.
func (s *Service) Any(ctx context.Context) (some bool, err error) {
	err = s.db.View(ctx, func(r storage.Reader) error {
		in := storage.Prefix(record.Prefix(space, "person/"))
		in.Limit = 1
		for _, err := range r.Scan(ctx, in) {
			some = err == nil
			return err
		}
		return nil
	})
	return some, err
}
