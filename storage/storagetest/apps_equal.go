package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

// AppsEqual does the same random operations on two empty stores and compares every answer, byte by
// byte, and what is there after each update. The seed decides the operations; a failure names it.
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

// step is one call of a transaction: its name in words, and what it answers as text.
type step struct {
	name string
	call func(r reader, w tx) string
}

// transaction is some steps that are done together.
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

// run does the transaction and tells of it, and of all that is there afterwards.
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

func (d randomData) version() appsvc.Version { return appsvc.Version(d.IntN(8) - 1) }

func (d randomData) writeStep() step {
	switch d.IntN(8) {
	case 0, 1, 2:
		id, seed, far := d.appName(), d.Uint64(), d.IntN(10) == 0
		return step{fmt.Sprintf("AddVersion(%q, made from %d, too far: %t)", id, seed, far), func(_ reader, w tx) string { return addMade(w, id, seed, far) }}
	case 3:
		tag := tag(d.appName(), pick(d, oddNames[:9]), d.version()+1)
		return step{fmt.Sprintf("SetTag(%q)", tag), func(_ reader, w tx) string { return class(w.SetTag(ctx, tag)) }}
	case 4:
		id, name := d.appName(), pick(d, oddNames[:9])
		return step{fmt.Sprintf("DeleteTag(%q, %q)", id, name), func(_ reader, w tx) string { return class(w.DeleteTag(ctx, id, name)) }}
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

// addMade adds the next version of an app, or the one after it; the seed says what is in it.
func addMade(w tx, id string, seed uint64, far bool) string {
	old, err := w.Head(ctx, id)
	if err != nil && !errors.Is(err, appsvc.ErrNotFound) {
		return class(err)
	}
	d := randomData{rand.New(rand.NewPCG(seed, 2))}
	h := d.next(id, old)
	if far {
		h.Version++
	}
	body := bodyOf(h, strings.Repeat(pick(d, oddNames), d.IntN(20)))
	return class(w.AddVersion(ctx, h, body))
}

func (d randomData) readStep() step {
	id := d.appName()
	switch d.IntN(6) {
	case 0:
		v := d.version()
		return step{fmt.Sprintf("App(%q, %d)", id, v), func(r reader, _ tx) string { return answerText(r.App(ctx, id, v)) }}
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
	case 4:
		q := appsvc.ComponentQuery{After: pick(d, oddNames[:9]), Version: pick(d, []string{"", "1", "10"})}
		return step{fmt.Sprintf("Components(%+v)", q), func(r reader, _ tx) string { return answerText(collect(r.Components(ctx, q))) }}
	default:
		return step{fmt.Sprintf("Head(%q)", id), func(r reader, _ tx) string { return answerText(r.Head(ctx, id)) }}
	}
}

// state tells of all that the random operations can have stored.
func state(r reader) string {
	var told strings.Builder
	everybody := appsvc.AppQuery{Groups: []string{"urn"}, Sort: appsvc.UpdatedDescending}
	fmt.Fprintln(&told, answerText(collect(r.Apps(ctx, everybody))))
	for _, id := range []string{"a", "A", "ä", "b"} {
		fmt.Fprintln(&told, id, answerText(r.Head(ctx, id)),
			answerText(collect(r.Versions(ctx, appsvc.VersionQuery{AppID: id, Before: appsvc.Latest}))),
			answerText(collect(r.Tags(ctx, appsvc.TagQuery{AppID: id}))))
	}
	fmt.Fprintln(&told, answerText(collect(r.Components(ctx, appsvc.ComponentQuery{}))))
	for user := range 3 {
		for _, key := range []string{"k", "K", "kk"} {
			fmt.Fprintln(&told, answerText(r.Answer(ctx, fmt.Sprintf("%s:user=%d", network, user), key)))
		}
	}
	return told.String()
}

// answerText is the text of an answer, the same for the same answer and only then: strings and bytes
// are quoted, and so are numbers, as characters, since the random ones are small.
func answerText(v any, err error) string {
	if err != nil {
		return class(err)
	}
	return fmt.Sprintf("%q", v)
}

// class is which of the known errors err is. What a driver adds in words is its own.
func class(err error) string {
	if err == nil {
		return "ok"
	}
	for _, known := range []error{appsvc.ErrNotFound, appsvc.ErrExists, errRolledBack, context.Canceled} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "unexpected: " + err.Error()
}
