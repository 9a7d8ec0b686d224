package appsvc

import (
	"context"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/keyval"
)

// componentUser is an app with a version that has an element of a component.
type componentUser struct {
	appHead
	body Body  // of the latest version
	tags []Tag // all tags, by name
}

// users yields the apps with a version, latest or older, that has an element of a component, by id from from on. It
// leaves out those that the caller may not read.
func (r *reader) users(ctx context.Context, component, from string, by vitrine.Caller) iter.Seq2[componentUser, error] {
	return func(yield func(componentUser, error) bool) {
		in, ok, err := r.UsedIn(ctx, component, from)
		if err != nil {
			yield(componentUser{}, err)
		}
		if !ok {
			return
		}
		in.Expect = records.AtOnce
		for ids, err := range keyval.Chunks(r.AppsIn(ctx, in), records.AtOnce) {
			var heads []appHead
			var tags map[string][]Tag
			if err == nil {
				heads, err = r.heads(ctx, ids)
			}
			heads = slices.DeleteFunc(heads, func(h appHead) bool { return !mayRead(by, h) })
			if err == nil {
				tags, err = r.tagsOf(ctx, heads)
			}
			if err != nil {
				yield(componentUser{}, err)
				return
			}
			ids = ids[:0]
			for _, h := range heads {
				ids = append(ids, h.ID)
			}
			for app, err := range r.whole(ctx, ids) {
				if !yield(componentUser{heads[0], app.Body, tags[app.ID]}, err) || err != nil {
					return
				}
				heads = heads[1:]
			}
		}
	}
}
