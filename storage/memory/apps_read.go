package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Head returns the head of an app, with lists of its own.
func (s *appState) Head(ctx context.Context, id string) (appsvc.Head, error) {
	a, err := s.app(ctx, id)
	if err != nil {
		return appsvc.Head{}, err
	}
	return cloneHead(a.head), nil
}

// App returns a version of an app.
func (s *appState) App(ctx context.Context, id string, v appsvc.Version) (appsvc.App, error) {
	a, err := s.app(ctx, id)
	if err != nil {
		return appsvc.App{}, err
	}
	if v == appsvc.Latest {
		v = a.head.Version
	}
	if v < 0 || v > a.head.Version {
		return appsvc.App{}, fmt.Errorf("%w: version %d of app %q", appsvc.ErrNotFound, v, id)
	}
	return a.versions[v], nil
}

// Versions yields versions of an app, from the highest below q.Before down.
func (s *appState) Versions(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.App, error] {
	return func(yield func(appsvc.App, error) bool) {
		a, found := s.findApp(q.AppID)
		if !found {
			return
		}
		versions := a.versions
		if q.Before != appsvc.Latest {
			versions = versions[:max(0, min(q.Before, appsvc.Version(len(versions))))]
		}
		out := limited(ctx, q.Limit, yield)
		for _, v := range slices.Backward(versions) {
			if !out(v) {
				return
			}
		}
	}
}

// Apps yields the latest versions of the apps that match q.
func (s *appState) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	return func(yield func(appsvc.App, error) bool) {
		var before func(*app) bool
		if q.After != nil {
			last := appsvc.Head{Meta: appsvc.Meta{ID: q.After.ID, CreatedAt: q.After.Time, UpdatedAt: q.After.Time}}
			before = func(a *app) bool { return q.Compare(a.head, last) <= 0 }
		}
		out := limited(ctx, q.Limit, yield)
		s.order(q).ascend(before, func(a *app) bool {
			return !q.Match(a.head) || out(a.versions[a.head.Version])
		})
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

// Components yields components, manifests included.
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

// Answer returns what was kept for a caller's key.
func (s *appState) Answer(ctx context.Context, by, key string) (appsvc.Answer, error) {
	if err := ctx.Err(); err != nil {
		return appsvc.Answer{}, err
	}
	a, found := s.findAnswer(by, key)
	if !found {
		return appsvc.Answer{}, fmt.Errorf("%w: answer to key %q", appsvc.ErrNotFound, key)
	}
	return cloneAnswer(a), nil
}

// app returns the app with this ID, or ErrNotFound.
func (s *appState) app(ctx context.Context, id string) (*app, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, found := s.findApp(id)
	if !found {
		return nil, fmt.Errorf("%w: app %q", appsvc.ErrNotFound, id)
	}
	return a, nil
}

func (s *appState) findApp(id string) (*app, bool) {
	return s.apps.find(func(a *app) int { return strings.Compare(a.head.ID, id) })
}

func (s *appState) findAnswer(by, key string) (*appsvc.Answer, bool) {
	wanted := appsvc.Answer{By: by, Key: key}
	return s.answers.find(func(a *appsvc.Answer) int { return compareAnswers(a, &wanted) })
}

// limited returns a yield for values that asks for no more once limit of them are out (0 = no
// limit), and that ends with the error of ctx when it has one.
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

func cloneAnswer(a *appsvc.Answer) appsvc.Answer {
	answer := *a
	answer.Request = slices.Clone(a.Request)
	return answer
}

func cloneHead(h appsvc.Head) appsvc.Head {
	h.Groups = slices.Clone(h.Groups)
	h.Components = slices.Clone(h.Components)
	return h
}
