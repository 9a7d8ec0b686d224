package reviews

import (
	"context"
	"encoding/json"
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
// since then. A line that is stored in one part cannot lose a parent, so it costs no query.
func (in *incoming) lostParents(ctx context.Context, r Reader, put []incomingReview) (map[string]bool, error) {
	if in.first {
		return nil, nil
	}
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
	for parent, err := range r.ReviewsByID(ctx, in.collection.Key, slices.Collect(maps.Keys(lost))) {
		if err != nil {
			return nil, err
		}
		delete(lost, parent.ID)
	}
	return lost, nil
}

// withParent returns the record of a review with another parent_id, or without one if parent is "". All other members keep their
// text, and the result is in the stored form, see canonical.
func withParent(data []byte, parent string) ([]byte, error) {
	// The values are not decoded, so that those of all other members stay as they are.
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	delete(members, "parent_id")
	if parent != "" {
		text, err := jsontext.AppendQuote(nil, parent)
		if err != nil {
			return nil, err
		}
		members["parent_id"] = text
	}
	out, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return canonical(out), nil
}
