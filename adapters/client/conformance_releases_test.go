package client_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
)

var releaseBehaviours = []behaviour{
	{"releases move tags together, and are undone", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "first", site)
		move := appsvc.ReleaseMove{AppID: app.ID, Tag: "live", From: appsvc.NoTag(), To: appsvc.PointsTo(app.Version)}
		rel := ok(s.apps.CreateRelease(t.Context(),
			appsvc.CreateReleaseRequest{Name: "r", Moves: []appsvc.ReleaseMove{move}}))(t)
		rel = ok(s.apps.UpdateRelease(t.Context(),
			appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version, Name: "s", Moves: []appsvc.ReleaseMove{move},
				At: time.Now().Add(time.Hour).UnixMilli(), Until: time.Now().Add(2 * time.Hour).UnixMilli()}))(t)
		if again := ok(s.apps.Release(t.Context(), rel.ID))(t); again.Name != "s" || again.Version != rel.Version ||
			again.At != rel.At || again.Until != rel.Until || rel.Until == 0 || len(again.Moves) != 1 ||
			again.Moves[0] != rel.Moves[0] {
			t.Errorf("%+v, want %+v", again, rel)
		}
		same(t, app, ok(s.apps.TaggedAppIn(t.Context(), app.ID, "live", rel.ID))(t))
		if list := ok(s.apps.ListReleases(t.Context(),
			appsvc.ListReleasesRequest{State: appsvc.ReleaseScheduled}))(t); len(list.Items) != 1 ||
			list.Items[0].Name != "s" {
			t.Errorf("%+v", list)
		}
		tag := ok(s.apps.PutTag(t.Context(),
			appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: app.Version}))(t)
		_, err := s.apps.RunRelease(t.Context(), rel.ID, rel.Version)
		e, _ := errors.AsType[*vitrine.Error](err)
		if e == nil || e.Code != vitrine.CodeConflicts || len(e.Conflicts) != 1 ||
			e.Conflicts[0].PointsTo != tag.AppVersion {
			t.Fatalf("%+v", err)
		}
		back := ok(s.apps.PutTag(t.Context(),
			appsvc.PutTagRequest{AppID: app.ID, Name: "live", Rollback: true, Note: "too early"}))(t)
		if moves := ok(s.apps.ListTagMoves(t.Context(),
			appsvc.ListTagMovesRequest{AppID: app.ID, Name: "live", Limit: 2}))(
			t).Items; moves[0].Note != "too early" || moves[1].Note != "" {
			t.Errorf("%+v", moves)
		}
		if !back.AppVersion.IsZero() {
			t.Errorf("rolled back to %+v", back)
		}
		done := ok(s.apps.RunRelease(t.Context(), rel.ID, e.Version))(t)
		undone := ok(s.apps.UndoRelease(t.Context(), rel.ID, done.Version))(t)
		if done.State != appsvc.ReleaseDone || undone.State != appsvc.ReleaseCancelled {
			t.Errorf("%+v, %+v", done, undone)
		}
	}},
	{"an inbox has what failed, until it was seen", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "first", site)
		rel := ok(s.apps.CreateRelease(t.Context(), appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{
			{AppID: app.ID, Tag: "live", From: appsvc.NoTag(), To: appsvc.PointsTo(app.Version)}}}))(t)
		ok(s.apps.PutTag(t.Context(), appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: app.Version}))(t)
		_, err := s.apps.RunRelease(t.Context(), rel.ID, rel.Version)
		wantError(t, "run", err, vitrine.ErrConflict)
		inbox := ok(s.apps.Inbox(t.Context(), appsvc.InboxRequest{Limit: 1}))(t)
		if len(inbox.Items) != 1 || inbox.Items[0].Kind != appsvc.InboxFailed || inbox.Items[0].Release != rel.ID {
			t.Fatalf("%+v", inbox)
		}
		must(t, s.apps.SeeInbox(t.Context(), inbox.Items[0].At))
		if again := ok(s.apps.Inbox(t.Context(), appsvc.InboxRequest{}))(t); len(again.Items) > 0 ||
			again.Seen != inbox.Items[0].At {
			t.Errorf("%+v", again)
		}
		if people := ok(s.apps.Readers(t.Context(), app.ID, "x"))(t); len(people) > 0 {
			t.Errorf("%+v", people)
		}
		if people := ok(s.apps.Approvers(t.Context(), rel.ID, ""))(t); len(people) > 0 {
			t.Errorf("%+v", people)
		}
		_, err = s.apps.CreateRelease(t.Context(), appsvc.CreateReleaseRequest{Moves: rel.Moves,
			Ask: []string{network + ":user=nobody"}})
		wantError(t, "ask", err, vitrine.ErrUnprocessable)
	}},
	{"comments are made, answered, resolved and removed", func(t *testing.T, as func(httpapi.Principal) services) {
		s := as(editor)
		app := newApp(t, s, "first", site)
		of := appsvc.CreateCommentRequest{AppID: app.ID, Element: "0.0", Pointer: "/question", Text: "<i>Tea</i>?"}
		c := ok(s.apps.CreateComment(t.Context(), of))(t)
		reply := ok(s.apps.ReplyToComment(t.Context(),
			appsvc.ReplyRequest{AppID: app.ID, Comment: c.ID, Text: "yes"}))(t)
		if c.Element != of.Element || c.Pointer != of.Pointer || c.Text != of.Text || c.By != editor.URN ||
			c.Version != app.Version || reply.Text != "yes" || reply.By != editor.URN {
			t.Errorf("%+v, %+v", c, reply)
		}
		text, yes := "Coffee?", true
		ok(s.apps.UpdateComment(t.Context(), appsvc.UpdateCommentRequest{AppID: app.ID, ID: c.ID, Text: &text}))(t)
		c = ok(s.apps.UpdateComment(t.Context(),
			appsvc.UpdateCommentRequest{AppID: app.ID, ID: c.ID, Resolved: &yes}))(t)
		ok(s.apps.CreateComment(t.Context(), appsvc.CreateCommentRequest{AppID: app.ID, Text: "another"}))(t)
		all := ok(s.apps.ListComments(t.Context(), appsvc.ListCommentsRequest{AppID: app.ID}))(t).Items
		if len(all) != 2 || !reflect.DeepEqual(all[1], c) || c.ResolvedBy != editor.URN || len(c.Replies) != 1 {
			t.Errorf("%+v, want %+v", all, c)
		}
		for c, err := range s.apps.AllComments(t.Context(),
			appsvc.ListCommentsRequest{AppID: app.ID, Open: true, Limit: 1}) {
			if must(t, err); c.Text != "another" {
				t.Errorf("open: %+v", c)
			}
		}
		if list := ok(s.apps.ListApps(t.Context(),
			appsvc.ListAppsRequest{Summary: true}))(t); list.Items[0].OpenComments != 1 {
			t.Errorf("%+v", list)
		}
		for _, name := range []string{network + ":user=nobody", "x"} {
			of.Mentions = []string{name}
			_, err := s.apps.CreateComment(t.Context(), of)
			wantError(t, name, err,
				map[bool]error{true: vitrine.ErrInvalid, false: vitrine.ErrUnprocessable}[name == "x"])
		}
		must(t, s.apps.DeleteComment(t.Context(), app.ID, c.ID))
		wantError(t, "removed twice", s.apps.DeleteComment(t.Context(), app.ID, c.ID), vitrine.ErrNotFound)
	}},
}
