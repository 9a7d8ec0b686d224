package appsvc

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Sort is an order of apps. Apps of the same time are in ascending order of their IDs, in every order.
type Sort string

// The orders in which apps can be listed.
const (
	CreatedAscending  Sort = "createdAt"
	CreatedDescending Sort = "-createdAt"
	UpdatedAscending  Sort = "updatedAt"
	UpdatedDescending Sort = "-updatedAt"
)

var sorts = []Sort{CreatedAscending, CreatedDescending, UpdatedAscending, UpdatedDescending}

// ListAppsRequest asks for apps, each as its latest version. The zero value asks for the first page of all apps that
// the caller may read, the one created last first. An app must satisfy all conditions.
type ListAppsRequest struct {
	Summary bool   // without the bodies of apps, so that the list is small and quick; see [App]
	Sort    Sort   // "" = CreatedDescending
	Query   string // each word of it begins a word of the title, without regard to case and diacritics; "" = any
	// In says where Query looks: title, content (all strings of the configs), or both; nil = title. With content, all
	// words are in one text, Sort must be "", and the apps with the newest versions come first.
	In             []string
	Group          string // URN of a network or site that contains one of the app's groups; "" = any
	Owner          string // URN of the user who created the app; "" = any
	UsingComponent string // name of a component that powers an element; "" = any
	UsingVersion   string // version of UsingComponent; "" = any
	Deleted        bool   // the deleted apps that the caller could change, in place of the others
	After          string // Next of the page before; "" = the first page
	Limit          int    // 1 to 500; 0 = 100
}

// mostQueryWords is the maximum number of words in ListAppsRequest.Query.
const mostQueryWords = 16

// query returns the query of the request. none is true if it cannot find anything.
func (in ListAppsRequest) query(by vitrine.Caller, limits Limits) (q appQuery, none bool, err error) {
	content, err := in.inContent()
	if err != nil {
		return q, false, err
	}
	sort := cmp.Or(in.Sort, CreatedDescending)
	if content {
		sort = UpdatedDescending
	}
	q = appQuery{by: by, deleted: in.Deleted, content: content,
		component: ComponentRef{in.UsingComponent, in.UsingVersion},
		group:     in.Group, owner: in.Owner,
		sort: sort, words: records.TitleWords(in.Query)}
	switch {
	case !slices.Contains(sorts, q.sort):
		err = fault.Invalid("sort", "%q: want createdAt, -createdAt, updatedAt or -updatedAt", in.Sort)
	case in.UsingVersion != "" && in.UsingComponent == "":
		err = fault.Invalid("usingVersion", "want usingComponent beside it: it is a version of that component")
	case utf8.RuneCountInString(in.Query) > limits.Title || len(q.words) > mostQueryWords:
		err = fault.Invalid("q", "want at most %d characters and %d words", limits.Title, mostQueryWords)
	case in.Group != "" && urn.CheckGroup(in.Group) != nil:
		err = fault.Invalid("group", "%s", urn.CheckGroup(in.Group))
	case in.After != "":
		time, id, ok := parseCursor(string(q.sort), in.After)
		if !ok {
			err = fault.Invalid("after", "not a cursor of this list in this order")
		}
		q.after = &records.Position{Time: time, ID: id}
	}
	return q, in.Query != "" && len(q.words) == 0, err
}

// ListApps returns a page of the apps that the caller may read, each as its latest version: those that it owns, and
// those that have one of the groups that it moderates or reads, or a site of such a network. Apps of the same time are
// in the order of their ids. A page also ends before the app that would bring it above Limits.PageBytes. With Summary
// no body is read.
//
// The cursor is a position in the order. So an app that is created or changed between two pages appears only if it
// comes after this position: with UpdatedAscending a change moves an app to the end, where it appears again.
//
// A search in content reads all apps that satisfy the other conditions, until the page is full or a second is over. So
// its page may be empty although Next is set. Each of its apps has Found.
//
// It returns ErrInvalid
//   - for a Sort that is unknown, or given with a search in content;
//   - for an In that is unknown, or given without Query;
//   - for a Query with more than 16 words, or with more characters than a title may have;
//   - for a Limit out of range, a Group that is no URN of a group, and UsingVersion without UsingComponent;
//   - for an After that is not a cursor of this list in this order.
func (s *Session) ListApps(ctx context.Context, in ListAppsRequest) (vitrine.Page[App], error) {
	s = s.calls("ListApps")
	return list(ctx, s, in.Limit, 100, func(r *reader, limit int) (page vitrine.Page[App], err error) {
		q, none, err := in.query(s.by, s.service.limits)
		if err != nil || none {
			return page, err
		}
		if q.deleted {
			r = r.ofDeleted()
		}
		if q.content {
			return s.searchContent(ctx, r, q, in, limit)
		}
		q.limit = limit + 1 // one more than the page shows whether there are more
		size, read := min(records.AtOnce, q.limit), r.whole
		if in.Summary {
			size, read = q.limit, func(ctx context.Context, ids []string) iter.Seq2[App, error] {
				return s.service.summaries(ctx, r, ids)
			}
		}
		apps := func(yield func(App, error) bool) {
			for part, err := range keyval.Chunks(r.positionsOf(ctx, q, size), size) {
				if err != nil {
					yield(App{}, err)
					return
				}
				for app, err := range read(ctx, idsAt(part)) {
					if !yield(app, err) || err != nil {
						return
					}
				}
			}
		}
		return fill(s.service, limit, apps, App.size, func(last App) string {
			at := q.position(last)
			return cursor(string(q.sort), at.Time, at.ID)
		})
	})
}

// size is the approximate size of an app in a page, in bytes.
func (a App) size() int {
	n := 0
	for _, f := range a.Found {
		n += 60 + len(f.Element) + len(f.Pointer) + len(f.Text)
	}
	if a.Body != nil {
		return n + 200 + len(a.UpdatedBy) + len(a.Body)
	}
	n += 400 + len(a.Title)
	for _, list := range [][]string{a.Groups, a.Components} {
		for _, text := range list {
			n += len(text) + 3
		}
	}
	for _, t := range a.Tags {
		n += len(t.Name) + 40
	}
	return n
}

// AllApps yields the apps that the caller may read, from in.After on, page by page. in.Limit is the size of a page. The
// first error is the last pair.
func (s *Session) AllApps(ctx context.Context, in ListAppsRequest) iter.Seq2[App, error] {
	return paging.All(&in.After, func() (vitrine.Page[App], error) { return s.ListApps(ctx, in) })
}
