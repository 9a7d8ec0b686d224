package storagetest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

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
	{"an update is kept in spite of its error", "an Update that returns an error keeps nothing, and the error passes through", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) (err error) {
			kept := good.Update(ctx, func(w tx) error {
				err = fn(w)
				return nil
			})
			return errors.Join(err, kept)
		})},
	{"the error of an update is another one", "an Update that returns an error keeps nothing, and the error passes through", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) error {
			if good.Update(ctx, fn) != nil {
				return errFault
			}
			return nil
		})},
	{"an update is kept in spite of its panic", "an Update that panics keeps nothing, the panic passes through, and the store lives on", inUpdate(
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
	{"a panic becomes an error", "an Update that panics keeps nothing, the panic passes through, and the store lives on", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) (err error) {
			if panicOf(func() { err = good.Update(ctx, fn) }) != nil {
				return errFault
			}
			return err
		})},
	{"a context that is over goes unseen", "a context that is over ends Update, which keeps nothing, and View, with the context's error", inUpdate(
		func(good appsvc.Store, _ context.Context, fn func(tx) error) error { return good.Update(ctx, fn) })},
	{"an update is done twice", "an Update that returns nil keeps all of its writes", inUpdate(
		func(good appsvc.Store, ctx context.Context, fn func(tx) error) error {
			return errors.Join(good.Update(ctx, fn), good.Update(ctx, fn))
		})},
	{"updates read what is there before them and not what is current", "parallel updates of one app are all kept, one after the other", inUpdate(lateWrites)},
	{"updates that read before they write cross", "what an Update read is current when its writes are kept", inUpdate(lateWrites)},
	{"an update does not see its own writes", "the reads of an Update see its own writes", inUpdate(lateWrites)},
	{"a view sees each read at its own moment", "all reads of one View tell of one moment, however many updates are kept meanwhile", func() brokenStore {
		return brokenStore{view: func(good appsvc.Store, ctx context.Context, fn func(reader) error) error {
			return fn(momentary{good: good})
		}}
	}},
	{"a view tells of a moment that is over", "a View begun after an Update returned sees it, and later ones too", stale},

	{"a taken version is overlooked", "a version is added only right above the latest, or as 0 of a new app; else ErrExists",
		inTx(func(good tx) tx { return overlooks{good, appsvc.ErrExists} })},
	{"a taken component is overlooked", "a taken id is ErrExists, and so is a taken pair of name and version",
		inTx(func(good tx) tx { return overlooks{good, appsvc.ErrExists} })},
	{"a tag that is not there is deleted", "DeleteTag removes that tag alone; one that is not there is ErrNotFound",
		inTx(func(good tx) tx { return overlooks{good, appsvc.ErrNotFound} })},
	{"a component that is not there is deleted", "DeleteComponent removes every version of that name alone; a name that is not there is ErrNotFound",
		inTx(func(good tx) tx { return overlooks{good, appsvc.ErrNotFound} })},
	{"ids are taken in lower case", "ids that differ in case, in Unicode form or by a space are different apps",
		inTx(func(good tx) tx { return lowerIDs{good} })},
	{"bodies are written anew", "every version stays readable as it was stored, byte for byte",
		inTx(func(good tx) tx { return rewrites{good} })},
	{"a latest version is a lower one", "Head tells of the latest version",
		inTx(func(good tx) tx { return firstHead{good} })},
	{"apps of one time go the wrong way", "apps go by time, up or down, and those of one time by ascending id in byte order",
		inTx(func(good tx) tx {
			return sortsApps{good, func(a, b appsvc.App) int { return strings.Compare(b.ID, a.ID) }}
		})},
	{"a place counts as behind itself", "pages of any size, each from the last place on, make up the whole list",
		inTx(func(good tx) tx { return includesAfter{good} })},
	{"a place where no app is counts as none", "After stands for a place, whether or not an app is there",
		inTx(func(good tx) tx { return forgetsAfter{good} })},
	{"groups are compared as prefixes", "Apps holds those of the owner and those with a group that one of the URNs contains, segment by segment",
		inTx(func(good tx) tx { return groupPrefixes{good} })},
	{"a limit is one too many", "Versions goes down from the one before Before, and ends at Limit",
		inTx(func(good tx) tx { return longer{good} })},
	{"restorations begin with the one at Before", "Restorations goes down from the version before Before, and ends at Limit restorations",
		inTx(func(good tx) tx { return atBefore{good} })},
	{"restorations outlive their Update", "a restoration is seen by the Update that adds it, and rolled back with it", leakyRestorations},
	{"tags go in the order of a dictionary", "tags go by name in byte order, after After and up to Limit",
		inTx(func(good tx) tx { return dictionary{good} })},
	{"moves go from the first on", "TagMoves yields the moves of that tag alone, newest first",
		inTx(func(good tx) tx { return oldestFirst{good} })},
	{"a deleted tag loses its moves", "the moves of a tag outlive it, and SetTag and DeleteTag add none",
		inTx(func(good tx) tx { return dropsMoves{good} })},
	{"an app is found by the components of its latest version alone", "Users yields the apps of which some version has used the component, by id in byte order, with their tags",
		inTx(func(good tx) tx { return presentUsers{good} })},
	{"components go by version", "components go by name in byte order, and those of one name in the order of their adding",
		inTx(func(good tx) tx { return byVersion{good} })},
	{"a component loses its last version only", "DeleteComponent removes every version of that name alone; a name that is not there is ErrNotFound",
		inTx(func(good tx) tx { return deletesOne{good} })},
	{"answers are forgotten a moment late", "KeepAnswer forgets those that expired at now or before, and no others",
		inTx(func(good tx) tx { return forgets{good, -1} })},
	{"answers are forgotten a moment early", "KeepAnswer forgets those that expired at now or before, and no others",
		inTx(func(good tx) tx { return forgets{good, 1} })},
	{"a head is shared with those who ask", "what a store returns can be changed without a change there", sharesHeads},
	{"a body is shared with who stored it", "what is changed after it was given to a store does not change there", sharesBodies},
	{"an iterator goes on when it should stop", "a list can be left at any place, and the transaction goes on",
		inTx(func(good tx) tx { return goesOn{good} })},
	{"an error is not the last pair", "an error comes once, as the last pair of a list",
		inTx(func(good tx) tx { return errsTwice{good} })},
	{"a query sorts the groups it was given", "a query can be used again, and is not changed",
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
			for fault, found := range map[string]bool{f.fault: true, "none": false} {
				run := exec.Command(program, "-test.run", "^TestOneRule$", "-test.failfast", "-test.timeout", "60s")
				run.Env = append(os.Environ(), ruleVariable+"="+f.rule, faultVariable+"="+fault)
				said, err := run.CombinedOutput()
				if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if (err != nil) != found || found && !strings.Contains(string(said), strings.ReplaceAll(f.rule, " ", "_")) {
					t.Errorf("fault %q: found %t, want %t, by the rule: %s\n%s", fault, err != nil, found, f.rule, said)
				}
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
				s.Store = memory.New().Apps()
				return s
			}
		}
		return memory.New().Apps()
	}, rules)
}
