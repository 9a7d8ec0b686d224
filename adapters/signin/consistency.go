package signin

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Maintenance says how the records of people and keys are checked and archived. Its Audit finds damaged records, and
// those that contradict their indices. Archives leave out all records, or with access only those that no copy may have.
func Maintenance(access bool) storage.Maintenance {
	notArchived := []string{space + " ", transient + " "}
	if access {
		notArchived = append(feed.Kinds(space), space+" session/", space+" sessions/", transient+" ",
			space+" mailbox/", space+" maildue/", space+" mailed/") // a copy must not send mails again
	}
	notArchived = append(notArchived, mailLease)
	return storage.Maintenance{Audit: audit, NotArchived: notArchived}
}

func audit(ctx context.Context, db storage.Store) iter.Seq2[storage.Fault, error] {
	return keyval.Audit(ctx, db, space, func(r storage.Reader, space string) ([]storage.Fault, error) {
		faults, err := keyval.Unknown(ctx, r, space, "person/", "gone/", "network/", "urn/", "subject/",
			"admin/", "invitation/", "session/", "sessions/",
			"key/", "secret/", "keys/", "reading/", "made/", "folder/", "indexed/", "mailbox/", "maildue/", "mailed/")
		if err != nil {
			return nil, err
		}
		for e, err := range r.Scan(ctx, storage.Prefix(space+" ")) {
			if err != nil {
				return faults, err
			}
			wrong, err := faultOf(ctx, r, e)
			if err != nil {
				return faults, err
			}
			if wrong != "" {
				faults = append(faults, storage.Fault{Key: e.Key, Wrong: wrong})
			}
		}
		return faults, nil
	})
}

// faultOf returns what is wrong with a record.
func faultOf(ctx context.Context, r storage.Reader, e storage.Entry) (wrong string, err error) {
	kind, _, named := strings.Cut(e.Key[len(space)+1:], "/")
	if !named {
		return "", nil // the state of the feed
	}
	parts := keyval.Parts(e.Key, keyval.Prefix(space, kind+"/"))
	last := parts[len(parts)-1]
	var want []string // records that must be there too
	switch kind {
	case "person":
		p, err := decoded[person](e)
		if err != nil || p.ID != last || p.Rights.check() != nil {
			return "it cannot be read, has another id, or rights that nobody can have", nil
		}
		want = []string{networkKey(networkOf(p.URN), p.ID), urnKey(p.URN)}
		if p.Admin && !p.Disabled {
			want = append(want, adminKey(p.ID))
		}
		if p.Provider != nil {
			want = append(want, subjectKey(p.Provider.Issuer, p.Provider.Subject))
		}
	case "key":
		k, err := decoded[key](e)
		if err != nil || k.ID != last || k.Rights.check() != nil || (k.Kind == kindPublic) != (k.Person == "") ||
			k.Kind == kindPublic && len(k.Reads) == 0 {
			return "it cannot be read, has another id, or rights that no key can have", nil
		}
		if want = []string{secretKey(k.Hash)}; k.Person != "" {
			want = append(want, keysKey(k.Person, k.ID), personKey(k.Person))
		}
		if there, err := indexed(ctx, r); err != nil {
			return "", err
		} else if there {
			want = append(want, keyval.Keys(k.index())...)
		}
	case "session":
		one, err := decoded[session](e)
		if err != nil {
			return err.Error(), nil
		}
		want = []string{sessionsKey(one.Person, last), personKey(one.Person)}
	case "gone":
		if _, err := decoded[gone](e); err != nil {
			return err.Error(), nil
		}
	case "mailbox":
		box, err := decoded[mailbox](e)
		if err != nil {
			return err.Error(), nil
		}
		want = []string{personKey(last), mailDueKey(box.Due, last)}
	case "maildue":
		want = []string{mailboxKey(last)}
	case "network", "admin":
		want = []string{personKey(last)}
	case "reading", "made", "folder":
		want = []string{keyKey(last)}
	}
	values, err := r.Get(ctx, want...)
	if i := slices.IndexFunc(values, func(v []byte) bool { return v == nil }); i >= 0 && err == nil {
		wrong = fmt.Sprintf("the record %q is missing", want[i])
	}
	return wrong, err
}
