//go:build proof

package linear

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

var releaseSequences = flag.Int("releases", 0, "sequences of steps about releases, by four people")

const (
	releaseNetwork = "urn:vitrine:example.test"
	oneSite        = releaseNetwork + ":site=1"
	otherSite      = releaseNetwork + ":site=2"
)

// onEachStore calls fn with openings of one store of each kind, as processes would have them.
func onEachStore(t *testing.T, fn func(t *testing.T, stores []storage.Store)) {
	t.Run("memory", func(t *testing.T) {
		db := memory.New()
		fn(t, []storage.Store{db, db})
	})
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "v.db")
		var all []storage.Store
		for range 2 {
			db, err := sqlite.Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			all = append(all, db)
		}
		fn(t, all)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		cluster.Need(t)
		var all []storage.Store
		for _, db := range openDatabase(t) {
			all = append(all, db)
		}
		fn(t, all)
	})
}

// releaseStory is a random sequence of steps of four people about one app, whose tag production needs an approval.
type releaseStory struct {
	t        *testing.T
	services []*appsvc.Service
	people   []vitrine.Caller
	random   *rand.Rand
	clock    *atomic.Int64
	app      string
	releases []string
	authors  map[string][]string // URNs of those who made or changed a release
}

// step does one thing, which may be refused.
func (s *releaseStory) step() {
	ctx, svc, by := s.t.Context(), s.services[s.random.IntN(len(s.services))], s.people[s.random.IntN(len(s.people))]
	version := func() vitrine.Version { return vitrine.NewVersion(s.random.IntN(3)) }
	tag := []string{"production", "production", "next"}[s.random.IntN(3)]
	s.clock.Add(int64(s.random.IntN(4000) - 1000)) // which may go back
	move := appsvc.ReleaseMove{AppID: s.app, Tag: tag, To: appsvc.PointsTo(version())}
	if s.random.IntN(8) == 0 {
		move.To = appsvc.NoTag()
	}
	if s.random.IntN(2) == 0 || len(s.releases) == 0 {
		switch s.random.IntN(5) {
		case 0:
			_, _ = svc.As(by).PutTag(ctx, appsvc.PutTagRequest{AppID: s.app, Name: tag, Version: version()})
		case 1:
			_ = svc.As(by).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: s.app, Name: tag})
		case 2:
			_, _ = svc.As(by).PutTag(ctx, appsvc.PutTagRequest{AppID: s.app, Name: tag, Rollback: true})
		case 3:
			if err := svc.RunDue(ctx); err != nil {
				s.t.Fatal(err)
			}
		default:
			in := appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{move}}
			if s.random.IntN(2) == 0 {
				in.At = s.clock.Load() + 2000
				in.Until = in.At + 1 + int64(s.random.IntN(8000))
			}
			rel, err := svc.As(by).CreateRelease(ctx, in)
			if err == nil {
				s.releases = append(s.releases, rel.ID)
				s.authors[rel.ID] = []string{by.URN}
			}
		}
		return
	}
	id := s.releases[s.random.IntN(len(s.releases))]
	rel, err := svc.As(s.people[0]).Release(ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	seen := rel.Version
	if s.random.IntN(10) == 0 {
		seen = version() // which may not be the one that they have seen
	}
	switch s.random.IntN(7) {
	case 0, 1:
		_, _ = svc.As(by).ApproveRelease(ctx, id, seen)
	case 2, 3:
		_, _ = svc.As(by).RunRelease(ctx, id, seen)
	case 4:
		_, _ = svc.As(by).UndoRelease(ctx, id, seen)
	case 5:
		if s.random.IntN(3) == 0 {
			_, _ = svc.As(by).CancelRelease(ctx, id, seen)
		}
	default:
		u := appsvc.UpdateReleaseRequest{ID: id, Version: seen, Name: rel.Name, Moves: []appsvc.ReleaseMove{move}}
		changes := s.random.IntN(2) == 0
		if !changes { // the time alone
			u.Moves = rel.Moves
			u.At = s.clock.Load() + 2000
			u.Until = u.At + int64(s.random.IntN(2)*3000)
			if u.Until == u.At {
				u.Until = 0
			}
		}
		if now, err := svc.As(by).UpdateRelease(ctx, u); err == nil && !slices.Equal(now.Moves, rel.Moves) {
			s.authors[id] = append(s.authors[id], by.URN)
		}
	}
}

// check looks at every move that was made of the tag production. One that is no roll back is of a release that somebody
// else has approved.
func (s *releaseStory) check() (approved int) {
	was := []vitrine.Version{{}} // where it has pointed, oldest first
	var moves []appsvc.TagMove
	for m, err := range s.services[0].As(s.people[0]).AllTagMoves(s.t.Context(),
		appsvc.ListTagMovesRequest{AppID: s.app, Name: "production"}) {
		if errors.Is(err, vitrine.ErrNotFound) {
			return 0
		} else if err != nil {
			s.t.Fatal(err)
		}
		moves = append(moves, m)
	}
	ran, undone := map[string]int{}, map[string]int{}
	for _, m := range slices.Backward(moves) {
		switch {
		case m.Rollback:
			if !slices.Contains(was, m.To) {
				s.t.Errorf("rolled back to %q, where it never pointed: %q", m.To, was)
			}
			if undone[m.Release]++; m.Release != "" && undone[m.Release] > 1 {
				s.t.Errorf("the release %s was undone %d times", m.Release, undone[m.Release])
			}
		case m.Release == "":
			s.t.Errorf("moved by %s without a release", m.By)
		default:
			approved++
			if ran[m.Release]++; ran[m.Release] > 1 {
				s.t.Errorf("the release %s ran %d times", m.Release, ran[m.Release])
			}
			rel, err := s.services[0].As(s.people[0]).Release(s.t.Context(), m.Release)
			if err != nil || rel.RanAt == 0 {
				s.t.Fatalf("%+v, %v", rel, err)
			}
			if !slices.ContainsFunc(rel.Approvals, func(a appsvc.Approval) bool {
				return !slices.Contains(s.authors[m.Release], a.By)
			}) {
				s.t.Errorf("a release of %q was approved by %+v", s.authors[m.Release], rel.Approvals)
			}
		}
		was = append(was, m.To)
	}
	return approved
}

// No sequence of steps of four people moves a tag without the approval that it needs, but back to what was live before.
// Two of them moderate every group of the app, one is a program's key of the first, and one owns the app and moderates
// one group.
func TestNoStepsGoAroundAnApproval(t *testing.T) {
	person := func(name, key string, moderates ...string) vitrine.Caller {
		return vitrine.Caller{URN: releaseNetwork + ":user=" + name, Key: key, Moderates: moderates}
	}
	people := []vitrine.Caller{person("a", "", releaseNetwork), person("b", "", oneSite, otherSite),
		person("a", "vt_key", releaseNetwork), person("owner", "", oneSite)}
	onEachStore(t, func(t *testing.T, stores []storage.Store) {
		var clock atomic.Int64
		clock.Store(1_700_000_000_000)
		var services []*appsvc.Service
		for i, db := range stores {
			services = append(services,
				appsvc.New(db,
					&appsvc.Options{Now: func() time.Time { return time.UnixMilli(clock.Load() + int64(i)*700) }}))
		}
		if err := services[0].SetTagRules(t.Context(),
			[]appsvc.TagRule{{Name: "production", Approvals: 1}}); err != nil {
			t.Fatal(err)
		}
		approved := 0
		for n := range count(releaseSequences, 200) {
			maker := people[0]
			maker.URN = people[3].URN
			app, err := services[0].As(maker).CreateApp(t.Context(),
				appsvc.CreateAppRequest{Title: fmt.Sprint(n), Groups: []string{oneSite, otherSite}})
			for range 2 {
				if err == nil {
					_, err = services[0].As(maker).Restore(t.Context(),
						appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.Latest})
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			s := &releaseStory{t: t, services: services, people: people, random: rand.New(rand.NewPCG(uint64(n), 7)),
				clock: &clock, app: app.ID, authors: map[string][]string{}}
			for range 40 {
				s.step()
			}
			if approved += s.check(); t.Failed() {
				t.Fatalf("in the sequence %d", n)
			}
		}
		if approved == 0 {
			t.Error("no tag was moved with an approval")
		}
		for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(t.Context(), stores[0]) {
			t.Error(f, err)
		}
	})
}

// tagsOf are where the tags of two apps point.
type tagsOf [2]int64

// releaseOp is an operation of a history about the tags of two apps.
type releaseOp struct {
	kind     string // put, run, undo or read
	app      int    // of put
	to       int64  // of put
	from, at tagsOf // of run and undo: where the tags must point, and where they point then
}

// releaseModel says what such operations answer, one after the other: a put always moves its tag, and a run moves both
// or none.
var releaseModel = porcupine.Model{
	Init: func() any { return tagsOf{0, 0} },
	Step: func(state, in, out any) (bool, any) {
		tags, op := state.(tagsOf), in.(releaseOp)
		switch op.kind {
		case "put":
			tags[op.app] = op.to
			return true, tags
		case "read":
			return out.(tagsOf) == tags, tags
		}
		if out.(bool) != (tags == op.from) {
			return false, tags
		}
		if out.(bool) {
			tags = op.at
		}
		return true, tags
	},
}

// Moves, releases and reads of several processes stand in one order, in which a release moves all its tags at once or
// none.
func TestReleasesAreLinearizable(t *testing.T) {
	by := vitrine.Caller{URN: releaseNetwork + ":user=a", Moderates: []string{releaseNetwork}}
	onEachStore(t, func(t *testing.T, stores []storage.Store) {
		ctx := t.Context()
		var services []*appsvc.Service
		for _, db := range stores {
			services = append(services, appsvc.New(db, nil))
		}
		for range count(releaseSequences, 200)/40 + 3 {
			var apps [2]string
			for i := range apps {
				app, err := services[0].As(by).CreateApp(ctx,
					appsvc.CreateAppRequest{Title: "x", Groups: []string{oneSite}})
				for range 2 {
					if err == nil {
						_, err = services[0].As(by).Restore(ctx,
							appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.Latest})
					}
				}
				if err == nil {
					_, err = services[0].As(by).PutTag(ctx,
						appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0)})
				}
				if err != nil {
					t.Fatal(err)
				}
				apps[i] = app.ID
			}
			var mu sync.Mutex
			var history []porcupine.Operation
			begun := time.Now()
			var all sync.WaitGroup
			for client := range 4 {
				svc, random := services[client%len(services)],
					rand.New(rand.NewPCG(uint64(client), uint64(begun.UnixNano())))
				all.Go(func() {
					for range 12 {
						op, out := releaseOp{kind: []string{"put", "run", "run", "read"}[random.IntN(4)]}, any(nil)
						tags := func() tagsOf { return tagsOf{int64(random.IntN(3)), int64(random.IntN(3))} }
						var call int64
						switch op.kind {
						case "put":
							op.app, op.to = random.IntN(2), int64(random.IntN(3))
							call = int64(time.Since(begun))
							if _, err := svc.As(by).PutTag(ctx,
								appsvc.PutTagRequest{AppID: apps[op.app], Name: "live",
									Version: vitrine.NewVersion(op.to)}); err != nil {
								t.Error(err)
							}
						case "read":
							call = int64(time.Since(begun))
							list, err := svc.As(by).TagsNamed(ctx, "live", apps[:])
							if err != nil || len(list) != 2 {
								t.Errorf("%+v, %v", list, err)
								return
							}
							out = tagsOf{list[0].AppVersion.Number(), list[1].AppVersion.Number()}
						default:
							for op.from = tags(); op.at[0] == op.from[0] || op.at[1] == op.from[1]; {
								op.at = tags()
							}
							var moves []appsvc.ReleaseMove
							for i, app := range apps {
								moves = append(moves,
									appsvc.ReleaseMove{AppID: app, Tag: "live",
										From: appsvc.PointsTo(vitrine.NewVersion(op.from[i])),
										To:   appsvc.PointsTo(vitrine.NewVersion(op.at[i]))})
							}
							rel, err := svc.As(by).CreateRelease(ctx, appsvc.CreateReleaseRequest{Moves: moves})
							if err == nil {
								call = int64(time.Since(begun))
								_, err = svc.As(by).RunRelease(ctx, rel.ID, rel.Version)
							}
							if e, refused := errors.AsType[*vitrine.Error](err); err != nil &&
								(!refused || e.Code != vitrine.CodeConflicts) {
								t.Error(err)
							}
							out = err == nil
						}
						mu.Lock()
						history = append(history,
							porcupine.Operation{ClientId: client, Input: op, Call: call, Output: out,
								Return: int64(time.Since(begun))})
						mu.Unlock()
					}
				})
			}
			all.Wait()
			if result := porcupine.CheckOperationsTimeout(releaseModel, history, time.Minute); result != porcupine.Ok {
				t.Fatalf("%s: %+v", result, history)
			}
		}
	})
}

// However many processes ask for what is due, whose clocks differ and jump, each release runs once and moves all its
// tags, and each that has an end is undone once.
func TestDueReleasesRunOnce(t *testing.T) {
	by := vitrine.Caller{URN: releaseNetwork + ":user=a", Moderates: []string{releaseNetwork}}
	onEachStore(t, func(t *testing.T, stores []storage.Store) {
		ctx := t.Context()
		var clock atomic.Int64
		clock.Store(1_700_000_000_000)
		var services []*appsvc.Service
		for i, db := range stores {
			services = append(services,
				appsvc.New(db,
					&appsvc.Options{Now: func() time.Time { return time.UnixMilli(clock.Load() + int64(i)*900) }}))
		}
		var apps, ids []string
		for range 4 {
			app, err := services[0].As(by).CreateApp(ctx,
				appsvc.CreateAppRequest{Title: "x", Groups: []string{oneSite}})
			if err != nil {
				t.Fatal(err)
			}
			apps = append(apps, app.ID)
		}
		for n := range 20 {
			var moves []appsvc.ReleaseMove
			for _, app := range apps {
				moves = append(moves,
					appsvc.ReleaseMove{AppID: app, Tag: fmt.Sprint("t", n), To: appsvc.PointsTo(vitrine.NewVersion(0))})
			}
			in := appsvc.CreateReleaseRequest{Moves: moves, At: clock.Load() + int64(1000+500*n)}
			if n%2 == 1 {
				in.Until = in.At + int64(1+1500*(n%4))
			}
			rel, err := services[0].As(by).CreateRelease(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, rel.ID)
		}
		for range 120 { // no end comes in the step in which its release begins
			clock.Add(int64(rand.IntN(1500)) - 500)
			var all sync.WaitGroup
			for _, svc := range append(services, services...) {
				all.Go(func() {
					if err := svc.RunDue(ctx); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		clock.Add(60_000)
		if err := services[0].RunDue(ctx); err != nil {
			t.Fatal(err)
		}
		for n, id := range ids {
			state, most := appsvc.ReleaseDone, 1
			if n%2 == 1 {
				state, most = appsvc.ReleaseCancelled, 2
			}
			if rel, err := services[0].As(by).Release(ctx, id); err != nil || rel.State != state || rel.RanAt == 0 {
				t.Errorf("%+v, %v", rel, err)
			}
			for _, app := range apps {
				page, err := services[0].As(by).ListTagMoves(ctx,
					appsvc.ListTagMovesRequest{AppID: app, Name: fmt.Sprint("t", n)})
				if err != nil || len(page.Items) != most || page.Items[0].Release != id ||
					page.Items[0].Rollback != (most == 2) {
					t.Errorf("moves %+v, %v", page.Items, err)
				}
			}
		}
	})
}

// The time that a release of 200 apps takes, and a PATCH of somebody else meanwhile.
func TestTheTimeOfALargeRelease(t *testing.T) {
	by := vitrine.Caller{URN: releaseNetwork + ":user=a", Moderates: []string{releaseNetwork}}
	onEachStore(t, func(t *testing.T, stores []storage.Store) {
		ctx, svc := t.Context(), appsvc.New(stores[0], nil)
		var moves, back []appsvc.ReleaseMove
		var other string
		for range 201 {
			app, err := svc.As(by).CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: []string{oneSite}})
			if err == nil {
				_, err = svc.As(by).Restore(ctx, appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.Latest})
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(moves) == 200 {
				other = app.ID
				break
			}
			moves = append(moves,
				appsvc.ReleaseMove{AppID: app.ID, Tag: "live", To: appsvc.PointsTo(vitrine.NewVersion(0))})
			back = append(back,
				appsvc.ReleaseMove{AppID: app.ID, Tag: "live", To: appsvc.PointsTo(vitrine.NewVersion(1))})
		}
		var slowest time.Duration
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
				begun := time.Now()
				_, err := svc.As(by).Edit(ctx, other, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
					p.SetTitle(fmt.Sprint(n))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				slowest = max(slowest, time.Since(begun))
			}
		}()
		for _, list := range [][]appsvc.ReleaseMove{moves, back, moves} {
			rel, err := svc.As(by).CreateRelease(ctx, appsvc.CreateReleaseRequest{Moves: list})
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			if _, err = svc.As(by).RunRelease(ctx, rel.ID, rel.Version); err != nil {
				t.Fatal(err)
			}
			took := time.Since(begun)
			t.Logf("a release of 200 apps took %v", took)
			if took > time.Second { // four times what it takes on a machine that does nothing else
				t.Errorf("a release of 200 apps took %v", took)
			}
		}
		close(stop)
		<-done
		t.Logf("the slowest PATCH meanwhile took %v", slowest)
	})
}
