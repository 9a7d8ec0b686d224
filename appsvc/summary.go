package appsvc

import (
	"context"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
)

// summaryText is the JSON of an app without a body, after the members that appendBegin writes.
type summaryText struct {
	Title        string       `json:"title"`
	Owner        user         `json:"owner"`
	Groups       []string     `json:"groups"`
	Components   []string     `json:"components"`
	Tags         []tagPointer `json:"tags"`
	OpenComments int          `json:"openComments,omitzero"`
	DeletedAt    int64        `json:"deletedAt,omitzero"`
	DeletedBy    user         `json:"deletedBy,omitzero"`
	ErasesAt     int64        `json:"erasesAt,omitzero"`
}

// tagPointer is a tag of a summary.
type tagPointer struct {
	Name       string          `json:"name"`
	AppVersion vitrine.Version `json:"appVersion"`
}

// appendSummary appends the JSON of an app without a body.
func (a App) appendSummary(dst []byte) []byte {
	t := summaryText{Title: a.Title, Owner: user{a.Owner}, Groups: a.Groups, Components: a.Components,
		OpenComments: a.OpenComments, DeletedAt: a.DeletedAt, DeletedBy: user{a.DeletedBy}, ErasesAt: a.ErasesAt}
	for _, tag := range a.Tags {
		t.Tags = append(t.Tags, tagPointer{tag.Name, tag.AppVersion})
	}
	text, _ := json.Marshal(t) // this only fails for invalid UTF-8, which no app has
	return append(a.appendBegin(dst), text[1:]...)
}

// readSummary sets what an app without a body has besides.
func (a *App) readSummary(t summaryText) {
	a.Components, a.DeletedAt, a.DeletedBy, a.ErasesAt = t.Components, t.DeletedAt, t.DeletedBy.URN, t.ErasesAt
	a.OpenComments = t.OpenComments
	for _, tag := range t.Tags {
		a.Tags = append(a.Tags, Tag{AppID: a.ID, Name: tag.Name, AppVersion: tag.AppVersion})
	}
}

// summaries yields apps without their bodies. It reads all heads and counts of comments in one trip, and all tags in
// another.
func (s *Service) summaries(ctx context.Context, r *reader, ids []string) iter.Seq2[App, error] {
	return func(yield func(App, error) bool) {
		keys := make([]string, 0, 2*len(ids))
		for _, id := range ids {
			keys = append(keys, records.Key(r.headKind, id), records.TalkKey(id))
		}
		var heads []appHead
		var tags map[string][]Tag
		err := r.Ahead(ctx, keys...)
		if err == nil {
			heads, err = r.heads(ctx, ids)
		}
		if err == nil {
			tags, err = r.tagsOf(ctx, heads)
		}
		if err != nil {
			yield(App{}, err)
			return
		}
		for _, h := range heads {
			app := h.App
			app.Tags = tags[h.ID]
			talk, err := r.Talk(ctx, h.ID)
			app.OpenComments = talk.Open
			if h.DeletedAt != 0 && s.keepDeleted > 0 {
				app.ErasesAt = h.DeletedAt + s.keepDeleted.Milliseconds()
			}
			if !yield(app, err) || err != nil {
				return
			}
		}
	}
}
