package reviews

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

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
