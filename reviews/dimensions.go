package reviews

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/reviews/internal/format"
)

// The ratings of a review have no names: the first one is for the first dimension of its collection. So stored reviews
// and those of a file must have their dimensions in the same order. An import reorders those of the file:
//
//	stored        "dimensions":["price","quality"]   "ratings":[20,80]
//	in the file   "dimensions":["quality","price"]   "ratings":[80,20]   becomes the same

// toStoredOrder puts the dimensions of in, and the ratings of its reviews, into the order of the stored collection. If
// the names differ, it changes nothing, and fault is the message of the rule stored-dimensions. It returns an error if
// the stored record is damaged.
//
// It changes the data of the reviews in place. fields always tells their present order, so an Update that is retried
// calls it again.
func toStoredOrder(in *format.Incoming, old stored) (fault string, err error) {
	if bytes.Equal(old.fields, in.Fields) { // usual when a file is imported again
		return "", nil
	}
	stored, storedNames, err := dimensionsOf(old.fields)
	if err != nil {
		return "", fmt.Errorf("reviews: stored collection %q of %q: %w", old.ID, old.Source, err)
	}
	given, givenNames, err := dimensionsOf(in.Fields)
	if err != nil || bytes.Equal(stored, given) {
		return "", err
	}
	if len(storedNames) != len(givenNames) {
		return fmt.Sprintf("the collection has %d dimensions, its stored reviews have %d; %s", len(givenNames),
			len(storedNames), rightDimensions), nil
	}
	order := make([]int, len(storedNames)) // for each stored dimension, the index of the same name in the file
	for i, name := range storedNames {
		if order[i] = slices.Index(givenNames, name); order[i] < 0 {
			return fmt.Sprintf("the stored reviews of the collection have a rating for %q, which is none of these "+
				"dimensions; %s", format.Shown([]byte(name)), rightDimensions), nil
		}
	}
	if len(order) > 1 { // otherwise both have only the dimension default, and one of them does not name it
		if err := reorder(in.Reviews, order); err != nil {
			return "", err
		}
		in.Fields = bytes.Replace(in.Fields, given, stored, 1) // before them is the member created alone
	}
	return "", nil
}

// rightDimensions ends the messages of the rule stored-dimensions.
const rightDimensions = "give the same names, in any order, or delete the stored collection first"

// dimensionsOf returns the member dimensions of the fields of a collection, as it is encoded there, and its names.
// Without the member, raw is nil and the only name is default.
func dimensionsOf(fields []byte) (raw []byte, names []string, err error) {
	var c struct {
		Dimensions json.RawMessage `json:"dimensions"`
	}
	if err = json.Unmarshal(fields, &c); err != nil || c.Dimensions == nil {
		return nil, []string{"default"}, err
	}
	err = json.Unmarshal(c.Dimensions, &names)
	return c.Dimensions, names, err
}

// reorder changes the order of the ratings of reviews: the rating that was at index order[i] moves to index i. The
// length of a review stays the same.
func reorder(reviews []format.Review, order []int) error {
	for i := range reviews {
		review := &reviews[i]
		ratings, numbers := make([]byte, len(order)), make([]int, len(order))
		for to, from := range order {
			ratings[to] = review.Ratings[from]
			numbers[to] = int(ratings[to])
		}
		text, err := json.Marshal(numbers)
		if err != nil {
			return err
		}
		if review.Data, err = withMember(review.Data, "ratings", text); err != nil {
			return err
		}
		review.Ratings = ratings
	}
	return nil
}
