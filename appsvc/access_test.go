package appsvc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

const network = "urn:vitrine:example.test"

// owner created the apps of these tests, and has no rights but that.
var owner = vitrine.Caller{URN: network + ":user=owner"}

// admin moderates every group of these tests.
var admin = vitrine.Caller{URN: network + ":user=admin",
	Moderates: []string{network, "urn:vitrine:other.test", "urn:vitrine:none.test"}, Components: true}

// moderator is a user who owns nothing and moderates these.
func moderator(urns ...string) vitrine.Caller {
	return vitrine.Caller{URN: network + ":user=moderator", Moderates: urns}
}

// accessCallers are the well-formed callers of the tables, by the row that says what they may do.
var accessCallers = map[string][]vitrine.Caller{
	"owner":      {owner},
	"network":    {moderator(network)},
	"site=1":     {moderator(site1), notOwner(owner.URN, site1)},
	"site=2":     {moderator(site2)},
	"site=10":    {moderator(network + ":site=10")},
	"both-sites": {moderator(site1, site2)},
	"strangers": {moderator("urn:vitrine:other.test"), moderator("urn:vitrine:example.test2"),
		moderator("urn:vitrine:example"),
		moderator("urn:other:example.test"), moderator("urn:vitrine:EXAMPLE.test"), moderator(), manager,
		notOwner(owner.URN)},
}

// notOwner is a key of a user that has nothing of the user but the right to moderate these.
func notOwner(user string, urns ...string) vitrine.Caller {
	return vitrine.Caller{URN: user, Moderates: urns, Key: "vt_narrow", NotOwner: true}
}

// manager may manage components, and owns and moderates nothing.
var manager = vitrine.Caller{URN: network + ":user=c", Components: true}

var malformedCallers = map[string]vitrine.Caller{
	"below-site=1":   moderator(site1 + ":deeper"),
	"vendor":         moderator("urn:vitrine"),
	"scheme":         moderator("urn"),
	"half-a-segment": moderator("urn:vitrine:"),
	"owner-as-group": moderator(owner.URN),
	"empty":          moderator(""),
	"one-of-two":     moderator(site1, "urn:vitrine"),
	"no-name":        {Moderates: []string{network}},
	"no-user":        {URN: network, Moderates: []string{network}},
	"site-as-user":   {URN: site1, Moderates: []string{site1}},
	"not-utf-8":      {URN: network + ":user=\xff", Moderates: []string{network}},
}

// accessStates are the groups of an app, version by version.
var accessStates = map[string][][]string{
	"site1":   {{site1}},
	"moved":   {{site1}, {site2}}, // was in site 1, and its latest version is in site 2
	"both":    {{site1, site2}},
	"left":    {{site1, site2}, {site2}}, // is no longer in site 1
	"joined":  {{site1}, {site1, site2}}, // was in site 1, and is in site 2 too
	"network": {{network}},
	"site10":  {{network + ":site=10"}},
}

// mayUse says who may use an app in which state: every operation, every version, every tag.
const mayUse = `
                 site1      moved      both       left       joined     network    site10
 owner           yes        yes        yes        yes        yes        yes        yes
 network         yes        yes        yes        yes        yes        yes        yes
 site=1          yes        no         yes        no         yes        no         no
 site=2          no         yes        yes        yes        yes        no         no
 site=10         no         no         no         no         no         no         yes
 both-sites      yes        yes        yes        yes        yes        no         no
 strangers       no         no         no         no         no         no         no
`

// mayRestore says what bringing version 0 back comes to: it must add no group that the caller does
// not moderate, and take none away that the caller, unless the owner, does not moderate.
const mayRestore = `
                 site1      moved      both       left       joined     network    site10
 owner           yes        forbidden  yes        forbidden  yes        yes        yes
 network         yes        yes        yes        yes        yes        yes        yes
 site=1          yes        no         yes        no         forbidden  no         no
 site=2          no         forbidden  yes        forbidden  yes        no         no
 site=10         no         no         no         no         no         no         yes
 both-sites      yes        yes        yes        yes        yes        no         no
 strangers       no         no         no         no         no         no         no
`

// accessOperations are all that can be done with one app, as functions that say whether they found
// it. Before each the app has the tag "live" at version 0.
var accessOperations = map[string]func(w *workshop, by vitrine.Caller, id string) error{
	"App": func(w *workshop, by vitrine.Caller, id string) error {
		_, err := w.As(by).App(context.Background(), id)
		return err
	},
	"Version 0": func(w *workshop, by vitrine.Caller, id string) error {
		_, err := w.As(by).Version(context.Background(), id, vitrine.NewVersion(0))
		return err
	},
	"Versions": func(w *workshop, by vitrine.Caller, id string) error {
		_, _, err := listed(w.As(by).ListVersions(context.Background(), appsvc.ListVersionsRequest{AppID: id}))
		return err
	},
	"Patch": func(w *workshop, by vitrine.Caller, id string) error {
		latest, _ := w.As(admin).App(context.Background(), id)
		_, err := w.As(by).Patch(context.Background(), id,
			strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":%q},
			{"op":"replace","path":"/apps/0/title","value":"patched"}]`, latest.Version)))
		return err
	},
	"Patch of nothing": func(w *workshop, by vitrine.Caller, id string) error {
		latest, _ := w.As(admin).App(context.Background(), id)
		_, err := w.As(by).Patch(context.Background(), id,
			strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":%q}]`, latest.Version)))
		return err
	},
	"Restore of the latest": func(w *workshop, by vitrine.Caller, id string) error {
		_, err := w.As(by).Restore(context.Background(), appsvc.RestoreRequest{AppID: id, Version: vitrine.Latest})
		return err
	},
	"Tags": func(w *workshop, by vitrine.Caller, id string) error {
		_, err := w.As(by).ListTags(context.Background(), appsvc.ListTagsRequest{AppID: id, Embed: true})
		return err
	},
	"Tag": func(w *workshop, by vitrine.Caller, id string) error {
		_, err := w.As(by).Tag(context.Background(), appsvc.TagRequest{AppID: id, Name: "live", Embed: true})
		return err
	},
	"TaggedApp": func(w *workshop, by vitrine.Caller, id string) error {
		_, err := w.As(by).TaggedApp(context.Background(), id, "live")
		return err
	},
	"PutTag": func(w *workshop, by vitrine.Caller, id string) error {
		_, err := w.As(by).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.NewVersion(0), Embed: true})
		return err
	},
	"PutTag with a key": func(w *workshop, by vitrine.Caller, id string) error {
		_, err := w.As(by).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: id, Name: "keyed", Version: vitrine.NewVersion(0), IdempotencyKey: "k"})
		return err
	},
	"DeleteTag": func(w *workshop, by vitrine.Caller, id string) error {
		return w.As(by).DeleteTag(context.Background(), appsvc.DeleteTagRequest{AppID: id, Name: "live"})
	},
	"TagsNamed": func(w *workshop, by vitrine.Caller, id string) error {
		tags, err := w.As(by).TagsNamed(context.Background(), "live", []string{id})
		if err == nil && len(tags) == 0 {
			err = vitrine.ErrNotFound
		}
		return err
	},
	"Apps": func(w *workshop, by vitrine.Caller, id string) error {
		apps, _, err := unpage(w.As(by).ListApps(context.Background(), appsvc.ListAppsRequest{}))
		if err == nil && !slices.ContainsFunc(apps, func(a appsvc.App) bool { return a.ID == id }) {
			err = vitrine.ErrNotFound
		}
		return err
	},
}

// outcomes are the words of the tables.
var outcomes = map[string]error{"yes": nil, "no": vitrine.ErrNotFound, "forbidden": vitrine.ErrForbidden}

// eachCell reads a table: callers at the start of a line, a state at the head of a column. All
// callers and all states must be in it.
func eachCell(t *testing.T, table string, fn func(t *testing.T, by vitrine.Caller, state string, want error)) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	states := strings.Fields(lines[0])
	if len(states) != len(accessStates) || len(lines)-1 != len(accessCallers) {
		t.Fatalf("the table has %d states and %d callers, there are %d and %d", len(states), len(lines)-1,
			len(accessStates), len(accessCallers))
	}
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		callers := accessCallers[cells[0]]
		if callers == nil || len(cells) != len(states)+1 {
			t.Fatalf("line %q: an unknown caller, or a cell is missing", line)
		}
		for i, state := range states {
			want, known := outcomes[cells[i+1]]
			if !known || accessStates[state] == nil {
				t.Fatalf("line %q, column %q: unknown", line, state)
			}
			for _, by := range callers {
				t.Run(fmt.Sprint(cells[0], by.Moderates, " ", state), func(t *testing.T) { fn(t, by, state, want) })
			}
		}
	}
}

// stateApp creates an app in a state, tagged live.
func (w *workshop) stateApp(state string) string {
	w.t.Helper()
	creator := owner
	creator.Moderates = admin.Moderates
	versions := accessStates[state]
	app, err := w.As(creator).CreateApp(context.Background(),
		appsvc.CreateAppRequest{Title: state, Groups: versions[0]})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, groups := range versions[1:] {
		w.regroup(app.ID, groups)
	}
	if _, err := w.As(admin).PutTag(context.Background(),
		appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0)}); err != nil {
		w.t.Fatal(err)
	}
	return app.ID
}

// everything tells all that is there of an app.
func (w *workshop) everything(id string) string {
	w.t.Helper()
	versions, _, err := listed(w.As(admin).ListVersions(context.Background(), appsvc.ListVersionsRequest{AppID: id}))
	tags, err2 := w.As(admin).ListTags(context.Background(), appsvc.ListTagsRequest{AppID: id})
	if err := errors.Join(err, err2); err != nil {
		w.t.Fatal(err)
	}
	var text []byte
	for _, v := range versions {
		text = append(v.AppendJSON(text), '\n')
	}
	return fmt.Sprintf("%s%+v", text, tags)
}

// checkHidden holds an error against that of an app that is not there: nothing but the id, which
// the caller knows, may differ.
func checkHidden(t *testing.T, hidden, absent error, id, absentID string) {
	t.Helper()
	got, want := strings.ReplaceAll(hidden.Error(), id, "ID"), strings.ReplaceAll(absent.Error(), absentID, "ID")
	if got != want {
		t.Errorf("hidden: %s\nabsent: %s", got, want)
	}
}

const absentID = "00000000-0000-4000-8000-000000000000"

func TestWhoMayUseAnApp(t *testing.T) {
	eachCell(t, mayUse, func(t *testing.T, by vitrine.Caller, state string, want error) {
		w := newWorkshop(t)
		id := w.stateApp(state)
		for name, operation := range accessOperations {
			if want == nil { // what the operation before may have changed
				w = newWorkshop(t)
				id = w.stateApp(state)
			}
			before := w.everything(id)
			err := operation(w, by, id)
			if !errors.Is(err, want) {
				t.Errorf("%s: error %v, want %v", name, err, want)
				continue
			}
			if want != nil {
				checkHidden(t, err, operation(w, by, absentID), id, absentID)
				if after := w.everything(id); after != before {
					t.Errorf("%s: changed\n%s\ninto\n%s", name, before, after)
				}
			}
		}
	})
}

func TestAReaderReadsAndChangesNothing(t *testing.T) {
	w := newWorkshop(t)
	id := w.stateApp("site1")
	by := vitrine.Caller{URN: network + ":user=reader", Reads: []string{site1}}
	for name, operation := range accessOperations {
		want := map[bool]error{
			true: vitrine.ErrForbidden}[regexp.MustCompile("^(Patch|Restore|PutTag|DeleteTag)").MatchString(name)]
		before := w.everything(id)
		if err := operation(w, by, id); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", name, err, want)
		}
		if after := w.everything(id); after != before {
			t.Errorf("%s: changed\n%s\ninto\n%s", name, before, after)
		}
	}
}

func TestWhoMayRestoreAnOldVersion(t *testing.T) {
	eachCell(t, mayRestore, func(t *testing.T, by vitrine.Caller, state string, want error) {
		w := newWorkshop(t)
		id := w.stateApp(state)
		before := w.everything(id)
		in := appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(0)}
		_, err := w.As(by).Restore(context.Background(), in)
		if !errors.Is(err, want) {
			t.Fatalf("error %v, want %v", err, want)
		}
		if after := w.everything(id); (after != before) != (want == nil) {
			t.Errorf("error %v, and the app went from\n%s\nto\n%s", err, before, after)
		}
		if errors.Is(want, vitrine.ErrNotFound) {
			in.AppID = absentID
			_, absent := w.As(by).Restore(context.Background(), in)
			checkHidden(t, err, absent, id, absentID)
		}
	})
}

// mayCreate says who may create an app in these groups: the caller moderates each of them.
const mayCreate = `
                 site1      moved      both       left       joined     network    site10
 owner           forbidden  forbidden  forbidden  forbidden  forbidden  forbidden  forbidden
 network         yes        yes        yes        yes        yes        yes        yes
 site=1          yes        forbidden  forbidden  forbidden  forbidden  forbidden  forbidden
 site=2          forbidden  yes        forbidden  yes        forbidden  forbidden  forbidden
 site=10         forbidden  forbidden  forbidden  forbidden  forbidden  forbidden  yes
 both-sites      yes        yes        yes        yes        yes        forbidden  forbidden
 strangers       forbidden  forbidden  forbidden  forbidden  forbidden  forbidden  forbidden
`

func TestWhoMayCreateAnApp(t *testing.T) {
	eachCell(t, mayCreate, func(t *testing.T, by vitrine.Caller, state string, want error) {
		w := newWorkshop(t)
		versions := accessStates[state]
		_, err := w.As(by).CreateApp(context.Background(),
			appsvc.CreateAppRequest{Title: "x", Groups: versions[len(versions)-1]})
		if !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
		apps, _, err := unpage(w.As(admin).ListApps(context.Background(), appsvc.ListAppsRequest{}))
		if err != nil || (len(apps) == 1) != (want == nil) {
			t.Errorf("%d apps are there, %v", len(apps), err)
		}
	})
}

// Every method takes a caller, those that will be added too.
func TestNoMethodTakesAMalformedCaller(t *testing.T) {
	w := newWorkshop(t)
	for name, by := range malformedCallers {
		methods := reflect.ValueOf(w.As(by))
		for i := range methods.NumMethod() {
			method, what := methods.Method(i), methods.Type().Method(i).Name
			if what == "Within" || what == "In" || what == "Trying" { // it only makes a Session
				continue
			}
			in := []reflect.Value{reflect.ValueOf(context.Background())}
			for n := 1; n < method.Type().NumIn(); n++ {
				in = append(in, reflect.Zero(method.Type().In(n)))
			}
			out := method.Call(in)
			err, _ := out[len(out)-1].Interface().(error)
			if out[0].Type().CanSeq2() { // an iterator tells its error when it is used
				for _, told := range out[0].Seq2() {
					err, _ = told.Interface().(error)
				}
			}
			if !errors.Is(err, vitrine.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "caller") {
				t.Errorf("%s by %s: error %v, want %v about the caller", what, name, err, vitrine.ErrInvalid)
			}
		}
	}
}

func TestWhoMayManageComponents(t *testing.T) {
	ctx := context.Background()
	manifest := []byte(`{"name":"new","version":"1","main":"/m.js","configSchema":{}}`)
	for name, by := range map[string]vitrine.Caller{"components": manager, "owner": owner,
		"network": moderator(network), "nobody": moderator()} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			want, wantAbsent := vitrine.ErrForbidden, vitrine.ErrForbidden // who may not delete learns nothing
			if by.Components {
				want, wantAbsent = nil, vitrine.ErrNotFound
			}
			_, err := w.As(by).CreateComponent(ctx, appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)})
			checkKind(t, err, want)
			checkKind(t, w.As(by).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "any"}), want)
			checkKind(t, w.As(by).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "absent"}), wantAbsent)
			if _, err := w.As(by).Component(ctx, "text"); err != nil {
				t.Errorf("everybody may read a component: %v", err)
			}
			if list, _, err := listed(w.As(by).ListComponents(ctx, appsvc.ListComponentsRequest{})); err != nil ||
				len(list) == 0 {
				t.Errorf("everybody may list components: %d, %v", len(list), err)
			}
		})
	}
}

func checkKind(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}
