package appsvc

import (
	"context"
	"iter"
	"regexp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/storage"
)

// A tag is one record of the store: an app, a name and a version. PutTag and DeleteTag take these steps in one
// transaction:
//
//	mayMoveTag                  check the rights of the caller, by the latest version of the app and the rules of the store
//	PointsTo, TagGuard.verify   read where the tag points, and compare it with what the caller expects (PutTag)
//	moveTag                     store or remove the tag and add the move to its history; for a new tag: check whether the app may have one more
//
// PutTag reads the version before the transaction, which then finds it in the cache, since a version never changes.

// Tag is a named pointer to a version of an app, such as "production" for the version that is delivered. It can be
// moved to any version, and it does not move by itself when the app changes. An app has up to Limits.Tags tags, by
// default 1,000.
//
// # Tags
//
// PutTag creates or moves a tag, and DeleteTag removes it. If the tag already points to the requested version, PutTag
// changes nothing. An app may have Limits.Tags tags, by default 1,000. ListTagMoves returns the history of a tag: when
// it moved, by whom, from where and to where. Each move is recorded in the transaction that makes it, and is kept for
// good, even after the tag is deleted. So the different names of tags that an app may ever have had are bounded too
// (Limits.TagNames, 10,000 by default).
//
// PutTagRequest.From is a guard for those who act on what they have seen: with PointsTo(v) the tag moves only if it
// points to v, and with NoTag() it is only created. Otherwise the error has CodeMoved, and Error.PointsTo is where the
// tag points, even if the tag already points to the requested version. The rights of the caller are checked before the
// guard.
//
// With Rollback, PutTag goes back to where the tag pointed before its last move that was not rolled back. So two
// rollbacks undo two moves, and none redoes a move.
//
// SetTagRules says which tags, such as production, decide what is delivered; see "Rights" of Session.
type Tag struct {
	AppID      string          `json:"appId"`
	Name       string          `json:"name"`
	AppVersion vitrine.Version `json:"appVersion"`

	// Protected reports whether only a moderator of every group of the app may create, move or delete the tag, and
	// Approvals how many people must approve a move. The service sets both by the rules of the store (SetTagRules).
	Protected bool `json:"protected,omitzero"`
	Approvals int  `json:"approvals,omitzero"`

	// App is the version that the tag points to, if the request asked for it with Embed. It is not part of
	// the JSON of a tag: over HTTP the apps are a list of their own.
	App *App `json:"-"`
}

// tagName matches the names of tags. They need no escaping as a segment of a URL.
var tagName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// ValidTagName reports whether a tag can have this name: a letter, digit or underscore, then up to 127 of these,
// dots and hyphens.
func ValidTagName(name string) bool { return tagName.MatchString(name) }

// ListTagsRequest asks for the tags of an app, by name.
type ListTagsRequest struct {
	AppID string
	After string // only names after this one
	Limit int    // 1 to 500; 0 = as many as a page holds
	Embed bool   // with the versions they point to
}

// ListTags returns a page of the tags of an app, by name in byte order. Next is the last name of the page. A page also
// ends before the tag that would bring it above Limits.PageBytes, which matters with Embed: the bodies count, and two
// tags that point to the same version both have it. It returns ErrNotFound as App does, and ErrInvalid if Limit is out
// of range.
func (s *Session) ListTags(ctx context.Context, in ListTagsRequest) (vitrine.Page[Tag], error) {
	s = s.calls("ListTags")
	return list(ctx, s, in.Limit, 0, func(r *reader, limit int) (page vitrine.Page[Tag], err error) {
		h, err := readableHead(ctx, r, s.by, in.AppID)
		if err != nil {
			return page, err
		}
		most := 0
		if limit > 0 {
			most = limit + 1 // one more than the page shows whether there are more
		}
		rules, err := r.tagRules(ctx)
		if err != nil {
			return page, err
		}
		tags := keyval.Map(r.tags(ctx, records.TagsAfter(in.AppID, in.After, most)), func(t Tag) (Tag, error) {
			return r.complete(ctx, h, t.under(rules), in.Embed)
		})
		return fill(s.service, limit, tags, Tag.size, func(last Tag) string { return last.Name })
	})
}

// size is the size of a tag in a page, in bytes.
func (t Tag) size() int {
	n := len(t.AppID) + len(t.Name) + 100
	if t.App != nil {
		n += t.App.size()
	}
	return n
}

// AllTags yields the tags of an app, from in.After on, page by page. The first error is the last pair.
func (s *Session) AllTags(ctx context.Context, in ListTagsRequest) iter.Seq2[Tag, error] {
	return paging.All(&in.After, func() (vitrine.Page[Tag], error) { return s.ListTags(ctx, in) })
}

// under returns the tag with the rules for its name.
func (t Tag) under(rules tagRules) Tag {
	rule := rules.of(t.Name)
	t.Protected, t.Approvals = rule.Protected, rule.Approvals
	return t
}

// complete returns a tag of the app with this head and, if embed is true, the version that it points to.
func (r *reader) complete(ctx context.Context, h appHead, t Tag, embed bool) (Tag, error) {
	if !embed {
		return t, nil
	}
	app, err := r.version(ctx, h, t.AppVersion)
	t.App = &app
	return t, err
}

// TagRequest names one tag of an app.
type TagRequest struct {
	AppID string
	Name  string
	Embed bool // with the version it points to
}

// Tag returns one tag of an app. It returns ErrNotFound as App does, or if the app has no tag of this name.
func (s *Session) Tag(ctx context.Context, in TagRequest) (Tag, error) {
	s = s.calls("Tag")
	return view(ctx, s, func(r *reader) (out Tag, err error) {
		if err := r.Ahead(ctx, records.HeadKey(in.AppID), records.TagKey(in.AppID, in.Name),
			records.RulesKey); err != nil {
			return out, err
		}
		h, at, err := s.tagged(ctx, r, in.AppID, in.Name)
		if err != nil {
			return out, err
		}
		rules, err := r.tagRules(ctx)
		if err != nil {
			return out, err
		}
		tag := Tag{AppID: in.AppID, Name: in.Name, AppVersion: at}.under(rules)
		if out, err = r.complete(ctx, h, tag, in.Embed); err != nil || !in.Embed {
			return out, err
		}
		return out, s.mayTake(len(out.App.Body))
	})
}

// noTag returns ErrNotFound for a tag that does not exist in an app that the caller may read.
func noTag(appID, name string) error {
	return fault.NotFound("app %q has no tag %q", appID, name)
}

// PutTagRequest names a tag and the version that it will point to.
type PutTagRequest struct {
	AppID          string
	Name           string          // [A-Za-z0-9_][A-Za-z0-9._-]{0,127}
	Version        vitrine.Version // Latest is allowed
	From           TagGuard        // where the tag must point before: PointsTo(v) or NoTag(); zero = anywhere
	Rollback       bool            // instead of a Version: go back to where the tag pointed before its last move
	Note           string          // why the tag is moved, for its history; up to 1,024 characters, "" = none
	Embed          bool            // return the version too
	IdempotencyKey string          // "" = none
	// Fill sets Version, From, Rollback and Note, if it is not nil, once the caller is known to have the right to move
	// the tag: a server reads the body of a request in it. Its error is returned as it is.
	Fill func(*PutTagRequest) error
}

// keptTag is the stored result of PutTag for a repeat. Even if the tag was moved since, the repeat returns the version
// of the first call. The names of the fields are in the store, so they must not change.
type keptTag struct {
	AppID, Name string
	AppVersion  int64
}

// PutTag creates a tag or moves it, and records the move. If the tag already points to the version, nothing is stored.
// With Latest the tag points to the version that is the latest in the transaction; it does not follow later changes.
//
// With Rollback the tag goes back to where it pointed before its last move that was not rolled back: two rollbacks undo
// two moves, and none redoes a move. If the tag did not exist before that move, it is deleted, and the Tag has no
// AppVersion. A rollback needs no approvals.
//
// It returns:
//   - ErrInvalid if no tag can have the name, for the zero Version or one beside Rollback, if From names no version
//     although it should, for a Note that is too long or no text, or for a malformed idempotency key;
//   - ErrNotFound as App does, if the app has no such version, or for a roll back if it never had the tag;
//   - ErrForbidden if the caller may only read the app, if the tag is protected and the caller does not moderate every
//     group of the app, or if Options.Check rejects the change; with CodeNeedsRelease if the tag needs approvals;
//   - ErrConflict with CodeMoved if the tag does not point where From says; PointsTo of the error is where it
//     points;
//   - ErrConflict with CodeWrongState if no move is left to roll back;
//   - ErrUnprocessable with CodeLimit if the tag is new and the app has Limits.Tags tags already, by default 1,000, or
//     if the name is new and the app has had tags of Limits.TagNames names, by default 10,000;
//   - ErrUnprocessable with CodeKeyReused if the idempotency key was used for another request.
func (s *Session) PutTag(ctx context.Context, in PutTagRequest) (Tag, error) {
	if err := s.check(); err != nil {
		return Tag{}, err
	}
	if !tagName.MatchString(in.Name) {
		return Tag{}, badTagName("", in.Name)
	}
	if in.Fill != nil {
		err := s.service.store.view(ctx, func(r *reader) error {
			_, _, err := mayMoveTag(ctx, r, s.by, in.AppID, in.Name, true) // only Fill says whether it is a rollback
			return err
		})
		if err == nil {
			err = in.Fill(&in)
		}
		if err != nil {
			return Tag{}, err
		}
	}
	if err := in.From.check(); err != nil {
		return Tag{}, err
	}
	if in.Rollback && !in.Version.IsZero() {
		return Tag{}, fault.Invalid("/rollback", "want it in place of a version")
	}
	if err := checkNote("/note", in.Note); err != nil {
		return Tag{}, err
	}
	// The digest of a request without From must stay as it was in releases that had no From; see newIdempotentWrite.
	write, err := newIdempotentWrite(s.by, in.IdempotencyKey, "put tag", struct {
		AppID, Name    string
		Version        int64
		Embed          bool
		IdempotencyKey string
		From           string `json:",omitempty"`
		Rollback       bool   `json:",omitempty"`
		Note           string `json:",omitempty"`
	}{in.AppID, in.Name, in.Version.Number(), in.Embed, in.IdempotencyKey, in.From.key(), in.Rollback, in.Note})
	if err != nil {
		return Tag{}, err
	}
	var head appHead
	var rules tagRules
	write.may = func(ctx context.Context, r *reader) (err error) {
		head, rules, err = mayMoveTag(ctx, r, s.by, in.AppID, in.Name, in.Rollback)
		return err
	}
	// prepare reads the version, which stays in the cache for the transaction. Rights are checked before the content of
	// the request.
	prepare := func() error {
		if err := s.service.store.view(ctx, func(r *reader) error { return write.may(ctx, r) }); err != nil ||
			in.Rollback {
			return err
		}
		app, err := s.versionFor(ctx, true, in.AppID, in.Version, "/appVersion")
		if err == nil && in.Embed {
			err = s.mayTake(len(app.Body)) // for the response, before anything is written
		}
		return err
	}
	var kept keptTag
	var app App // with Embed, the version that the tag points to
	repeated, err := s.service.write(ctx, write, &kept, prepare, func(tx *writer) error {
		if err := write.may(ctx, tx.reader); err != nil {
			return err
		}
		// The guard counts even if the tag points to the version already.
		from, err := tx.PointsTo(ctx, in.AppID, in.Name)
		if err == nil {
			err = in.From.verify(in.Name, from, head.Version)
		}
		if err != nil {
			return err
		}
		last, err := tx.LastMove(ctx, in.AppID, in.Name)
		if err != nil {
			return err
		}
		m := records.Move{From: from.Number(), To: in.Version.Number()}
		if in.Rollback {
			m, err = tx.rollback(ctx, head, in.Name, last, "")
		} else if in.Version == vitrine.Latest {
			m.To = head.Version.Number()
		}
		if err == nil && in.Embed && m.To >= 0 {
			app, err = tx.version(ctx, head, vitrine.NewVersion(m.To))
		}
		m.Note = in.Note
		kept = keptTag{in.AppID, in.Name, m.To}
		if err != nil || m.From == m.To {
			return err
		}
		return s.moveTag(ctx, tx, head, in.Name, m, last)
	})
	if err != nil {
		return Tag{}, err
	}
	out := Tag{AppID: in.AppID, Name: in.Name, AppVersion: records.VersionOrNone(kept.AppVersion)}.under(rules)
	if !in.Embed || out.AppVersion.IsZero() {
		return out, nil
	}
	if repeated { // the version of the first call, even if the tag has moved since
		if app, err = s.In("").Version(ctx, in.AppID, out.AppVersion); err == nil {
			err = s.mayTake(len(app.Body))
		}
	}
	out.App = &app
	return out, err
}

// moveTag moves, creates or deletes a tag of the app with this head, adds the move to its history, and finishes the
// change. last is the previous move.
func (s *Session) moveTag(ctx context.Context, tx *writer, h appHead, name string, m, last records.Move) error {
	c, err := s.placeTag(ctx, tx, h, name, m, last)
	if err != nil {
		return err
	}
	return s.commitChange(ctx, tx, c)
}

// placeTag stores a move of a tag, and returns the change. last is the previous move. The move gets the next number,
// even after the tag was deleted. Its time is now unless it is set, and never before that of last, even if the clock
// was set back.
func (s *Session) placeTag(
	ctx context.Context, tx *writer, h appHead, name string, m, last records.Move,
) (Change, error) {
	c := Change{Type: TagSet, AppID: h.ID, Before: h.App, After: h.App, From: records.VersionOrNone(m.From),
		To: records.VersionOrNone(m.To), Tag: name,
		Rollback: m.Rollback, Release: m.Release, Note: m.Note}
	switch {
	case c.To.IsZero():
		c.Type = TagDeleted
	case s.service.check != nil: // only Options.Check reads the content
		app, err := tx.version(ctx, h, c.To)
		if c.New = app.Body; err != nil {
			return c, err
		}
	}
	if c.From.IsZero() {
		if err := s.service.limits.checkTags(ctx, tx.reader, h.ID, last); err != nil {
			return c, err
		}
	}
	if m.At == 0 {
		m.At = s.service.millis()
	}
	m.Number, m.At, m.By = last.Number+1, max(m.At, last.At), s.by.URN
	c.At = m.At
	var from, to records.Published
	var was, is Body
	var err error
	if m.From >= 0 {
		from, was, err = tx.publishes(ctx, h, name, c.From, 0)
	}
	if err == nil && m.To >= 0 {
		to, is, err = tx.publishes(ctx, h, name, c.To, m.At)
	}
	if err == nil {
		err = tx.speaks(ctx, h.ID, name, was, is)
	}
	if err != nil {
		return c, err
	}
	return c, tx.AddMove(ctx, h.ID, name, m, from, to)
}

// checkTags returns ErrUnprocessable with CodeLimit if the app may not have one more tag. PutTag calls it in its
// transaction, for a tag that the app does not have. last is the last move of the tag; its number is 0 if the app never
// had a tag of this name. There are two limits:
//
//   - Limits.Tags, for the tags that the app has now;
//   - Limits.TagNames, for all names of tags that it has ever had. It only applies to a new name. Moves are kept for
//     good, so it bounds the size of the history of tags. The names are those with moves, and those of present
//     tags: a tag from a release that recorded no moves may have none.
func (l Limits) checkTags(ctx context.Context, r *reader, app string, last records.Move) error {
	names := map[string]bool{}
	for tag, err := range r.tags(ctx, records.TagsAfter(app, "", l.Tags)) {
		if err != nil {
			return err
		}
		names[tag.Name] = true
	}
	if n := len(names); n >= l.Tags {
		return fault.Unprocessable(vitrine.CodeLimit, "",
			"the app has %d tags, which is as many as an app can have: move or delete one", n)
	}
	if last.Number > 0 {
		return nil
	}
	ever := len(names)
	for name, err := range r.MovedTags(ctx, app) {
		if err != nil {
			return err
		}
		if !names[name] {
			ever++
		}
		if ever >= l.TagNames {
			break
		}
	}
	if ever >= l.TagNames {
		return fault.Unprocessable(vitrine.CodeLimit, "",
			"the app has had tags of %d names, which is as many as an app can ever have: use one of these names", ever)
	}
	return nil
}

// badTagName returns the error of an invalid name of a tag.
func badTagName(pointer, name string) error {
	return fault.Invalid(pointer,
		"%q cannot name a tag: want a letter, digit or underscore, then up to 127 of these, dots and hyphens", name)
}

// DeleteTagRequest names a tag to remove.
type DeleteTagRequest struct {
	AppID          string
	Name           string
	IdempotencyKey string // "" = none
}

// DeleteTag removes a tag, and records that. Its history stays. It returns:
//   - ErrInvalid for a malformed idempotency key;
//   - ErrNotFound as App does, or if the app has no tag of this name;
//   - ErrForbidden if the caller may only read the app, if the tag is protected and the caller does not moderate every
//     group of the app, or if Options.Check rejects the change; with CodeNeedsRelease if the tag needs approvals;
//   - ErrUnprocessable if the idempotency key was used for another request.
func (s *Session) DeleteTag(ctx context.Context, in DeleteTagRequest) error {
	if err := s.check(); err != nil {
		return err
	}
	write, err := newIdempotentWrite(s.by, in.IdempotencyKey, "delete tag", []string{in.AppID, in.Name})
	if err != nil {
		return err
	}
	var head appHead
	write.may = func(ctx context.Context, r *reader) (err error) {
		head, _, err = mayMoveTag(ctx, r, s.by, in.AppID, in.Name, false)
		return err
	}
	_, err = s.service.write(ctx, write, &struct{}{}, nil, func(tx *writer) error {
		if err := write.may(ctx, tx.reader); err != nil {
			return err
		}
		// A name that no tag can have needs no check: there is no such tag.
		from, err := tx.PointsTo(ctx, in.AppID, in.Name)
		if err != nil {
			return err
		}
		if from.IsZero() {
			return noTag(in.AppID, in.Name)
		}
		last, err := tx.LastMove(ctx, in.AppID, in.Name)
		if err != nil {
			return err
		}
		return s.moveTag(ctx, tx, head, in.Name, records.Move{From: from.Number(), To: -1}, last)
	})
	return err
}

// tags yields the tags in ranges of records.TagsAfter, those of one app by name in byte order.
func (r *reader) tags(ctx context.Context, in ...storage.Range) iter.Seq2[Tag, error] {
	return keyval.Map(r.Scan(ctx, in...), func(e storage.Entry) (t Tag, err error) {
		t.AppID, t.Name, t.AppVersion, err = records.DecodeTag(e)
		return t, err
	})
}

// tagsOf returns the tags of apps, by name, in one trip.
func (r *reader) tagsOf(ctx context.Context, apps []appHead) (map[string][]Tag, error) {
	out, ranges := map[string][]Tag{}, make([]storage.Range, len(apps))
	for i, h := range apps {
		ranges[i] = records.TagsAfter(h.ID, "", 0)
	}
	for t, err := range r.tags(ctx, ranges...) {
		if err != nil {
			return nil, err
		}
		out[t.AppID] = append(out[t.AppID], t)
	}
	return out, nil
}
