package records

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/history"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

const (
	// MostOfBody is the maximum size in bytes of a body in body/. A page of apps reads many of these at once.
	MostOfBody = 64 << 10
	// mostOfID is the maximum length of the id of an app in bytes, since keys contain the whole id.
	mostOfID = 200
)

// DecodeBody returns the parts of a value of body/: the body, the tail of the history, and in four bytes the length of
// the tail.
func DecodeBody(app string, value []byte) (body, tail []byte, err error) {
	rest := len(value) - 4
	if rest < 0 || int64(binary.BigEndian.Uint32(value[rest:])) > int64(rest) {
		return nil, nil, keyval.Damaged(BodyKey(app), errors.New("it ends too early"))
	}
	at := rest - int(binary.BigEndian.Uint32(value[rest:]))
	return value[:at:at], value[at:rest:rest], nil
}

// Body returns the body of the latest version of an app and the tail of its history, given the value of body/. large
// says that the body is in large/.
func (r Reader) Body(ctx context.Context, app string, large bool, value []byte) (body, tail []byte, err error) {
	text, tail, err := DecodeBody(app, value)
	if err == nil && large {
		text, err = r.Value(ctx, Key(LargeKind, app))
	}
	if err == nil && len(text) == 0 {
		err = keyval.Damaged(BodyKey(app), errors.New("the body is empty"))
	}
	return slices.Clip(text), tail, err
}

// HistoryRows yields the rows of an app's history, newest first, from version v on.
func (r Reader) HistoryRows(ctx context.Context, id string, v int64) history.Rows {
	in := Under(HistoryKind, id)
	in.To, in.Reverse, in.Expect = keyAfter(historyKey(id, v)), true, 4
	return keyval.Map(r.Scan(ctx, in), func(e storage.Entry) (history.Row, error) {
		n, err := keyval.ParseNumber(Parts(e.Key, HistoryKind)[1])
		return history.Row{Version: n, Data: e.Value}, err
	})
}

// inHistory returns a version in the form of package history.
func inHistory(a Head, body []byte) history.Version {
	return history.Version{Number: a.Version, UpdatedAt: a.UpdatedAt, UpdatedBy: a.UpdatedBy, Body: body}
}

// PutVersion stores a version of an app as its latest one, and updates the lists of the app. last is the head before,
// with its body and the tail of its history; it is the zero head of a new app. It returns the head as it is stored, and
// the tail of the history before the version.
func (t Writer) PutVersion(
	ctx context.Context, last Head, lastBody, lastTail []byte, next *Head, body []byte,
) (stored, tail []byte, err error) {
	if len(next.ID) > mostOfID {
		return nil, nil, fmt.Errorf("the id of an app has %d bytes, and %d are the most", len(next.ID), mostOfID)
	}
	next.Large = len(body) > MostOfBody
	var change history.Change
	if last.ID != "" {
		if change, err = history.Append(lastTail, inHistory(last, lastBody), inHistory(*next, body)); err != nil {
			return nil, nil, fmt.Errorf("version %d of app %q: %w", next.Version, next.ID, err)
		}
	}
	if err := t.moveInLists(ctx, last, next); err != nil {
		return nil, nil, err
	}
	if stored, err = json.Marshal(*next); err != nil {
		return nil, nil, err
	}
	puts, inBody := []storage.Entry{{Key: HeadKey(next.ID), Value: stored}}, body
	if next.Large {
		puts, inBody = append(puts, storage.Entry{Key: Key(LargeKind, next.ID), Value: body}), nil
	}
	value := binary.BigEndian.AppendUint32(slices.Concat(inBody, change.Tail), uint32(len(change.Tail)))
	puts = append(puts, storage.Entry{Key: BodyKey(next.ID), Value: value})
	for _, row := range change.Rows {
		puts = append(puts, storage.Entry{Key: historyKey(next.ID, row.Version), Value: row.Data})
	}
	if last.Large && !next.Large {
		if err := t.Tx.Delete(ctx, Key(LargeKind, next.ID)); err != nil {
			return nil, nil, err
		}
	}
	return stored, change.Tail, t.Tx.Put(ctx, puts...)
}

// Erase removes all records of an app that is deleted.
func (t Writer) Erase(ctx context.Context, h Head, published []Published) error {
	gone := append(h.IndexKeys(), Key(DeletedKind, h.ID), BodyKey(h.ID), Key(LargeKind, h.ID))
	for _, p := range published {
		gone = append(gone, p.Key())
	}
	// the components of its older versions are not known
	for e, err := range t.Rows.Scan(ctx, Under(ListKind, OfComponent)) {
		if err != nil {
			return err
		}
		n, err := ParseDecimal(e.Key, e.Value)
		if err != nil {
			return err
		}
		gone = append(gone, UsedKey(n, h.ID))
	}
	if err := t.Tx.Delete(ctx, gone...); err != nil {
		return err
	}
	for _, kind := range []string{HistoryKind, RestoredKind, NoteKind, TagKind, MoveKind, MovedKind} {
		if err := t.Tx.DeleteRange(ctx, Under(kind, h.ID)); err != nil {
			return err
		}
	}
	previews, err := t.Rows.Previews(ctx, h.ID)
	if err == nil {
		err = t.DeletePreviews(ctx, previews...)
	}
	if err != nil {
		return err
	}
	return t.eraseComments(ctx, h.ID)
}

// ofVersions returns the values of up to limit records of a kind for versions below before, decoded by value. A version
// without a number is above all versions, and a limit of 0 means all.
func ofVersions[T any](
	ctx context.Context, r Reader, kind, app string, before vitrine.Version, limit int,
	value func(storage.Entry) (T, error),
) (map[vitrine.Version]T, error) {
	in := Under(kind, app)
	in.Reverse, in.Limit, in.Expect = true, limit, limit
	if n := before.Number(); n >= 0 {
		in.To = Key(kind, app, keyval.Number(n))
	}
	out := map[vitrine.Version]T{}
	for e, err := range r.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		version, err := keyval.ParseNumber(Parts(e.Key, kind)[1])
		if err != nil {
			return nil, keyval.Damaged(e.Key, err)
		}
		if out[VersionOrNone(version)], err = value(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Notes returns the notes of up to limit versions below before that have one.
func (r Reader) Notes(
	ctx context.Context, app string, before vitrine.Version, limit int,
) (map[vitrine.Version]string, error) {
	return ofVersions(ctx, r, NoteKind, app, before, limit, func(e storage.Entry) (string, error) {
		return string(e.Value), nil
	})
}

// Restorations returns up to limit versions below before that Restore made, each with the version whose content it has.
func (r Reader) Restorations(
	ctx context.Context, app string, before vitrine.Version, limit int,
) (map[vitrine.Version]vitrine.Version, error) {
	return ofVersions(ctx, r, RestoredKind, app, before, limit, func(e storage.Entry) (vitrine.Version, error) {
		from, err := ParseDecimal(e.Key, e.Value)
		return VersionOrNone(from), err
	})
}

func (t Writer) AddRestoration(ctx context.Context, app string, v, from vitrine.Version) error {
	key := Key(RestoredKind, app, keyval.Number(v.Number()))
	return t.Tx.Put(ctx, storage.Entry{Key: key, Value: decimal(from.Number())})
}

func (t Writer) AddNote(ctx context.Context, app string, v vitrine.Version, note string) error {
	return t.Tx.Put(ctx, storage.Entry{Key: NoteKey(app, v.Number()), Value: []byte(note)})
}
