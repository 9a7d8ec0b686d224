package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// Head returns the head of an app. Its lists are copies, which the caller may change.
func (s *appState) Head(ctx context.Context, id string) (appsvc.Head, error) {
	a, err := s.app(ctx, id)
	if err != nil {
		return appsvc.Head{}, err
	}
	return cloneHead(a.head), nil
}

// App returns a version of an app.
func (s *appState) App(ctx context.Context, id string, v vitrine.Version) (appsvc.App, error) {
	a, err := s.app(ctx, id)
	if err != nil {
		return appsvc.App{}, err
	}
	if v == vitrine.Latest {
		v = a.head.Version
	}
	if v.IsZero() || v.Compare(a.head.Version) > 0 {
		return appsvc.App{}, fmt.Errorf("%w: version %s of app %q", vitrine.ErrNotFound, v, id)
	}
	return a.versions[v.Number()], nil
}

// Versions yields versions of an app, from the highest below q.Before down, or from the latest if q.Before is zero.
func (s *appState) Versions(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.App, error] {
	return func(yield func(appsvc.App, error) bool) {
		a, found := s.findApp(q.AppID)
		if !found {
			return
		}
		versions := a.versions
		if before := q.Before.Number(); before >= 0 {
			versions = versions[:min(before, int64(len(versions)))]
		}
		out := limited(ctx, q.Limit, yield)
		for _, v := range slices.Backward(versions) {
			if !out(v) {
				return
			}
		}
	}
}

// Restorations yields restorations of an app, from the highest version below q.Before down, or from the latest if
// q.Before is zero.
func (s *appState) Restorations(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.Restoration, error] {
	return func(yield func(appsvc.Restoration, error) bool) {
		before := func(r appsvc.Restoration) bool {
			return r.AppID < q.AppID || r.AppID == q.AppID && q.Before.Number() >= 0 && r.Version.Compare(q.Before) >= 0
		}
		out := limited(ctx, q.Limit, yield)
		s.restored.ascend(before, func(r appsvc.Restoration) bool { return r.AppID == q.AppID && out(r) })
	}
}

// Apps yields the latest versions of the apps that match q.
func (s *appState) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	return func(yield func(appsvc.App, error) bool) {
		out := limited(ctx, q.Limit, yield)
		for _, a := range s.listed(ctx, q) {
			if !out(a.versions[a.head.Version.Number()]) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(appsvc.App{}, err)
		}
	}
}

// Tags yields tags of an app.
func (s *appState) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] {
	return func(yield func(appsvc.Tag, error) bool) {
		first := appsvc.Tag{AppID: q.AppID, Name: max(q.Name, q.After)}
		out := limited(ctx, q.Limit, yield)
		s.tags.ascend(func(t appsvc.Tag) bool { return compareTags(t, first) < 0 }, func(t appsvc.Tag) bool {
			if t.AppID != q.AppID || q.Name != "" && t.Name > q.Name {
				return false
			}
			return t.Name <= q.After || out(t)
		})
	}
}

// TagMoves yields moves of a tag, from the newest below q.Before down, or from the newest of all if q.Before is 0.
func (s *appState) TagMoves(ctx context.Context, q appsvc.TagMoveQuery) iter.Seq2[appsvc.TagMoveRecord, error] {
	return func(yield func(appsvc.TagMoveRecord, error) bool) {
		out := limited(ctx, q.Limit, yield)
		for _, m := range slices.Backward(s.findMoves(q.AppID, q.Name).moves) {
			if (q.Before == 0 || m.Number < q.Before) && !out(m) {
				return
			}
		}
	}
}

// findMoves returns the moves of a tag; a tag without moves has an empty list.
func (s *appState) findMoves(appID, name string) *tagMoves {
	wanted := &tagMoves{appID: appID, name: name}
	if found, ok := s.moves.find(func(m *tagMoves) int { return compareMoves(m, wanted) }); ok {
		return found
	}
	return wanted
}

// TagNames yields the names of the tags of an app that have moves.
func (s *appState) TagNames(ctx context.Context, appID string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		out := limited(ctx, 0, yield)
		s.moves.ascend(func(m *tagMoves) bool { return m.appID < appID }, func(m *tagMoves) bool {
			return m.appID == appID && out(m.name)
		})
	}
}

// Users yields the apps that match q and of which some version has an element of its component. It yields no others.
func (s *appState) Users(ctx context.Context, q appsvc.UserQuery) iter.Seq2[appsvc.ComponentUser, error] {
	return func(yield func(appsvc.ComponentUser, error) bool) {
		first := use{q.Component, q.From}
		out := limited(ctx, 0, yield)
		s.used.ascend(func(u use) bool { return compareUses(u, first) < 0 }, func(u use) bool {
			if u.component != q.Component {
				return false
			}
			a, _ := s.findApp(u.app)
			if !q.Match(a.head) {
				return true
			}
			user := appsvc.ComponentUser{Head: cloneHead(a.head), Body: a.versions[a.head.Version.Number()].Body}
			for tag := range s.Tags(ctx, appsvc.TagQuery{AppID: u.app}) {
				user.Tags = append(user.Tags, tag)
			}
			return out(user)
		})
	}
}

// Components yields components, with their manifests also for a brief query.
func (s *appState) Components(ctx context.Context, q appsvc.ComponentQuery) iter.Seq2[appsvc.Component, error] {
	return func(yield func(appsvc.Component, error) bool) {
		first := max(q.Name, q.After)
		out := limited(ctx, 0, yield)
		s.components.ascend(func(c component) bool { return c.Name < first }, func(c component) bool {
			if q.Name != "" && c.Name > q.Name {
				return false
			}
			wanted := c.Name > q.After && (q.Version == "" || c.Version == q.Version)
			return !wanted || out(c.Component)
		})
	}
}

// IDs yields the IDs of all apps.
func (s *appState) IDs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		out := limited(ctx, 0, yield)
		s.apps.ascend(nil, func(a *app) bool { return out(a.head.ID) })
	}
}

// Answers yields every answer that is kept.
func (s *appState) Answers(ctx context.Context) iter.Seq2[appsvc.Answer, error] {
	return func(yield func(appsvc.Answer, error) bool) {
		out := limited(ctx, 0, yield)
		s.answers.ascend(nil, func(a *appsvc.Answer) bool { return out(cloneAnswer(a)) })
	}
}

// Answer returns the answer that is kept for a caller's key.
func (s *appState) Answer(ctx context.Context, by, key string) (appsvc.Answer, error) {
	if err := ctx.Err(); err != nil {
		return appsvc.Answer{}, err
	}
	a, found := s.findAnswer(by, key)
	if !found {
		return appsvc.Answer{}, fmt.Errorf("%w: answer to key %q", vitrine.ErrNotFound, key)
	}
	return cloneAnswer(a), nil
}

// Feed returns the state of the feed.
func (s *appState) Feed(ctx context.Context) (appsvc.FeedState, error) {
	return s.feed.state(), ctx.Err()
}

// Entries yields the entries of the feed after a position.
func (s *appState) Entries(ctx context.Context, after appsvc.FeedPosition, limit int) iter.Seq2[appsvc.FeedEntry, error] {
	return s.feed.entries(ctx, after, limit)
}

// app returns the app with this ID, or ErrNotFound.
func (s *appState) app(ctx context.Context, id string) (*app, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, found := s.findApp(id)
	if !found {
		return nil, fmt.Errorf("%w: app %q", vitrine.ErrNotFound, id)
	}
	return a, nil
}

// findApp returns the app with this ID.
func (s *appState) findApp(id string) (*app, bool) {
	return s.apps.find(func(a *app) int { return strings.Compare(a.head.ID, id) })
}

// findAnswer returns the answer for a caller's key, expired or not.
func (s *appState) findAnswer(by, key string) (*appsvc.Answer, bool) {
	wanted := appsvc.Answer{By: by, Key: key}
	return s.answers.find(func(a *appsvc.Answer) int { return compareAnswers(a, &wanted) })
}

// limited returns a function that yields one value, and reports whether to go on: false after limit values (0 = no limit),
// and when yield returns false. If ctx is done, it yields the error of ctx instead of the value and returns false.
func limited[T any](ctx context.Context, limit int, yield func(T, error) bool) func(T) bool {
	count := 0
	return func(v T) bool {
		if err := ctx.Err(); err != nil {
			var none T
			yield(none, err)
			return false
		}
		count++
		return yield(v, nil) && count != limit
	}
}

// cloneAnswer returns a copy that shares only Result, which nobody changes.
func cloneAnswer(a *appsvc.Answer) appsvc.Answer {
	answer := *a
	answer.Request = slices.Clone(a.Request)
	return answer
}

// cloneHead returns a copy that shares nothing with h.
func cloneHead(h appsvc.Head) appsvc.Head {
	h.Groups = slices.Clone(h.Groups)
	h.Components = slices.Clone(h.Components)
	return h
}
