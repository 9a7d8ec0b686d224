package client

import (
	"fmt"
	"mime"
	"net/http"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// response is a response that was read completely, except for the body of an export, which has gone to request.into.
type response struct {
	status int
	header http.Header
	body   []byte
}

// target is where the body of a success goes. Every answer of the service has the member, so an object of something else, such as a
// proxy, is not read as an empty list.
type target struct {
	member string
	whole  bool // to gets the whole object, and otherwise the value of the member
	to     any
}

// value is the target that gets the value of a member, and object the one that gets the object that has the member.
func value(member string, to any) *target  { return &target{member, false, to} }
func object(member string, to any) *target { return &target{member, true, to} }

// UnmarshalJSON decodes an object into the target.
func (t *target) UnmarshalJSON(text []byte) error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	v, there := members[t.member]
	if !there || string(v) == "null" {
		return fmt.Errorf("it has no member %q", t.member)
	}
	if t.whole {
		v = text
	}
	return json.Unmarshal(v, t.to)
}

// sole is a list with one item.
type sole[T any] struct{ item T }

// UnmarshalJSON reads the list.
func (s *sole[T]) UnmarshalJSON(text []byte) error {
	var list []T
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("it is a list of %d, not of one", len(list))
	}
	s.item = list[0]
	return nil
}

// decode reads the body of a success into out. Without out, the status must be one that the service gives: 201 or 204 for a
// change, and 200 for an export. Its error says what was answered in place of what the service would answer.
func (a response) decode(r request, out any) error {
	err := a.decodeInto(r, out)
	if err != nil {
		err = fmt.Errorf("%w; %s", err, a.beginning())
	}
	return err
}

func (a response) decodeInto(r request, out any) error {
	switch {
	case r.into != nil && !a.isExport():
		return fmt.Errorf("its status is %d and its type %q, not 200 and %q", a.status, a.header.Get("Content-Type"), exportType)
	case r.into != nil, out == nil && (a.status == http.StatusCreated || a.status == http.StatusNoContent):
		return nil
	case out == nil:
		return fmt.Errorf("its status is %d, not 201 or 204", a.status)
	}
	return json.Unmarshal(a.body, out)
}

// exportType is the media type of an export of reviews.
const exportType = "application/x-ndjson"

// isExport reports whether the body of the answer is an export. The page of a proxy has another type.
func (a response) isExport() bool {
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return a.status == http.StatusOK && kind == exportType
}

// beginning says how the body begins, for an error.
func (a response) beginning() string {
	if len(a.body) == 0 {
		return "it is empty"
	}
	const most = 100 // characters
	return fmt.Sprintf("it begins with %#.*q", most, a.body[:min(len(a.body), most*utf8.UTFMax)])
}
