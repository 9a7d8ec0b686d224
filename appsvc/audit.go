package appsvc

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Auditor checks that rows make up a store that a Service could have written. A program that writes
// rows past the Service, such as storage/archive, audits them first, so that no later read meets a
// row that it cannot serve.
//
// Give it every row, in this order:
//
//  1. the components, by name, and those of one name in the order in which they were added;
//  2. the apps by id, and for each of them its versions from 0 upwards, each followed by its Restoration if it has one,
//     then its tags by name, and then the moves of its tags, by name and from the first to the newest;
//  3. the answers, by caller and then by key;
//
// and call End. Each method returns an error that says which rule its row breaks. The error of a rule that spans rows may
// come with a later row: that a tag is where its last move leads shows at the next app. Whether a configSchema is
// still accepted is not checked: a Service judges that whenever it uses one.
//
// An Auditor keeps little in memory: an id for each component and each app, and a digest for each manifest. It is not safe
// for concurrent use.
//
// What it checks is the form in which a Service writes, and not only what a Service can read: texts must have exactly the bytes
// that the Service would write. So a later version of an app that copies the text of an element copies a sound one.
type Auditor struct {
	limits    Limits
	manifests map[[sha256.Size]byte]bool // digests of manifests in elements that are as they should be

	component Component                  // the last one
	refs      map[string]bool            // versions of components with the name of the last one
	ids       map[string]bool            // of components
	head      Meta                       // the latest version of the app that was given last; no ID before the first
	tag       string                     // the last one of that app
	tags      map[string]vitrine.Version // of that app
	move      TagMoveRecord              // the last one of that app; no Name before the first
	heads     map[string]vitrine.Version // the latest version of each app
	answer    struct{ by, key string }   // the last one
}

// NewAuditor returns an Auditor of a store whose Service has these limits. A zero limit is the default.
func NewAuditor(limits Limits) *Auditor {
	return &Auditor{limits: limits.withDefaults(), manifests: map[[sha256.Size]byte]bool{}, ids: map[string]bool{}, heads: map[string]vitrine.Version{}}
}

// Component checks the next component: its manifest, and that neither its id nor its name and version occurred before. Components
// come by name in byte order, so only the versions of one name are kept in memory.
func (a *Auditor) Component(c Component) error {
	if c.Name < a.component.Name {
		return fmt.Errorf("component %q comes after %q, want the order of names", c.Name, a.component.Name)
	}
	if c.Name != a.component.Name || a.refs == nil {
		a.refs = map[string]bool{}
	}
	if err := a.limits.checkStored(c.Manifest, c); err != nil {
		return fmt.Errorf("component %q: %w", c.Name, err)
	}
	switch {
	case a.ids[c.ID]:
		return fmt.Errorf("component %q: another one has the id %q", c.Name, c.ID)
	case a.refs[c.Version]:
		return fmt.Errorf("component %q: version %q occurs twice", c.Name, c.Version)
	}
	a.component, a.ids[c.ID], a.refs[c.Version] = c, true, true
	a.component.Manifest = nil
	return nil
}

// checkStored returns an error unless manifest is the stored manifest of c: all rules of CreateComponent hold but those of
// the configSchema, and the bytes are in the form that manifest.text writes.
func (l Limits) checkStored(manifest []byte, c Component) error {
	m, extra, err := l.readManifest(manifest)
	switch {
	case err != nil:
		return err
	case m.id == nil:
		return errors.New("the manifest has no id")
	case *m.id != c.ID || m.name != c.Name || m.version != c.Version || m.main != c.Main:
		return errors.New("id, name, version or main is not the same in the manifest")
	case !bytes.Equal(m.text(extra), manifest):
		return errors.New("the manifest is not in the form in which it is stored")
	}
	return nil
}

// Version checks the next version of the app, or version 0 of the next app: the Meta against that of the version before, and the
// body by itself. With version 0 it also checks the end of the app before.
func (a *Auditor) Version(app App) error {
	if err := a.checkMeta(app.Meta); err != nil {
		return fmt.Errorf("version %s of app %q: %w", app.Version, app.ID, err)
	}
	if err := a.checkBody(app); err != nil {
		return fmt.Errorf("version %s of app %q: %w", app.Version, app.ID, err)
	}
	if app.Version == vitrine.NewVersion(0) {
		if err := a.endApp(); err != nil {
			return err
		}
	}
	a.head, a.heads[app.ID] = app.Meta, app.Version
	return nil
}

// Restoration checks the restoration of the version that was given last: it must name an older version of the app. It does not
// check that the two versions have the same content.
func (a *Auditor) Restoration(r Restoration) error {
	switch {
	case a.head.ID == "" || r.AppID != a.head.ID || r.Version != a.head.Version:
		return fmt.Errorf("the restoration of version %s of app %q does not follow that version", r.Version, r.AppID)
	case r.From.Number() < 0 || r.From.Compare(r.Version) >= 0:
		return fmt.Errorf("version %s of app %q is restored from version %d, want an older one", r.Version, r.AppID, r.From.Number())
	}
	return nil
}

// checkMeta returns an error unless m can follow the version that was checked last: as the next version of the same app,
// with the same owner and time of creation, or as version 0 of an app with a higher id. Beyond that
//
//   - the id keeps the rule of checkName, and owner and editor that of checkStoredURN;
//   - both times are in the years 1 to 9999;
//   - UpdatedAt is not before that of the version before, and in version 0 not before CreatedAt.
func (a *Auditor) checkMeta(m Meta) error {
	if wrong := a.limits.checkName(m.ID); wrong != "" {
		return fmt.Errorf("id: %s", wrong)
	}
	for _, u := range []struct{ field, urn string }{{"owner", m.Owner}, {"updatedBy", m.UpdatedBy}} {
		if err := checkStoredURN(u.field, u.urn); err != nil {
			return err
		}
	}
	// Before version 0 there is no version, so it is compared with one that it may follow.
	before := a.head
	if m.Version == vitrine.NewVersion(0) {
		if before.ID != "" && m.ID <= before.ID {
			return fmt.Errorf("comes after app %q, want each app once and in the order of ids", before.ID)
		}
		before = Meta{ID: m.ID, Owner: m.Owner, CreatedAt: m.CreatedAt, UpdatedAt: m.CreatedAt}
	}
	switch {
	case m.ID != before.ID:
		return errors.New("version 0 is missing")
	case m.Version != before.Version.Next():
		return fmt.Errorf("comes after version %s", before.Version)
	case m.Owner != before.Owner:
		return fmt.Errorf("the owner is %q, and was %q in the version before", m.Owner, before.Owner)
	case m.CreatedAt != before.CreatedAt:
		return errors.New("createdAt is not that of the version before")
	case m.UpdatedAt < before.UpdatedAt:
		return errors.New("updatedAt is earlier than createdAt or than in the version before")
	case !isTime(m.CreatedAt) || !isTime(m.UpdatedAt):
		return errors.New("createdAt or updatedAt is in no year from 1 to 9999")
	}
	return nil
}

// isTime reports whether a time, in milliseconds since the epoch, can be written as a date: RFC 3339 has the years to 9999.
func isTime(millis int64) bool {
	t := time.UnixMilli(millis).UTC()
	return t.UnixMilli() == millis && 1 <= t.Year() && t.Year() <= 9999
}

// checkStoredURN returns an error unless s can name a user in a store: 1 to urn.MaxLen bytes of text. It need not be a URN, since
// a store may have names of users from an embedder with a form of its own. field is for the error.
func checkStoredURN(field, s string) error {
	if s == "" || len(s) > urn.MaxLen {
		return fmt.Errorf("%s: has %d bytes, want 1 to %d", field, len(s), urn.MaxLen)
	}
	if !isText(s) {
		return fmt.Errorf("%s: want UTF-8 without U+0000", field)
	}
	return nil
}

// storedDepth is how deep a stored body may nest: a manifest lies in an element of a list.
const storedDepth = strictjson.MaxDepth + 3

// checkBody returns an error unless the body of app is one that a Service writes: within the limits, and in exactly the
// form that draft.body writes.
func (a *Auditor) checkBody(app App) error {
	if err := strictjson.Check(app.Body, storedDepth); err != nil {
		return err
	}
	d, err := app.Body.draft()
	if err != nil {
		return err
	}
	if err := a.limits.checkDraft("", d); err != nil {
		return err
	}
	if text, _ := d.body(app.Owner); !bytes.Equal(text, app.Body) {
		return errors.New("the body is not in the form in which it is stored, or its owner is another")
	}
	for i, e := range d.elements {
		if err := a.checkElement(e); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return app.checkSize(a.limits.AppBytes)
}

// checkElement returns an error unless a kept element is one that a Service writes. Whether its config conforms to the
// schema is not checked.
func (a *Auditor) checkElement(e draftElement) error {
	manifest, config, err := e.split()
	if err != nil {
		return err
	}
	if digest := sha256.Sum256(manifest); !a.manifests[digest] { // most manifests were checked with an earlier version
		if err := a.limits.checkCopied(manifest); err != nil {
			return fmt.Errorf("component: %w", err)
		}
		a.manifests[digest] = true
	}
	if err := strictjson.Check(config, configDepth); err != nil {
		return strictjson.Within("config", err)
	}
	if config[0] != '{' || !bytes.Equal(compact(config), config) {
		return errors.New("config: want a compact object")
	}
	return nil
}

// checkCopied returns an error unless manifest, the copy in an element, is the stored manifest of some component. The
// component itself may have been deleted since.
func (l Limits) checkCopied(manifest []byte) error {
	m, _, err := l.readManifest(manifest)
	switch {
	case err != nil:
		return err
	case m.id == nil:
		return errors.New("the manifest has no id")
	}
	return l.checkStored(manifest, Component{ID: *m.id, Name: m.name, Version: m.version, Main: m.main})
}

// Tag checks the next tag of the app whose versions were given last: its name, and that the app has the version. The number of
// tags is not checked.
func (a *Auditor) Tag(t Tag) error {
	switch {
	case a.head.ID == "" || t.AppID != a.head.ID:
		return fmt.Errorf("tag %q of app %q does not follow the versions of that app", t.Name, t.AppID)
	case !tagName.MatchString(t.Name):
		return fmt.Errorf("no tag can be named %q", t.Name)
	case t.Name <= a.tag:
		return fmt.Errorf("tag %q comes after %q, want each tag once and in the order of names", t.Name, a.tag)
	case t.AppVersion.Number() < 0 || t.AppVersion.Compare(a.head.Version) > 0:
		return fmt.Errorf("tag %q points to version %d, the latest is %s", t.Name, t.AppVersion.Number(), a.head.Version)
	}
	a.tag = t.Name
	if a.tags == nil {
		a.tags = map[string]vitrine.Version{}
	}
	a.tags[t.Name] = t.AppVersion
	return nil
}

// TagMove checks the next move of a tag of the app whose versions were given last. The moves go by name and, for one
// name, from the first to the newest. The tag need not exist.
func (a *Auditor) TagMove(m TagMoveRecord) error {
	if a.head.ID == "" || m.AppID != a.head.ID {
		return fmt.Errorf("a move of tag %q of app %q does not follow the versions of that app", m.Name, m.AppID)
	}
	if err := a.checkMove(m); err != nil {
		return fmt.Errorf("move %d of tag %q of app %q: %w", m.Number, m.Name, m.AppID, err)
	}
	if m.Name != a.move.Name {
		if err := a.endMoves(); err != nil {
			return err
		}
	}
	if err := a.checkOrder(m); err != nil {
		return fmt.Errorf("move %d of tag %q of app %q: %w", m.Number, m.Name, m.AppID, err)
	}
	a.move = m
	return nil
}

// checkMove returns an error if m breaks a rule by itself: the name, the user and the time must be valid, the move must change
// where the tag points, and both versions must exist. The zero Version means that there is no tag; Latest is never stored.
func (a *Auditor) checkMove(m TagMoveRecord) error {
	if !tagName.MatchString(m.Name) {
		return errors.New("no tag can have this name")
	}
	if err := checkStoredURN("by", m.By); err != nil {
		return err
	}
	switch {
	case m.Number < 1:
		return errors.New("want a number from 1 on")
	case !isTime(m.At):
		return errors.New("at is in no year from 1 to 9999")
	case m.From == m.To:
		return errors.New("from and to are the same")
	}
	for _, v := range []vitrine.Version{m.From, m.To} {
		if v == vitrine.Latest || v.Compare(a.head.Version) > 0 {
			return fmt.Errorf("names version %s, the latest is %s", v, a.head.Version)
		}
	}
	return nil
}

// checkOrder returns an error if m cannot follow the move that was checked last: as the next move of the same tag, from where the
// move before led and no earlier, or as move 1 of the next tag. Move 1 may come from any version: a tag of the first release,
// which recorded no moves, may have pointed there.
func (a *Auditor) checkOrder(m TagMoveRecord) error {
	older := a.move
	switch {
	case m.Name < older.Name:
		return fmt.Errorf("comes after a move of tag %q, want the order of names", older.Name)
	case m.Name > older.Name:
		older = TagMoveRecord{TagMove: TagMove{At: m.At, To: m.From}} // number 0, before move 1 of the next tag
	}
	switch {
	case m.Number != older.Number+1:
		return fmt.Errorf("want the number %d", older.Number+1)
	case m.From != older.To:
		return fmt.Errorf("comes from version %q, and the move before leads to %q", m.From, older.To)
	case m.At < older.At:
		return errors.New("at is earlier than that of the move before")
	}
	return nil
}

// endMoves returns an error if the tag whose moves were given last does not point where the newest of them leads, or is
// there although the newest deleted it.
func (a *Auditor) endMoves() error {
	if at := a.tags[a.move.Name]; a.move.Number > 0 && a.move.To != at {
		return fmt.Errorf("the last move of tag %q of app %q leads to version %q, and the tag points to %q", a.move.Name, a.move.AppID, a.move.To, at)
	}
	return nil
}

// endApp checks the end of the app that was given last, and forgets its tags. It is called when the app has ended: before
// version 0 of the next app, before the first answer, and by End.
func (a *Auditor) endApp() error {
	err := a.endMoves()
	a.tag, a.tags, a.move = "", nil, TagMoveRecord{}
	return err
}

// End checks what only the end shows: the moves of the last app, if no answer followed it. Call it after all rows were given.
func (a *Auditor) End() error { return a.endApp() }

// Answer checks the next answer. Its result must have one of the forms that a write stores, and name a version that is in
// the store.
func (a *Auditor) Answer(x Answer) error {
	if err := a.endApp(); err != nil {
		return err
	}
	if err := checkStoredURN("by", x.By); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if err := checkKey(x.Key); err != nil || x.Key == "" {
		return fmt.Errorf("answer of %q: key: want 1 to 255 visible ASCII characters", x.By)
	}
	if cmp.Or(cmp.Compare(x.By, a.answer.by), cmp.Compare(x.Key, a.answer.key)) <= 0 {
		return fmt.Errorf("answer %q of %q: want each once, in the order of callers and keys", x.Key, x.By)
	}
	if len(x.Request) != sha256.Size {
		return fmt.Errorf("answer %q of %q: the digest of the request has %d bytes, want %d", x.Key, x.By, len(x.Request), sha256.Size)
	}
	if err := a.checkResult(x.Result); err != nil {
		return fmt.Errorf("answer %q of %q: result: %w", x.Key, x.By, err)
	}
	a.answer.by, a.answer.key = x.By, x.Key
	return nil
}

// checkResult returns an error unless text has the form of a stored result of a write with an idempotency key:
//
//	{}                                      of DeleteTag and DeleteComponent
//	{"ID":…}                                of CreateComponent; an earlier release stored all fields of the component
//	{"ID":…,"Version":…}                    of CreateApp and Restore
//	{"AppID":…,"Name":…,"AppVersion":…}     of PutTag
//
// In the last two the store must have the version of the app, because a repeat reads it. Components may have been deleted.
func (a *Auditor) checkResult(text []byte) error {
	if err := strictjson.Check(text, strictjson.MaxDepth); err != nil {
		return err
	}
	var nothing struct{}
	var ref versionRef
	var tag keptTag
	type allFields Component // without its UnmarshalJSON, which takes members of any names
	var component allFields  // an earlier release stored all of them
	switch {
	case isResult(text, &nothing), isResult(text, &component) && component.ID != "":
		return nil
	case isResult(text, &ref):
		return a.checkVersionExists(ref.ID, ref.Version)
	case isResult(text, &tag):
		return a.checkVersionExists(tag.AppID, tag.AppVersion)
	}
	return errors.New("is none that a write has")
}

// isResult decodes text into result, and reports whether text is an object and result has a field for every member of it. Members
// may be missing: so {} is a result of every form, and checkResult asks for the form without members first.
func isResult(text []byte, result any) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return text[0] == '{' && d.Decode(result) == nil
}

// checkVersionExists returns an error unless the store has this version of the app. Versions have no gaps, so the latest tells.
func (a *Auditor) checkVersionExists(app string, number int64) error {
	if latest, ok := a.heads[app]; !ok || number < 0 || number > latest.Number() {
		return fmt.Errorf("there is no version %d of app %q", number, app)
	}
	return nil
}
