package appsvc

import (
	"context"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// The history of a tag is a list of moves, numbered from 1 without gaps: the To of each is the From of the next. A tag
// that is deleted and created again continues its list. Moves are never removed, so checkTags limits the number of
// names that tags of an app may ever have.

// TagMove is an entry in the history of a tag: the tag was created, moved or deleted. Moves are written in
// the transaction that moves the tag, and are kept for good, also when the tag is deleted.
type TagMove struct {
	At   int64           `json:"at"`   // milliseconds since the epoch; never lower than that of the move before
	By   string          `json:"by"`   // URN of the user who moved the tag
	From vitrine.Version `json:"from"` // where the tag pointed before; zero if there was no tag
	To   vitrine.Version `json:"to"`   // where the tag points from then on; zero if it was deleted

	Rollback bool   `json:"rollback,omitzero"` // it rolled back an earlier move
	Release  string `json:"release,omitzero"`  // id of the release that made it; "" = none
	Note     string `json:"note,omitzero"`     // of the request that made it; "" = none
}

// MarshalJSON writes {"at":…,"by":{"urn":…},"from":…,"to":…}, and "rollback", "release" and "note" where they apply; a
// zero Version is null.
func (m TagMove) MarshalJSON() ([]byte, error) {
	type members TagMove
	return json.Marshal(struct {
		At int64 `json:"at"`
		By user  `json:"by"`
		members
	}{m.At, user{m.By}, members(m)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *TagMove) UnmarshalJSON(text []byte) error {
	type members TagMove
	return json.Unmarshal(text, (*members)(m), usersAsURNs)
}

// ListTagMovesRequest asks for the history of a tag, newest first.
type ListTagMovesRequest struct {
	AppID string
	Name  string
	After string // Next of the page before; "" = the first page
	Limit int    // 1 to 500; 0 = 50
}

// ListTagMoves returns a page of the history of a tag, newest first; the tag may have been deleted. The From of a move
// is the To of the move before it in time. A tag that has not moved since a release that recorded no moves has an empty
// history.
//
// It returns ErrNotFound as App does, or if the app never had a tag of this name, and ErrInvalid if Limit is out of
// range or After is not a cursor of this history. A page is bounded by Limit alone, and not by bytes.
func (s *Session) ListTagMoves(ctx context.Context, in ListTagMovesRequest) (vitrine.Page[TagMove], error) {
	s = s.calls("ListTagMoves")
	return list(ctx, s, in.Limit, 50, func(r *reader, limit int) (page vitrine.Page[TagMove], err error) {
		if _, err := readableHead(ctx, r, s.by, in.AppID); err != nil {
			return page, err
		}
		history := strconv.Quote(in.AppID) + strconv.Quote(in.Name)
		before, err := numberIn(history, "before", in.After)
		if err != nil {
			return page, err
		}
		for m, err := range r.Moves(ctx, in.AppID, in.Name, before, limit+1) {
			if err != nil {
				return vitrine.Page[TagMove]{}, err
			}
			if len(page.Items) == limit {
				page.Next = cursor(history, m.Number+1, "")
				break
			}
			page.Items = append(page.Items,
				TagMove{m.At, m.By, records.VersionOrNone(m.From), records.VersionOrNone(m.To), m.Rollback, m.Release,
					m.Note})
		}
		if len(page.Items) > 0 || in.After != "" {
			return page, nil
		}
		// There are no moves. Either the tag is from a release that recorded none, or there never was such a tag.
		if at, err := r.PointsTo(ctx, in.AppID, in.Name); err != nil || !at.IsZero() {
			return page, err
		}
		return page, noTag(in.AppID, in.Name)
	})
}

// AllTagMoves yields the history of a tag, newest first, page by page. The first error is the last pair.
func (s *Session) AllTagMoves(ctx context.Context, in ListTagMovesRequest) iter.Seq2[TagMove, error] {
	return paging.All(&in.After, func() (vitrine.Page[TagMove], error) { return s.ListTagMoves(ctx, in) })
}
