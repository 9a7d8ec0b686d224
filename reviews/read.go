package reviews

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// ReviewRecord is a stored review. It has no imported_email, which only Export returns. The HTTP API returns its JSON.
// An optional text that is absent, null or empty in the file is left out of the JSON. BodyHTML is harmless HTML, see
// the rule body-html; all other texts are plain text with any characters.
type ReviewRecord struct {
	ID          string            `json:"id"`
	Title       string            `json:"title"`
	BodyHTML    string            `json:"body_html"`
	Created     string            `json:"created"` // as it was imported
	Ratings     []int             `json:"ratings"` // 1 to 100, in the order of the collection's dimensions
	AuthorID    string            `json:"author_id,omitzero"`
	DisplayName string            `json:"imported_display_name,omitzero"`
	URL         string            `json:"imported_url,omitzero"`
	Subparts    map[string]string `json:"subparts,omitzero"`
	ParentID    string            `json:"parent_id,omitzero"` // the review that this one replies to
}

// ListCollectionsRequest is the request of ListCollections and AllCollections. Nothing is required.
type ListCollectionsRequest struct {
	Network string // "" = the only one that the caller moderates
	Source  string // only collections of this source; "" = of all
	After   string // Next of the page before; "" = the first page
	Limit   int    // 1 to Limits.Page, which is 500 by default; 0 = 100
}

// ListReviewsRequest is the request of ListReviews, AllReviews and Show. Collection is required, and Network for Show.
type ListReviewsRequest struct {
	Network    string // "" = the only one that the caller moderates
	Source     string // of the collection; "" = the only source with a collection of this id
	Collection string // id of the collection
	After      string // Next of the page before; "" = the first page
	Limit      int    // 1 to Limits.Page, which is 500 by default; 0 = 100
}

// ListCollections returns a page of the collections of the network, by source and then by id, both in byte order. A
// page may end before the limit if its rows are large. Every import keeps counts and means up to date, so no review is
// read for them. A network without reviews has an empty page.
//
// Each page is a snapshot of its own. A collection that is stored between two pages is on a later page if it belongs
// after the cursor; no collection is on two pages.
//
// ListCollections returns ErrForbidden unless the caller moderates the network as a whole or is an operator, and
// ErrInvalid if Limit is out of range, or if After is not a cursor of this list or points into another Source.
func (s *Session) ListCollections(
	ctx context.Context, in ListCollectionsRequest,
) (out vitrine.Page[CollectionRecord], err error) {
	s = s.calls("ListCollections")
	network, err := s.network(in.Network)
	if err != nil {
		return out, err
	}
	limit, err := paging.Limit(in.Limit, 100, s.service.limits.Page)
	var after CollectionKey
	if err == nil && in.After != "" {
		if after, err = parseCollectionCursor(in.After); err == nil && in.Source != "" && after.Source != in.Source {
			err = noCursor
		}
	}
	if err != nil {
		return out, err
	}
	err = view(ctx, s.service.db, network, func(r *rows) error {
		out.Items, err = fill(r.byKey(in.Source, after, limit+1), limit, s.service.limits.PageBytes,
			func(c stored) (CollectionRecord, int, error) {
				record, err := newCollectionRecord(c)
				// the approximate size of the record in memory
				return record, len(c.fields) + 128*len(record.Dimensions), err
			}, func(last stored) { out.Next = collectionCursor(last.CollectionKey) })
		return err
	})
	return out, err
}

// AllCollections yields the collections of the network, by source and then by id, beginning after the cursor After. It
// calls ListCollections for each page, of Limit items; an error of that is the last pair.
func (s *Session) AllCollections(ctx context.Context, in ListCollectionsRequest) iter.Seq2[CollectionRecord, error] {
	return paging.All(&in.After, func() (vitrine.Page[CollectionRecord], error) { return s.ListCollections(ctx, in) })
}

// ListReviews returns a page of the reviews of a collection, the latest first, and those of the same microsecond by id.
// A page may end before the limit if its reviews are large. Each page is a snapshot of its own, so a review whose time
// is changed between two pages may be on both of them, or on none.
//
// ListReviews returns ErrNotFound if the network has no such collection, and ErrForbidden unless the caller moderates
// the network as a whole or is an operator. It returns ErrInvalid if the request leaves Source out and several sources
// have the id, if Limit is out of range, or if After is not a cursor of the reviews of this collection.
func (s *Session) ListReviews(ctx context.Context, in ListReviewsRequest) (out vitrine.Page[ReviewRecord], err error) {
	s = s.calls("ListReviews")
	network, err := s.network(in.Network)
	if err != nil {
		return out, err
	}
	err = view(ctx, s.service.db, network, func(r *rows) (err error) {
		_, out, err = reviewsPage(s.service, r, in, func(data []byte) (review ReviewRecord, err error) {
			err = json.Unmarshal(data, &review) // drops imported_email, for which it has no member
			return review, err
		})
		return err
	})
	return out, err
}

// reviewsPage returns a collection and a page of its reviews. decode makes an item from the record of a review.
// reviewsPage ignores the network of the request.
func reviewsPage[T any](
	s *Service, r *rows, in ListReviewsRequest, decode func(data []byte) (T, error),
) (c stored, page vitrine.Page[T], err error) {
	limit, err := paging.Limit(in.Limit, 100, s.limits.Page)
	if err != nil {
		return c, page, err
	}
	if c, err = collectionOf(r, in.Source, in.Collection); err != nil {
		return c, page, err
	}
	// The cursor names the collection. If the request leaves the source out, the collection is known only now.
	var after *place
	if in.After != "" {
		if after, err = parseReviewCursor(in.After, c.CollectionKey); err != nil {
			return c, page, err
		}
	}
	page.Items, err = fill(r.byTime(c, after, limit+1), limit, s.limits.PageBytes, func(r row) (T, int, error) {
		item, err := decode(r.Data)
		if err != nil {
			err = fmt.Errorf("reviews: stored review %q: %w", r.ID, err)
		}
		return item, len(r.Data), err
	}, func(last row) { page.Next = reviewCursor(place{last.Time, last.ID}, c.CollectionKey) })
	return c, page, err
}

// fill returns the items of a page: at most limit items of a number of bytes together. item makes an item of a value of
// list, and returns its size in bytes. If there are more values, next is called with the last one of the page.
func fill[S, T any](
	list iter.Seq2[S, error], limit, bytes int, item func(S) (T, int, error), next func(S),
) ([]T, error) {
	items, room := []T{}, paging.NewRoom(limit, bytes)
	var last S
	for value, err := range list {
		if err != nil {
			return nil, err
		}
		made, size, err := item(value)
		if err == nil && !room.Takes(size) {
			next(last)
			break
		}
		if err != nil {
			return nil, err
		}
		items, last = append(items, made), value
	}
	return items, nil
}

// AllReviews yields the reviews of a collection, the latest first, beginning after the cursor After. It calls
// ListReviews for each page, of Limit items; an error of that is the last pair.
func (s *Session) AllReviews(ctx context.Context, in ListReviewsRequest) iter.Seq2[ReviewRecord, error] {
	return paging.All(&in.After, func() (vitrine.Page[ReviewRecord], error) { return s.ListReviews(ctx, in) })
}

// collectionOf returns the collection with an id of a source, or the only one with the id if source is "". It returns
// ErrNotFound if there is none, and ErrInvalid if source is "" and several sources have the id. All methods that take a
// collection use it.
func collectionOf(r *rows, source, id string) (found stored, err error) {
	if source != "" {
		found, err = r.existing(CollectionKey{Source: source, ID: id})
		if errors.Is(err, vitrine.ErrNotFound) {
			err = noCollection(r, id, fmt.Sprintf(" of %q", source))
		}
		return found, err
	}
	// Without a source, there must be one collection with the id and no second one.
	n := 0
	for c, err := range r.withID(id) {
		if err != nil {
			return found, err
		}
		n++
		if n > 1 {
			return found,
				fault.Invalid("source", "several sources have a collection %q, such as %q and %q: name one of them", id,
					found.Source, c.Source)
		}
		found = c
	}
	if n == 0 {
		return found, noCollection(r, id, "")
	}
	return found, nil
}

// noCollection returns ErrNotFound for an id. Its reason names the id that is meant if a collection has the Base64 of
// the given one.
func noCollection(r *rows, id, ofSource string) error {
	encoded := base64.StdEncoding.EncodeToString([]byte(id))
	for _, err := range r.withID(encoded) {
		if err != nil {
			return err
		}
		return fault.NotFound("the network has no collection %q%s; the Base64 of %s is %s", id, ofSource, id, encoded)
	}
	return fault.NotFound("the network has no collection %q%s", id, ofSource)
}

// noCursor is the error of an After that is not the Next of a page of the list.
var noCursor = fault.Invalid("after", "not a cursor of this list")

// A cursor is base64url of a checksum and of the position after which the list goes on:
//
//	list of collections   CRC-32 (4 bytes), source, 0x00, id
//	list of reviews       CRC-32 (4 bytes), time in microseconds (8 bytes), id
//
// The numbers are big-endian. The checksum covers the name of the list too, so it detects a damaged cursor and one of
// another list. It is not a signature: with a made-up cursor, callers read only what they may read anyway. A cursor has
// a position and not a number of items, so it stays valid when reviews are imported or erased, including the one at the
// position.

// encodeCursor returns the cursor of a position in a list. list is the name of the list.
func encodeCursor(list string, position []byte) string {
	sum := crc32.ChecksumIEEE(append([]byte(list+"\x00"), position...))
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, sum), position...))
}

// decodeCursor returns the position of a cursor, or noCursor if it is not one of this list. It encodes the position
// again and compares: the decoder ignores line ends, but each position has only one valid cursor.
func decodeCursor(list, cursor string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) < 4 || encodeCursor(list, b[4:]) != cursor {
		return nil, noCursor
	}
	return b[4:], nil
}

// listOfCollections is the name of the list of a network's collections. A cursor does not contain the network, since
// its position, a key, is valid in any network.
const listOfCollections = "collections"

// collectionCursor returns the cursor after a collection. No source contains U+0000 (rule text-nul), so the first one
// in the position is where the id begins.
func collectionCursor(k CollectionKey) string {
	return encodeCursor(listOfCollections, []byte(k.Source+"\x00"+k.ID))
}

// parseCollectionCursor returns the key of the last collection of a page from its cursor. It returns noCursor if the
// cursor is not of this list.
func parseCollectionCursor(cursor string) (CollectionKey, error) {
	position, err := decodeCursor(listOfCollections, cursor)
	source, id, found := bytes.Cut(position, []byte{0})
	if err != nil || !found {
		return CollectionKey{}, noCursor
	}
	return CollectionKey{Source: string(source), ID: string(id)}, nil
}

// listOfReviews is the name of the list of a collection's reviews. It has the key, so a cursor of another collection's
// list is rejected.
func listOfReviews(k CollectionKey) string { return "reviews\x00" + k.Source + "\x00" + k.ID }

// reviewCursor returns the cursor after the review at a position in the collection with this key.
func reviewCursor(at place, k CollectionKey) string {
	return encodeCursor(listOfReviews(k), append(binary.BigEndian.AppendUint64(nil, uint64(at.time)), at.id...))
}

// parseReviewCursor returns the position of the last review of a page from its cursor. It returns noCursor if the
// cursor is not of the reviews of this collection.
func parseReviewCursor(cursor string, k CollectionKey) (*place, error) {
	at, err := decodeCursor(listOfReviews(k), cursor)
	if err != nil || len(at) < 8 {
		return nil, noCursor
	}
	return &place{int64(binary.BigEndian.Uint64(at)), string(at[8:])}, nil
}
