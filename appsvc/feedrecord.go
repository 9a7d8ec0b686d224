package appsvc

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/vitrine-go/vitrine"
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
//	1 byte            index of the type in storedTypes, plus hasUUID if the id of the app is a UUID
//	id of the app     16 bytes if it is a UUID, otherwise its length and its text; empty for components
//	of apps:          the new version
//	of tags:          the versions from and to, each plus one with 0 for none, and the name of the tag
//	of components:    the length of the name, the name and the version; no version for ComponentDeleted
//
// Its Names are the URN of the caller, then, if there are any, the groups of the app, and then the groups that it left.
const hasUUID = 0x80

// groupsSeparator stands between the groups in one of the entry's names. No URN contains it.
const groupsSeparator = "\n"

// entry returns the record as it is stored. Strings that many entries have alike, the caller and the groups, go into Names, which
// a driver may store once. Most ids are UUIDs, and take 16 bytes instead of 36. The Position is the driver's to give.
func (r record) entry() FeedEntry {
	kind := byte(slices.Index(storedTypes, r.Type))
	e := FeedEntry{At: r.At, Names: []string{r.By}}
	if id, err := uuid.Parse(r.AppID); err == nil && id.String() == r.AppID {
		e.Data = append([]byte{kind | hasUUID}, id[:]...)
	} else {
		e.Data = appendText([]byte{kind}, r.AppID)
	}
	switch r.Type {
	case AppCreated, AppUpdated, AppRestored:
		e.Data = binary.AppendUvarint(e.Data, uint64(r.Version.Number()))
	case TagSet, TagDeleted:
		e.Data = binary.AppendUvarint(e.Data, uint64(r.From.Number()+1))
		e.Data = binary.AppendUvarint(e.Data, uint64(r.To.Number()+1))
		e.Data = append(e.Data, r.Tag...)
	case ComponentCreated, ComponentDeleted:
		e.Data = append(appendText(e.Data, r.Component.Name), r.Component.Version...)
	}
	if len(r.groups)+len(r.left) > 0 {
		e.Names = append(e.Names, strings.Join(r.groups, groupsSeparator))
	}
	if len(r.left) > 0 {
		e.Names = append(e.Names, strings.Join(r.left, groupsSeparator))
	}
	return e
}

// appendText appends the length of a text as an unsigned varint, and the text.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// errStoredEntry is the error of an entry in the store that no Service has written. It is an internal error: the store is
// damaged, or a later release has written the entry.
var errStoredEntry = errors.New("stored entry of the feed: not one that a service wrote")

// readRecord reads what entry wrote. It returns errStoredEntry for anything else, also if the data goes on after the last field.
func readRecord(e FeedEntry) (r record, err error) {
	if len(e.Data) == 0 || len(e.Names) == 0 || len(e.Names) > 3 || int(e.Data[0]&^hasUUID) >= len(storedTypes) {
		return r, errStoredEntry
	}
	r.At, r.By, r.Type = e.At, e.Names[0], storedTypes[e.Data[0]&^hasUUID]
	if len(e.Names) > 1 {
		r.groups = strings.Split(e.Names[1], groupsSeparator)
	}
	if len(e.Names) > 2 {
		r.left = strings.Split(e.Names[2], groupsSeparator)
	}
	// The fields of Data after the first byte, in the order in which entry writes them.
	rest := fields{data: e.Data[1:]}
	if e.Data[0]&hasUUID != 0 {
		id, _ := uuid.FromBytes(rest.cut(16))
		r.AppID = id.String()
	} else {
		r.AppID = string(rest.cut(rest.number()))
	}
	switch r.Type {
	case AppCreated, AppUpdated, AppRestored:
		r.Version = vitrine.NewVersion(rest.number())
	case TagSet, TagDeleted:
		r.From, r.To = rest.version(), rest.version()
		r.Tag = string(rest.cut(int64(len(rest.data))))
	case ComponentCreated, ComponentDeleted:
		r.Component.Name = string(rest.cut(rest.number()))
		r.Component.Version = string(rest.cut(int64(len(rest.data))))
	}
	if rest.short || len(rest.data) > 0 {
		return record{}, errStoredEntry
	}
	return r, nil
}

// fields reads the fields of an entry, one after the other. If the data ends too early, short is set, and all later fields
// are zero, so that a reader needs to look at short only once.
type fields struct {
	data  []byte // what was not read yet
	short bool
}

// cut reads n bytes. They share the data.
func (f *fields) cut(n int64) []byte {
	if n < 0 || n > int64(len(f.data)) {
		f.short = true
		return nil
	}
	out := f.data[:n]
	f.data = f.data[n:]
	return out
}

// version reads the version of a tag: 0 for none, otherwise its number plus one.
func (f *fields) version() vitrine.Version {
	if n := f.number(); n > 0 {
		return vitrine.NewVersion(n - 1)
	}
	return vitrine.Version{}
}

// number reads an unsigned varint of at most 1<<62: a length, or the number of a version.
func (f *fields) number() int64 {
	n, size := binary.Uvarint(f.data)
	if size <= 0 || n > 1<<62 {
		f.short = true
		return 0
	}
	f.data = f.data[size:]
	return int64(n)
}

// addToFeed writes the entry of a change, in its transaction. The time of the entry is that of the new version if the change made
// one, and otherwise the present.
//
// The first entry that this Service adds, and every 64th after it, also remove up to 256 entries that are older than
// Options.KeepChanges, unless that is negative. So no separate task has to remove them, and no write takes long because of it.
// More are removed than added, so a feed that has grown gets shorter again.
func (s *Service) addToFeed(ctx context.Context, tx Tx, by vitrine.Caller, c Change) error {
	at := s.millis()
	if c.After.Version != c.Before.Version { // the time of the new version
		at = c.After.UpdatedAt
	}
	if err := tx.AddEntry(ctx, recordOf(by, c, at).entry()); err != nil {
		return err
	}
	if s.keepChanges < 0 || s.entries.Add(1)%removeEach != 1 {
		return nil
	}
	return tx.RemoveEntries(ctx, s.millis()-s.keepChanges.Milliseconds(), removeMost)
}
