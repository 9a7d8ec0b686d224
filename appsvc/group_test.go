package appsvc_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

const site10 = network + ":site=10"

// regroup gives an app other groups, as admin may.
func (w *workshop) regroup(id string, groups []string) {
	w.t.Helper()
	if err := w.patchGroups(admin, id, groups); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workshop) patchGroups(by vitrine.Caller, id string, groups []string) error {
	w.t.Helper()
	now, err := w.As(admin).App(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = w.As(by).Patch(context.Background(), id,
		strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":%q},
		{"op":"replace","path":"/apps/0/groups","value":["%s"]}]`, now.Version, strings.Join(groups, `","`))))
	return err
}

func TestWhoMayChangeGroups(t *testing.T) {
	tests := []struct {
		name          string
		by            vitrine.Caller
		before, after []string
		err           error
	}{
		{"the owner takes one away", owner, []string{site1, site2}, []string{site2}, nil},
		{"the owner reorders them", owner, []string{site1, site2}, []string{site2, site1}, nil},
		{"the owner adds one", owner, []string{site1}, []string{site1, site2}, vitrine.ErrForbidden},
		{"the owner exchanges one", owner, []string{site1}, []string{site2}, vitrine.ErrForbidden},
		{"the owner narrows one", owner, []string{network}, []string{site1}, vitrine.ErrForbidden},
		{"a moderator adds a group of theirs", moderator(site1, site2), []string{site1}, []string{site1, site2}, nil},
		{"a moderator adds a group of others", moderator(site1), []string{site1}, []string{site1, site2},
			vitrine.ErrForbidden},
		{"a moderator widens a group", moderator(site1), []string{site1}, []string{network}, vitrine.ErrForbidden},
		{"a moderator takes theirs away and keeps that of others", moderator(site1), []string{site1, site2},
			[]string{site2}, nil},
		{"a moderator takes that of others away and keeps theirs", moderator(site1), []string{site1, site2},
			[]string{site1}, vitrine.ErrForbidden},
		{"a moderator exchanges that of others for another of theirs", moderator(site1, site10), []string{site1, site2},
			[]string{site1, site10}, vitrine.ErrForbidden},
		{"a moderator adds a group of theirs and takes that of others away", moderator(site1, site10),
			[]string{site1, site2}, []string{site10, site1}, vitrine.ErrForbidden},
		{"a moderator of one site takes the network away", moderator(site1), []string{site1, network}, []string{site1},
			vitrine.ErrForbidden},
		{"a moderator of site 1 takes site 10 away", moderator(site1), []string{site1, site10}, []string{site1},
			vitrine.ErrForbidden},
		{"a moderator of the network takes a site away", moderator(network), []string{site1, site2}, []string{site1},
			nil},
		{"a moderator of both exchanges one for the other", moderator(site1, site2), []string{site1}, []string{site2},
			nil},
		{"the owner takes that of others away", owner, []string{site2, network}, []string{site2}, nil},
		{"a moderator of the network adds a site", moderator(network), []string{site1}, []string{site1, site10}, nil},
		{"a moderator of site 1 adds site 10", moderator(site1), []string{site1}, []string{site1, site10},
			vitrine.ErrForbidden},
		{"somebody else", moderator(), []string{site1}, []string{site1, site2}, vitrine.ErrNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorkshop(t)
			id := w.stateApp("site1")
			w.regroup(id, append(slices.Clone(test.before), "urn:vitrine:other.test")) // another version, in any case
			w.regroup(id, test.before)
			before := w.everything(id)
			if err := w.patchGroups(test.by, id, test.after); !errors.Is(err, test.err) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if after := w.everything(id); (after != before) != (test.err == nil) {
				t.Errorf("the app went from\n%s\nto\n%s", before, after)
			}
		})
	}
}

func TestARestoredVersionGivesItsGroupsRightsAgain(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.stateApp("moved")
	if _, err := w.As(moderator(site1)).App(ctx, id); !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	if _, err := w.As(moderator(site1, site2)).Restore(ctx,
		appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.As(moderator(site1)).Version(ctx, id, vitrine.NewVersion(1)); err != nil {
		t.Errorf("a version of other groups, after the latest is theirs again: %v", err)
	}
	if _, err := w.As(moderator(site2)).Version(ctx, id, vitrine.NewVersion(1)); !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("a version of their group, after the latest is not theirs: %v", err)
	}
}
