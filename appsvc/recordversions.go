package appsvc

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/history"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

const (
	// mostOfBody is how many bytes a body has at most that stands in body/. A page of apps reads many of these at once.
	mostOfBody = 64 << 10
	// mostOfID is how many bytes the id of an app has at most: keys have it whole.
	mostOfID = 200
)

// storedHead is the Head of an app as it is stored.
type storedHead struct {
	Head
	lists []int64 // numbers of the lists that the app is in, in the order of listKeys
	large bool    // the body is in large/
}

// headJSON is the JSON of a storedHead.
type headJSON struct {
	Version    int64    `json:"version"`
	CreatedAt  int64    `json:"createdAt"`
	UpdatedAt  int64    `json:"updatedAt"`
	UpdatedBy  string   `json:"updatedBy"`
	Owner      string   `json:"owner"`
	Groups     []string `json:"groups"`
	Components []string `json:"components"`
	Lists      []int64  `json:"lists"`
	Large      bool     `json:"large,omitzero"`
}

func (h storedHead) encode() ([]byte, error) {
	return json.Marshal(headJSON{h.Version.Number(), h.CreatedAt, h.UpdatedAt, h.UpdatedBy, h.Owner, h.Groups, h.Components, h.lists, h.large})
}

// decodeHead reads what encode wrote. Heads are read often, so it scans the JSON once, without reflection.
func decodeHead(app string, value []byte) (h storedHead, err error) {
	members, err := rawjson.Members(value)
	number := func(raw []byte) (n int64) {
		n, e := strconv.ParseInt(string(raw), 10, 64)
		err = errors.Join(err, e)
		return n
	}
	text := func(raw []byte) string {
		s, ok := rawjson.Text(raw)
		if !ok {
			err = errors.Join(err, fmt.Errorf("%.20q is no string", raw))
		}
		return s
	}
	list := func(raw []byte, add func([]byte)) {
		if string(raw) == "null" {
			return
		}
		items, e := rawjson.Items(raw)
		err = errors.Join(err, e)
		for _, item := range items {
			add(item)
		}
	}
	h.ID = app
	for _, m := range members {
		switch m.Name {
		case "version":
			h.Version = versionOrNone(number(m.Value))
		case "createdAt":
			h.CreatedAt = number(m.Value)
		case "updatedAt":
			h.UpdatedAt = number(m.Value)
		case "updatedBy":
			h.UpdatedBy = text(m.Value)
		case "owner":
			h.Owner = text(m.Value)
		case "groups":
			list(m.Value, func(item []byte) { h.Groups = append(h.Groups, text(item)) })
		case "components":
			list(m.Value, func(item []byte) { h.Components = append(h.Components, text(item)) })
		case "lists":
			list(m.Value, func(item []byte) { h.lists = append(h.lists, number(item)) })
		case "large":
			h.large = string(m.Value) == "true"
		}
	}
	if err == nil && h.Version.IsZero() {
		err = errors.New("it has no version")
	}
	if err != nil {
		return storedHead{}, damaged(keyOf(headKind, app), err)
	}
	return h, nil
}

// versionOrNone returns the version with a number, the zero Version for -1.
func versionOrNone(n int64) vitrine.Version {
	if n < 0 {
		return vitrine.Version{}
	}
	return vitrine.NewVersion(n)
}

// storedBody returns a value of body/: the body, the tail of the history, and in four bytes the length of the tail.
func storedBody(body, tail []byte) []byte {
	out := make([]byte, 0, len(body)+len(tail)+4)
	out = append(append(out, body...), tail...)
	return binary.BigEndian.AppendUint32(out, uint32(len(tail)))
}

// decodeBody returns the parts of a value of body/.
func decodeBody(app string, value []byte) (body, tail []byte, err error) {
	rest := len(value) - 4
	if rest < 0 || int64(binary.BigEndian.Uint32(value[rest:])) > int64(rest) {
		return nil, nil, damaged(keyOf(bodyKind, app), errors.New("it ends too early"))
	}
	at := rest - int(binary.BigEndian.Uint32(value[rest:]))
	return value[:at:at], value[at:rest:rest], nil
}

func noApp(id string) error { return fmt.Errorf("%w: app %q", vitrine.ErrNotFound, id) }

func (r *recordReader) Head(ctx context.Context, id string) (Head, error) {
	h, err := r.head(ctx, id)
	return h.Head, err
}

func (r *recordReader) head(ctx context.Context, id string) (storedHead, error) {
	value, err := r.value(ctx, keyOf(headKind, id))
	if err == nil && value == nil {
		err = noApp(id)
	}
	if err != nil {
		return storedHead{}, err
	}
	return decodeHead(id, value)
}

// latest returns the head and the body of the latest version of an app, and the tail of its history.
func (r *recordReader) latest(ctx context.Context, id string) (h storedHead, body, tail []byte, err error) {
	values, err := r.r.Get(ctx, keyOf(headKind, id), keyOf(bodyKind, id))
	if err == nil && values[0] == nil {
		err = noApp(id)
	}
	if err == nil {
		h, err = decodeHead(id, values[0])
	}
	if err == nil {
		body, tail, err = r.body(ctx, h, values[1])
	}
	return h, body, tail, err
}

// body returns the body of the latest version of an app and the tail of its history, given the value of body/.
func (r *recordReader) body(ctx context.Context, h storedHead, value []byte) (body, tail []byte, err error) {
	body, tail, err = decodeBody(h.ID, value)
	if err == nil && h.large {
		body, err = r.value(ctx, keyOf(largeKind, h.ID))
	}
	return slices.Clip(body), tail, err
}

func (r *recordReader) App(ctx context.Context, id string, v vitrine.Version) (App, error) {
	h, err := r.head(ctx, id)
	if err != nil {
		return App{}, err
	}
	if v == vitrine.Latest {
		v = h.Version
	}
	if v.IsZero() || v.Compare(h.Version) > 0 {
		return App{}, fmt.Errorf("%w: version %s of app %q", vitrine.ErrNotFound, v, id)
	}
	name := versionName{id, v.Number()}
	if app, found := r.s.versions.get(name); found && r.tx == nil {
		return app, nil
	}
	h, body, tail, err := r.latest(ctx, id)
	app := App{Meta: h.Meta, Body: body}
	if err == nil && v != h.Version {
		var old history.Version
		old, err = r.s.codec.Read(tail, r.historyRows(ctx, id, v.Number()), v.Number())
		app = h.older(old)
	}
	if err != nil {
		return App{}, fmt.Errorf("version %s of app %q: %w", v, id, err)
	}
	if r.tx == nil {
		r.s.keepVersion(app, v == h.Version)
	}
	return app, nil
}

// keepVersion puts a version into the cache, where it never changes. Of the latest version it also notes that it is there.
func (s *records) keepVersion(app App, latest bool) {
	s.versions.put(versionName{app.ID, app.Version.Number()}, app, 500+len(app.Body))
	if latest {
		s.versions.put(versionName{app.ID, latestIsKept}, App{}, 500)
	}
}

// latestIsKept is the number of an entry of the cache which says that it has a version that was the latest one.
const latestIsKept = -1

// readLatestAhead reads the head of an app and, unless the cache may have it, the body of its latest version in one trip.
func readLatestAhead(ctx context.Context, r Reader, id string) error {
	known, ok := r.(*recordReader)
	if !ok {
		return nil
	}
	keys := []string{keyOf(headKind, id), keyOf(bodyKind, id)}
	if _, kept := known.s.versions.get(versionName{id, latestIsKept}); kept {
		keys = keys[:1]
	}
	return known.r.Ahead(ctx, keys...)
}

// historyRows yields the rows of an app's history from version v down.
func (r *recordReader) historyRows(ctx context.Context, id string, v int64) history.Rows {
	in := under(historyKind, id)
	in.To, in.Reverse, in.Expect = keyAfter(historyKey(id, v)), true, 4
	return func(yield func(history.Row, error) bool) {
		for e, err := range r.r.Scan(ctx, in) {
			var row history.Row
			if err == nil {
				row.Version, err = rec.ParseNumber(partsOf(e.Key, historyKind)[1])
				row.Data = e.Value
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// older returns an older version of the app with this head.
func (h storedHead) older(v history.Version) App {
	m := h.Meta
	m.Version, m.UpdatedAt, m.UpdatedBy = vitrine.NewVersion(v.Number), v.UpdatedAt, v.UpdatedBy
	return App{Meta: m, Body: v.Body}
}

// inHistory returns a version as package history has it.
func inHistory(m Meta, body []byte) history.Version {
	return history.Version{Number: m.Version.Number(), UpdatedAt: m.UpdatedAt, UpdatedBy: m.UpdatedBy, Body: body}
}

func (r *recordReader) Versions(ctx context.Context, q VersionQuery) iter.Seq2[App, error] {
	return yields(ctx, q.Limit, func(out func(App) bool) error {
		h, body, tail, err := r.latest(ctx, q.AppID)
		if err != nil {
			return ignore(err, vitrine.ErrNotFound)
		}
		next := h.Version.Number()
		if before := q.Before.Number(); before >= 0 {
			next = min(next, before-1)
		}
		if next == h.Version.Number() {
			if !out(App{Meta: h.Meta, Body: body}) {
				return nil
			}
			next--
		}
		for next >= 0 {
			const most, bytes = 64, 1 << 20 // at a time
			n := most
			if q.Limit > 0 {
				n = min(n, q.Limit)
			}
			list, err := r.s.codec.List(tail, r.historyRows(ctx, q.AppID, next), next, n, bytes)
			if err != nil {
				return fmt.Errorf("versions of app %q: %w", q.AppID, err)
			}
			for _, v := range list {
				if !out(h.older(v)) {
					return nil
				}
			}
			next -= int64(len(list))
		}
		return nil
	})
}

// AddVersion replaces the latest version, and moves the app in its lists.
func (t *recordTx) AddVersion(ctx context.Context, h Head, body Body) error {
	if len(h.ID) > mostOfID {
		return fmt.Errorf("the id of an app has %d bytes, and %d are the most", len(h.ID), mostOfID)
	}
	last, old, tail, err := t.latest(ctx, h.ID)
	isNew := errors.Is(err, vitrine.ErrNotFound)
	if err != nil && !isNew {
		return err
	}
	if h.Version != last.Version.Next() {
		return fmt.Errorf("%w: version %s of app %q: want the one after the latest", ErrExists, h.Version, h.ID)
	}
	next := storedHead{Head: h, large: len(body) > mostOfBody}
	var change history.Change
	if !isNew {
		next.Owner, next.CreatedAt = last.Owner, last.CreatedAt
		if change, err = t.s.codec.Append(tail, inHistory(last.Meta, old), inHistory(h.Meta, body)); err != nil {
			return fmt.Errorf("version %s of app %q: %w", h.Version, h.ID, err)
		}
	}
	if err := t.moveInLists(ctx, last, &next, isNew); err != nil {
		return err
	}
	value, err := next.encode()
	if err != nil {
		return err
	}
	puts := []storage.Entry{{Key: keyOf(headKind, h.ID), Value: value}}
	if next.large {
		puts = append(puts, storage.Entry{Key: keyOf(largeKind, h.ID), Value: slices.Clone(body)}, storage.Entry{Key: keyOf(bodyKind, h.ID), Value: storedBody(nil, change.Tail)})
	} else {
		puts = append(puts, storage.Entry{Key: keyOf(bodyKind, h.ID), Value: storedBody(body, change.Tail)})
	}
	for _, row := range change.Rows {
		puts = append(puts, storage.Entry{Key: historyKey(h.ID, row.Version), Value: row.Data})
	}
	if last.large && !next.large {
		if err := t.tx.Delete(ctx, keyOf(largeKind, h.ID)); err != nil {
			return err
		}
	}
	app := App{Meta: next.Meta, Body: slices.Clone(body)}
	t.tx.Committed(func() { t.s.keepVersion(app, true) })
	return t.tx.Put(ctx, puts...)
}

// moveInLists takes an app from the lists of its last version to those of the next one, whose numbers it sets.
func (t *recordTx) moveInLists(ctx context.Context, last storedHead, next *storedHead, isNew bool) error {
	var lists []string
	stays := !isNew && slices.Equal(last.Groups, next.Groups)
	if next.lists = last.lists; !stays {
		lists = listKeys(next.Head)
	}
	added := without(next.Components, last.Components)
	all := lists
	for _, c := range added {
		all = append(all, keyOf(listKind, ofComponent, c))
	}
	numbers, err := t.giveNumbers(ctx, all)
	if err != nil {
		return err
	}
	if !stays {
		next.lists = numbers[:len(lists):len(lists)]
	}
	var puts []storage.Entry
	put := func(key string) { puts = append(puts, storage.Entry{Key: key}) }
	var gone []string
	created, before, now := AppPosition{next.CreatedAt, next.ID}, AppPosition{last.UpdatedAt, next.ID}, AppPosition{next.UpdatedAt, next.ID}
	for _, n := range last.lists {
		isIn := slices.Contains(next.lists, n)
		if !isIn {
			gone = append(gone, timeKey(createdKind, n, created))
		}
		if !isIn || before != now {
			gone = append(gone, timeKey(updatedKind, n, before))
		}
	}
	for _, n := range next.lists {
		wasIn := slices.Contains(last.lists, n)
		if !wasIn {
			put(timeKey(createdKind, n, created))
		}
		if !wasIn || before != now {
			put(timeKey(updatedKind, n, now))
		}
	}
	for _, n := range numbers[len(lists):] {
		put(usedKey(n, next.ID))
	}
	if err := t.tx.Delete(ctx, gone...); err != nil {
		return err
	}
	return t.tx.Put(ctx, puts...)
}
