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

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// shapes are the shapes of the content of an asset and of the objects in it, by name. A shape has the rule of each
// member, see checkValue. Members without a rule are stored unchecked, since services send many more.
var shapes = map[string]map[string]string{
	"content": {
		"id": "anything", "generator": "anything", "published": "anything", // replaced when the content is stored
		"content": "text", "lang": "text", "attachment": "attachments", "attributedTo": "author", "socialnet": "counts",
	},
	"author": {"id": "text", "username": "text", "displayName": "text", "description": "text", "location": "text",
		"url": "link", "icon": "icon"},
	"icon":   {"url": "link", "displayName": "text"},
	"counts": {"retweets": "integer", "favorites": "integer"},
	"link":   {"href": "url"},
	// An oEmbed 1.0 response with some more members.
	"attachment": {
		"version": "version", "type": "type",
		"title": "text", "html": "text", "provider_name": "text", "author_name": "text",
		"link": "link", "url": "link", "thumbnail_url": "link", "author_url": "link",
		"provider_url": "url or link", // services send both
		"height":       "integer", "width": "integer", "thumbnail_height": "integer", "thumbnail_width": "integer",
	},
}

// attachmentWords are the allowed values of required members of an attachment.
var attachmentWords = map[string][]string{"version": {"1.0"}, "type": {"photo", "video", "link", "rich", "audio"}}

// checkValue checks a JSON value against a rule, which may be the name of a shape. It returns ErrInvalid at the pointer
// at if the value breaks the rule. Optional members may be null.
func checkValue(rule string, value jsontext.Value, at string) error {
	kind := value.Kind()
	allowed, isWord := attachmentWords[rule]
	if kind == 'n' && !isWord {
		return nil
	}
	if rule == "url or link" {
		switch kind {
		case '"':
			rule = "url"
		case '{':
			rule = "link"
		default:
			return fault.Invalid(at, "want a string or an object")
		}
	}
	var s string
	if kind == '"' {
		if err := json.Unmarshal(value, &s); err != nil {
			return fault.Invalid(at, "%s", err)
		}
	}
	switch {
	case rule == "anything":
	case isWord:
		if kind != '"' || !slices.Contains(allowed, s) {
			return fault.Invalid(at, `want "%s"`, strings.Join(allowed, `" or "`))
		}
	case rule == "text" || rule == "url":
		if kind != '"' {
			return fault.Invalid(at, "want a string")
		}
		if rule == "url" {
			if err := checkURL(s); err != nil {
				return fault.Invalid(at, "%s", err)
			}
		}
	case rule == "integer": // without a fraction and without an exponent
		if kind != '0' || strings.ContainsAny(string(value), ".eE") {
			return fault.Invalid(at, "want an integer")
		}
	case rule == "attachments":
		var items []jsontext.Value
		if kind != '[' || json.Unmarshal(value, &items) != nil {
			return fault.Invalid(at, "want an array")
		}
		for i, item := range items {
			at := fmt.Sprintf("%s/%d", at, i)
			if item.Kind() != '{' {
				return fault.Invalid(at, "want an object")
			}
			if _, err := checkObject("attachment", item, at); err != nil {
				return err
			}
		}
	default:
		_, err := checkObject(rule, value, at)
		return err
	}
	return nil
}

// checkObject checks an object against a shape, and returns its members. It returns ErrInvalid if the value is not an
// object, if a name is repeated, or if a member's name differs from one of the shape only in case: some decoders would
// take it for that one.
func checkObject(shape string, value jsontext.Value, at string) ([]strictjson.Member, error) {
	rules := shapes[shape]
	members, err := strictjson.Members(value, slices.Collect(maps.Keys(rules))...)
	if err != nil {
		return nil, fault.Malformed(strictjson.Within(at, err))
	}
	for _, m := range members {
		if rule, known := rules[m.Name]; known {
			if err := checkValue(rule, m.Value, at+"/"+m.Name); err != nil {
				return nil, err
			}
		}
	}
	if shape == "attachment" {
		for _, name := range []string{"version", "type"} {
			if !slices.ContainsFunc(members, func(m strictjson.Member) bool { return m.Name == name }) {
				return nil, fault.Invalid(at+"/"+name, "member %q is missing", name)
			}
		}
	}
	return members, nil
}

// checkContentSize returns ErrInvalid if there is no content, and ErrTooLarge if the content as it
// is sent has more than Limits.Content bytes. at is the pointer to the content.
func checkContentSize(sent []byte, at string, lim Limits) error {
	if len(sent) == 0 {
		return fault.Invalid(at, "member \"content\" is missing")
	}
	if n := len(sent); n > lim.Content {
		return fault.At(at, fault.TooLarge("has %d bytes, at most %d are allowed", n, lim.Content))
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
		return nil, fault.Malformed(strictjson.Within(at, err))
	}
	value := slices.Clone(jsontext.Value(sent))
	if err := value.Compact(); err != nil {
		return nil, fault.Invalid(at, "%s", err)
	}
	members, err := checkObject("content", value, at)
	if err != nil {
		return nil, err
	}
	// The bytes of the other members are copied as they were sent, so numbers keep their digits and
	// strings their escapes.
	head := append(make([]byte, 0, len(value)+len(foreignID)+len(generator)+64), `{"id":`...)
	head = strictjson.AppendString(head, foreignID)
	head = strictjson.AppendString(append(head, `,"generator":{"id":`...), generator)
	head = append(head, '}')
	for _, m := range members {
		if m.Name == "id" || m.Name == "generator" || m.Name == "published" {
			continue
		}
		head = strictjson.AppendString(append(head, ','), m.Name)
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

// checkURL returns an error unless s is an absolute http or https URL, so that a link in an asset never runs a script
// in a browser. It must begin with http:// or https://, in either case, followed by a character other than /, ? and #.
// White space, control characters and backslashes are rejected anywhere: browsers follow the WHATWG URL Standard and
// remove or replace some of these before they look at the scheme, so "java\nscript:" would become "javascript:". The
// rest is not checked.
func checkURL(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == '\\' }) {
		return errors.New("a URL has no white space, control characters or backslashes")
	}
	for _, scheme := range []string{"http://", "https://"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) &&
			!strings.ContainsRune("/?#", rune(s[len(scheme)])) {
			return nil
		}
	}
	return errors.New("want an absolute http or https URL")
}
