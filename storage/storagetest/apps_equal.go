package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// AppsEqual runs the same random transactions on two empty stores. It fails unless every result, and the whole content of
// apps, tags, components and answers after each transaction, are equal byte by byte. Of errors it compares the known error
// that each wraps, and not the text. The seed determines the transactions; a failure names it.
func AppsEqual(t *testing.T, a, b appsvc.Store, seed uint64, operations int) {
	t.Helper()
	d := randomData{rand.New(rand.NewPCG(seed, 1))}
	var told []string // the operations up to now
	for len(told) < operations {
		steps := d.transaction()
		told = append(told, steps.String())
		got, want := steps.run(a), steps.run(b)
		if got != want {
			t.Fatalf("seed %d: after\n%s\nthe first store says\n%s\nand the second\n%s", seed, strings.Join(told, "\n"), got, want)
		}
	}
}

// step is one call in a transaction: its name, and a function that returns its result as text.
type step struct {
	name string
	call func(r reader, w tx) string
}

// transaction is a View or an Update of some steps.
type transaction struct {
	steps   []step
	outcome error // what fn returns in the end
	panics  bool  // fn panics instead
	view    bool  // reads only, in a View
}

var errRolledBack = errors.New("rolled back")

func (d randomData) transaction() transaction {
	t := transaction{view: d.IntN(3) == 0}
	for range 1 + d.IntN(6) {
		if t.view || d.IntN(4) == 0 {
			t.steps = append(t.steps, d.readStep())
		} else {
			t.steps = append(t.steps, d.writeStep())
		}
	}
	if n := d.IntN(10); n < 2 {
		t.outcome, t.panics = errRolledBack, n == 0
	}
	return t
}

func (t transaction) String() string {
	names := make([]string, len(t.steps))
	for i, s := range t.steps {
		names[i] = s.name
	}
	return fmt.Sprintf("view %t, outcome %v, panics %t: %s", t.view, t.outcome, t.panics, strings.Join(names, "; "))
}

// run runs the transaction on a store. It returns the results of the steps and of the transaction as text, followed by the
// content of the store.
func (t transaction) run(s appsvc.Store) string {
	var told string
	fn := func(r reader, w tx) error {
		told = ""
		for _, step := range t.steps {
			told += step.name + ": " + step.call(r, w) + "\n"
		}
		if t.panics {
			panic(t.outcome)
		}
		return t.outcome
	}
	var err error
	panicked := panicOf(func() {
		if t.view {
			err = s.View(ctx, func(r reader) error { return fn(r, nil) })
		} else {
			err = s.Update(ctx, func(w tx) error { return fn(w, w) })
		}
	})
	told += fmt.Sprintf("panic %v, error %s\n", panicked, class(err))
	after, err := tryRead(s, func(r reader) (string, error) { return state(r), nil })
	return told + after + class(err)
}

func (d randomData) appName() string { return pick(d, []string{"a", "A", "ä", "b"}) }

// version returns a version that an app may have, Latest, or the zero Version.
func (d randomData) version() vitrine.Version {
	switch n := d.IntN(9); n {
	case 0:
		return vitrine.Version{}
	case 1:
		return vitrine.Latest
	default:
		return vitrine.NewVersion(n - 2)
	}
}

func (d randomData) writeStep() step {
	switch d.IntN(9) {
	case 0, 1, 2:
		id, seed, far := d.appName(), d.Uint64(), d.IntN(10) == 0
		return step{fmt.Sprintf("AddVersion(%q, made from %d, too far: %t)", id, seed, far), func(_ reader, w tx) string { return addMade(w, id, seed, far) }}
	case 3:
		tag := tag(d.appName(), pick(d, oddNames[:9]), vitrine.NewVersion(d.IntN(8)))
		return step{fmt.Sprintf("SetTag(%q of %q to %s)", tag.Name, tag.AppID, tag.AppVersion), func(_ reader, w tx) string { return class(w.SetTag(ctx, tag)) }}
	case 4:
		id, name := d.appName(), pick(d, oddNames[:9])
		return step{fmt.Sprintf("DeleteTag(%q, %q)", id, name), func(_ reader, w tx) string { return class(w.DeleteTag(ctx, id, name)) }}
	case 8:
		id, name, m := d.appName(), pick(d, oddNames[:9]), appsvc.TagMove{At: d.Int64N(9), By: d.user()}
		if n := d.IntN(8); n > 0 {
			m.From = vitrine.NewVersion(n - 1)
		}
		if n := d.IntN(8); n > 0 {
			m.To = vitrine.NewVersion(n - 1)
		}
		return step{fmt.Sprintf("AddTagMove(%q of %q, %+v)", name, id, m), func(_ reader, w tx) string { return addMove(w, id, name, m) }}
	case 5:
		c := component(pick(d, []string{"", "", "1", "2"}), pick(d, oddNames[:9]), pick(d, []string{"1", "2", "10"}))
		return step{fmt.Sprintf("AddComponent(%q)", c), func(_ reader, w tx) string { return class(w.AddComponent(ctx, c)) }}
	case 6:
		name := pick(d, oddNames[:9])
		return step{fmt.Sprintf("DeleteComponent(%q)", name), func(_ reader, w tx) string { return class(w.DeleteComponent(ctx, name)) }}
	default:
		now := d.Int64N(20)
		a := answer(d.user(), pick(d, []string{"k", "K", "kk"}), now+1+d.Int64N(20))
		return step{fmt.Sprintf("KeepAnswer(%+v, %d)", a, now), func(_ reader, w tx) string { return class(w.KeepAnswer(ctx, a, now)) }}
	}
}

// addMove adds the next move of a tag, and returns the result as text.
func addMove(w tx, id, name string, m appsvc.TagMove) string {
	last, err := collect(w.TagMoves(ctx, appsvc.TagMoveQuery{AppID: id, Name: name, Limit: 1}))
	if err != nil {
		return class(err)
	}
	next := appsvc.TagMoveRecord{AppID: id, Name: name, Number: 1, TagMove: m}
	if len(last) > 0 {
		next.Number += last[0].Number
	}
	return class(w.AddTagMove(ctx, next))
}

// addMade adds the next version of an app or, if far is true, the one after that, which must be refused. The seed determines
// the content. It returns the result as text.
func addMade(w tx, id string, seed uint64, far bool) string {
	old, err := w.Head(ctx, id)
	if err != nil && !errors.Is(err, vitrine.ErrNotFound) {
		return class(err)
	}
	d := randomData{rand.New(rand.NewPCG(seed, 2))}
	h := d.next(id, old)
	if far {
		h.Version = h.Version.Next()
	}
	body := bodyOf(h, strings.Repeat(pick(d, oddNames), d.IntN(20)))
	err = w.AddVersion(ctx, h, body)
	if err == nil && d.IntN(3) == 0 {
		err = w.AddRestoration(ctx, restored(id, int(h.Version.Number()), d.IntN(8)))
	}
	return class(err)
}

func (d randomData) readStep() step {
	id := d.appName()
	switch d.IntN(9) {
	case 8:
		q := appsvc.UserQuery{Component: pick(d, oddNames[:7]), Owner: d.user(), Groups: d.some(3, d.group), From: pick(d, []string{"", "A", "b"})}
		return step{fmt.Sprintf("Users(%+v)", q), func(r reader, _ tx) string { return answerText(collect(r.Users(ctx, q))) }}
	case 6:
		q := appsvc.VersionQuery{AppID: id, Before: d.version(), Limit: d.IntN(4)}
		return step{fmt.Sprintf("Restorations(%+v)", q), func(r reader, _ tx) string { return answerText(collect(r.Restorations(ctx, q))) }}
	case 0:
		v := d.version()
		return step{fmt.Sprintf("App(%q, %s)", id, v), func(r reader, _ tx) string { return answerText(r.App(ctx, id, v)) }}
	case 1:
		q := appsvc.VersionQuery{AppID: id, Before: d.version(), Limit: d.IntN(4)}
		return step{fmt.Sprintf("Versions(%+v)", q), func(r reader, _ tx) string { return answerText(collect(r.Versions(ctx, q))) }}
	case 2:
		q := d.query(nil)
		return step{"Apps(" + describeQuery(q) + ")", func(r reader, _ tx) string { return answerText(collect(r.Apps(ctx, q))) }}
	case 3:
		q := appsvc.TagQuery{AppID: id, After: pick(d, oddNames[:9]), Limit: d.IntN(4)}
		if d.IntN(2) == 0 {
			q.Name = pick(d, oddNames[:9])
		}
		return step{fmt.Sprintf("Tags(%+v)", q), func(r reader, _ tx) string { return answerText(collect(r.Tags(ctx, q))) }}
	case 7:
		q := appsvc.TagMoveQuery{AppID: id, Name: pick(d, oddNames[:9]), Before: d.Int64N(4), Limit: d.IntN(3)}
		return step{fmt.Sprintf("TagMoves(%+v)", q), func(r reader, _ tx) string { return answerText(collect(r.TagMoves(ctx, q))) }}
	case 4:
		q := appsvc.ComponentQuery{After: pick(d, oddNames[:9]), Version: pick(d, []string{"", "1", "10"})}
		return step{fmt.Sprintf("Components(%+v)", q), func(r reader, _ tx) string { return answerText(collect(r.Components(ctx, q))) }}
	default:
		return step{fmt.Sprintf("Head(%q)", id), func(r reader, _ tx) string { return answerText(r.Head(ctx, id)) }}
	}
}

// state returns everything that the random operations can have stored, as text.
func state(r reader) string {
	var told strings.Builder
	everybody := appsvc.AppQuery{Groups: []string{"urn"}, Sort: appsvc.UpdatedDescending}
	fmt.Fprintln(&told, answerText(collect(r.Apps(ctx, everybody))))
	for _, id := range []string{"a", "A", "ä", "b"} {
		fmt.Fprintln(&told, id, answerText(r.Head(ctx, id)),
			answerText(collect(r.Versions(ctx, appsvc.VersionQuery{AppID: id}))),
			answerText(collect(r.Restorations(ctx, appsvc.VersionQuery{AppID: id}))),
			answerText(collect(r.Tags(ctx, appsvc.TagQuery{AppID: id}))))
		names, err := collect(r.TagNames(ctx, id))
		fmt.Fprintln(&told, answerText(names, err))
		for _, name := range names {
			fmt.Fprintln(&told, answerText(collect(r.TagMoves(ctx, appsvc.TagMoveQuery{AppID: id, Name: name}))))
		}
	}
	fmt.Fprintln(&told, answerText(collect(r.Components(ctx, appsvc.ComponentQuery{}))))
	for user := range 3 {
		for _, key := range []string{"k", "K", "kk"} {
			fmt.Fprintln(&told, answerText(r.Answer(ctx, fmt.Sprintf("%s:user=%d", network, user), key)))
		}
	}
	return told.String()
}

// answerText returns the result of a read as text. Two results have the same text only if they are equal. Strings and
// bytes are quoted; numbers are quoted as characters, since the random ones are small.
func answerText(v any, err error) string {
	if err != nil {
		return class(err)
	}
	return fmt.Sprintf("%q", v)
}

// class returns the text of the known error that err wraps, "ok" for nil. The words that a driver adds to it may differ. Any
// other error is unexpected, and its whole text is returned.
func class(err error) string {
	if err == nil {
		return "ok"
	}
	for _, known := range []error{vitrine.ErrNotFound, appsvc.ErrExists, errRolledBack, context.Canceled} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "unexpected: " + err.Error()
}
