package appsvc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// givers say who gave rights to whom, by name.
type givers struct {
	of      map[string][]string
	gone    map[string]bool
	unknown map[string]bool
	asked   int
}

func (g *givers) rights(_ context.Context, urn string) (by vitrine.Caller, inviters []string, err error) {
	g.asked++
	for _, name := range g.of[urn[len(network+":user="):]] {
		inviters = append(inviters, personOf(name).URN)
	}
	switch name := urn[len(network+":user="):]; {
	case g.gone[name]:
		return by, inviters, vitrine.ErrForbidden
	case g.unknown[name]:
		return by, nil, vitrine.ErrNotFound
	}
	return vitrine.Caller{URN: urn, Moderates: []string{site1}}, inviters, nil
}

// giversOf reads who gave rights to whom, as in the table of TestRightsAreFollowedThroughPeople.
func giversOf(text string) *givers {
	g := &givers{of: map[string][]string{}, gone: map[string]bool{}, unknown: map[string]bool{}}
	for one := range strings.FieldsSeq(text) {
		name, from, _ := strings.Cut(one, "<")
		who := strings.TrimRight(name, "!?")
		g.gone[who], g.unknown[who] = strings.HasSuffix(name, "!"), strings.HasSuffix(name, "?")
		if from != "" {
			g.of[who] = strings.Split(from, ",")
		}
	}
	return g
}

// chain is people each of whom was given rights by the next one: p0 by p1, p1 by p2, and so on.
func chain(n int) map[string][]string {
	of := map[string][]string{}
	for i := range n {
		of[fmt.Sprint("p", i)] = []string{fmt.Sprint("p", i+1)}
	}
	return of
}

// Rights are followed through any number of people, whatever has become of them. Ann makes each release, and Ben
// approves it.
func TestRightsAreFollowedThroughPeople(t *testing.T) {
	for name, test := range map[string]struct {
		// "who<giver,giver" by spaces; a name with ! is of somebody who is gone, and with ? unknown
		gave                string
		counts, independent bool // whether the approval counts, by a usual and by an independent rule
	}{
		"strangers":                         {"", true, true},
		"unknown to the program":            {"ann?< ben?<", true, true},
		"Ann made Ben":                      {"ben<ann", false, false},
		"through one":                       {"ben<x x<ann", false, false},
		"through two of several":            {"ben<a,b b<c,d d<e,ann", false, false},
		"through one who is gone":           {"ben<x x!<ann", false, false},
		"Ann is gone":                       {"ben<x x<ann ann!<", false, false},
		"Ben made Ann":                      {"ann<ben", true, false},
		"Ben made who made Ann":             {"ann<x x<ben", true, false},
		"Ben made who is gone and made Ann": {"ann!<x x!<ben", true, false},
		"one made both":                     {"ann<x ben<x", true, true},
		"one made both, and a third one":    {"ann<x ben<y y<x", true, true},
		"each other":                        {"ann<ben ben<ann", false, false},
		"a circle beside them":              {"ben<x x<y y<x,y", true, true},
		"a circle with Ann":                 {"ben<x x<y y<x,ann", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, independent := range []bool{false, true} {
				w, _ := releasing(t, appsvc.Options{Rights: giversOf(test.gave).rights})
				rule := appsvc.TagRule{Name: "production", Approvals: 1, Independent: independent}
				if err := w.SetTagRules(t.Context(), []appsvc.TagRule{rule}); err != nil {
					t.Fatal(err)
				}
				want := test.counts
				if independent {
					want = test.independent
				}
				w.approves(ben, w.release(ann, to(w.tagged(), "production", 0)), want)
			}
		})
	}
}

// By an independent rule, of people who gave each other rights one counts, and one more approval never counts for less.
// Ann makes each release, and all others approve it.
func TestApproversAreIndependentOfEachOther(t *testing.T) {
	for name, test := range map[string]struct {
		gave      string // as in TestRightsAreFollowedThroughPeople
		approvers string
		count     int // by an independent rule; by a usual one all count
	}{
		"strangers":                            {"", "b c d", 3},
		"one made the other":                   {"c<b", "b c", 1},
		"one made the other, who was first":    {"c<b", "c b", 1},
		"through one who is gone":              {"c<x x!<b", "b c", 1},
		"one made two, who count":              {"c<b d<b", "b c d", 2},
		"two made one, and count":              {"d<b,c", "b c d", 2},
		"one made both, and approves not":      {"b<x c<x", "b c", 2},
		"a chain":                              {"c<b d<c e<d", "c e b d", 1},
		"two chains":                           {"c<b e<d", "b c d e", 2},
		"each other":                           {"b<c c<b", "b c", 1},
		"a circle, and one who was made by it": {"b<c c<d d<b e<d", "b c d e", 1},
		"a circle, and a stranger":             {"b<c c<b", "b c d", 2},
		"a chain has to be found anew":         {"e<b,c f<b", "b c e f", 2},
	} {
		t.Run(name, func(t *testing.T) {
			for _, independent := range []bool{false, true} {
				names, want := strings.Fields(test.approvers), test.count
				if !independent {
					want = len(names)
				}
				for needs := 1; needs <= len(names)+1; needs++ {
					w, _ := releasing(t, appsvc.Options{Rights: giversOf(test.gave).rights})
					rule := appsvc.TagRule{Name: "production", Approvals: needs, Independent: independent}
					if err := w.SetTagRules(t.Context(), []appsvc.TagRule{rule}); err != nil {
						t.Fatal(err)
					}
					rel := w.release(ann, to(w.tagged(), "production", 0))
					for _, name := range names {
						var err error
						if rel, err = w.As(personOf(name)).ApproveRelease(t.Context(), rel.ID,
							rel.Version); err != nil {
							t.Fatal(err)
						}
					}
					code := ""
					if needs > want {
						code = vitrine.CodeNeedsApproval
					}
					_, err := w.As(ann).RunRelease(t.Context(), rel.ID, rel.Version)
					wantCode(t, err, code)
				}
			}
		})
	}
}

// approves checks whether the approval of somebody counts: whether the release says so, whether it is taken, and
// whether it is enough.
func (w *workshop) approves(by vitrine.Caller, rel appsvc.Release, want bool) {
	w.t.Helper()
	ctx, code := w.t.Context(), vitrine.CodeForbidden
	if want {
		code = ""
	}
	now, err := w.As(by).Release(ctx, rel.ID)
	if err != nil || now.MayApprove != want {
		w.t.Errorf("%s may approve: %v, %v, want %v", by.URN, now.MayApprove, err, want)
	}
	_, err = w.As(by).ApproveRelease(ctx, rel.ID, now.Version)
	wantCode(w.t, err, code)
	if now, err = w.As(by).Release(ctx, rel.ID); err != nil || now.MayApprove {
		w.t.Errorf("who has approved, or cannot, may approve: %v, %v", now.MayApprove, err)
	}
	if code = vitrine.CodeNeedsApproval; want {
		code = ""
	}
	_, err = w.As(by).RunRelease(ctx, rel.ID, now.Version)
	wantCode(w.t, err, code)
}

// What somebody is given after an approval counts when the release is run.
func TestRightsThatAreGivenAfterAnApproval(t *testing.T) {
	g := &givers{of: map[string][]string{}}
	w, _ := releasing(t, appsvc.Options{Rights: g.rights})
	rel := w.release(ann, to(w.tagged(), "production", 0))
	rel, err := w.As(ben).ApproveRelease(t.Context(), rel.ID, rel.Version)
	if err != nil {
		t.Fatal(err)
	}
	g.of["ben"], g.of["x"] = []string{"x"}, []string{"ann"}
	_, err = w.As(cat).RunRelease(t.Context(), rel.ID, rel.Version)
	wantCode(t, err, vitrine.CodeNeedsApproval)
	_, err = w.As(ben).ApproveRelease(t.Context(), rel.ID, rel.Version) // which is there, and does not count
	wantCode(t, err, vitrine.CodeForbidden)
	w.approves(cat, rel, true)
}

// Who was given rights through very many people approves nothing, and to find that out takes only so long.
func TestALongChainOfPeople(t *testing.T) {
	for _, test := range []struct {
		people int
		counts bool
	}{{900, true}, {5000, false}} {
		g := &givers{of: chain(test.people)}
		g.of["ben"] = []string{"p0"}
		w, _ := releasing(t, appsvc.Options{Rights: g.rights})
		w.approves(ben, w.release(ann, to(w.tagged(), "production", 0)), test.counts)
		if per := g.asked / 3; per > 1100 { // shown, approved and run
			t.Errorf("%d people: asked about %d each time", test.people, per)
		}
		g.of["ann"] = []string{fmt.Sprint("p", test.people-500)} // whom the end of the chain made, and not Ben
		w.approves(cat, w.release(ann, to(w.tagged(), "production", 0)), true)
	}
}

// Who changes a release takes their approval back, and cannot give it again. Its other approvals stay while its moves
// do.
func TestAnAuthorsApprovalIsTakenBack(t *testing.T) {
	for name, change := range map[string]func(*appsvc.UpdateReleaseRequest){
		"the name": func(in *appsvc.UpdateReleaseRequest) { in.Name = "autumn" },
		"the note": func(in *appsvc.UpdateReleaseRequest) { in.Note = "changed after approving" },
		"a move":   func(in *appsvc.UpdateReleaseRequest) { in.Moves[0].To = appsvc.PointsTo(vitrine.NewVersion(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			w, _ := releasing(t, appsvc.Options{})
			rel := w.release(ann, to(w.tagged(), "production", 0))
			for _, by := range []vitrine.Caller{ben, cat} {
				var err error
				if rel, err = w.As(by).ApproveRelease(ctx, rel.ID, rel.Version); err != nil {
					t.Fatal(err)
				}
			}
			in := appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version, Name: rel.Name, Moves: rel.Moves}
			change(&in)
			rel, err := w.As(ben).UpdateRelease(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, a := range rel.Approvals {
				left = append(left, a.By)
			}
			if want := name != "a move"; want != (len(left) == 1 && left[0] == cat.URN) || !want && len(left) > 0 {
				t.Errorf("approved by %q", left)
			}
			for range 2 {
				_, err = w.As(ben).ApproveRelease(ctx, rel.ID, rel.Version)
				wantCode(t, err, vitrine.CodeForbidden)
			}
		})
	}
}

// A release is independent if the rule of one of its tags is. A rule that was stored without the member is not.
func TestIndependentRules(t *testing.T) {
	g := &givers{of: map[string][]string{"ann": {"ben"}}}
	w, _ := releasing(t, appsvc.Options{Rights: g.rights})
	without := appsvc.TagRule{Name: "live", Protected: true, Independent: true}
	checkKind(t, w.SetTagRules(t.Context(), []appsvc.TagRule{without}), vitrine.ErrInvalid)
	id := w.tagged("live")
	alone := w.release(ann, to(id, "production", 0))
	rules := []appsvc.TagRule{{Name: "production", Approvals: 1}, {Name: "live", Approvals: 1, Independent: true}}
	if err := w.SetTagRules(t.Context(), rules); err != nil {
		t.Fatal(err)
	}
	both := w.release(ann, to(id, "live", 2), to(id, "production", 0))
	if alone.Independent || !both.Independent {
		t.Errorf("independent: %v, %v", alone.Independent, both.Independent)
	}
	w.approves(ben, both, false)
	w.approves(ben, alone, true)
}
