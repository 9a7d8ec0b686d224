package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

func (w *workshop) entries(in appsvc.ListHistoryRequest) vitrine.Page[appsvc.HistoryEntry] {
	w.t.Helper()
	page, err := w.As(designer).ListHistory(context.Background(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return page
}

func TestHistory(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		w.clock = w.clock.Add(time.Minute)
	}
	start := w.clock.UnixMilli()
	id := w.app().ID
	w.clock = w.clock.Add(time.Minute)
	must(w.As(editor).Patch(ctx, id,
		strings.NewReader(`[`+testV0+`,{"op":"replace","path":"/apps/0/title","value":"Second"},`+
			`{"op":"move","from":"/apps/0/elements/0","path":"/apps/0/elements/1"},{"op":"add",`+
			`"path":"/apps/0/elements/0/config/a~1b","value":[1]}]`)))
	must(w.As(designer).Restore(ctx, appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(0)}))
	must(w.As(editor).Restore(ctx, appsvc.RestoreRequest{AppID: id, Version: vitrine.Latest}))
	for _, name := range []string{"production", "a", "Z"} {
		w.putTag(id, name, vitrine.NewVersion(2))
	}
	w.putTag(id, "first", vitrine.NewVersion(0))
	w.putTag(id, "moved", vitrine.NewVersion(1))
	w.putTag(id, "moved", vitrine.NewVersion(2))

	const byEditor, byDesigner = `{"urn":"urn:vitrine:example.test:user=editor"}`,
		`{"urn":"urn:vitrine:example.test:user=designer"}`
	want := []string{
		fmt.Sprintf(`{"version":"3","updatedAt":%d,"updatedBy":%s,"restoredFrom":"2","tags":[],"changes":[],`+
			`"changesTruncated":false}`, start+180_000, byEditor),
		fmt.Sprintf(`{"version":"2","updatedAt":%d,"updatedBy":%s,"restoredFrom":"0","tags":["Z","a","moved",`+
			`"production"],`+
			`"changes":[{"op":"replace","path":"/apps/0/title"},{"op":"move","from":"/apps/0/elements/1",`+
			`"path":"/apps/0/elements/0"},`+
			`{"op":"remove","path":"/apps/0/elements/1/config/a~1b"}],"changesTruncated":false}`, start+120_000,
			byDesigner),
		fmt.Sprintf(`{"version":"1","updatedAt":%d,"updatedBy":%s,"restoredFrom":null,"tags":[],`+
			`"changes":[{"op":"replace","path":"/apps/0/title"},{"op":"move","from":"/apps/0/elements/1",`+
			`"path":"/apps/0/elements/0"},`+
			`{"op":"add","path":"/apps/0/elements/0/config/a~1b"}],"changesTruncated":false}`, start+60_000, byEditor),
		fmt.Sprintf(`{"version":"0","updatedAt":%d,"updatedBy":%s,"restoredFrom":null,"tags":["first"],"changes":[],`+
			`"changesTruncated":false}`, start, byEditor),
	}
	page := w.entries(appsvc.ListHistoryRequest{AppID: id})
	var got []string
	for _, e := range page.Items {
		text := quoted(e)
		got = append(got, text)
		var again appsvc.HistoryEntry
		if err := json.Unmarshal([]byte(text), &again); err != nil || quoted(again) != text {
			t.Errorf("%s is read back as %+v, %v", text, again, err)
		}
	}
	if !slices.Equal(got, want) || page.Next != "" {
		t.Errorf("got\n%s\nnext %q, want\n%s", strings.Join(got, "\n"), page.Next, strings.Join(want, "\n"))
	}
}

// Pages of any size, from any version on, make up the whole history.
func TestPagesOfHistory(t *testing.T) {
	w := newWorkshop(t)
	const count = 130
	var pages []page
	for v := range count {
		pages = append(pages, newPage(anyElement(fmt.Sprintf(`{"v":%d}`, v))))
	}
	id := w.history(pages...)
	var all []appsvc.HistoryEntry
	for e, err := range w.As(designer).AllHistory(context.Background(), appsvc.ListHistoryRequest{AppID: id}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	for n, e := range all {
		if e.Version != vitrine.NewVersion(count-1-n) || len(e.Changes) != min(1, count-1-n) {
			t.Errorf("entry %d is %+v", n, e)
		}
	}
	if len(all) != count {
		t.Fatalf("%d entries, want %d", len(all), count)
	}
	for _, limit := range []int{1, 49, 100, 500} {
		for _, before := range []int{0, 1, 57, count + 5} {
			var got []appsvc.HistoryEntry
			in := appsvc.ListHistoryRequest{AppID: id, Before: vitrine.NewVersion(before), Limit: limit}
			for {
				p := w.entries(in)
				got = append(got, p.Items...)
				if p.Next == "" {
					break
				}
				if len(p.Items) != limit {
					t.Fatalf("a page of %d entries, want %d", len(p.Items), limit)
				}
				in.After = p.Next
			}
			if want := all[max(0, count-before):]; !slices.EqualFunc(got, want, func(a, b appsvc.HistoryEntry) bool {
				return reflect.DeepEqual(a, b)
			}) {
				t.Errorf("limit %d, before %d: %d entries, want %d", limit, before, len(got), len(want))
			}
		}
	}
	if p := w.entries(appsvc.ListHistoryRequest{AppID: id}); len(p.Items) != 50 || p.Next != "80" {
		t.Errorf("the first page has %d entries, next %q, want 50 and 80", len(p.Items), p.Next)
	}
}

func TestHistoryErrors(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.history(newPage())
	for _, test := range []struct {
		name string
		by   vitrine.Caller
		in   appsvc.ListHistoryRequest
		want error
	}{
		{"limit 500", designer, appsvc.ListHistoryRequest{AppID: id, Limit: 500}, nil},
		{"limit 501", designer, appsvc.ListHistoryRequest{AppID: id, Limit: 501}, vitrine.ErrInvalid},
		{"a negative limit", designer, appsvc.ListHistoryRequest{AppID: id, Limit: -1}, vitrine.ErrInvalid},
		{"no cursor", designer, appsvc.ListHistoryRequest{AppID: id, After: "x"}, vitrine.ErrInvalid},
		{"no such app", designer, appsvc.ListHistoryRequest{AppID: "x"}, vitrine.ErrNotFound},
		{"a stranger", moderator(site2), appsvc.ListHistoryRequest{AppID: id}, vitrine.ErrNotFound},
		{"a reader", vitrine.Caller{URN: designer.URN + "2", Reads: []string{site1}},
			appsvc.ListHistoryRequest{AppID: id}, nil},
		{"tags only", vitrine.Caller{URN: designer.URN, Reads: []string{site1}, TagsOnly: true},
			appsvc.ListHistoryRequest{AppID: id}, vitrine.ErrForbidden},
		{"a bad caller", vitrine.Caller{URN: "x"}, appsvc.ListHistoryRequest{AppID: id}, vitrine.ErrInvalid},
	} {
		if page, err := w.As(test.by).ListHistory(ctx, test.in); !errors.Is(err, test.want) || err == nil &&
			len(page.Items) != 1 {
			t.Errorf("%s: %+v, %v, want %v", test.name, page, err, test.want)
		}
	}
}

// The changes of a version are at most 20, of at most 1,024 bytes.
func TestHistoryTruncatesChanges(t *testing.T) {
	numbers := func(count, value int, name string) page {
		var members []string
		for i := range count {
			members = append(members, fmt.Sprintf(`"%s%02d":%d`, name, i, value))
		}
		return newPage(
			anyElement("{" + strings.Join(append(members, `"x":"`+strings.Repeat("x", 8000)+`"`), ",") + "}"))
	}
	check := func(name string, from, to page, want int, truncated bool) {
		t.Helper()
		w := newWorkshop(t)
		e := w.entries(appsvc.ListHistoryRequest{AppID: w.history(from, to)}).Items[0]
		if n := len(quoted(e.Changes)); len(e.Changes) != want || e.ChangesTruncated != truncated || n > 1024 {
			t.Errorf("%s: %d changes of %d bytes, truncated %t; want %d, %t", name, len(e.Changes), n,
				e.ChangesTruncated, want, truncated)
		}
	}
	many := newPage()
	for i := range 60 {
		many.elements = append(many.elements, anyElement(fmt.Sprintf(`{"n":"%s%d"}`, strings.Repeat("long ", 30), i)))
	}
	fewer := func(count int) page { return newPage(many.elements[count:]...) }
	check("20 changes", many, fewer(20), 20, false)
	check("21 changes", many, fewer(21), 20, true)
	for _, test := range []struct {
		name      string
		count     int
		field     string
		want      int
		truncated bool
	}{
		{"1,021 bytes", 10, strings.Repeat("n", 47), 10, false},
		{"1,031 bytes", 10, strings.Repeat("n", 48), 9, true},
		{"a change of more than 1,024 bytes", 1, strings.Repeat("n", 1000), 0, true},
	} {
		check(test.name, numbers(test.count, 1, test.field), numbers(test.count, 2, test.field), test.want,
			test.truncated)
	}
}

// What a page compares is bounded by steps and by bytes.
func TestAPageOfHistoryIsBounded(t *testing.T) {
	nested := func(size, n int) page {
		config := fmt.Sprintf(`{"text":"%s","n":%d}`, strings.Repeat("x", size), n)
		for range 3 {
			config = `{"a":` + config + `}`
		}
		return newPage(anyElement(config))
	}
	w := newLimitedWorkshop(t, appsvc.Limits{PatchBytes: 64 << 20, PageBytes: 4 << 20})
	id := w.history(nested(10, 1), nested(10, 2), nested(3<<20, 1), nested(3<<20, 2), nested(10, 2), nested(10, 3))
	page := w.entries(appsvc.ListHistoryRequest{AppID: id, Before: vitrine.NewVersion(6)})
	want := []struct {
		changes   int
		truncated bool
	}{
		{1, false}, // the bodies are small
		{1, false}, // one of the bodies is large
		{0, true},  // both are: that takes more steps than are left
		{0, true},  // nothing is compared any more
		{0, true},
		{0, false}, // version 0 has no changes
	}
	for n, e := range page.Items {
		if n >= len(want) || len(e.Changes) != want[n].changes || e.ChangesTruncated != want[n].truncated {
			t.Errorf("version %s: %d changes, truncated %t", e.Version, len(e.Changes), e.ChangesTruncated)
		}
	}
	if len(page.Items) != 6 || page.Next != "" {
		t.Errorf("%d entries, next %q, want 6 and none", len(page.Items), page.Next)
	}
	if again := w.entries(appsvc.ListHistoryRequest{AppID: id, Before: vitrine.NewVersion(3),
		Limit: 1}).Items[0]; len(again.Changes) != 2 || again.ChangesTruncated {
		t.Errorf("alone, the changes of version 2 are %+v", again)
	}
}

// The steps of a page grow with the number of entries that are asked for.
func TestALongPageOfHistoryHasItsChanges(t *testing.T) {
	const count = 300
	var pages []page
	for v := range count {
		pages = append(pages, newPage(anyElement(fmt.Sprintf(`{"v":%d,"text":"%s"}`, v, strings.Repeat("x", 50_000)))))
	}
	w := newWorkshop(t)
	page := w.entries(appsvc.ListHistoryRequest{AppID: w.history(pages...), Limit: 500})
	for _, e := range page.Items {
		if e.ChangesTruncated || len(e.Changes) != 1 && e.Version != vitrine.NewVersion(0) {
			t.Fatalf("version %s: %d changes, truncated %t", e.Version, len(e.Changes), e.ChangesTruncated)
		}
	}
	if len(page.Items) != count {
		t.Errorf("%d entries, want %d", len(page.Items), count)
	}
}

// One comparison takes no more of a long page than of a short one, since its steps bound its memory too.
func TestAComparisonOfALongPageIsBounded(t *testing.T) {
	list := func(last string) page {
		return newPage(anyElement(`{"list":[` + strings.Repeat("1,", 450_000) + last + `]}`))
	}
	w := newLimitedWorkshop(t, appsvc.Limits{PatchBytes: 64 << 20})
	page := w.entries(
		appsvc.ListHistoryRequest{AppID: w.history(list("2"), list("3"), newPage(anyElement(`{"n":1}`)),
			newPage(anyElement(`{"n":2}`))), Limit: 500})
	for i, truncated := range []bool{false, false, true, false} {
		if e := page.Items[i]; e.ChangesTruncated != truncated || truncated && len(e.Changes) > 0 {
			t.Errorf("version %s: %d changes, truncated %t, want %t", e.Version, len(e.Changes), e.ChangesTruncated,
				truncated)
		}
	}
}

func TestAPageOfHistoryEndsWithBytes(t *testing.T) {
	var pages []page
	for v := range 10 {
		pages = append(pages, newPage(anyElement(fmt.Sprintf(`{"v":%d,"text":"%s"}`, v, strings.Repeat("x", 5000)))))
	}
	w := newLimitedWorkshop(t, appsvc.Limits{PageBytes: 4000})
	id := w.history(pages...)
	var all []int64
	in := appsvc.ListHistoryRequest{AppID: id}
	for {
		p := w.entries(in)
		for _, e := range p.Items {
			all = append(all, e.Version.Number())
		}
		if p.Next == "" {
			break
		}
		if len(p.Items) != 4 { // 16,000 bytes are reached with the fourth body behind the first
			t.Errorf("a page of %d entries, want 4", len(p.Items))
		}
		in.After = p.Next
	}
	if want := []int64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}; !slices.Equal(all, want) {
		t.Errorf("versions %v, want %v", all, want)
	}
}

// The changes in a history are the operations of the diffs.
func TestHistoryAgreesWithDiff(t *testing.T) {
	for seed := range uint64(8) {
		r := randomPages{rand.New(rand.NewPCG(seed, 1))}
		w := newWorkshop(t)
		w.component(`{"name":"other","version":"1","main":"/other.js","configSchema":{}}`)
		pages := []page{r.page()}
		for range 12 {
			next := r.changed(pages[len(pages)-1])
			next.title = fmt.Sprint("version ", len(pages))
			pages = append(pages, next)
		}
		id := w.history(pages...)
		for _, e := range w.entries(appsvc.ListHistoryRequest{AppID: id}).Items {
			v := int(e.Version.Number())
			if v == 0 {
				continue
			}
			var ops []appsvc.HistoryChange
			for _, text := range operations(t, w.diff(id, v-1, v)) {
				var op appsvc.HistoryChange
				if err := json.Unmarshal([]byte(text), &op); err != nil {
					t.Fatal(err)
				}
				ops = append(ops, op)
			}
			if n := len(e.Changes); n > len(ops) || !slices.Equal(e.Changes, ops[:n]) ||
				e.ChangesTruncated != (n < len(ops)) {
				t.Fatalf("seed %d, version %d: changes %+v, truncated %t, want %+v", seed, v, e.Changes,
					e.ChangesTruncated, ops)
			}
		}
	}
}

// However much changes, a page of 50 entries takes less than 64 KiB.
func TestPagesOfHistoryAreSmall(t *testing.T) {
	var pages []page
	for v := range 51 {
		var members []string
		for i := range 30 {
			members = append(members, fmt.Sprintf(`"member number %d":%d`, i, v))
		}
		p := newPage()
		for range 20 {
			p.elements = append(p.elements,
				anyElement(fmt.Sprintf(`{%s,"text":"%s"}`, strings.Join(members, ","), strings.Repeat("x", 2000))))
		}
		pages = append(pages, p)
	}
	w := newWorkshop(t)
	id := w.history(pages...)
	if got := w.entries(appsvc.ListHistoryRequest{AppID: id}); len(got.Items) != 50 ||
		len(quoted(got.Items)) >= 64<<10 || len(quoted(got.Items)) < 48<<10 {
		t.Errorf("%d entries of %d bytes", len(got.Items), len(quoted(got.Items)))
	}
}
