package signin

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Audit yields what is wrong with the records of people and keys, or an error as the last pair: records that are damaged, and those that
// contradict the lists by which they are found.
func Audit(ctx context.Context, db storage.Store) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		var faults []storage.Fault
		err := db.View(ctx, func(r storage.Reader) (err error) {
			if faults, err = record.Unknown(ctx, r, space, "person/", "network/", "urn/", "subject/", "admin/", "invitation/", "session/", "sessions/", "key/", "secret/", "keys/"); err != nil {
				return err
			}
			for e, err := range r.Scan(ctx, storage.Prefix(space+" ")) {
				if err != nil {
					return err
				}
				wrong, err := judge(ctx, r, e)
				if err != nil {
					return err
				}
				if wrong != "" {
					faults = append(faults, storage.Fault{Key: e.Key, Wrong: wrong})
				}
			}
			return nil
		})
		for _, fault := range faults {
			if !yield(fault, nil) {
				return
			}
		}
		if err != nil {
			yield(storage.Fault{}, err)
		}
	}
}

// judge returns what is wrong with a record.
func judge(ctx context.Context, r storage.Reader, e storage.Entry) (wrong string, err error) {
	kind := e.Key[len(space)+1:]
	kind = kind[:slices.Index([]byte(kind), '/')+1]
	parts := record.Parts(e.Key, record.Prefix(space, kind))
	last := parts[len(parts)-1]
	var want []storage.Entry // records that must be there too
	switch kind {
	case "person/":
		p, err := decoded[person](e)
		if err != nil {
			return err.Error(), nil
		}
		if p.ID != last || p.Rights.check() != nil {
			return "it has another id, or rights that nobody can have", nil
		}
		want = []storage.Entry{entry(networkKey(networkOf(p.URN), p.ID), ""), entry(urnKey(p.URN), p.ID)}
		if p.Admin && !p.Disabled {
			want = append(want, entry(adminKey(p.ID), ""))
		}
		if p.Invitation != nil {
			want = append(want, entry(invitationKey(p.Invitation.Hash), p.ID))
		}
		if p.Provider != nil {
			want = append(want, entry(subjectKey(p.Provider.Issuer, p.Provider.Subject), p.ID))
		}
	case "key/":
		k, err := decoded[key](e)
		if err != nil {
			return err.Error(), nil
		}
		if k.ID != last || k.Rights.check() != nil || (k.Kind == kindPublic) != (k.Person == "") || k.Kind == kindPublic && len(k.Reads) == 0 {
			return "it has another id, or rights that no key can have", nil
		}
		want = []storage.Entry{entry(secretKey(k.Hash), k.ID)}
		if k.Person != "" {
			want = append(want, entry(keysKey(k.Person, k.ID), ""))
		}
	case "secret/":
		k, err := read[key](ctx, r, keyKey(string(e.Value)))
		if err == nil && (k == nil || k.Hash != last) {
			wrong = "there is no key with this secret"
		}
		return wrong, err
	case "network/", "admin/", "invitation/", "subject/", "session/":
		id := last
		switch kind {
		case "invitation/", "subject/":
			id = string(e.Value)
		case "session/":
			one, err := decoded[session](e)
			if err != nil {
				return err.Error(), nil
			}
			id, want = one.Person, []storage.Entry{entry(sessionsKey(one.Person, last), "")}
		}
		p, err := read[person](ctx, r, personKey(id))
		if err != nil || p == nil || kind == "admin/" && (!p.Admin || p.Disabled) {
			return "there is no such person", err
		}
	}
	for _, w := range want {
		values, err := r.Get(ctx, w.Key)
		if err != nil {
			return "", err
		}
		if values[0] == nil || string(values[0]) != string(w.Value) {
			return fmt.Sprintf("the record %q is missing, or another one", w.Key), nil
		}
	}
	return "", nil
}
