package reviews

import (
	"bytes"

	"github.com/go-json-experiment/json"
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
// stored form, see canonical, and so is the result.
func withParent(data []byte, parent string) ([]byte, error) {
	var members map[string]jsontext.Value
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
	return json.Marshal(members, json.Deterministic(true))
}
