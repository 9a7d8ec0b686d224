package client

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exportType is the media type of an export of reviews.
const exportType = "application/x-ndjson"

// target describes the body of a success. Every response of the service has the member, so the JSON object of a proxy,
// for instance, is not read as an empty list. The zero target is a response without a body.
type target struct {
	member string
	whole  bool // the object is decoded, and not only the value of the member
	one    bool // the value of the member is a list of one item; without whole, the item is decoded
}

// value is the target that decodes the value of a member, item the one that decodes the only item of a member that is a
// list, and object the one that decodes the object that has the member.
func value(member string) target  { return target{member: member} }
func item(member string) target   { return target{member: member, one: true} }
func object(member string) target { return target{member: member, whole: true} }

// decode reads the body of a success into out. Its error says how the body differs from one of the service.
func (t target) decode(status int, body []byte, out any) error {
	if t.member == "" {
		if status != http.StatusNoContent {
			return fmt.Errorf("its status is %d, not 204", status)
		}
		return nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(body, &members); err != nil {
		return err
	}
	v, there := members[t.member]
	if !there || string(v) == "null" {
		return fmt.Errorf("it has no member %q", t.member)
	}
	if t.one {
		var list []jsontext.Value
		if err := json.Unmarshal(v, &list); err != nil {
			return err
		}
		if len(list) != 1 {
			return fmt.Errorf("its member %q is a list of %d, not of one", t.member, len(list))
		}
		v = list[0]
	}
	if t.whole {
		v = body
	}
	return json.Unmarshal(v, out)
}

// beginning says how a body begins, for an error.
func beginning(body []byte) string {
	if len(body) == 0 {
		return "it is empty"
	}
	const most = 100 // characters
	return fmt.Sprintf("it begins with %#.*q", most, body[:min(len(body), most*utf8.UTFMax)])
}

// next returns a parameter of the address in the header Link, with which the next page is asked for, "" if there is no
// next page. The rest of the address is not used: the next page comes from the same server, whatever the header names.
func next(header http.Header, parameter string) string {
	target, rel, ok := strings.Cut(header.Get("Link"), ">")
	if !ok || !strings.Contains(rel, `rel="next"`) {
		return ""
	}
	u, err := url.Parse(strings.TrimPrefix(target, "<"))
	if err != nil {
		return ""
	}
	return u.Query().Get(parameter)
}
