package assets

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// A rule checks one JSON value. It returns nil if the value has the right shape, and else
// ErrInvalid at the pointer at, which says where the value is in the request.
//
// All rules but oneOf accept null, since optional members may be null.
type rule func(value jsontext.Value, at string) error

// content is the shape of an asset's content. Members that it does not name are kept without a
// check, since services send many more. The members id, generator and published are replaced when
// the content is stored, so they may be of any shape.
var content = object(map[string]rule{
	"id": anything, "generator": anything, "published": anything,
	"content": text, "lang": text,
	"attachment": list(attachment.check),
	"attributedTo": object(map[string]rule{
		"id": text, "username": text, "displayName": text, "description": text, "location": text,
		"url":  link.check,
		"icon": object(map[string]rule{"url": link.check, "displayName": text}).check,
	}).check,
	"socialnet": object(map[string]rule{"retweets": integer, "favorites": integer}).check,
})

// attachment is the shape of one attachment: an oEmbed 1.0 response with some more members.
var attachment = object(map[string]rule{
	"version": oneOf("1.0"),
	"type":    oneOf("photo", "video", "link", "rich", "audio"),
	"title":   text, "html": text, "provider_name": text, "author_name": text,
	"link": link.check, "url": link.check, "thumbnail_url": link.check, "author_url": link.check,
	"provider_url": either(url, link.check), // services send it in both shapes
	"height":       integer, "width": integer, "thumbnail_height": integer, "thumbnail_width": integer,
}, "version", "type")

// link is the shape of a link: an object whose member href, if it has one, is a URL or null.
var link = object(map[string]rule{"href": url})

// shape is the shape of a JSON object: a rule for each member that it names. Other members are
// allowed.
type shape struct {
	members  map[string]rule
	names    []string // of the members, sorted
	required []string // names of the members that must be there
}

// object returns the shape of an object with these members.
func object(members map[string]rule, required ...string) shape {
	return shape{members, slices.Sorted(maps.Keys(members)), required}
}

// check is the rule for an object of this shape, or null.
func (s shape) check(value jsontext.Value, at string) error {
	if value.Kind() == 'n' {
		return nil
	}
	found, err := s.split(value, at)
	if err != nil {
		return err
	}
	return s.checkMembers(found, at)
}

// split returns the members of an object. It returns ErrInvalid for a value that is no object, for
// an object that has a name twice, and for a member whose name differs only in case from one of the
// shape: some decoders would take it for that one.
func (s shape) split(value jsontext.Value, at string) ([]strictjson.Member, error) {
	found, err := strictjson.Members(value, s.names...)
	if err != nil {
		return nil, malformed(at, err)
	}
	return found, nil
}

// checkMembers checks the members of an object against the shape. at is the pointer to the object.
func (s shape) checkMembers(found []strictjson.Member, at string) error {
	for _, m := range found {
		if check, known := s.members[m.Name]; known {
			if err := check(m.Value, at+"/"+m.Name); err != nil {
				return err
			}
		}
	}
	for _, name := range s.required {
		if !slices.ContainsFunc(found, func(m strictjson.Member) bool { return m.Name == name }) {
			return invalid(at+"/"+name, "member %q is missing", name)
		}
	}
	return nil
}

// list returns the rule for null, or an array whose items are all objects that satisfy item.
func list(item rule) rule {
	return func(value jsontext.Value, at string) error {
		if value.Kind() == 'n' {
			return nil
		}
		var items []jsontext.Value
		if value.Kind() != '[' || json.Unmarshal(value, &items) != nil {
			return invalid(at, "want an array")
		}
		for i, v := range items {
			at := fmt.Sprintf("%s/%d", at, i)
			if v.Kind() != '{' {
				return invalid(at, "want an object")
			}
			if err := item(v, at); err != nil {
				return err
			}
		}
		return nil
	}
}

// either returns the rule for a value that is a string that satisfies str, an object that satisfies
// obj, or null.
func either(str, obj rule) rule {
	return func(value jsontext.Value, at string) error {
		switch value.Kind() {
		case '"':
			return str(value, at)
		case '{', 'n':
			return obj(value, at)
		}
		return invalid(at, "want a string or an object")
	}
}

// anything is the rule that accepts every value.
func anything(jsontext.Value, string) error { return nil }

// text is the rule for a string or null.
func text(value jsontext.Value, at string) error {
	if k := value.Kind(); k != '"' && k != 'n' {
		return invalid(at, "want a string")
	}
	return nil
}

// integer is the rule for null, or a number that is written without a fraction and without an
// exponent.
func integer(value jsontext.Value, at string) error {
	if k := value.Kind(); k != 'n' && (k != '0' || strings.ContainsAny(string(value), ".eE")) {
		return invalid(at, "want an integer")
	}
	return nil
}

// oneOf returns the rule for a string that is one of those allowed.
func oneOf(allowed ...string) rule {
	return func(value jsontext.Value, at string) error {
		if s, ok := stringValue(value); !ok || !slices.Contains(allowed, s) {
			return invalid(at, `want "%s"`, strings.Join(allowed, `" or "`))
		}
		return nil
	}
}

// url is the rule for a string that is an absolute http or https URL, or null.
func url(value jsontext.Value, at string) error {
	if value.Kind() == 'n' {
		return nil
	}
	s, ok := stringValue(value)
	if !ok {
		return invalid(at, "want a string")
	}
	if err := checkURL(s); err != nil {
		return invalid(at, "%s", err)
	}
	return nil
}

// stringValue returns the text of a JSON string. It returns false for a value of another type.
func stringValue(value jsontext.Value) (string, bool) {
	if value.Kind() != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err == nil
}

// checkContentSize returns ErrInvalid if there is no content, and ErrTooLarge if the content as it
// is sent has more than Limits.Content bytes. at is the pointer to the content.
func checkContentSize(sent []byte, at string, lim Limits) error {
	if len(sent) == 0 {
		return invalid(at, "member \"content\" is missing")
	}
	if n := len(sent); n > lim.Content {
		return newError(vitrine.ErrTooLarge, vitrine.CodeTooLarge, at, "has %d bytes, at most %d are allowed", n, lim.Content)
	}
	return nil
}

// contentHead checks a content and returns it as it is stored, without its end: a compact object
// that begins with the id and the generator of the asset, goes on with the other members as they
// were sent, and lacks the last member, published, and the closing brace. finishContent adds these
// when createdAt is known. at is the pointer to the content.
//
//	{"id":"17","generator":{"id":"g"},"content":"Hello"
func contentHead(sent []byte, foreignID, generator, at string) ([]byte, error) {
	// Only strict JSON is stored, so that every client reads the same in it: no duplicate names, no
	// invalid UTF-8, no U+0000.
	if err := strictjson.Check(sent, strictjson.MaxDepth); err != nil {
		return nil, malformed(at, err)
	}
	value := slices.Clone(jsontext.Value(sent))
	if err := value.Compact(); err != nil {
		return nil, invalid(at, "%s", err)
	}
	members, err := content.split(value, at)
	if err != nil {
		return nil, err
	}
	if err := content.checkMembers(members, at); err != nil {
		return nil, err
	}
	// The bytes of the other members are copied as they were sent, so numbers keep their digits and
	// strings their escapes.
	head := append(make([]byte, 0, len(value)+len(foreignID)+len(generator)+64), `{"id":`...)
	head = appendString(head, foreignID)
	head = appendString(append(head, `,"generator":{"id":`...), generator)
	head = append(head, '}')
	for _, m := range members {
		if m.Name == "id" || m.Name == "generator" || m.Name == "published" {
			continue
		}
		head = appendString(append(head, ','), m.Name)
		head = append(append(head, ':'), m.Value...)
	}
	return head, nil
}

// finishContent returns the content that begins with head, from contentHead, and ends with the
// member published: when it was first published, in milliseconds since the epoch.
func finishContent(head []byte, published int64) []byte {
	out := append(slices.Clone(head), `,"published":"`...)
	out = appendTime(out, published)
	return append(out, `"}`...)
}

// checkURL returns an error unless s is an absolute http or https URL, so that a link in an asset
// never runs a script in a browser: http:// or https://, with letters in either case, and then a
// character other than /, ? and #, where the host begins. The rest is not checked, except that white
// space, control characters and backslashes are refused anywhere. Browsers follow the WHATWG URL
// Standard: they remove or replace some of these before they look at the scheme, so "java\nscript:"
// would become "javascript:".
func checkURL(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == '\\' }) {
		return errors.New("a URL has no white space, control characters or backslashes")
	}
	for _, scheme := range []string{"http://", "https://"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) && !strings.ContainsRune("/?#", rune(s[len(scheme)])) {
			return nil
		}
	}
	return errors.New("want an absolute http or https URL")
}
