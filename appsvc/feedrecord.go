package appsvc

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// storedChange is what the feed stores of a change. feedEntry encodes a Change as an entry, and decodeChange decodes
// it. It has only ids, names and versions, and no content: whoever may read the app reads the content from there. The
// groups are for the Service only: those that the app has left decide who gets an event of type AppLeft, and all of
// them decide whom to wake.
type storedChange struct {
	Event           // without its cursor
	groups []string // of the app, after the change
	left   []string // groups that the change took away from the app
	owner  string   // of an app that was deleted or erased
	noted  bool     // the version has a note
}

// storedTypes are the types of changes, by their number in a stored entry. A number is never reused for another type.
var storedTypes = []ChangeType{AppCreated, AppUpdated, AppRestored, TagSet, TagDeleted, ComponentCreated,
	ComponentDeleted, AppDeleted, AppUndeleted, AppErased, ReleaseChanged, AppCommented}

// allTypes are the types that a request can ask for.
var allTypes = append(slices.Clone(storedTypes), AppLeft)

// typesOf returns the types that a request asks for, each once; nil means all.
func typesOf(asked []ChangeType) []ChangeType {
	return slices.DeleteFunc(slices.Clone(allTypes), func(t ChangeType) bool {
		return asked != nil && !slices.Contains(asked, t)
	})
}

// The Data of a stored entry is as follows. Numbers are unsigned varints of encoding/binary.
//
//	1 byte            index of the type in storedTypes
//	of apps:          the new version, and 1 if it has a note
//	of deleted ones:  the URN of the owner
//	of tags:          the versions from and to, each plus one with 0 for none, and the name of the tag; for a roll back or a
//	                  release, then a line with r or - and the id of the release
//	of components:    the length of the name, the name and the version; no version for ComponentDeleted
//	of releases:      the length of the state, the state and the id; for people who are asked, then their URNs, each
//	                  after a line feed
//	of comments:      the length of the id, the id, and the URNs of mentions, with line feeds between them
//
// Its Names, which are stored once each, are the caller (urn.Author) and, of apps, tags and comments, the id of the
// app, its groups, and the groups that it left, if there are any.

// groupsSeparator stands between the groups in one of the entry's names. No URN contains it.
const groupsSeparator = "\n"

// feedEntry returns the entry of a change that this caller made.
func feedEntry(by vitrine.Caller, c Change) feed.Entry {
	e := feed.Entry{At: c.At, Names: []string{urn.Author(by.URN, by.Agent)},
		Data: []byte{byte(slices.Index(storedTypes, c.Type))}}
	switch c.Type {
	case ComponentCreated, ComponentDeleted:
		e.Data = append(keyval.AppendText(e.Data, c.Component.Name), c.Component.Version...)
		return e
	case TagSet, TagDeleted:
		e.Data = binary.AppendUvarint(e.Data, uint64(c.From.Number()+1))
		e.Data = binary.AppendUvarint(e.Data, uint64(c.To.Number()+1))
		if e.Data = append(e.Data, c.Tag...); c.Rollback || c.Release != "" {
			flag := "\n-"
			if c.Rollback {
				flag = "\nr"
			}
			e.Data = append(append(e.Data, flag...), c.Release...)
		}
	case AppDeleted, AppErased:
		e.Data = append(e.Data, c.Before.Owner...)
		e.Names = append(e.Names, c.AppID, strings.Join(c.Before.Groups, groupsSeparator))
		return e
	default:
		if e.Data = binary.AppendUvarint(e.Data, uint64(c.After.Version.Number())); c.Note != "" {
			e.Data = append(e.Data, 1)
		}
	}
	e.Names = append(e.Names, c.AppID, strings.Join(c.After.Groups, groupsSeparator))
	if left := keyval.Without(c.Before.Groups, c.After.Groups); len(left) > 0 {
		e.Names = append(e.Names, strings.Join(left, groupsSeparator))
	}
	return e
}

// releaseEntry returns the entry of a release that this caller has changed. was is its earlier form.
func releaseEntry(by vitrine.Caller, was, rel release) feed.Entry {
	data := keyval.AppendText([]byte{byte(slices.Index(storedTypes, ReleaseChanged))}, string(rel.State))
	data = append(data, rel.ID...)
	for _, asked := range keyval.Without(rel.Ask, was.Ask) {
		data = append(append(data, '\n'), asked...)
	}
	return feed.Entry{At: rel.UpdatedAt, Names: []string{urn.Author(by.URN, by.Agent)}, Data: data}
}

// commentEntry returns the entry of a comment of an app that this caller has changed.
func commentEntry(by vitrine.Caller, at int64, h appHead, id string, mentions []string) feed.Entry {
	data := keyval.AppendText([]byte{byte(slices.Index(storedTypes, AppCommented))}, id)
	return feed.Entry{At: at,
		Names: []string{urn.Author(by.URN, by.Agent), h.ID, strings.Join(h.Groups, groupsSeparator)},
		Data:  append(data, strings.Join(mentions, "\n")...)}
}

// errStoredEntry is the error of an entry in the store that this release has not written. It is an internal error: the
// store is damaged, or a later release has written the entry.
var errStoredEntry = errors.New("stored entry of the feed: not one that a service wrote")

// decodeChange decodes an entry of feedEntry. It returns errStoredEntry for anything else, including surplus data after
// the last field.
func decodeChange(e feed.Entry) (r storedChange, err error) {
	if len(e.Data) == 0 || len(e.Names) == 0 || len(e.Names) > 4 || int(e.Data[0]) >= len(storedTypes) {
		return r, errStoredEntry
	}
	r.At, r.Type = e.At, storedTypes[e.Data[0]]
	r.By, r.Agent = urn.Split(e.Names[0])
	if len(e.Names) > 2 {
		r.AppID, r.groups = e.Names[1], strings.Split(e.Names[2], groupsSeparator)
	}
	if len(e.Names) > 3 {
		r.left = strings.Split(e.Names[3], groupsSeparator)
	}
	isApp, rest := len(e.Names) > 2, keyval.Fields{Rest: e.Data[1:]}
	version := func() vitrine.Version { return records.VersionOrNone(int64(rest.Uint()) - 1) }
	switch r.Type {
	case AppCreated, AppUpdated, AppRestored, AppUndeleted:
		r.Version = vitrine.NewVersion(int64(rest.Uint()))
		r.noted = string(rest.Rest) == "\x01"
		isApp = isApp && (r.noted || len(rest.Rest) == 0)
	case AppDeleted, AppErased:
		r.owner = string(rest.Rest)
	case TagSet, TagDeleted:
		r.From, r.To = version(), version()
		var more string
		if r.Tag, more, _ = strings.Cut(string(rest.Rest), "\n"); more != "" {
			r.Rollback, r.Release = more[0] == 'r', more[1:]
		}
	case ComponentCreated, ComponentDeleted:
		r.Component.Name = string(rest.Text())
		r.Component.Version = string(rest.Rest)
		isApp = len(e.Names) == 1
	case ReleaseChanged:
		r.State = ReleaseState(rest.Text())
		var asked string
		if r.Release, asked, _ = strings.Cut(string(rest.Rest), "\n"); asked != "" {
			r.Ask = strings.Split(asked, "\n")
		}
		isApp = len(e.Names) == 1
	case AppCommented:
		r.Comment, r.Mentions = string(rest.Text()), []string{}
		if len(rest.Rest) > 0 {
			r.Mentions = strings.Split(string(rest.Rest), "\n")
		}
	}
	if rest.Err() != nil || !isApp {
		return storedChange{}, errStoredEntry
	}
	return r, nil
}
