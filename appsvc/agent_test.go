package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// agentOf is an agent that works for a person.
func agentOf(person vitrine.Caller, name, key string) vitrine.Caller {
	person.Agent, person.Key = name, key
	return person
}

// What an agent writes has its name: versions in the history, their entries and those of releases in the feed, and
// releases. What the person writes has not.
func TestWhatAgentsWriteHasTheirName(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	writer := agentOf(ann, "Écrivain “2”", "vt_1")
	app, err := w.As(writer).CreateApp(ctx, appsvc.CreateAppRequest{Title: "a", Groups: []string{site1}})
	if err != nil {
		t.Fatal(err)
	}
	rename := func(by vitrine.Caller, title string) {
		t.Helper()
		_, err := w.As(by).Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetTitle(title)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rename(ann, "b")
	rename(writer, "c")
	if _, err := w.As(writer).Restore(ctx,
		appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(1)}); err != nil {
		t.Fatal(err)
	}
	rel := w.release(writer, to(app.ID, "production", 3))
	history, err := w.As(ben).ListHistory(ctx, appsvc.ListHistoryRequest{AppID: app.ID})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range history.Items {
		names = append(names, e.UpdatedBy+" "+e.Agent)
	}
	named, plain := ann.URN+" "+writer.Agent, ann.URN+" "
	if got, want := strings.Join(names, ", "), strings.Join([]string{named, named, plain, named}, ", "); got != want {
		t.Errorf("the history has %s, want %s", got, want)
	}
	changes, err := w.As(ben).Changes(ctx, appsvc.ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	agents := ""
	for _, e := range changes.Changes {
		agents += string(e.Type) + "=" + e.Agent + " "
		if e.By != ann.URN {
			t.Errorf("%s is by %q", e.Type, e.By)
		}
	}
	if want := strings.ReplaceAll("app.created=* app.updated= app.updated=* app.restored=* release=* ", "*",
		writer.Agent); agents != want {
		t.Errorf("the feed has %s, want %s", agents, want)
	}
	text, _ := json.Marshal([]any{history.Items[0], changes.Changes[0], rel})
	if n := bytes.Count(text, []byte(`"agent":"Écrivain “2”"`)); n != 3 {
		t.Errorf("%d of three have the name: %s", n, text)
	}
	if text, _ := json.Marshal(history.Items[2]); bytes.Contains(text, []byte("agent")) {
		t.Errorf("a person's version: %s", text)
	}
}

// An agent makes releases without a time, and changes those of its own key that have none. A person approves and runs
// them, but not the one whose key has made them.
func TestAgentsProposeReleases(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	app, err := w.As(ann).CreateApp(ctx, appsvc.CreateAppRequest{Title: "a", Groups: []string{site1}})
	if err != nil {
		t.Fatal(err)
	}
	writer, other := agentOf(ann, "writer", "vt_1"), agentOf(ann, "writer", "vt_2")
	at := w.clock.UnixMilli() + 1000
	move := []appsvc.ReleaseMove{to(app.ID, "production", 0)}
	_, err = w.As(writer).CreateRelease(ctx, appsvc.CreateReleaseRequest{Moves: move, At: at})
	wantCode(t, err, vitrine.CodeForbidden)
	rel := w.release(writer, move...)
	change := func(by vitrine.Caller, rel appsvc.Release, at int64, want string) appsvc.Release {
		t.Helper()
		out, err := w.As(by).UpdateRelease(ctx, appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version,
			Name: by.URN + by.Key, Moves: move, At: at})
		wantCode(t, err, want)
		return out
	}
	rel = change(writer, rel, 0, "")
	change(writer, rel, at, vitrine.CodeForbidden)
	change(other, rel, 0, vitrine.CodeForbidden)
	change(other, appsvc.Release{ID: rel.ID, Version: vitrine.NewVersion(99)}, 0, vitrine.CodeForbidden)
	change(writer, w.release(ann, move...), 0, vitrine.CodeForbidden)
	change(writer, change(ann, w.release(writer, move...), at, ""), 0, vitrine.CodeForbidden)
	for _, by := range []vitrine.Caller{writer, ann} {
		_, err = w.As(by).ApproveRelease(ctx, rel.ID, rel.Version)
		wantCode(t, err, vitrine.CodeForbidden)
	}
	if rel, err = w.As(ben).ApproveRelease(ctx, rel.ID, rel.Version); err == nil {
		_, err = w.As(ann).RunRelease(ctx, rel.ID, rel.Version)
	}
	wantCode(t, err, "")
	if kept, err := w.As(cat).Release(ctx, rel.ID); err != nil || kept.State != appsvc.ReleaseDone ||
		kept.Agent != "writer" {
		t.Errorf("%+v, %v", kept, err)
	}
}
