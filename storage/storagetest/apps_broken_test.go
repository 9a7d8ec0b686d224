//go:build proof

package storagetest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// brokenStore is a good store with a fault in one of these; nil is no fault.
type brokenStore struct {
	appsvc.Store
	view   func(good appsvc.Store, ctx context.Context, fn func(reader) error) error
	update func(good appsvc.Store, ctx context.Context, fn func(tx) error) error
	tx     func(good tx) tx // of a View too, which uses only the reading half
}

func (s brokenStore) View(ctx context.Context, fn func(reader) error) error {
	whole := fn
	if s.tx != nil {
		whole = func(r reader) error { return fn(s.tx(readOnly{Reader: r})) }
	}
	if s.view != nil {
		return s.view(s.Store, ctx, whole)
	}
	return s.Store.View(ctx, whole)
}

func (s brokenStore) Update(ctx context.Context, fn func(tx) error) error {
	whole := fn
	if s.tx != nil {
		whole = func(w tx) error { return fn(s.tx(w)) }
	}
	if s.update != nil {
		return s.update(s.Store, ctx, whole)
	}
	return s.Store.Update(ctx, whole)
}

// readOnly is a Reader in the place of a Tx.
type readOnly struct {
	appsvc.Reader
	writer
}

// writer is the writing half of a Tx.
type writer interface {
	Announce(ctx context.Context, appID string, components []appsvc.ComponentRef) error
	AddVersion(ctx context.Context, h head, body appsvc.Body) error
	AddRestoration(ctx context.Context, r appsvc.Restoration) error
	SetTag(ctx context.Context, t appsvc.Tag) error
	DeleteTag(ctx context.Context, appID, name string) error
	AddTagMove(ctx context.Context, m appsvc.TagMoveRecord) error
	AddComponent(ctx context.Context, c appsvc.Component) error
	DeleteComponent(ctx context.Context, name string) error
	KeepAnswer(ctx context.Context, a appsvc.Answer, now int64) error
	AddEntry(ctx context.Context, e appsvc.FeedEntry) error
	RemoveEntries(ctx context.Context, before int64, limit int) error
}

// lateWrites runs fn on a View and writes what it wrote when it is done.
func lateWrites(good appsvc.Store, ctx context.Context, fn func(tx) error) error {
	var late recorder
	if err := good.View(ctx, func(r reader) error {
		late = recorder{Reader: r, writes: new([]func(w tx) error)}
		return fn(late)
	}); err != nil {
		return err
	}
	return good.Update(ctx, func(w tx) error {
		for _, write := range *late.writes {
			_ = write(w)
		}
		return nil
	})
}

type recorder struct {
	appsvc.Reader
	writes *[]func(w tx) error
}

func (r recorder) note(write func(w tx) error) error {
	*r.writes = append(*r.writes, write)
	return nil
}

func (r recorder) AddVersion(ctx context.Context, h head, body appsvc.Body) error {
	return r.note(func(w tx) error { return w.AddVersion(ctx, h, body) })
}
func (r recorder) AddRestoration(ctx context.Context, rest appsvc.Restoration) error {
	return r.note(func(w tx) error { return w.AddRestoration(ctx, rest) })
}
func (r recorder) Announce(ctx context.Context, appID string, components []appsvc.ComponentRef) error {
	return r.note(func(w tx) error { return w.Announce(ctx, appID, components) })
}
func (r recorder) SetTag(ctx context.Context, t appsvc.Tag) error {
	return r.note(func(w tx) error { return w.SetTag(ctx, t) })
}
func (r recorder) DeleteTag(ctx context.Context, appID, name string) error {
	return r.note(func(w tx) error { return w.DeleteTag(ctx, appID, name) })
}
func (r recorder) AddTagMove(ctx context.Context, m appsvc.TagMoveRecord) error {
	return r.note(func(w tx) error { return w.AddTagMove(ctx, m) })
}
func (r recorder) AddComponent(ctx context.Context, c appsvc.Component) error {
	return r.note(func(w tx) error { return w.AddComponent(ctx, c) })
}
func (r recorder) DeleteComponent(ctx context.Context, name string) error {
	return r.note(func(w tx) error { return w.DeleteComponent(ctx, name) })
}
func (r recorder) KeepAnswer(ctx context.Context, a appsvc.Answer, now int64) error {
	return r.note(func(w tx) error { return w.KeepAnswer(ctx, a, now) })
}
func (r recorder) AddEntry(ctx context.Context, e appsvc.FeedEntry) error {
	return r.note(func(w tx) error { return w.AddEntry(ctx, e) })
}
func (r recorder) RemoveEntries(ctx context.Context, before int64, limit int) error {
	return r.note(func(w tx) error { return w.RemoveEntries(ctx, before, limit) })
}

var errFault = errors.New("fault")

// faults are what a driver may get wrong, each with the rule that finds it.
var faults = []struct {
	fault, rule string
	store       func() brokenStore
}{
	{"an Update that returns an error is committed", "an Update that returns an error commits nothing, and returns that error", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) (err error) {
			kept := good.Update(ctx, func(w tx) error {
				err = fn(w)
				return nil
			})
			return errors.Join(err, kept)
		})},
	{"Update returns another error than fn", "an Update that returns an error commits nothing, and returns that error", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) error {
			if good.Update(ctx, fn) != nil {
				return errFault
			}
			return nil
		})},
	{"an Update that panics is committed", "an Update that panics commits nothing, the caller gets the panic, and the store stays usable", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) (err error) {
			var value any
			err = good.Update(ctx, func(w tx) (err error) {
				value = panicOf(func() { err = fn(w) })
				return err
			})
			if value != nil {
				panic(value)
			}
			return err
		})},
	{"a panic becomes an error", "an Update that panics commits nothing, the caller gets the panic, and the store stays usable", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) (err error) {
			if panicOf(func() { err = good.Update(ctx, fn) }) != nil {
				return errFault
			}
			return err
		})},
	{"Update ignores a context that is done", "with a context that is done Update commits nothing, and Update and View return the context's error", inUpdate(
		func(good appsvc.Store, _ context.Context, fn func(tx) error) error { return good.Update(ctx, fn) })},
	{"Update commits twice", "an Update that returns nil commits all of its writes", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) error {
			return errors.Join(good.Update(ctx, fn), good.Update(ctx, fn))
		})},
	{"parallel Updates read an old snapshot and overwrite each other", "parallel Updates of one app are all committed, one after the other", inUpdate(lateWrites)},
	{"Updates are not serializable", "what an Update read is still current when its writes are committed", inUpdate(lateWrites)},
	{"an Update does not see its own writes", "the reads of an Update see its own writes", inUpdate(lateWrites)},
	{"each read of a View has its own snapshot", "all reads of one View see one snapshot, whatever is committed meanwhile", func() brokenStore {
		return brokenStore{view: func(good appsvc.Store, ctx context.Context, fn func(reader) error) error {
			return fn(momentary{good: good})
		}}
	}},
	{"a View has an outdated snapshot", "a View that begins after an Update returned sees that Update", stale},

	{"AddVersion hides ErrExists", "AddVersion accepts only the number after the latest version, or 0 for a new app; any other is ErrExists",
		inTx(func(good tx) tx { return overlooks{good, appsvc.ErrExists} })},
	{"AddComponent hides ErrExists", "a second component with the same id, or with the same name and version, is ErrExists",
		inTx(func(good tx) tx { return overlooks{good, appsvc.ErrExists} })},
	{"DeleteTag hides ErrNotFound", "DeleteTag removes one tag and nothing else; an absent tag is ErrNotFound",
		inTx(func(good tx) tx { return overlooks{good, vitrine.ErrNotFound} })},
	{"DeleteComponent hides ErrNotFound", "DeleteComponent removes every version of one name and nothing else; an absent name is ErrNotFound",
		inTx(func(good tx) tx { return overlooks{good, vitrine.ErrNotFound} })},
	{"ids are folded to lower case", "ids that differ in case, in Unicode form or by a space are different apps",
		inTx(func(good tx) tx { return lowerIDs{good} })},
	{"bodies are decoded and encoded again", "every version stays readable as it was stored, byte for byte",
		inTx(func(good tx) tx { return rewrites{good} })},
	{"Head has the groups of the first version", "Head returns the data of the latest version",
		inTx(func(good tx) tx { return firstHead{good} })},
	{"apps of one time are ordered by descending id", "apps are ordered by time, up or down, and at the same time by ascending id in byte order",
		inTx(func(good tx) tx {
			return sortsApps{good, func(a, b appsvc.App) int { return strings.Compare(b.ID, a.ID) }}
		})},
	{"After includes the app at its position", "pages of any size, each after the last app of the page before, make up the whole list",
		inTx(func(good tx) tx { return includesAfter{good} })},
	{"After is ignored if no app is at its position", "After is a position in the order, and needs no app at this position",
		inTx(func(good tx) tx { return forgetsAfter{good} })},
	{"groups are compared as prefixes", "Apps yields the apps of the owner and those with a group that is contained in one of the given URNs",
		inTx(func(good tx) tx { return groupPrefixes{good} })},
	{"Limit yields one version too many", "Versions yields the versions below Before, newest first, and stops after Limit",
		inTx(func(good tx) tx { return longer{good} })},
	{"Restorations includes the version Before", "Restorations yields those of versions below Before, newest first, and stops after Limit restorations",
		inTx(func(good tx) tx { return atBefore{good} })},
	{"restorations are not rolled back", "a restoration is visible to the Update that adds it, and is rolled back with it", leakyRestorations},
	{"tags are ordered without regard to case", "Tags yields tags by name in byte order, after the name After, and stops after Limit",
		inTx(func(good tx) tx { return dictionary{good} })},
	{"moves are ordered oldest first", "TagMoves yields the moves of one tag and no other, newest first",
		inTx(func(good tx) tx { return oldestFirst{good} })},
	{"a deleted tag loses its moves", "the moves of a tag outlive the tag, and SetTag and DeleteTag add no moves",
		inTx(func(good tx) tx { return dropsMoves{good} })},
	{"Users looks at the latest version only", "Users yields the apps of which any version has the component, by id in byte order, with their tags",
		inTx(func(good tx) tx { return presentUsers{good} })},
	{"versions of different apps are taken for one", "App returns each version of the app that Users has yielded last",
		inTx(func(good tx) tx { return numberedVersions{good, map[vitrine.Version]appsvc.App{}} })},
	{"components of a name are ordered by version", "Components yields components by name in byte order, and those of one name in the order in which they were added",
		inTx(func(good tx) tx { return byVersion{good} })},
	{"DeleteComponent deletes one version only", "DeleteComponent removes every version of one name and nothing else; an absent name is ErrNotFound",
		inTx(func(good tx) tx { return deletesOne{good} })},
	{"answers are removed 1 ms late", "KeepAnswer removes the answers that expired at now or before, and no others",
		inTx(func(good tx) tx { return forgets{good, -1} })},
	{"answers are removed 1 ms early", "KeepAnswer removes the answers that expired at now or before, and no others",
		inTx(func(good tx) tx { return forgets{good, 1} })},
	{"Head returns slices of the store", "a caller may change what a store returned, and the store stays as it is", sharesHeads},
	{"the store keeps the slice of a body that it was given", "a store copies what it is given: the caller may change it afterwards", sharesBodies},
	{"an iterator goes on after the caller has left it", "a caller may leave an iterator early, and the transaction goes on",
		inTx(func(good tx) tx { return goesOn{good} })},
	{"an iterator yields an error twice", "an iterator yields an error once, as its last pair",
		inTx(func(good tx) tx { return errsTwice{good} })},
	{"Apps sorts the groups of the caller's query", "a query is not changed, and can be used again",
		inTx(func(good tx) tx { return sortsGroups{good} })},
}

func inUpdate(update func(good appsvc.Store, ctx context.Context, fn func(tx) error) error) func() brokenStore {
	return func() brokenStore { return brokenStore{update: update} }
}

func inTx(fault func(good tx) tx) func() brokenStore {
	return func() brokenStore { return brokenStore{tx: fault} }
}

// Rule and fault that a process of its own is to check, where a failure is what is wanted.
const (
	ruleVariable  = "STORAGETEST_RULE"
	faultVariable = "STORAGETEST_FAULT"
)

func TestAFaultIsFoundByItsRule(t *testing.T) {
	if os.Getenv(faultVariable) != "" {
		t.Skip("this is the process that has the fault")
	}
	if testing.Short() {
		t.Skip("a process for each fault takes a while")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Run(f.fault, func(t *testing.T) {
			t.Parallel()
			run := exec.Command(program, "-test.run", "^TestOneRule$", "-test.failfast", "-test.timeout", "60s")
			run.Env = append(os.Environ(), ruleVariable+"="+f.rule, faultVariable+"="+f.fault)
			said, err := run.CombinedOutput()
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if err == nil || !strings.Contains(string(said), strings.ReplaceAll(f.rule, " ", "_")) {
				t.Errorf("fault %q is not found by the rule: %s\n%s", f.fault, f.rule, said)
			}
		})
	}
}

// TestOneRule checks one rule on a store with a fault, when it is told which.
func TestOneRule(t *testing.T) {
	words, fault := os.Getenv(ruleVariable), os.Getenv(faultVariable)
	if words == "" {
		t.Skip("no rule is named")
	}
	rules := slices.DeleteFunc(appRules(), func(r appRule) bool { return r.words != words })
	if len(rules) != 1 {
		t.Fatalf("%d rules are called %q", len(rules), words)
	}
	checkRules(t, func(*testing.T) appsvc.Store {
		for _, f := range faults {
			if f.fault == fault {
				s := f.store()
				s.Store = appsvc.NewRecords(memory.New())
				return s
			}
		}
		return appsvc.NewRecords(memory.New())
	}, rules)
}
