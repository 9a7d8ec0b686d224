package appsvc

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"iter"
	"strconv"

	"github.com/vitrine-go/vitrine/internal/paging"
)

// TagMove is an entry in the history of a tag: the tag was created, moved or deleted. Moves are written in
// the transaction that moves the tag, and are kept for good, also when the tag is deleted.
type TagMove struct {
	At   int64   // milliseconds since the epoch; never lower than that of the move before
	By   string  // URN of the user who moved the tag
	From Version // where the tag pointed before; zero if there was no tag
	To   Version // where the tag points from then on; zero if it was deleted
}

// wireMove is the JSON of a TagMove.
type wireMove struct {
	At int64 `json:"at"`
	By struct {
		URN string `json:"urn"`
	} `json:"by"`
	From *Version `json:"from"`
	To   *Version `json:"to"`
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
// It returns ErrNotFound if the app never had a tag of this name, and ErrInvalid if Limit is out of range or After is not a
// cursor of this history.
func (s *Service) ListTagMoves(ctx context.Context, by Caller, in ListTagMovesRequest) (Page[TagMove], error) {
	if err := by.check(); err != nil {
		return Page[TagMove]{}, err
	}
	limit, err := s.limits.pageLimit(in.Limit, 50)
	if err != nil {
		return Page[TagMove]{}, err
	}
	q := TagMoveQuery{AppID: in.AppID, Name: in.Name, Limit: limit + 1}
	var out Page[TagMove]
	err = s.store.View(ctx, func(r Reader) error {
		if _, err := readable(ctx, r, by, in.AppID); err != nil {
			return err
		}
		if !tagName.MatchString(in.Name) {
			return noTag(in.AppID, in.Name)
		}
		if in.After != "" {
			if q.Before, err = parseMoveCursor(in.After, in.AppID, in.Name); err != nil {
				return err
			}
		}
		out, err = movePage(ctx, r, q)
		if err != nil || len(out.Items) > 0 || in.After != "" {
			return err
		}
		if at, err := pointsTo(ctx, r, in.AppID, in.Name); err != nil || !at.IsZero() {
			return err
		}
		return noTag(in.AppID, in.Name)
	})
	return out, err
}

// AllTagMoves yields the history of a tag, newest first, page by page.
func (s *Service) AllTagMoves(ctx context.Context, by Caller, in ListTagMovesRequest) iter.Seq2[TagMove, error] {
	return paging.All(in.After, func(after string) ([]TagMove, string, error) {
		in.After = after
		page, err := s.ListTagMoves(ctx, by, in)
		return page.Items, page.Next, err
	})
}

// movePage reads one move less than q.Limit; the last one shows whether there are more.
func movePage(ctx context.Context, r Reader, q TagMoveQuery) (Page[TagMove], error) {
	var page Page[TagMove]
	var last int64
	for m, err := range r.TagMoves(ctx, q) {
		if err != nil {
			return Page[TagMove]{}, err
		}
		if len(page.Items) == q.Limit-1 {
			page.Next = moveCursor(q.AppID, q.Name, last)
			break
		}
		page.Items, last = append(page.Items, m.TagMove), m.Number
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

// parseMoveCursor reads what moveCursor wrote for the same tag. It returns ErrInvalid for anything else.
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

// lastMove returns the newest move of a tag. Its Number is 0 if no move is recorded.
func lastMove(ctx context.Context, r Reader, appID, name string) (TagMoveRecord, error) {
	for m, err := range r.TagMoves(ctx, TagMoveQuery{AppID: appID, Name: name, Limit: 1}) {
		return m, err
	}
	return TagMoveRecord{AppID: appID, Name: name}, nil
}

// recordMove adds a move after the last one of the tag. Its time is never before that of the last one, even if the clock
// was set back.
func (s *Service) recordMove(ctx context.Context, tx Tx, by Caller, last TagMoveRecord, from, to Version) error {
	last.Number++
	last.TagMove = TagMove{At: max(s.millis(), last.At), By: by.URN, From: from, To: to}
	return tx.AddTagMove(ctx, last)
}

// TagGuard is a condition of PutTag: where the tag must point before the call. It keeps two people who move a tag at the
// same time from overwriting each other's move. The zero TagGuard sets no condition. In JSON it is a version as a string,
// or null if there must be no tag.
type TagGuard struct {
	kind guardKind
	at   Version
}

type guardKind uint8

const (
	noGuard guardKind = iota
	guardVersion
	guardAbsent
)

// PointsTo is the condition that the tag points to this version. The zero Version and Latest name no version:
// PutTag returns ErrInvalid for them.
func PointsTo(v Version) TagGuard { return TagGuard{guardVersion, v} }

// NoTag is the condition that the app has no tag of this name.
func NoTag() TagGuard { return TagGuard{kind: guardAbsent} }

// IsZero reports whether g sets no condition.
func (g TagGuard) IsZero() bool { return g.kind == noGuard }

// check returns ErrInvalid if g names no version although it should.
func (g TagGuard) check() error {
	if g.kind == guardVersion && g.at.Number() < 0 {
		return errNoGuard()
	}
	return nil
}

func errNoGuard() *Error {
	return invalid("/from", "want a version, or null if the tag must not be there")
}

// holds returns ErrConflict with CodeMoved unless the tag meets the condition. at is where the tag points, zero if there is
// no such tag; head is the latest version of the app. Both are in the error.
func (g TagGuard) holds(name string, at, head Version) error {
	if g.kind == noGuard || g.at == at {
		return nil
	}
	err := conflict(CodeMoved, head, "the tag %q points to version %q, and not to version %q", name, at, g.at)
	switch {
	case at.IsZero():
		err.Reason = "the app has no tag " + strconv.Quote(name) + ", and the tag should point to version " + strconv.Quote(g.at.String())
	case g.kind == guardAbsent:
		err.Reason = "the tag " + strconv.Quote(name) + " points to version " + strconv.Quote(at.String()) + ", and there should be no such tag"
	}
	err.Pointer, err.PointsTo = "/from", at
	return err
}

// key is g in the digest of a request with an idempotency key.
func (g TagGuard) key() string {
	switch g.kind {
	case noGuard:
		return ""
	case guardAbsent:
		return "absent"
	}
	return g.at.String()
}

// MarshalJSON writes the version as a string, and null for NoTag and the zero TagGuard. It returns ErrInvalid if
// the guard names no version although it should.
func (g TagGuard) MarshalJSON() ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	if g.kind != guardVersion {
		return []byte("null"), nil
	}
	return json.Marshal(g.at)
}

// noGuardError is the error of UnmarshalJSON. A decoder of a larger document knows the place of the guard in it and takes
// only the Sentence; for everybody else the error is an *Error with the pointer /from.
type noGuardError struct{ err *Error }

func (e noGuardError) Error() string    { return e.err.Error() }
func (e noGuardError) Unwrap() error    { return e.err }
func (e noGuardError) Sentence() string { return e.err.Reason }

// UnmarshalJSON reads null as NoTag, and a string as PointsTo. It returns ErrInvalid for anything else.
func (g *TagGuard) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*g = NoTag()
		return nil
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return noGuardError{errNoGuard()}
	}
	v, err := ParseVersion(s)
	if err != nil {
		return noGuardError{errNoGuard()}
	}
	*g = PointsTo(v)
	return nil
}
