package appsvc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/history"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/storage"
)

// Maintenance says how the records of apps are checked and archived. Its Audit yields a fault for each record that a
// Service with these limits cannot have written; a zero limit means the default. It reads all in one View:
//
//   - manifests and bodies have exactly the bytes that a Service writes, and satisfy its rules. A configSchema is not
//     checked again, since a Service checks it whenever it uses one;
//   - each version is in the history, is not older than the previous one, and was restored only from an older one;
//   - tags point to versions, where their last moves lead, and each move begins where the previous one ends; lists of
//     what a tag publishes have them;
//   - releases are in their lists, and have the fields that their states require;
//   - the languages are in canonical form, and those of latest and tagged versions are known;
//   - comments are within their limits, are counted, and are about versions that the app has;
//   - links to show have the fields that they require, and are found by their secrets;
//   - the index entries are those that follow from the other records, and each list of apps has a unique number.
//
// It keeps the number of each list and component and a digest of each manifest in memory. Archives leave out the feed,
// the answers to idempotency keys, and links to show.
func Maintenance(limits Limits) storage.Maintenance {
	return storage.Maintenance{
		Audit: func(ctx context.Context, db storage.Store) iter.Seq2[storage.Fault, error] {
			return keyval.Audit(ctx, db, records.Space, func(r storage.Reader, _ string) ([]storage.Fault, error) {
				rows := records.Reader{Snapshot: &keyval.Reader{Reader: r}}
				a := &audit{reader: &reader{rows, records.HeadKind, newStore(db, 0), nil}, ctx: ctx,
					limits:    limits.withDefaults(),
					manifests: map[[sha256.Size]byte]bool{}, lists: map[int64]string{}, follow: map[string]int{}}
				a.checkNumbers()
				a.checkComponents()
				a.checkReleases()
				a.each(records.SeenKind, 1, "", func(_ []string, e storage.Entry) error {
					_, err := records.ParseDecimal(e.Key, e.Value)
					return err
				})
				a.checkApps()
				a.headKind = records.DeletedKind
				a.checkApps()
				a.checkOthers()
				return a.faults, a.failed
			})
		},
		NotArchived: records.NotArchived(),
	}
}

type audit struct {
	*reader
	ctx    context.Context
	limits Limits
	faults []storage.Fault
	failed error // of the store; nothing is read after it

	manifests map[[sha256.Size]byte]bool // digests of manifests in elements that were checked
	languages languages                  // the rule of languages
	lists     map[int64]string           // keys of lists and components by their numbers
	highest   int64                      // the highest valid number of a list or component
	follow    map[string]int             // the number of records of each kind that follow from components and apps
	complete  bool                       // every tag has a record of published/
}

// mostFaults is the maximum number of faults that an audit yields.
const mostFaults = 1000

func (a *audit) fault(key, format string, args ...any) {
	if len(a.faults) < mostFaults {
		a.faults = append(a.faults, storage.Fault{Key: key, Wrong: fmt.Sprintf(format, args...)})
	}
}

// each calls fn with the records of a kind whose names have this number of parts. If app is not "", only records of the
// app are read. An error of fn is reported as a fault of the record.
func (a *audit) each(kind string, parts int, app string, fn func(name []string, e storage.Entry) error) {
	in := records.Under(kind)
	if app != "" {
		in = records.Under(kind, app)
	}
	if a.failed != nil {
		return
	}
	for e, err := range a.Scan(a.ctx, in) {
		if err != nil {
			a.failed = err
			return
		}
		name := records.Parts(e.Key, kind)
		if app != "" {
			a.follow[kind]++
		}
		if len(name) != parts {
			err = fmt.Errorf("the key has %d parts, want %d", len(name), parts)
		} else {
			err = fn(name, e)
		}
		if a.failed != nil {
			return
		}
		if err != nil {
			a.fault(e.Key, "%v", err)
		}
	}
}

// get returns the values of keys. After an error they are all nil, and get returns the error.
func (a *audit) get(keys ...string) [][]byte {
	values, err := a.Get(a.ctx, keys...)
	if err != nil {
		a.failed = err
		return make([][]byte, len(keys))
	}
	return values
}

// checkIndex checks index records that follow from another record.
func (a *audit) checkIndex(want []storage.Entry) {
	keys := keyval.Keys(want)
	for i, value := range a.get(keys...) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(keys[i], records.Space+" "), "/")
		if a.follow[kind+"/"]++; value == nil || !bytes.Equal(value, want[i].Value) {
			a.fault(keys[i], "is missing, or has another value than %q", want[i].Value)
		}
	}
}

// checkNumbers checks the counter and the numbers of lists. If two lists had one number, a caller would see the apps of
// both.
func (a *audit) checkNumbers() {
	if counter := a.get(records.CounterKey)[0]; counter != nil {
		var err error
		if a.highest, err = records.ParseDecimal(records.CounterKey, counter); err != nil {
			a.fault(records.CounterKey, "%v", err)
		}
	}
	_, complete, err := a.PublishedUpTo(a.ctx)
	if a.complete = complete; err != nil {
		a.failed = err
	}
	if a.languages, err = a.reader.languages(a.ctx); err == nil {
		list, wrong := ParseLanguages(a.languages.List)
		if wrong != nil || !slices.Equal(list, a.languages.List) || a.languages.Number < 0 {
			a.fault(records.LanguagesKey, "the languages are none that a service stores: %q", a.languages.List)
		}
	} else {
		a.fault(records.LanguagesKey, "%v", err)
	}
	a.each(records.ListKind, 2, "", func(_ []string, e storage.Entry) error {
		n, err := records.ParseDecimal(e.Key, e.Value)
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

// checkComponents checks components, their manifests and their ids.
func (a *audit) checkComponents() {
	a.each(records.ComponentKind, 2, "", func(_ []string, e storage.Entry) error {
		c, err := records.DecodeComponent(e)
		if err != nil {
			return err
		}
		a.follow[records.ManifestKind]++
		a.follow[records.IDKind]++
		id := records.Key(records.IDKind, c.ID)
		values := a.get(records.ManifestKey(c.Name, c.Version), id)
		if e.Key != records.ComponentKey(c.Name, c.Version) {
			return fmt.Errorf("is version %q of %q", c.Version, c.Name)
		}
		if values[0] == nil || values[1] == nil {
			return fmt.Errorf("its manifest, or %q, is missing", id)
		}
		if err := a.checkNumber(e.Key, c.Number); err != nil {
			return err
		}
		m, err := a.limits.storedManifest(values[0])
		switch {
		case err != nil:
			return err
		case *m.id != c.ID || m.name != c.Name || m.version != c.Version || m.main != c.Main:
			return errors.New("id, name, version or main is not the same in the manifest")
		case c.Digest != records.DigestOf(values[0]):
			return errors.New("the digest is not that of the manifest")
		}
		return nil
	})
}

// storedManifest decodes a stored manifest. It returns an error unless the manifest satisfies the rules of
// CreateComponent, except those of the configSchema, and has the bytes that manifest.text writes.
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

// checkApps checks apps with all their records, one app at a time: existing apps or deleted ones, by headKind.
func (a *audit) checkApps() {
	a.each(a.headKind, 1, "", func(name []string, e storage.Entry) error {
		stored, err := records.DecodeHead(name[0], e.Value)
		h := headOf(stored)
		if err == nil && (h.DeletedAt != 0) != (a.headKind == records.DeletedKind) {
			err = errors.New("deletedAt says something else than the key")
		}
		if err == nil && a.headKind == records.DeletedKind && a.get(records.HeadKey(h.ID))[0] != nil {
			err = errors.New("the app is there and deleted")
		}
		if err != nil {
			return err
		}
		used, err := a.checkVersions(h)
		if err != nil {
			return err
		}
		a.checkHistory(h)
		a.checkTags(h)
		a.checkComments(h)
		a.checkPreviews(h)
		return a.checkEntries(stored, used)
	})
}

// checkVersions checks the versions of an app, and returns the components that they use.
func (a *audit) checkVersions(h appHead) (used map[string]bool, err error) {
	values := a.get(records.BodyKey(h.ID), records.Key(records.LargeKind, h.ID))
	body, _, err := records.DecodeBody(h.ID, values[0])
	if err != nil {
		return nil, fmt.Errorf("the body is missing, or %w", err)
	}
	a.follow[records.BodyKind]++
	if h.large {
		a.follow[records.LargeKind]++
		body = values[1]
	}
	if len(body) > records.MostOfBody != h.large || values[1] != nil != h.large {
		return nil, fmt.Errorf("a body of %d bytes is missing, in two places, or not where it should be", len(body))
	}
	next, used := App{}, map[string]bool{} // next is the version after the one being checked
	for v, err := range a.versionsBelow(a.ctx, h.ID, vitrine.Latest, math.MaxInt) {
		if err != nil && !errors.Is(err, history.ErrCorrupt) {
			a.failed = err
			return nil, err
		}
		switch {
		case err != nil:
		case next.ID != "" && next.UpdatedAt < v.UpdatedAt:
			err = errors.New("updatedAt is later than in the version after it")
		case next.ID != "" && v.Version.Next() != next.Version:
			err = fmt.Errorf("comes before version %s", next.Version)
		default:
			err = a.checkBody(v, used)
		}
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Version, err)
		}
		next = v
	}
	if of, err := h.whole(body).head(); err == nil &&
		(of.Title != h.Title || !slices.Equal(of.Groups, h.Groups) ||
			!slices.EqualFunc(of.uses, h.uses, func(a, b records.Use) bool {
				return a.Name == b.Name && slices.Equal(a.Versions, b.Versions)
			})) {
		return nil, errors.New("title, groups or components are not those of the body")
	}
	a.checkSpoken(h.ID, "", body)
	switch {
	case next.Version != vitrine.NewVersion(0):
		return nil, fmt.Errorf("version %d is missing", next.Version.Number()-1)
	case next.UpdatedAt < next.CreatedAt:
		return nil, errors.New("version 0 is older than the app")
	}
	return used, nil
}

// checkSpoken checks the records of spoken/ that follow from a version.
func (a *audit) checkSpoken(app, tag string, body Body) {
	entries, err := spoken(app, tag, body)
	if err != nil {
		return // checkBody has said what is wrong
	}
	keys := keyval.Keys(entries)
	for i, value := range a.get(keys...) {
		switch {
		case len(value) > 0 || value == nil && a.languages.Complete:
			a.fault(keys[i], "is missing, or has a value")
		case value != nil:
			a.follow[records.SpokenKind]++
		}
	}
}

// storedDepth is the maximum depth of a stored body: a manifest is inside an element of a list.
const storedDepth = strictjson.MaxDepth + 3

// checkBody returns an error unless the body of app is one that a Service writes: within the limits, and in exactly the
// form that draft.body writes. It adds the components that the body uses.
func (a *audit) checkBody(app App, used map[string]bool) error {
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
	if !bytes.Equal(d.body(app.Owner), app.Body) {
		return errors.New("the body is not in the form in which it is stored, or its owner is another")
	}
	for _, u := range d.uses() {
		used[u.Name] = true
	}
	for i, e := range d.elements {
		if err := a.checkElement(e); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return app.checkSize(a.limits.AppBytes)
}

// checkElement returns an error unless a Service could have written the stored element. Whether its config conforms to
// the schema is not checked. The component of its manifest may have been deleted since.
func (a *audit) checkElement(e draftElement) error {
	manifest, config, err := e.split()
	if err != nil {
		return err
	}
	// usually, another version has the same manifest and was checked already
	if digest := sha256.Sum256(manifest); !a.manifests[digest] {
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

// checkHistory checks the records of the history of an app, except the content, which was read with the versions, and
// its notes and restorations.
func (a *audit) checkHistory(h appHead) {
	latest := h.Version.Number()
	check := func(kind string, wrong func(n int64, e storage.Entry) error) {
		a.each(kind, 2, h.ID, func(name []string, e storage.Entry) error {
			n, err := keyval.ParseNumber(name[1])
			if err == nil {
				err = wrong(n, e)
			}
			return err
		})
	}
	check(records.HistoryKind, func(n int64, _ storage.Entry) error {
		if n >= latest {
			return fmt.Errorf("the latest version is %d", latest)
		}
		return nil
	})
	check(records.NoteKind, func(n int64, e storage.Entry) error {
		if n > latest || len(e.Value) == 0 || checkNote("", string(e.Value)) != nil {
			return errors.New("is no note of a version")
		}
		return nil
	})
	check(records.RestoredKind, func(n int64, e storage.Entry) error {
		from, err := records.ParseDecimal(e.Key, e.Value)
		if err == nil && (n > latest || from < 0 || from >= n) {
			err = fmt.Errorf("version %d is restored from %d, want an older one, and the latest is %d", n, from, latest)
		}
		return err
	})
}

// checkTags checks the tags of an app and their moves. A move begins where the previous one has ended, and is not
// earlier. The first one makes the tag.
func (a *audit) checkTags(h appHead) {
	latest := h.Version.Number()
	// where tags point, which have moved/, and their last moves
	at, moved, last := map[string]int64{}, map[string]bool{}, map[string]records.Move{}
	a.each(records.TagKind, 2, h.ID, func(name []string, e storage.Entry) error {
		n, err := records.ParseDecimal(e.Key, e.Value)
		switch at[name[1]] = n; {
		case err != nil:
			return err
		case !tagName.MatchString(name[1]):
			return errors.New("no tag can have this name")
		case n < 0 || n > latest:
			return fmt.Errorf("points to version %d, the latest is %d", n, latest)
		}
		return nil
	})
	a.each(records.MovedKind, 2, h.ID, func(name []string, e storage.Entry) error {
		if moved[name[1]] = true; len(e.Value) > 0 {
			return errors.New("has a value")
		}
		return nil
	})
	a.each(records.MoveKind, 3, h.ID, func(name []string, e storage.Entry) error {
		m, err := records.DecodeMove(e)
		if err != nil {
			return err
		}
		before, known := last[name[1]]
		if !known {
			before = records.Move{At: m.At, To: -1}
			last[name[1]] = before
		}
		switch {
		case m.Number != before.Number+1:
			return fmt.Errorf("want the number %d", before.Number+1)
		case m.From == m.To:
			return errors.New("from and to are the same")
		case m.From < -1 || m.To < -1 || m.From > latest || m.To > latest:
			return fmt.Errorf("leads from version %d to %d, the latest is %d", m.From, m.To, latest)
		case m.From != before.To:
			return fmt.Errorf("comes from version %d, and the move before leads to %d", m.From, before.To)
		case m.At < before.At:
			return errors.New("at is earlier than that of the move before")
		case m.Top < 0 || m.Top >= m.Number || m.Top > 0 && !m.Rollback:
			return errors.New("top is the number of no move before it")
		case checkNote("", m.Note) != nil:
			return errors.New("the note is too long or no text")
		}
		last[name[1]] = m
		return nil
	})
	for _, tag := range slices.Sorted(maps.Keys(last)) {
		to, there := at[tag]
		if !there {
			to = -1
		}
		if m := last[tag]; m.To != to {
			a.fault(records.MoveKey(h.ID, tag, m.Number), "the last move leads to version %d, and the tag points to %d",
				m.To,
				to)
		}
		if !moved[tag] {
			a.fault(records.Key(records.MovedKind, h.ID, tag), "is missing, and the tag has moves")
		}
		delete(moved, tag)
	}
	for _, tag := range slices.Sorted(maps.Keys(moved)) {
		a.fault(records.Key(records.MovedKind, h.ID, tag), "there are no moves of the tag")
	}
	for _, tag := range slices.Sorted(maps.Keys(at)) {
		if at[tag] < 0 || at[tag] > latest || a.failed != nil {
			continue
		}
		p, body, err := a.publishes(a.ctx, h, tag, vitrine.NewVersion(at[tag]), last[tag].At)
		a.checkSpoken(h.ID, tag, body)
		want := keyval.JSON(p.Key(), p)
		switch value := a.get(want.Key)[0]; {
		case err != nil:
			a.failed = err
		case value == nil && !a.complete:
		case !bytes.Equal(value, want.Value):
			a.fault(want.Key, "want %s", want.Value)
		default:
			a.follow[records.PublishedKind]++
		}
	}
}

// checkEntries checks the index entries of an app whose versions use these components.
func (a *audit) checkEntries(h records.Head, used map[string]bool) error {
	lists := h.ListKeys()
	own := len(lists)
	for c := range used {
		lists = append(lists, records.ListKey(records.OfComponent, c, false))
	}
	numbers, err := a.NumbersOf(a.ctx, lists)
	if err != nil {
		a.failed = err
		return err
	}
	if !slices.Equal(numbers[:own], h.Lists) {
		return fmt.Errorf("the lists are %d, want %d, those of its owner and its groups", h.Lists, numbers[:own])
	}
	keys := h.IndexKeys()
	a.follow[records.WordKind] += len(keys) - 2*own
	for _, n := range numbers[own:] {
		keys = append(keys, records.UsedKey(n, h.ID))
	}
	for i, v := range a.get(keys...) {
		if v == nil || len(v) > 0 {
			a.fault(keys[i], "is missing, or has a value")
		}
	}
	a.follow[records.CreatedKind] += own
	a.follow[records.UpdatedKind] += own
	a.follow[records.UsedKind] += len(used)
	return nil
}

// checkOthers reports records of known kinds that follow from no component and no app, and records of unknown kinds.
// All required records were checked before.
func (a *audit) checkOthers() {
	for _, kind := range records.DerivedKinds {
		n := 0
		for _, err := range a.Scan(a.ctx, records.Under(kind)) {
			if n++; err != nil {
				a.failed = err
				return
			}
		}
		if n != a.follow[kind] {
			a.fault(keyval.Prefix(records.Space, kind), "there are %d entries, and %d follow from components and apps",
				n, a.follow[kind])
		}
	}
	if a.failed != nil {
		return
	}
	var faults []storage.Fault
	faults, a.failed = records.Unknown(a.ctx, a)
	for _, f := range faults {
		a.fault(f.Key, "%s", f.Wrong)
	}
}
