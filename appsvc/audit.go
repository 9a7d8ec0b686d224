package appsvc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/history"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// Audit looks at all records of apps in one View, and yields what a Service with these limits cannot have written, or an error as the
// last pair. A zero limit is the default:
//
//   - manifests and bodies have exactly the bytes that a Service writes, and keep its rules; whether a configSchema is still accepted is
//     not looked at, since a Service judges that whenever it uses one;
//   - each version can be read from the history, is not older than the one before it, and was restored, if it was, from an older one;
//   - tags point to versions, where their last moves lead, and moves follow each other;
//   - the index entries are those that follow from the other records, and each list of apps has a number of its own.
//
// It keeps an id of each component, a number of each list and a digest of each manifest in memory.
func Audit(ctx context.Context, db storage.Store, limits Limits) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		var a *audit
		err := rec.View(ctx, db, func(r *rec.Reader) error {
			a = &audit{
				reader: &reader{s: newRecords(db), r: r}, ctx: ctx, limits: limits.withDefaults(),
				manifests: map[[sha256.Size]byte]bool{}, lists: map[int64]string{}, index: map[string]int{},
			}
			return a.run()
		})
		if a != nil {
			for _, f := range a.faults {
				if !yield(f, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(storage.Fault{}, err)
		}
	}
}

type audit struct {
	*reader
	ctx    context.Context
	limits Limits
	faults []storage.Fault
	failed error // of get

	manifests map[[sha256.Size]byte]bool // digests of manifests in elements that are as they should be
	lists     map[int64]string           // keys of lists and components by their numbers
	highest   int64                      // no list or component has a higher number
	index     map[string]int             // how many entries each kind of index shall have
}

// mostFaults is how many faults Audit yields at most.
const mostFaults = 1000

func (a *audit) fault(key, format string, args ...any) {
	if len(a.faults) < mostFaults {
		a.faults = append(a.faults, storage.Fault{Key: key, Wrong: fmt.Sprintf(format, args...)})
	}
}

// each calls fn with the entries of a kind. An error of fn is a fault of the entry.
func (a *audit) each(kind string, fn func(storage.Entry) error) error {
	for e, err := range a.r.Scan(a.ctx, storage.Prefix(rec.Prefix(appSpace, kind))) {
		if err != nil {
			return err
		}
		if err := fn(e); err != nil {
			a.fault(e.Key, "%v", err)
		}
		if a.failed != nil {
			return a.failed
		}
	}
	return nil
}

// get returns the values of keys. After an error they are all nil, and each returns the error.
func (a *audit) get(keys ...string) [][]byte {
	values, err := a.r.Get(a.ctx, keys...)
	if err != nil {
		a.failed = err
		return make([][]byte, len(keys))
	}
	return values
}

func (a *audit) run() error {
	for _, step := range []func() error{a.checkNumbers, a.checkComponents, a.checkApps, a.checkIndex, a.checkAnswers, a.checkKinds} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// checkKinds looks for records of other kinds.
func (a *audit) checkKinds() error {
	faults, err := rec.Unknown(a.ctx, a.r, appSpace, headKind, bodyKind, largeKind, historyKind, restoredKind, listKind, counterKind, createdKind, updatedKind,
		usedKind, tagKind, moveKind, movedKind, componentKind, manifestKind, idKind, answerKind, expiresKind)
	for _, f := range faults {
		a.fault(f.Key, "%s", f.Wrong)
	}
	return err
}

// checkNumbers looks at the counter and at the numbers of lists: with the number of another list, a caller would see its apps.
func (a *audit) checkNumbers() error {
	counter, err := a.value(a.ctx, keyOf(counterKind))
	if err != nil {
		return err
	}
	if counter != nil {
		if a.highest, err = parseDecimal(keyOf(counterKind), counter); err != nil {
			a.fault(keyOf(counterKind), "%v", err)
		}
	}
	return a.each(listKind, func(e storage.Entry) error {
		n, err := parseDecimal(e.Key, e.Value)
		if err == nil {
			err = a.checkNumber(e.Key, n)
		}
		return err
	})
}

func (a *audit) checkNumber(key string, n int64) error {
	switch other := a.lists[n]; {
	case other != "":
		return fmt.Errorf("has the number %d, as %q has", n, other)
	case n < 1 || n > a.highest:
		return fmt.Errorf("has the number %d, want 1 to %d, which is the highest that was given", n, a.highest)
	}
	a.lists[n] = key
	return nil
}

// checkComponents looks at components, their manifests and their ids.
func (a *audit) checkComponents() error {
	ids := map[string]bool{}
	count := 0
	err := a.each(componentKind, func(e storage.Entry) error {
		c, err := decodeComponent(e)
		if err != nil {
			return err
		}
		count++
		id := keyOf(idKind, c.ID)
		values := a.get(keyOf(manifestKind, c.Name, c.Version), id)
		switch {
		case e.Key != keyOf(componentKind, c.Name, c.Version):
			return fmt.Errorf("is version %q of %q", c.Version, c.Name)
		case values[0] == nil || values[1] == nil:
			return fmt.Errorf("its manifest, or %q, is missing", id)
		case ids[c.ID]:
			return fmt.Errorf("another one has the id %q", c.ID)
		}
		ids[c.ID] = true
		if err := a.checkNumber(e.Key, c.Number); err != nil {
			return err
		}
		m, err := a.limits.storedManifest(values[0])
		switch {
		case err != nil:
			return err
		case *m.id != c.ID || m.name != c.Name || m.version != c.Version || m.main != c.Main:
			return errors.New("id, name, version or main is not the same in the manifest")
		case c.Digest != digestOf(values[0]):
			return errors.New("the digest is not that of the manifest")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.each(idKind, func(e storage.Entry) error {
		if id := partsOf(e.Key, idKind)[0]; !rec.Cut(id) && !ids[id] || len(e.Value) > 0 {
			return errors.New("there is no component with this id, or it has a value")
		}
		return nil
	}); err != nil {
		return err
	}
	a.index[manifestKind], a.index[idKind] = count, count
	return nil
}

// storedManifest decodes a stored manifest. It returns an error unless the rules of CreateComponent hold, except those of the
// configSchema, and the bytes are in the form that manifest.text writes.
func (l Limits) storedManifest(text []byte) (manifest, error) {
	m, extra, err := l.readManifest(text)
	switch {
	case err != nil:
	case m.id == nil:
		err = errors.New("the manifest has no id")
	case !bytes.Equal(m.text(extra), text):
		err = errors.New("the manifest is not in the form in which it is stored")
	}
	return m, err
}

// auditedApp is the app whose records are being looked at.
type auditedApp struct {
	head   *Head  // nil if it has no record head/
	whole  bool   // it has a record body/
	body   Body   // of the latest version
	tag    string // name of the tag or the moves that were looked at last
	at     int64  // where that tag points, -1 if there is none
	moved  bool   // it has a record moved/
	number int64  // of its last move, 0 if there is none yet
	move   storedMove
}

// checkApps looks at the apps one by one. All records whose keys begin with the id of the app come together, in the order of what
// follows the kind in the key.
func (a *audit) checkApps() error {
	var ranges []storage.Range
	partsIn := map[string]int{headKind: 1, bodyKind: 1, largeKind: 1, historyKind: 2, restoredKind: 2, tagKind: 2, movedKind: 2, moveKind: 3}
	for _, kind := range []string{headKind, bodyKind, largeKind, historyKind, restoredKind, tagKind, movedKind, moveKind} {
		in := storage.Prefix(rec.Prefix(appSpace, kind))
		in.Skip = len(in.From)
		ranges = append(ranges, in)
	}
	id, app := "", auditedApp{}
	for e, err := range a.r.Scan(a.ctx, ranges...) {
		if err != nil {
			return err
		}
		_, kind, _ := strings.Cut(e.Key, " ")
		kind = kind[:strings.Index(kind, "/")+1]
		parts := partsOf(e.Key, kind)
		if parts[0] != id {
			if err := a.endApp(id, &app); err != nil {
				return err
			}
			id, app = parts[0], auditedApp{}
		}
		switch {
		case len(parts) != partsIn[kind]:
			err = fmt.Errorf("the key has %d parts, want %d", len(parts), partsIn[kind])
		case kind != headKind && app.head == nil:
			err = errors.New("there is no such app")
		default:
			err = a.checkRecord(&app, kind, parts, e)
		}
		if err != nil {
			a.fault(e.Key, "%v", err)
		}
	}
	return a.endApp(id, &app)
}

// checkRecord looks at a record of an app.
func (a *audit) checkRecord(app *auditedApp, kind string, parts []string, e storage.Entry) (err error) {
	var latest, n int64
	if app.head != nil {
		latest = app.head.Version.Number()
	}
	switch kind {
	case headKind:
		h, err := decodeHead(parts[0], e.Value)
		if err == nil {
			app.head = &h
		}
		return err
	case bodyKind:
		app.body, _, err = decodeBody(parts[0], e.Value)
		app.whole = err == nil
		if len(app.body) == 0 != app.head.large {
			return errors.New("the body is missing, or in two places")
		}
		return err
	case largeKind:
		if !app.head.large {
			return errors.New("the body is in two places")
		}
		app.body = e.Value
		return nil
	case historyKind, restoredKind:
		n, err = rec.ParseNumber(parts[1])
		if err != nil {
			return err
		}
		if kind == historyKind {
			if n >= latest {
				return fmt.Errorf("the latest version is %d", latest)
			}
			return nil
		}
		from, err := parseDecimal(e.Key, e.Value)
		if err == nil && (n > latest || from < 0 || from >= n) {
			err = fmt.Errorf("version %d is restored from %d, want an older one, and the latest is %d", n, from, latest)
		}
		return err
	case tagKind:
		a.endTag(parts[0], app)
		n, err = parseDecimal(e.Key, e.Value)
		app.tag, app.at = parts[1], n
		switch {
		case err != nil:
			return err
		case !tagName.MatchString(parts[1]):
			return errors.New("no tag can have this name")
		case n < 0 || n > latest:
			return fmt.Errorf("points to version %d, the latest is %d", n, latest)
		}
		return nil
	}
	if parts[1] != app.tag {
		a.endTag(parts[0], app)
		app.tag, app.at = parts[1], -1
	}
	if kind == movedKind {
		if app.moved = true; len(e.Value) > 0 {
			return errors.New("has a value")
		}
		return nil
	}
	return app.checkMove(parts, e, latest)
}

// checkMove returns an error if a move breaks a rule by itself, or cannot follow the move before: it leads on from where that led, and is
// no earlier. Move 1 may come from any version: a tag of the first release, which recorded no moves, may have pointed there.
func (app *auditedApp) checkMove(parts []string, e storage.Entry, latest int64) error {
	m, err := decodeMove(e)
	if err != nil {
		return err
	}
	n, err := rec.ParseNumber(parts[2])
	if err != nil {
		return err
	}
	before := app.move
	if n == 1 {
		before = storedMove{At: m.At, To: m.From}
	}
	switch {
	case !tagName.MatchString(parts[1]):
		return errors.New("no tag can have this name")
	case n != app.number+1:
		return fmt.Errorf("want the number %d", app.number+1)
	case !isTime(m.At):
		return errors.New("at is in no year from 1 to 9999")
	case m.From == m.To:
		return errors.New("from and to are the same")
	case m.From < -1 || m.To < -1 || m.From > latest || m.To > latest:
		return fmt.Errorf("leads from version %d to %d, the latest is %d", m.From, m.To, latest)
	case m.From != before.To:
		return fmt.Errorf("comes from version %d, and the move before leads to %d", m.From, before.To)
	case m.At < before.At:
		return errors.New("at is earlier than that of the move before")
	}
	app.number, app.move = n, m
	return checkStoredURN("by", m.By)
}

// endTag looks at what the last move of a tag shows: where it is, and that it is among the tags with moves.
func (a *audit) endTag(id string, app *auditedApp) {
	switch {
	case app.tag == "":
	case app.number > 0 != app.moved:
		a.fault(keyOf(movedKind, id, app.tag), "want it where the tag has moves, and nowhere else")
	case app.number > 0 && app.move.To != app.at:
		a.fault(moveKey(id, app.tag, app.number), "the last move leads to version %d, and the tag points to %d", app.move.To, app.at)
	}
	app.tag, app.moved, app.number, app.move = "", false, 0, storedMove{}
}

// endApp looks at the versions of an app when all of its records were seen, and at its index entries.
func (a *audit) endApp(id string, app *auditedApp) error {
	a.endTag(id, app)
	if app.head == nil {
		return nil
	}
	h, key := app.head, keyOf(headKind, id)
	if !app.whole {
		a.fault(key, "the body is missing or damaged")
		return nil
	}
	next, used := App{}, map[string]bool{} // next is the version after the one that is looked at
	for v, err := range a.versionsBelow(a.ctx, id, vitrine.Latest, math.MaxInt) {
		if err != nil && !errors.Is(err, history.ErrCorrupt) {
			return err
		}
		if err == nil {
			err = a.checkVersion(v, next, used)
		}
		if err != nil {
			a.fault(key, "version %s: %v", v.Version, err)
			return nil
		}
		next = v
	}
	if next.Version != vitrine.NewVersion(0) {
		a.fault(key, "version %d is missing", next.Version.Number()-1)
	} else if next.UpdatedAt < next.CreatedAt {
		a.fault(key, "version 0 is older than the app")
	}
	if of, err := (App{Meta: h.Meta, Body: app.body}).Head(); err != nil || !slices.Equal(of.Groups, h.Groups) || !slices.Equal(of.Components, h.Components) {
		a.fault(key, "groups or components are not those of the body")
	}
	if len(app.body) > mostOfBody != h.large {
		a.fault(key, "a body of %d bytes is not where it should be", len(app.body))
	}
	return a.checkEntries(*h, used)
}

// checkVersion returns an error unless a version is one that a Service writes, before next, and adds the components that it uses.
func (a *audit) checkVersion(v, next App, used map[string]bool) error {
	if wrong := a.limits.checkName(v.ID); wrong != "" {
		return fmt.Errorf("id: %s", wrong)
	}
	for _, u := range []struct{ field, urn string }{{"owner", v.Owner}, {"updatedBy", v.UpdatedBy}} {
		if err := checkStoredURN(u.field, u.urn); err != nil {
			return err
		}
	}
	switch {
	case !isTime(v.CreatedAt) || !isTime(v.UpdatedAt):
		return errors.New("createdAt or updatedAt is in no year from 1 to 9999")
	case next.ID != "" && next.UpdatedAt < v.UpdatedAt:
		return errors.New("updatedAt is later than in the version after it")
	case next.ID != "" && v.Version.Next() != next.Version:
		return fmt.Errorf("comes before version %s", next.Version)
	}
	if err := a.checkBody(v); err != nil {
		return err
	}
	h, err := v.Head()
	for _, c := range h.Components {
		used[c] = true
	}
	return err
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
func (a *audit) checkBody(app App) error {
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
// schema is not checked. The component of its manifest may have been deleted since.
func (a *audit) checkElement(e draftElement) error {
	manifest, config, err := e.split()
	if err != nil {
		return err
	}
	if digest := sha256.Sum256(manifest); !a.manifests[digest] { // most manifests were checked with another version
		if _, err := a.limits.storedManifest(manifest); err != nil {
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

// checkEntries looks for the index entries of an app of which some version uses these components.
func (a *audit) checkEntries(h Head, used map[string]bool) error {
	lists := listKeys(h)
	for c := range used {
		lists = append(lists, keyOf(listKind, ofComponent, c))
	}
	numbers, err := a.numbersOf(a.ctx, lists)
	if err != nil {
		return err
	}
	own := numbers[:len(numbers)-len(used)]
	if !slices.Equal(own, h.lists) {
		a.fault(keyOf(headKind, h.ID), "the lists are %d, want %d, those of its owner and its groups", h.lists, own)
		return nil
	}
	var keys []string
	for i, n := range numbers {
		if i < len(own) {
			keys = append(keys, timeKey(createdKind, n, appPosition{h.CreatedAt, h.ID}), timeKey(updatedKind, n, appPosition{h.UpdatedAt, h.ID}))
		} else {
			keys = append(keys, usedKey(n, h.ID))
		}
	}
	values, err := a.r.Get(a.ctx, keys...)
	if err != nil {
		return err
	}
	for i, v := range values {
		if v == nil || len(v) > 0 {
			a.fault(keys[i], "is missing, or has a value")
		}
	}
	a.index[createdKind] += len(own)
	a.index[updatedKind] += len(own)
	a.index[usedKind] += len(used)
	return nil
}

// checkIndex looks for entries that follow from no other record. All that do were found.
func (a *audit) checkIndex() error {
	for _, kind := range []string{manifestKind, idKind, createdKind, updatedKind, usedKind} {
		n := 0
		if err := a.each(kind, func(storage.Entry) error { n++; return nil }); err != nil {
			return err
		}
		if n > a.index[kind] {
			a.fault(rec.Prefix(appSpace, kind), "there are %d entries, and %d follow from components and apps", n, a.index[kind])
		}
	}
	return nil
}

// checkAnswers looks at answers and the times when they expire.
func (a *audit) checkAnswers() error {
	answers := 0
	err := a.each(answerKind, func(e storage.Entry) error {
		x, err := decodeAnswer(e)
		if err != nil {
			return err
		}
		answers++
		if a.get(expiresKey(x))[0] == nil || e.Key != keyOf(answerKind, x.By, x.Key) {
			return errors.New("it has another name, or no time when it expires")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.each(expiresKind, func(storage.Entry) error {
		if answers--; answers < 0 {
			return errors.New("there are more times than answers")
		}
		return nil
	})
}
