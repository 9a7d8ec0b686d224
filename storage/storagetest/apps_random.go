package storagetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

var randomRules = []appRule{
	// Match and Compare define what a query means. Ids and times come from a small range, so that ties and near misses
	// are frequent.
	{"random queries over random apps mean what AppQuery.Match and AppQuery.Compare say", func(t *testing.T, s appsvc.Store) {
		const seed = 20
		d := randomData{rand.New(rand.NewPCG(seed, 0))}
		t.Logf("seed %d", seed)
		latest := map[string]head{}
		for range 15 {
			var next map[string]head
			update(t, s, func(w tx) error {
				next = maps.Clone(latest)
				return d.updateApps(w, next)
			})
			latest = next
			all := slices.SortedFunc(maps.Values(latest), appsvc.AppQuery{}.Compare) // a map has no order to repeat
			for range 40 {
				q := d.query(all)
				if got, want := read(t, s, apps(q)), answerTo(q, all); !slices.EqualFunc(got, want, equalApps) {
					t.Fatalf("query %s:\n got %s\nwant %s", describeQuery(q), describe(got), describe(want))
				}
			}
		}
	}},
}

// randomData makes random data from a small range, so that names and times often coincide.
type randomData struct{ *rand.Rand }

func pick[T any](d randomData, from []T) T { return from[d.IntN(len(from))] }

func (d randomData) id() string { return pick(d, oddNames) + pick(d, []string{"", "", "1", "b"}) }

func (d randomData) user() string { return fmt.Sprintf("%s:user=%d", network, d.IntN(3)) }

func (d randomData) group() string {
	return pick(d, []string{network, "urn:vitrine:example.test2", "urn:other:example.test"}) + pick(d, []string{"", ":site=1", ":site=10", ":site=1:x", ":site=é"})
}

// some returns up to most strings that one returns, sorted and each once.
func (d randomData) some(most int, one func() string) []string {
	var out []string
	for range d.IntN(most + 1) {
		out = append(out, one())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// next returns the head of the version after h, or of a new app if h is zero.
func (d randomData) next(id string, h head) head {
	now := d.Int64N(6)
	if h.ID == "" {
		h = head{Meta: appsvc.Meta{ID: id, Owner: d.user(), CreatedAt: now, UpdatedAt: now}}
	}
	h.Version = h.Version.Next()
	h.UpdatedAt = max(h.UpdatedAt, now)
	h.UpdatedBy = d.user()
	h.Groups = d.some(3, d.group)
	h.Components = d.some(3, func() string { return pick(d, oddNames[:6]) })
	return h
}

// updateApps adds versions of random apps, and records their heads in latest.
func (d randomData) updateApps(w tx, latest map[string]head) error {
	for range 5 {
		id := d.id()
		h := d.next(id, latest[id])
		if err := w.AddVersion(ctx, h, bodyOf(h, "")); err != nil {
			return err
		}
		latest[id] = h
	}
	return nil
}

// query returns a random query. Its After is often the position of an app.
func (d randomData) query(all []head) appsvc.AppQuery {
	q := appsvc.AppQuery{Owner: d.user(), Groups: d.some(3, d.group), Sort: pick(d, sorts), Limit: d.IntN(8)}
	if d.IntN(2) == 0 {
		q.Component = pick(d, oddNames[:7])
	}
	switch place := (appsvc.AppPosition{}); d.IntN(3) {
	case 0:
		place = appsvc.AppPosition{Time: d.Int64N(8) - 1, ID: d.id()}
		q.After = &place
	case 1:
		if len(all) > 0 {
			place = q.Position(pick(d, all))
			q.After = &place
		}
	}
	return q
}
