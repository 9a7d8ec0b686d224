package reviews

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// parent reads parent_id, the id of an earlier, accepted review of the same line (rule parent). So a reply to a rejected review
// is rejected too, and so is a reply to itself. c.ids has the reviews before this one, with a mark on the accepted ones.
func (c *lineChecker) parent() verdict {
	c.peek()
	at := c.offset()
	text, v := c.nonEmpty("/parent_id")
	if v == accepted && c.forImport {
		c.review.parent = c.wholeText(text)
	}
	if v == accepted && !c.partial && !c.ids.marked(c.fingerprint(text)) {
		c.report(ruleParent, at, "/parent_id", "no earlier, accepted review of this collection has this id; put the parent before its replies, or take parent_id out")
	}
	return v
}

// lostParents returns the parents of replies in put that neither in nor the store has. Every parent is an accepted review of the
// same line. So it is in the same part or was stored with a part before, in another transaction; and a Delete may have erased it
// since then. A part that has the parents of all of its replies costs no query. Otherwise the rows of the other parents are read
// one after the other, and none is kept: a Reader has no way to ask only whether they are there.
func (in *incoming) lostParents(ctx context.Context, s *rows, old stored, put []incomingReview) (map[string]bool, error) {
	lost := map[string]bool{}
	for _, review := range put {
		if review.parent != "" {
			lost[review.parent] = true
		}
	}
	for _, review := range in.reviews {
		delete(lost, review.ID)
	}
	if len(lost) == 0 {
		return nil, nil
	}
	for parent, err := range s.byID(ctx, old, slices.Values(slices.Collect(maps.Keys(lost)))) {
		if err != nil {
			return nil, err
		}
		delete(lost, parent.ID)
	}
	return lost, nil
}

// ancestry finds out whether a review of a part would become a reply to itself. A file has no such circle, but between two parts
// of a line another import may store one of its reviews with another parent:
//
//	this import stores 1, in one part
//	another one stores 2, and 1 as a reply to it
//	this import is to store 2 as a reply to 1, in its next part
//
// A review can close a circle only if it is stored already and gets another parent: one that is new has no replies yet. The
// reviews of a part are asked in the order of the file, and each of these has no parent until its turn has come.
type ancestry struct {
	ctx     context.Context
	s       *rows
	old     stored
	parents map[string]string // by the id of a review: its parent as far as it is known, in the store or from now on; "" for none
}

// ancestry returns an ancestry for the reviews of put, which are some of in.
func (in *incoming) ancestry(ctx context.Context, s *rows, old stored, put []incomingReview) *ancestry {
	a := &ancestry{ctx, s, old, map[string]string{}}
	for _, review := range in.reviews {
		a.parents[review.ID] = review.parent
	}
	for _, review := range put {
		if review.moved {
			a.parents[review.ID] = ""
		}
	}
	return a
}

// leads returns whether a path from a review up, from reply to parent, comes to the review with the id. A path with more reviews
// than are known is a circle, which only a damaged store can have.
func (a *ancestry) leads(from, id string) (bool, error) {
	for n := 0; from != "" && from != id && n <= len(a.parents); n++ {
		parent, known := a.parents[from]
		if !known {
			var err error
			if parent, err = a.stored(from); err != nil {
				return false, err
			}
			a.parents[from] = parent
		}
		from = parent
	}
	return from == id, nil
}

// stored returns the parent of a stored review; "" if it has none or is not stored.
func (a *ancestry) stored(id string) (parent string, err error) {
	for review, err := range a.s.byID(a.ctx, a.old, slices.Values([]string{id})) {
		if err != nil {
			return "", err
		}
		if parent, err = parentOf(review.Data); err != nil {
			return "", fmt.Errorf("reviews: stored review %q: %w", id, err)
		}
	}
	return parent, nil
}

// parentOf returns the parent_id of a stored review; "" if it has none. An error means that the row is damaged. The search for
// the name may also find it in a text, and then the review is decoded in vain; it never misses it, since the stored form of JSON
// has no white space between a name and its colon, and no escape in this name.
func parentOf(data []byte) (string, error) {
	// Most reviews are no replies, and are not decoded.
	if !bytes.Contains(data, []byte(`"parent_id":`)) {
		return "", nil
	}
	var review struct {
		Parent string `json:"parent_id"`
	}
	err := json.Unmarshal(data, &review)
	return review.Parent, err
}

// withParent returns the record of a reply with another parent_id, or without one if parent is "". data is the record in the
// stored form, see canonical, and so is the result. No member is decoded, and only the result is allocated.
//
// The first member of this name is that of the review: all members before it have a text or null, and a text has no quote
// without a backslash before it.
func withParent(data []byte, parent string) ([]byte, error) {
	const name = `"parent_id":`
	from := bytes.Index(data, []byte(name+`"`))
	if from < 0 {
		return nil, errors.New("the record has no parent_id")
	}
	// The text ends at a quote without a backslash. A comma follows, since ratings come next.
	to := from + len(name+`"`)
	for to < len(data) && data[to] != '"' {
		if data[to] == '\\' {
			to++
		}
		to++
	}
	if to+1 >= len(data) || data[to+1] != ',' {
		return nil, errors.New("the record is damaged behind its parent_id")
	}
	member := []byte{}
	if parent != "" {
		text, err := jsontext.AppendQuote([]byte(name), parent)
		if err != nil {
			return nil, err
		}
		member = append(text, ',')
	}
	// slices.Concat would allocate twice under the race detector.
	return bytes.Join([][]byte{data[:from], member, data[to+2:]}, nil), nil
}
