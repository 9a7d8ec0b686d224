package appsvc

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/storage"
)

// Published is an app as the list of what a tag publishes has it.
type Published struct {
	ID      string          `json:"id"`
	Title   string          `json:"title"` // of the version
	Version vitrine.Version `json:"version"`
	Tag     string          `json:"tag"`
	// when the tag was moved to the version, in milliseconds since the epoch
	PublishedAt int64 `json:"publishedAt"`
	UpdatedAt   int64 `json:"updatedAt"` // when the version was made
}

// ListPublishedRequest asks for the apps that a tag publishes.
type ListPublishedRequest struct {
	Tag   string
	After string // Next of the page before; "" = the first page
	Limit int    // 1 to 500; 0 = 500
}

const (
	mostLooked = 1000 // tags that a page of ListPublished looks at
	atOnceKept = 500  // tags whose entries a store of an older release gets in one transaction
)

// ListPublished returns a page of the apps that have a tag of this name and that the caller may read, by the titles of
// the versions that the tags point to, byte by byte, and then by id. A page looks at 1,000 tags, so it may have few
// apps, or none, and a Next.
//
// It returns ErrForbidden if the caller has TagsOnly, and the tag is not among its Tags or PublicList is not set;
// ErrNotFound if no tag can have the name; and ErrInvalid if Limit is out of range or After is not a cursor of this
// list.
func (s *Session) ListPublished(ctx context.Context, in ListPublishedRequest) (vitrine.Page[Published], error) {
	var page vitrine.Page[Published]
	if err := cmp.Or(s.by.CheckMethod("appsvc.ListPublished"), s.mayReadTag(in.Tag)); err != nil {
		return page, err
	}
	if s.by.TagsOnly && !s.by.PublicList {
		return page, fault.Forbidden("this key may not list what a tag publishes: want a public key with list")
	}
	if !tagName.MatchString(in.Tag) {
		return page, fault.NotFound("no tag can be named %q", in.Tag)
	}
	limit, err := paging.Limit(in.Limit, 500, s.service.limits.Page)
	if err != nil {
		return page, err
	}
	list, last := "published "+in.Tag, ""
	if in.After != "" {
		ok := false
		if _, last, ok = parseCursor(list, in.After); !ok {
			return page, fault.Invalid("after", "not a cursor of this list")
		}
	}
	if err := s.service.store.completePublished(ctx); err != nil {
		return page, err
	}
	err = s.service.store.view(ctx, func(r *reader) error {
		room, looked, before := paging.NewRoom(limit, s.service.limits.PageBytes), 0, last
		page = vitrine.Page[Published]{}
		for part, err := range keyval.Chunks(r.PublishedBy(ctx, in.Tag, last, mostLooked+1), records.AtOnce) {
			if err != nil {
				return err
			}
			ids := make([]string, len(part))
			for i, p := range part {
				ids[i] = p.ID
			}
			heads, err := r.heads(ctx, ids)
			if err != nil {
				return err
			}
			for _, p := range part {
				ok := slices.ContainsFunc(heads, func(h appHead) bool { return h.ID == p.ID && mayRead(s.by, h) })
				if looked++; looked > mostLooked || ok && !room.Takes(len(p.Title)+len(p.ID)+len(p.Tag)+150) {
					page.Next = cursor(list, 0, before)
					return nil
				}
				if before = p.Suffix(); ok {
					page.Items = append(page.Items, Published(p))
				}
			}
		}
		return nil
	})
	return page, err
}

// AllPublished yields the apps that a tag publishes, from in.After on, page by page. The first error is the last pair.
func (s *Session) AllPublished(ctx context.Context, in ListPublishedRequest) iter.Seq2[Published, error] {
	return paging.All(&in.After, func() (vitrine.Page[Published], error) { return s.ListPublished(ctx, in) })
}

// publishes returns the record of a tag that was moved at this time, 0 if that is not known, to a version of the app
// with this head, and the body of the version.
func (r *reader) publishes(
	ctx context.Context, h appHead, tag string, v vitrine.Version, at int64,
) (records.Published, Body, error) {
	app, err := r.version(ctx, h, v)
	return records.Published{ID: h.ID, Title: app.Title, Version: v, Tag: tag,
		PublishedAt: cmp.Or(at, app.UpdatedAt), UpdatedAt: app.UpdatedAt}, app.Body, err
}

// anyHead returns the head of an app, deleted or not, and a reader of its versions.
func (r *reader) anyHead(ctx context.Context, app string) (of *reader, h appHead, err error) {
	of = r
	if h, err = of.head(ctx, app); errors.Is(err, vitrine.ErrNotFound) {
		of = r.ofDeleted()
		h, err = of.head(ctx, app)
	}
	return of, h, err
}

// completePublished makes the records of what tags publish for the tags that a release without them has stored, once.
// Each transaction makes some.
func (s *store) completePublished(ctx context.Context) error {
	for !s.complete.Load() {
		complete := false
		err := s.view(ctx, func(r *reader) (err error) {
			_, complete, err = r.PublishedUpTo(ctx)
			return err
		})
		if err == nil && !complete {
			err = s.updateAs(ctx, storage.UpdateOptions{Large: true}, func(t *writer) error {
				last, complete, err := t.PublishedUpTo(ctx)
				if err != nil || complete {
					return err
				}
				return t.morePublished(ctx, last)
			})
		}
		if err != nil {
			return err
		}
		s.complete.Store(complete)
	}
	return nil
}

// morePublished makes the records for some tags after the one with this key.
func (t *writer) morePublished(ctx context.Context, last string) error {
	var made []records.Published
	for some, err := range keyval.Chunks(t.TagsFrom(ctx, last, atOnceKept), atOnceKept) {
		if err != nil {
			return err
		}
		for _, e := range some {
			app, tag, at, err := records.DecodeTag(e)
			if err != nil {
				return err
			}
			of, h, err := t.anyHead(ctx, app)
			if err != nil {
				return err
			}
			moved, err := t.LastMove(ctx, app, tag)
			if err != nil {
				return err
			}
			p, _, err := of.publishes(ctx, h, tag, at, moved.At)
			if err != nil {
				return err
			}
			made, last = append(made, p), e.Key
		}
	}
	if len(made) < atOnceKept {
		last = ""
	}
	return t.PutPublished(ctx, last, made)
}
