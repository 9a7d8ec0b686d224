package appsvc

import (
	"context"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
)

// AppSummary is what a list with ListAppsRequest.Summary contains of an app. Over HTTP its members are beside those of Meta and the
// title:
//
//	{"id", "version", "createdAt", "updatedAt", "updatedBy": {"urn"}, "title", "owner": {"urn"}, "groups", "components": [name],
//	"tags": [{"name", "appVersion"}]}
type AppSummary struct {
	Groups     []string
	Components []string // names of the components that power elements, sorted, each once
	Tags       []Tag    // by name

	// These are only set, and only in JSON, for deleted apps.
	DeletedAt int64  // milliseconds since the epoch
	DeletedBy string // URN of the user
	ErasesAt  int64  // when EraseDeleted will erase the app, in milliseconds since the epoch; 0 = never
}

// summaryText is the JSON of an AppSummary.
type summaryText struct {
	Title      string       `json:"title"`
	Owner      user         `json:"owner"`
	Groups     []string     `json:"groups"`
	Components []string     `json:"components"`
	Tags       []tagPointer `json:"tags"`
	DeletedAt  int64        `json:"deletedAt,omitzero"`
	DeletedBy  user         `json:"deletedBy,omitzero"`
	ErasesAt   int64        `json:"erasesAt,omitzero"`
}

// tagPointer is a tag of a summary.
type tagPointer struct {
	Name       string          `json:"name"`
	AppVersion vitrine.Version `json:"appVersion"`
}

// appendSummary appends the JSON of an app that has a Summary.
func (a App) appendSummary(dst []byte) []byte {
	s := a.Summary
	t := summaryText{Title: a.Title, Owner: user{a.Owner}, Groups: s.Groups, Components: s.Components, DeletedAt: s.DeletedAt, DeletedBy: user{s.DeletedBy}, ErasesAt: s.ErasesAt}
	for _, tag := range s.Tags {
		t.Tags = append(t.Tags, tagPointer{tag.Name, tag.AppVersion})
	}
	text, _ := json.Marshal(t) // this only fails for invalid UTF-8, which no app has
	return append(a.Meta.appendJSON(dst), text[1:]...)
}

// readSummary reads what appendSummary writes after the members of Meta.
func (a *App) readSummary(text []byte) error {
	var t summaryText
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	a.Summary = &AppSummary{Groups: t.Groups, Components: t.Components, DeletedAt: t.DeletedAt, DeletedBy: t.DeletedBy.URN, ErasesAt: t.ErasesAt}
	for _, tag := range t.Tags {
		a.Summary.Tags = append(a.Summary.Tags, Tag{AppID: a.ID, Name: tag.Name, AppVersion: tag.AppVersion})
	}
	return nil
}

// summaries yields apps with their summaries. It reads all heads in one trip, and all tags in another.
func (s *Service) summaries(ctx context.Context, r *reader, ids []string) iter.Seq2[App, error] {
	return func(yield func(App, error) bool) {
		heads, err := r.heads(ctx, ids)
		var tags map[string][]Tag
		if err == nil {
			tags, err = r.tagsOf(ctx, heads)
		}
		if err != nil {
			yield(App{}, err)
			return
		}
		for _, h := range heads {
			sum := &AppSummary{Groups: h.Groups, Components: h.Components, Tags: tags[h.ID], DeletedAt: h.deletedAt, DeletedBy: h.deletedBy}
			if h.deletedAt != 0 && s.keepDeleted > 0 {
				sum.ErasesAt = h.deletedAt + s.keepDeleted.Milliseconds()
			}
			if !yield(App{Meta: h.Meta, Title: h.Title, Summary: sum}, nil) {
				return
			}
		}
	}
}
