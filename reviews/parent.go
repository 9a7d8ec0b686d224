package reviews

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// parentOf returns the parent_id of a stored review, or "" if it has none. It returns an error if the record is
// damaged. It decodes only reviews that contain the name: canonical JSON has no escape in the name and no white space
// before the colon, so no reply is missed.
func parentOf(data []byte) (string, error) {
	// Most reviews are not replies and need no decoding.
	if !bytes.Contains(data, []byte(`"parent_id":`)) {
		return "", nil
	}
	var review struct {
		Parent string `json:"parent_id"`
	}
	err := json.Unmarshal(data, &review)
	return review.Parent, err
}

// withMember returns a record with another value of a member, or without the member if value is nil. data, value and
// the result are in the canonical form, see canonical.
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
