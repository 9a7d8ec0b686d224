package reviews

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Audit looks at all records of reviews, and yields what no import can have stored, or an error as the last pair. Each network is looked
// at in one View:
//
//   - collections and reviews are what an import stores (see auditor); of a network whose records are not, the first is named;
//   - each collection and each review is listed once, in the order of their numbers, and reviews by time where there are many;
//   - every record belongs to a collection that exists.
func Audit(ctx context.Context, db storage.Store) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		names, err := networks(ctx, db)
		for _, network := range names {
			if err != nil {
				break
			}
			var a *recordAudit
			err = view(ctx, db, network, func(s *rows) error {
				a = &recordAudit{rows: s}
				return a.run()
			})
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

// maxFaults is how many faults of a network are looked for.
const maxFaults = 1000

type recordAudit struct {
	*rows
	faults []storage.Fault
	rules  *auditor // nil after its first fault

	// How many records each collection has, by its number. What was looked at is taken out.
	reviewed, timed, listed map[int64]int
}

func (a *recordAudit) fault(key, format string, args ...any) {
	if len(a.faults) < maxFaults {
		a.faults = append(a.faults, storage.Fault{Key: key, Wrong: fmt.Sprintf(format, args...)})
	}
}

// judge reports a fault that the auditor has found.
func (a *recordAudit) judge(key string, err error) {
	if err != nil {
		a.fault(key, "%v", err)
		a.rules = nil
	}
}

func (a *recordAudit) run() (err error) {
	if a.rules, err = newAuditor(a.network); err != nil {
		a.fault(a.keys.name(), "is missing, or the name of no network: %v", err)
		return nil
	}
	one := func(storage.Entry) int { return 1 }
	if a.reviewed, err = a.perCollection("review/", one); err != nil {
		return err
	}
	if a.timed, err = a.perCollection("time/", one); err != nil {
		return err
	}
	if a.listed, err = a.perCollection("nth/", func(e storage.Entry) int { list, _ := parseList(e); return len(list) }); err != nil {
		return err
	}
	collections := 0
	for e, err := range a.inOrder(a.keys.orders(), a.keys.collections()) {
		if err == nil {
			collections++
			err = a.checkCollection(e)
		}
		if err != nil {
			return err
		}
	}
	for _, prefix := range []string{a.keys.collections(), record.Prefix(a.keys.space, "with/")} {
		n := 0
		for _, err := range a.r.Scan(a.ctx, storage.Prefix(prefix)) {
			if err != nil {
				return err
			}
			n++
		}
		if n != collections {
			a.fault(prefix, "there are %d records, and %d collections are listed", n, collections)
		}
	}
	for kind, left := range map[string]map[int64]int{"review/": a.reviewed, "time/": a.timed, "nth/": a.listed} {
		for number := range left {
			a.fault(record.Prefix(a.keys.space, kind, record.Number(number)), "there is no collection with the number %d", number)
		}
	}
	unknown, err := record.Unknown(a.ctx, a.r, a.keys.space, "collection/", "order/", "with/", "review/", "time/", "nth/", "large/")
	a.faults = append(a.faults, unknown...)
	if err != nil {
		return err
	}
	return a.checkLarge()
}

// perCollection adds up the sizes of the records of a kind whose keys begin with the numbers of collections.
func (a *recordAudit) perCollection(kind string, size func(storage.Entry) int) (map[int64]int, error) {
	out, prefix := map[int64]int{}, record.Prefix(a.keys.space, kind)
	for e, err := range a.r.Scan(a.ctx, storage.Prefix(prefix)) {
		if err != nil {
			return nil, err
		}
		number, err := record.ParseNumber(record.Parts(e.Key, prefix)[0])
		if err != nil {
			a.fault(e.Key, "%v", err)
			continue
		}
		out[number] += size(e)
	}
	return out, nil
}

// inOrder yields the records that the records with a prefix list. of is what their keys begin with.
func (a *recordAudit) inOrder(prefix, of string) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		last := int64(0)
		for e, err := range a.r.Scan(a.ctx, storage.Prefix(prefix)) {
			if err != nil {
				yield(storage.Entry{}, err)
				return
			}
			list, err := parseList(e)
			first, wrong := record.ParseNumber(e.Key[len(prefix):])
			if err != nil || wrong != nil || len(list) == 0 || first <= last || first > list[0].number {
				a.fault(e.Key, "is no list of what comes after number %d", last)
				continue
			}
			keys := make([]string, len(list))
			for i, l := range list {
				keys[i] = of + l.key
			}
			values, err := a.r.Get(a.ctx, keys...)
			if err != nil {
				yield(storage.Entry{}, err)
				return
			}
			for i, l := range list {
				x := storage.Entry{Key: keys[i], Value: values[i]}
				if n := int64(fields(x).Uint()); x.Value == nil || n != l.number || n <= last {
					a.fault(e.Key, "lists %q as number %d after %d, and that has the number %d", x.Key, l.number, last, n)
					continue
				}
				last = l.number
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}

// checkCollection looks at a collection and its reviews.
func (a *recordAudit) checkCollection(e storage.Entry) error {
	c, err := a.decodeCollection(e)
	if err != nil || e.Key != a.keys.collection(c.Key) {
		a.fault(e.Key, "is damaged, or the record of %q of %q: %v", c.ID, c.Source, err)
		return nil
	}
	if err := a.checkThere([]storage.Entry{{Key: a.keys.with(c.Key), Value: ifCut(c.Source)}}); err != nil {
		return err
	}
	if !c.indexed && c.next > maxFew+1 {
		a.fault(e.Key, "has no indices, and may have more than %d reviews", maxFew)
		return nil
	}
	if a.rules != nil {
		a.judge(e.Key, a.rules.collection(c.Collection))
	}
	entries := a.inOrder(a.keys.nths(c.number), a.keys.reviews(c.number))
	if !c.indexed {
		entries = a.few(c, byNumber)
	}
	var times []storage.Entry
	n, last := 0, int64(0)
	for x, err := range entries {
		if err != nil {
			return err
		}
		r, err := a.decodeReview(x)
		switch {
		case err != nil || x.Key != record.Join(a.keys.reviews(c.number), r.ID):
			a.fault(x.Key, "is damaged, or the record of review %q: %v", r.ID, err)
			continue
		case r.n <= last || r.n >= c.next:
			a.fault(x.Key, "has the number %d, want one after %d and before %d", r.n, last, c.next)
		case record.Cut(r.ID) && !c.indexed:
			a.fault(x.Key, "has a long id in a collection without indices")
		}
		n, last = n+1, r.n
		if c.indexed {
			times = append(times, storage.Entry{Key: record.Join(a.keys.times(c.number), timePart(r.Time), r.ID), Value: ifCut(r.ID)})
			if len(times) == maxLoaded {
				if times, err = nil, a.checkThere(times); err != nil {
					return err
				}
			}
		}
		if a.rules != nil {
			a.judge(x.Key, a.rules.review(r.Review))
		}
	}
	if err := a.checkThere(times); err != nil {
		return err
	}
	if a.rules != nil {
		a.judge(e.Key, a.rules.end(c.Collection))
	}
	timed := 0
	if c.indexed {
		timed = n
	}
	if a.reviewed[c.number] != n || a.timed[c.number] != timed || a.listed[c.number] != timed {
		a.fault(e.Key, "has %d reviews, %d of them stored, %d listed by time and %d in their order", n, a.reviewed[c.number], a.timed[c.number], a.listed[c.number])
	}
	delete(a.reviewed, c.number)
	delete(a.timed, c.number)
	delete(a.listed, c.number)
	return nil
}

// checkThere looks for entries of indices.
func (a *recordAudit) checkThere(want []storage.Entry) error {
	keys := make([]string, len(want))
	for i, e := range want {
		keys[i] = e.Key
	}
	values, err := a.r.Get(a.ctx, keys...)
	for i, v := range values {
		if v == nil || !bytes.Equal(v, want[i].Value) {
			a.fault(keys[i], "is missing, or has another value")
		}
	}
	return err
}

// checkLarge looks for large/ records that no other record refers to. Where one is missing, what refers to it is damaged.
func (a *recordAudit) checkLarge() error {
	prefix := record.Prefix(a.keys.space, "large/")
	for e, err := range a.r.Scan(a.ctx, storage.Prefix(prefix)) {
		if err != nil {
			return err
		}
		of := a.keys.space + " " + e.Key[len(prefix):]
		values, err := a.r.Get(a.ctx, of)
		if err != nil {
			return err
		}
		if !isLarge(storage.Entry{Value: values[0]}) {
			a.fault(e.Key, "is part of %q, which is whole without it", of)
		}
	}
	return nil
}
