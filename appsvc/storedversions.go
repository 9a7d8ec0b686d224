package appsvc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/history"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

const (
	// mostOfBody is the maximum size in bytes of a body in body/. A page of apps reads many of these at once.
	mostOfBody = 64 << 10
	// mostOfID is the maximum length of the id of an app in bytes, since keys contain the whole id.
	mostOfID = 200
)

// headJSON is the stored form of a head.
type headJSON struct {
	Version    int64    `json:"version"`
	Title      string   `json:"title"`
	CreatedAt  int64    `json:"createdAt"`
	UpdatedAt  int64    `json:"updatedAt"`
	UpdatedBy  string   `json:"updatedBy"`
	Owner      string   `json:"owner"`
	Groups     []string `json:"groups"`
	Components []use    `json:"components"`
	Lists      []int64  `json:"lists"`
	Large      bool     `json:"large,omitzero"`
	DeletedAt  int64    `json:"deletedAt,omitzero"`
	DeletedBy  string   `json:"deletedBy,omitzero"`
}

func (h appHead) encode() ([]byte, error) {
	return json.Marshal(headJSON{h.Version.Number(), h.Title, h.CreatedAt, h.UpdatedAt, h.UpdatedBy, h.Owner, h.Groups,
		h.uses, h.lists, h.large, h.DeletedAt, h.DeletedBy})
}

// decodeHead decodes a stored head.
func decodeHead(app string, value []byte) (appHead, error) {
	h := headJSON{Version: -1}
	err := json.Unmarshal(value, &h)
	if err == nil && h.Version < 0 {
		err = errors.New("it has no version")
	}
	if err != nil {
		return appHead{}, damaged(keyOf(headKind, app), err)
	}
	a := App{ID: app, Version: vitrine.NewVersion(h.Version), Owner: h.Owner, CreatedAt: h.CreatedAt,
		UpdatedAt: h.UpdatedAt, UpdatedBy: h.UpdatedBy,
		Title: h.Title, Groups: h.Groups, Components: namesOf(h.Components), DeletedAt: h.DeletedAt,
		DeletedBy: h.DeletedBy}
	return appHead{a, h.Components, h.Lists, h.Large}, nil
}

// versionOrNone returns the version with a number, or the zero Version for -1.
func versionOrNone(n int64) vitrine.Version {
	if n < 0 {
		return vitrine.Version{}
	}
	return vitrine.NewVersion(n)
}

// decodeBody returns the parts of a value of body/: the body, the tail of the history, and in four bytes the length of
// the tail.
func decodeBody(app string, value []byte) (body, tail []byte, err error) {
	rest := len(value) - 4
	if rest < 0 || int64(binary.BigEndian.Uint32(value[rest:])) > int64(rest) {
		return nil, nil, damaged(keyOf(bodyKind, app), errors.New("it ends too early"))
	}
	at := rest - int(binary.BigEndian.Uint32(value[rest:]))
	return value[:at:at], value[at:rest:rest], nil
}

func noApp(id string) error { return fmt.Errorf("%w: app %q", vitrine.ErrNotFound, id) }

// keptVersion is a version of an app in the cache.
type keptVersion struct {
	App
	// These are only set for a version that was the latest one: its head, as it is stored too, and the tail of the
	// history before it.
	head   appHead
	stored []byte
	tail   []byte
}

// keep puts a version into the cache, where it never changes. It also stores the latest version there under a name of
// its own.
func (s *records) keep(v keptVersion) {
	s.versions.Put(versionName{v.ID, v.Version.Number()}, keptVersion{App: v.App}, 500+len(v.Body))
	if v.stored != nil {
		s.versions.Put(versionName{v.ID, ofLatest}, v, 500+len(v.Body)+len(v.stored)+len(v.tail))
	}
}

// ofLatest is used as the number of the version that was the latest one when it was put into the cache.
const ofLatest = -1

// latestKeys returns the keys of the head of an app and, unless it is probably in the cache, of the body of its latest
// version.
func (r *reader) latestKeys(app string, cached bool) []string {
	if cached {
		return []string{r.headKey(app)}
	}
	return []string{r.headKey(app), keyOf(bodyKind, app)}
}

// head returns the head of an app, or ErrNotFound if there is no such app.
func (r *reader) head(ctx context.Context, app string) (appHead, error) {
	stored, err := r.value(ctx, r.headKey(app))
	if err != nil {
		return appHead{}, err
	}
	return r.s.headOf(app, stored)
}

// headOf returns the head with this stored form.
func (s *records) headOf(app string, stored []byte) (appHead, error) {
	if v, found := s.versions.Get(versionName{app, ofLatest}); found && bytes.Equal(v.stored, stored) {
		return v.head, nil
	}
	if stored == nil {
		return appHead{}, noApp(app)
	}
	return decodeHead(app, stored)
}

// latest returns the latest version of an app, or ErrNotFound if there is no such app.
func (r *reader) latest(ctx context.Context, app string) (v keptVersion, err error) {
	kept, found := r.s.versions.Get(versionName{app, ofLatest})
	values, err := r.r.Get(ctx, r.latestKeys(app, found)...)
	if err != nil || found && bytes.Equal(kept.stored, values[0]) {
		return kept, err
	}
	v.stored = values[0]
	if v.head, err = r.s.headOf(app, v.stored); err != nil {
		return v, err
	}
	if len(values) == 1 { // another version is in the cache
		value, err := r.value(ctx, keyOf(bodyKind, app))
		if err != nil {
			return v, err
		}
		values = append(values, value)
	}
	body, tail, err := r.body(ctx, v.head, values[1])
	if v.App, v.tail = v.head.whole(body), tail; err == nil && r.tx == nil {
		r.s.keep(v)
	}
	return v, err
}

// body returns the body of the latest version of an app and the tail of its history, given the value of body/.
func (r *reader) body(ctx context.Context, h appHead, value []byte) (body Body, tail []byte, err error) {
	text, tail, err := decodeBody(h.ID, value)
	if err == nil && h.large {
		text, err = r.value(ctx, keyOf(largeKind, h.ID))
	}
	if err == nil && len(text) == 0 {
		err = damaged(keyOf(bodyKind, h.ID), errors.New("the body is empty"))
	}
	return slices.Clip(text), tail, err
}

// version returns a version of the app with this head, or ErrNotFound if there is no such version.
func (r *reader) version(ctx context.Context, h appHead, v vitrine.Version) (App, error) {
	if v == vitrine.Latest {
		v = h.Version
	}
	if v.IsZero() || v.Compare(h.Version) > 0 {
		return App{}, fault.NotFound("app %q has no version %q", h.ID, v)
	}
	if kept, found := r.s.versions.Get(versionName{h.ID, v.Number()}); found {
		return kept.App, nil
	}
	last, err := r.latest(ctx, h.ID)
	if err != nil || v == last.Version {
		return last.App, err
	}
	old, err := history.Read(last.tail, r.historyRows(ctx, h.ID, v.Number()), v.Number())
	if err != nil {
		return App{}, fmt.Errorf("version %s of app %q: %w", v, h.ID, err)
	}
	out := last.head.older(old)
	if r.tx == nil {
		r.s.keep(keptVersion{App: out})
	}
	return out, nil
}

// historyRows yields the rows of an app's history, newest first, from version v on.
func (r *reader) historyRows(ctx context.Context, id string, v int64) history.Rows {
	in := under(historyKind, id)
	in.To, in.Reverse, in.Expect = keyAfter(historyKey(id, v)), true, 4
	return rec.Map(r.r.Scan(ctx, in), func(e storage.Entry) (history.Row, error) {
		n, err := rec.ParseNumber(partsOf(e.Key, historyKind)[1])
		return history.Row{Version: n, Data: e.Value}, err
	})
}

// older returns an older version of the app with this head.
func (h appHead) older(v history.Version) App {
	a := h.App.with(v.Body)
	a.Version, a.UpdatedAt, a.UpdatedBy = vitrine.NewVersion(v.Number), v.UpdatedAt, v.UpdatedBy
	return a
}

// inHistory returns a version in the form of package history.
func inHistory(a App, body []byte) history.Version {
	return history.Version{Number: a.Version.Number(), UpdatedAt: a.UpdatedAt, UpdatedBy: a.UpdatedBy, Body: body}
}

// versionsBelow yields up to limit versions of an app before the version before, newest first. If before has no number,
// it begins with the latest one. If there is no such app, it yields nothing.
func (r *reader) versionsBelow(
	ctx context.Context, app string, before vitrine.Version, limit int,
) iter.Seq2[App, error] {
	return func(yield func(App, error) bool) {
		last, err := r.latest(ctx, app)
		if err != nil {
			if err = ignore(err, vitrine.ErrNotFound); err != nil {
				yield(App{}, err)
			}
			return
		}
		next := last.Version.Number()
		if n := before.Number(); n >= 0 {
			next = min(next, n-1)
		}
		if next == last.Version.Number() {
			if !yield(last.App, nil) {
				return
			}
			next, limit = next-1, limit-1
		}
		for next >= 0 && limit > 0 {
			const most, bytes = 64, 1 << 20 // at a time
			list, err := history.List(last.tail, r.historyRows(ctx, app, next), next, min(most, limit), bytes)
			if err != nil {
				yield(App{}, fmt.Errorf("versions of app %q: %w", app, err))
				return
			}
			for _, v := range list {
				if !yield(last.head.older(v), nil) {
					return
				}
			}
			next, limit = next-int64(len(list)), limit-len(list)
		}
	}
}

// addVersion adds a version of an app as its latest one, and updates the lists of the app. The version is one above the
// latest one, or 0 if there is no such app.
func (t *writer) addVersion(ctx context.Context, next appHead, body Body) error {
	if len(next.ID) > mostOfID {
		return fmt.Errorf("the id of an app has %d bytes, and %d are the most", len(next.ID), mostOfID)
	}
	last, err := t.latest(ctx, next.ID)
	isNew := errors.Is(err, vitrine.ErrNotFound)
	if err != nil && !isNew {
		return err
	}
	if next.Version != last.Version.Next() {
		return fmt.Errorf("version %s of app %q: want the one after the latest", next.Version, next.ID)
	}
	next.large = len(body) > mostOfBody
	var change history.Change
	if !isNew {
		next.Owner, next.CreatedAt = last.Owner, last.CreatedAt
		if change, err = history.Append(last.tail, inHistory(last.App, last.Body),
			inHistory(next.App, body)); err != nil {
			return fmt.Errorf("version %s of app %q: %w", next.Version, next.ID, err)
		}
	}
	if err := t.moveInLists(ctx, last.head, &next); err != nil {
		return err
	}
	stored, err := next.encode()
	if err != nil {
		return err
	}
	body = slices.Clone(body)
	puts, inBody := []storage.Entry{{Key: keyOf(headKind, next.ID), Value: stored}}, body
	if next.large {
		puts, inBody = append(puts, storage.Entry{Key: keyOf(largeKind, next.ID), Value: body}), nil
	}
	value := binary.BigEndian.AppendUint32(slices.Concat(inBody, change.Tail), uint32(len(change.Tail)))
	puts = append(puts, storage.Entry{Key: keyOf(bodyKind, next.ID), Value: value})
	for _, row := range change.Rows {
		puts = append(puts, storage.Entry{Key: historyKey(next.ID, row.Version), Value: row.Data})
	}
	if last.head.large && !next.large {
		if err := t.tx.Delete(ctx, keyOf(largeKind, next.ID)); err != nil {
			return err
		}
	}
	t.tx.Committed(func() {
		t.s.keep(keptVersion{App: next.whole(body), head: next, stored: stored, tail: change.Tail})
	})
	return t.tx.Put(ctx, puts...)
}

// moveInLists moves an app from the lists of its last version to those of the next one, whose numbers it sets. last is
// the zero head for a new app.
func (t *writer) moveInLists(ctx context.Context, last appHead, next *appHead) (err error) {
	next.lists = last.lists
	if last.lists == nil || !slices.Equal(last.Groups, next.Groups) || last.DeletedAt != next.DeletedAt {
		if next.lists, err = t.giveNumbers(ctx, listKeys(*next)); err != nil {
			return err
		}
	}
	before, now := last.timeKeys(), next.timeKeys()
	if last.Title != next.Title {
		before, now = append(before, wordKeys(last)...), append(now, wordKeys(*next)...)
	}
	added := without(now, before)
	if components := without(next.Components, last.Components); len(components) > 0 {
		for i, c := range components {
			components[i] = keyOf(listKind, ofComponent, c)
		}
		numbers, err := t.giveNumbers(ctx, components)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			added = append(added, usedKey(n, next.ID))
		}
	}
	puts := make([]storage.Entry, len(added))
	for i, key := range added {
		puts[i].Key = key
	}
	if err := t.tx.Delete(ctx, without(before, now)...); err != nil {
		return err
	}
	return t.tx.Put(ctx, puts...)
}

// indexKeys returns the keys by which lists find the app with this head: those of its lists, and of the words of its
// title.
func (h appHead) indexKeys() []string { return append(h.timeKeys(), wordKeys(h)...) }

// timeKeys returns the keys of the app with this head in its lists.
func (h appHead) timeKeys() (keys []string) {
	for _, n := range h.lists {
		keys = append(keys, timeKey(createdKind, n, appPosition{h.CreatedAt, h.ID}),
			timeKey(updatedKind, n, appPosition{h.UpdatedAt, h.ID}))
	}
	return keys
}
