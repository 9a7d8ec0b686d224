//go:build proof

package postgres

import (
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// kind is something that an update can look for and put.
type kind struct {
	name string
	look func(r appsvc.Reader, name string) (there bool, err error)
	put  func(t appsvc.Tx, name string) error
}

var kinds = []kind{
	{"head", func(r appsvc.Reader, name string) (bool, error) {
		_, err := r.Head(ctx, name)
		return found(err)
	}, putApp},
	{"versions", func(r appsvc.Reader, name string) (bool, error) {
		return holds(r.Versions(ctx, appsvc.VersionQuery{AppID: name}), func(appsvc.App) bool { return true })
	}, putApp},
	{"list", func(r appsvc.Reader, name string) (bool, error) {
		return holds(r.Apps(ctx, appsvc.AppQuery{Owner: "owner", Sort: appsvc.UpdatedDescending}), func(a appsvc.App) bool { return a.ID == name })
	}, putApp},
	{"ids", func(r appsvc.Reader, name string) (bool, error) {
		return holds(r.IDs(ctx), func(id string) bool { return id == name })
	}, putApp},
	{"tag", func(r appsvc.Reader, name string) (bool, error) {
		return holds(r.Tags(ctx, appsvc.TagQuery{AppID: "tagged", Name: name}), func(appsvc.Tag) bool { return true })
	}, func(t appsvc.Tx, name string) error {
		return t.SetTag(ctx, appsvc.Tag{AppID: "tagged", Name: name, AppVersion: vitrine.NewVersion(0)})
	}},
	{"tag of no app", func(r appsvc.Reader, name string) (bool, error) {
		return holds(r.Tags(ctx, appsvc.TagQuery{AppID: "none"}), func(t appsvc.Tag) bool { return t.Name == name })
	}, func(t appsvc.Tx, name string) error {
		return t.SetTag(ctx, appsvc.Tag{AppID: "none", Name: name, AppVersion: vitrine.NewVersion(0)})
	}},
	{"component", func(r appsvc.Reader, name string) (bool, error) {
		return holds(r.Components(ctx, appsvc.ComponentQuery{Name: name, Version: "1"}), func(appsvc.Component) bool { return true })
	}, func(t appsvc.Tx, name string) error {
		return t.AddComponent(ctx, appsvc.Component{ID: name, Name: name, Version: "1"})
	}},
	{"answer", func(r appsvc.Reader, name string) (bool, error) {
		_, err := r.Answer(ctx, "by", name)
		return found(err)
	}, putAnswer},
	{"answers", func(r appsvc.Reader, name string) (bool, error) {
		return holds(r.Answers(ctx), func(a appsvc.Answer) bool { return a.Key == name })
	}, putAnswer},
}

func putApp(t appsvc.Tx, name string) error {
	return t.AddVersion(ctx, appsvc.Head{Meta: appsvc.Meta{ID: name, Version: vitrine.NewVersion(0), Owner: "owner"}}, appsvc.Body("{}"))
}

func putAnswer(t appsvc.Tx, name string) error {
	return t.KeepAnswer(ctx, appsvc.Answer{By: "by", Key: name, Expires: 10}, 0)
}

func found(err error) (bool, error) {
	if errors.Is(err, vitrine.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func holds[T any](list iter.Seq2[T, error], is func(T) bool) (bool, error) {
	for v, err := range list {
		if err != nil {
			return false, err
		}
		if is(v) {
			return true, nil
		}
	}
	return false, nil
}

// One update looks for what the other one puts, and puts what that one looks for if it finds
// nothing. In whatever order they come, one of them puts something: each kind of look holds up each
// kind of write that would make it untrue.
func TestNoOtherUpdateAddsWhatAnUpdateHasNotFound(t *testing.T) {
	var pairs sync.WaitGroup
	some := make(chan bool, 16) // at a time: most end with a deadlock, which the server looks for after a second
	for _, a := range kinds {
		for _, b := range kinds {
			if testing.Short() && a.name != b.name {
				continue
			}
			some <- true
			pairs.Go(func() {
				defer func() { <-some }()
				t.Run(a.name+" and "+b.name, func(t *testing.T) { eachLooksForWhatTheOtherPuts(t, a, b) })
			})
		}
	}
	pairs.Wait()
}

func eachLooksForWhatTheOtherPuts(t *testing.T, a, b kind) {
	s := openTest(t, nil).Apps()
	if err := s.Update(ctx, func(tx appsvc.Tx) error { return putApp(tx, "tagged") }); err != nil {
		t.Fatal(err)
	}
	looked := make(chan bool, 2)
	var puts atomic.Int64
	run := func(own, other string, look, put kind) error {
		waited, did := false, false
		err := s.Update(ctx, func(tx appsvc.Tx) error {
			did = false
			there, err := look.look(tx, other)
			if err != nil || there {
				return err
			}
			if !waited { // for the other's look, which may have to wait for this update
				waited = true
				looked <- true
				for end := time.Now().Add(15 * time.Millisecond); len(looked) < 2 && time.Now().Before(end); {
					time.Sleep(time.Millisecond)
				}
			}
			did = true
			return put.put(tx, own)
		})
		if did && err == nil {
			puts.Add(1)
		}
		return err
	}
	left := make(chan error)
	go func() { left <- run("left", "right", a, b) }()
	if err := errors.Join(run("right", "left", b, a), <-left); err != nil {
		t.Fatal(err)
	}
	if puts.Load() != 1 {
		t.Errorf("%d of two updates put what the other one looked for", puts.Load())
	}
}

// Each component gets a place of its own behind the others of its name, also when they come together.
func TestParallelComponentsOfOneNameAreOrdered(t *testing.T) {
	const count = 16
	s := openTest(t, nil).Apps()
	errs := make(chan error)
	for i := range count {
		go func() {
			errs <- s.Update(ctx, func(tx appsvc.Tx) error {
				err := tx.AddComponent(ctx, appsvc.Component{ID: fmt.Sprint(i), Name: "one", Version: fmt.Sprint(i)})
				time.Sleep(5 * time.Millisecond) // for others to come meanwhile
				return err
			})
		}()
	}
	for range count {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
