package appsvc

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"iter"
	"strconv"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// The history of a tag is a list of moves, numbered from 1 on without gaps: the To of each is the From of the next. A tag that is
// deleted and created again continues its list. Moves are never removed, so checkTags bounds the names of tags that an app may
// ever have had.

// TagMove is an entry in the history of a tag: the tag was created, moved or deleted. Moves are written in
// the transaction that moves the tag, and are kept for good, also when the tag is deleted.
type TagMove struct {
	At   int64           // milliseconds since the epoch; never lower than that of the move before
	By   string          // URN of the user who moved the tag
	From vitrine.Version // where the tag pointed before; zero if there was no tag
	To   vitrine.Version // where the tag points from then on; zero if it was deleted
}

// wireMove is the JSON of a TagMove.
type wireMove struct {
	At int64 `json:"at"`
	By struct {
		URN string `json:"urn"`
	} `json:"by"`
	From *vitrine.Version `json:"from"`
	To   *vitrine.Version `json:"to"`
}

// MarshalJSON writes {"at":…,"by":{"urn":…},"from":…,"to":…}; a zero Version is null.
func (m TagMove) MarshalJSON() ([]byte, error) {
	w := wireMove{At: m.At}
	w.By.URN = m.By
	if !m.From.IsZero() {
		w.From = &m.From
	}
	if !m.To.IsZero() {
		w.To = &m.To
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *TagMove) UnmarshalJSON(text []byte) error {
	var w wireMove
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*m = TagMove{At: w.At, By: w.By.URN}
	if w.From != nil {
		m.From = *w.From
	}
	if w.To != nil {
		m.To = *w.To
	}
	return nil
}

// ListTagMovesRequest asks for the history of a tag, newest first.
type ListTagMovesRequest struct {
	AppID string
	Name  string
	After string // Next of the page before; "" = the first page
	Limit int    // 1 to 500; 0 = 50
}

// ListTagMoves returns a page of the history of a tag, newest first; the tag may have been deleted. The From of a move is
// the To of the move before it in time. A tag that has not moved since a release that recorded no moves has an empty
// history.
//
// It returns ErrNotFound as App does, or if the app never had a tag of this name, and ErrInvalid if Limit is out of range or After
// is not a cursor of this history. A page is bounded by Limit alone, and not by bytes.
func (s *Service) ListTagMoves(ctx context.Context, by vitrine.Caller, in ListTagMovesRequest) (vitrine.Page[TagMove], error) {
	if err := by.CheckUnrestricted(); err != nil {
		return vitrine.Page[TagMove]{}, err
	}
	limit, err := s.limits.pageLimit(in.Limit, 50)
	if err != nil {
		return vitrine.Page[TagMove]{}, err
	}
	var before int64
	var out vitrine.Page[TagMove]
	err = s.store.view(ctx, func(r *reader) error {
		if _, err := readableHead(ctx, r, by, in.AppID); err != nil {
			return err
		}
		if !tagName.MatchString(in.Name) {
			return noTag(in.AppID, in.Name)
		}
		if in.After != "" {
			if before, err = parseMoveCursor(in.After, in.AppID, in.Name); err != nil {
				return err
			}
		}
		out, err = movePage(ctx, r, in.AppID, in.Name, before, limit)
		if err != nil || len(out.Items) > 0 || in.After != "" {
			return err
		}
		// There are no moves. Either the tag is from a release that recorded none, or there never was such a tag.
		if at, err := r.pointsTo(ctx, in.AppID, in.Name); err != nil || !at.IsZero() {
			return err
		}
		return noTag(in.AppID, in.Name)
	})
	return out, err
}

// AllTagMoves yields the history of a tag, newest first, page by page. It ends with the first error, which comes in the last
// pair.
func (s *Service) AllTagMoves(ctx context.Context, by vitrine.Caller, in ListTagMovesRequest) iter.Seq2[TagMove, error] {
	return paging.All(in.After, func(after string) ([]TagMove, string, error) {
		in.After = after
		page, err := s.ListTagMoves(ctx, by, in)
		return page.Items, page.Next, err
	})
}

// movePage reads a page of the history of a tag. Moves are small, so a page has no bound in bytes.
func movePage(ctx context.Context, r *reader, app, name string, before int64, limit int) (vitrine.Page[TagMove], error) {
	var page vitrine.Page[TagMove]
	var last int64
	for m, err := range r.moves(ctx, app, name, before, limit+1) {
		if err != nil {
			return vitrine.Page[TagMove]{}, err
		}
		if len(page.Items) == limit {
			page.Next = moveCursor(app, name, last)
			break
		}
		page.Items, last = append(page.Items, m.TagMove), m.number
	}
	return page, nil
}

// moveCursor writes the number of the last move of a page as an opaque text: base64url of a checksum and the
// number. The checksum covers the app and the tag, so that the cursor of another history is refused.
func moveCursor(appID, name string, number int64) string {
	sum := crc32.ChecksumIEEE([]byte(strconv.Quote(appID) + strconv.Quote(name) + strconv.FormatInt(number, 10)))
	b := binary.BigEndian.AppendUint32(nil, sum)
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(b, uint64(number)))
}

// parseMoveCursor returns the number in a cursor that moveCursor wrote for the same tag: the page has the moves with lower
// numbers. It returns ErrInvalid for anything else.
func parseMoveCursor(s, appID, name string) (int64, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err == nil && len(b) == 12 {
		number := int64(binary.BigEndian.Uint64(b[4:]))
		if number > 0 && moveCursor(appID, name, number) == s {
			return number, nil
		}
	}
	return 0, invalidParameter("before", "not a cursor of the history of this tag")
}

// lastMove returns the newest move of a tag, also of one that was deleted. Its number is 0 if there is none.
func lastMove(ctx context.Context, r *reader, app, name string) (numberedMove, error) {
	for m, err := range r.moves(ctx, app, name, 0, 1) {
		return m, err
	}
	return numberedMove{}, nil
}

// recordMove adds a move of a tag, by this caller and now, after last, the newest one until now. from and to are where the tag
// pointed and where it points, zero for no tag. The move gets the next number. Its time is never before that of the last one,
// even if the clock was set back. It runs in the transaction that moves the tag, so the history and the tag cannot differ.
func (s *Service) recordMove(ctx context.Context, tx *writer, by vitrine.Caller, app, name string, last numberedMove, from, to vitrine.Version) error {
	last.number++
	last.TagMove = TagMove{At: max(s.millis(), last.At), By: by.URN, From: from, To: to}
	return tx.addMove(ctx, app, name, last)
}
