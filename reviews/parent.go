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

// withMember returns a record with another value of a member, or without the member if value is nil. data is the record in the stored form,
// see canonical, as value is, and so is the result.
func withMember(data []byte, name string, value jsontext.Value) ([]byte, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	delete(members, name)
	if value != nil {
		members[name] = value
	}
	return json.Marshal(members, json.Deterministic(true))
}
