package appsvc

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// record is what the feed keeps of a change. recordOf makes it from a Change, and readRecord from a stored entry. The groups are
// for the Service alone: by those that the app left it finds who gets an event of type AppLeft, and both tell whom to wake.
type record struct {
	Event           // without its cursor
	groups []string // of the app, after the change
	left   []string // groups that the change took away from the app
}

// recordOf returns the record of a change that this caller made at this time, in milliseconds since the epoch. It keeps ids,
// names and versions alone, and no content: whoever may read the app then reads the content from the app.
func recordOf(by vitrine.Caller, c Change, at int64) record {
	r := record{Event: Event{Type: c.Type, At: at, By: by.URN, AppID: c.AppID, Tag: c.Tag}, groups: c.After.Groups}
	switch c.Type {
	case AppCreated, AppUpdated, AppRestored:
		r.Version, r.left = c.To, without(c.Before.Groups, c.After.Groups)
	case TagSet, TagDeleted:
		r.From, r.To = c.From, c.To
	case ComponentCreated, ComponentDeleted:
		r.Component = ComponentRef{c.Component.Name, c.Component.Version}
	}
	return r
}

// storedTypes are the types of changes, by the number that stands for them in a stored entry. A number is never used
// for another type.
var storedTypes = []ChangeType{AppCreated, AppUpdated, AppRestored, TagSet, TagDeleted, ComponentCreated, ComponentDeleted}

// allTypes are the types that a request can ask for.
var allTypes = append(slices.Clone(storedTypes), AppLeft)

// typeSet is a set of types of changes: bit i stands for allTypes[i]. A request may name a type thousands of times, and every
// entry of the feed is compared with what it asks for.
type typeSet uint16

// setOf returns the set of the known types of a list; nil stands for all.
func setOf(types []ChangeType) (set typeSet) {
	if types == nil {
		return ^set
	}
	for _, t := range types {
		if i := slices.Index(allTypes, t); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// has reports whether a type that is known is in the set.
func (s typeSet) has(t ChangeType) bool { return s&setOf([]ChangeType{t}) != 0 }

// The Data of a stored entry is as follows. Numbers are unsigned varints of encoding/binary.
//
//	1 byte            index of the type in storedTypes
//	of apps:          the new version
//	of tags:          the versions from and to, each plus one with 0 for none, and the name of the tag
//	of components:    the length of the name, the name and the version; no version for ComponentDeleted
//
// Its Names, which are stored once each, are the URN of the caller and, of apps and tags, the id of the app, its groups, and the
// groups that it left, if there are any.

// groupsSeparator stands between the groups in one of the entry's names. No URN contains it.
const groupsSeparator = "\n"

// entry returns the record as it is stored.
func (r record) entry() feed.Entry {
	e := feed.Entry{At: r.At, Names: []string{r.By}, Data: []byte{byte(slices.Index(storedTypes, r.Type))}}
	switch r.Type {
	case AppCreated, AppUpdated, AppRestored:
		e.Data = binary.AppendUvarint(e.Data, uint64(r.Version.Number()))
	case TagSet, TagDeleted:
		e.Data = binary.AppendUvarint(e.Data, uint64(r.From.Number()+1))
		e.Data = binary.AppendUvarint(e.Data, uint64(r.To.Number()+1))
		e.Data = append(e.Data, r.Tag...)
	case ComponentCreated, ComponentDeleted:
		e.Data = append(rec.AppendText(e.Data, r.Component.Name), r.Component.Version...)
		return e
	}
	e.Names = append(e.Names, r.AppID, strings.Join(r.groups, groupsSeparator))
	if len(r.left) > 0 {
		e.Names = append(e.Names, strings.Join(r.left, groupsSeparator))
	}
	return e
}

// errStoredEntry is the error of an entry in the store that no Service has written. It is an internal error: the store is
// damaged, or a later release has written the entry.
var errStoredEntry = errors.New("stored entry of the feed: not one that a service wrote")

// readRecord reads what entry wrote. It returns errStoredEntry for anything else, also if the data goes on after the last field.
func readRecord(e feed.Entry) (r record, err error) {
	if len(e.Data) == 0 || len(e.Names) == 0 || len(e.Names) > 4 || int(e.Data[0]) >= len(storedTypes) {
		return r, errStoredEntry
	}
	r.At, r.By, r.Type = e.At, e.Names[0], storedTypes[e.Data[0]]
	if len(e.Names) > 2 {
		r.AppID, r.groups = e.Names[1], strings.Split(e.Names[2], groupsSeparator)
	}
	if len(e.Names) > 3 {
		r.left = strings.Split(e.Names[3], groupsSeparator)
	}
	isApp, rest := len(e.Names) > 2, rec.FieldsOf(storage.Entry{Value: e.Data[1:]})
	version := func() vitrine.Version { return versionOrNone(int64(rest.Uint()) - 1) }
	switch r.Type {
	case AppCreated, AppUpdated, AppRestored:
		r.Version = vitrine.NewVersion(int64(rest.Uint()))
		isApp = isApp && len(rest.Rest()) == 0
	case TagSet, TagDeleted:
		r.From, r.To = version(), version()
		r.Tag = string(rest.Rest())
	case ComponentCreated, ComponentDeleted:
		r.Component.Name = string(rest.Text())
		r.Component.Version = string(rest.Rest())
		isApp = len(e.Names) == 1
	}
	if rest.Err() != nil || !isApp {
		return record{}, errStoredEntry
	}
	return r, nil
}

// addToFeed writes the entry of a change, in its transaction. The time of the entry is that of the new version if the change made
// one, and otherwise the present.
//
// The first entry that this Service adds, and every 64th after it, also remove up to 256 entries that are older than
// Options.KeepChanges, unless that is negative. So no separate task has to remove them, and no write takes long because of it.
// More are removed than added, so a feed that has grown gets shorter again.
func (s *Service) addToFeed(ctx context.Context, tx *writer, by vitrine.Caller, c Change) error {
	at := s.millis()
	if c.After.Version != c.Before.Version { // the time of the new version
		at = c.After.UpdatedAt
	}
	if err := tx.s.feed.Add(ctx, tx.tx, recordOf(by, c, at).entry()); err != nil {
		return err
	}
	if s.keepChanges < 0 || s.entries.Add(1)%removeEach != 1 {
		return nil
	}
	return tx.s.feed.Remove(ctx, tx.tx, s.millis()-s.keepChanges.Milliseconds(), removeMost)
}
