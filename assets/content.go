package assets

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// shapes are the shapes of the content of an asset and of the objects in it, by name. A shape has the rule of each
// member, see contentCheck. Members without a rule are stored unchecked, since services send many more.
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
		"height":       "size", "width": "size", "thumbnail_height": "size", "thumbnail_width": "size",
	},
}

// contentCheck checks a content, collects what is wrong with it, and puts it into the form in which it is stored. Of
// what other services write for nothing, and for numbers and words, it takes this much, and changes it:
//
//	"" or null for an address or an object   it is left out, and so is an object that has nothing else
//	"640" for a size                         640
//	the version 1.0 as a number, or missing  "1.0"
//	another type than one of oEmbed          link
//	a type in capitals                       in small letters
type contentCheck struct {
	all    *fault.List
	stored bool // it is stored already: null stays
}

// fail notes that a value is wrong.
func (c contentCheck) fail(at, format string, args ...any) {
	_ = c.all.Add(fault.Invalid(at, format, args...))
}

// isOne matches the numbers that are 1.
var isOne = regexp.MustCompile(`^1(\.0+)?([eE][+-]?0+)?$`)

// value checks a compact JSON value against a rule, which may be the name of a shape, and returns it as it is stored;
// nil means that its member is left out. at is the pointer to it. Optional members may be null.
func (c contentCheck) value(rule string, value jsontext.Value, at string) jsontext.Value {
	kind := value.Kind()
	if rule == "url or link" {
		if rule = "url"; kind == '{' {
			rule = "link"
		} else if kind != '"' && kind != 'n' {
			c.fail(at, "want a string or an object")
			return value
		}
	}
	if _, object := shapes[rule]; (object || rule == "url") && (kind == 'n' && !c.stored || string(value) == `""`) {
		return nil
	}
	if kind == 'n' && rule != "version" && rule != "type" {
		return value
	}
	var s string
	if kind == '"' {
		if err := json.Unmarshal(value, &s); err != nil {
			c.fail(at, "%s", err)
		}
	}
	switch rule {
	case "anything":
	case "version":
		if kind == '0' && isOne.Match(value) {
			return jsontext.Value(attachmentVersion)
		}
		if kind != '"' || s != "1.0" {
			c.fail(at, `want "1.0"`)
		}
	case "type":
		if kind != '"' {
			c.fail(at, `want one of "%s"`, strings.Join(attachmentTypes, `", "`))
		}
		if s = strings.ToLower(s); !slices.Contains(attachmentTypes, s) {
			s = "link"
		}
		return strictjson.AppendString(nil, s)
	case "text", "url":
		if kind != '"' {
			c.fail(at, "want a string")
		} else if rule == "url" {
			if err := checkURL(s); err != nil {
				c.fail(at, "%s", err)
			}
		}
	case "size", "integer": // without a fraction and without an exponent
		if digits := strings.TrimLeft(s, "0"); rule == "size" && s != "" && strings.Trim(s, "0123456789") == "" {
			return jsontext.Value(cmp.Or(digits, "0"))
		}
		if kind != '0' || strings.ContainsAny(string(value), ".eE") {
			c.fail(at, "want an integer")
		}
	case "attachments":
		return c.attachments(value, at)
	default:
		return c.object(rule, value, at)
	}
	return value
}

// attachmentVersion is the version of the attachments.
const attachmentVersion = `"1.0"`

// attachments checks a list of attachments.
func (c contentCheck) attachments(value jsontext.Value, at string) jsontext.Value {
	var items []jsontext.Value
	if value.Kind() != '[' || json.Unmarshal(value, &items) != nil {
		c.fail(at, "want an array")
		return value
	}
	out := jsontext.Value("[")
	for i, item := range items {
		if item = c.value("attachment", item, fmt.Sprintf("%s/%d", at, i)); item != nil {
			out = append(appendComma(out, len(out)-1), item...)
		}
	}
	return append(out, ']')
}

// object checks an object against a shape, and returns it as it is stored. A value that is no object is a fault, and so
// is a member whose name differs from one of the shape only in case: some decoders would take it for that one.
func (c contentCheck) object(shape string, value jsontext.Value, at string) jsontext.Value {
	rules := shapes[shape]
	members, err := strictjson.Members(value)
	if err != nil {
		_ = c.all.Add(fault.Malformed(strictjson.Within(at, err)))
		return value
	}
	out, have, changed := jsontext.Value("{"), map[string]bool{}, false
	add := func(name string, value []byte) {
		out = strictjson.AppendString(appendComma(out, len(out)-1), name)
		out = append(append(out, ':'), value...)
	}
	for _, m := range members {
		have[m.Name] = true
		rule, known := rules[m.Name]
		if !known {
			for name := range rules {
				if strings.EqualFold(m.Name, name) {
					c.fail(at+"/"+m.Name, "this member is written %q", name)
				}
			}
		} else {
			stored := c.value(rule, m.Value, at+"/"+m.Name)
			changed = changed || !bytes.Equal(stored, m.Value)
			m.Value = stored
		}
		if m.Value != nil && rule != "anything" {
			add(m.Name, m.Value)
		}
	}
	switch {
	case shape != "attachment" && shape != "content" && len(out) == 1 && len(members) > 0:
		return nil // no member has anything
	case shape == "attachment" && !have["type"]:
		c.fail(at+"/type", `member "type" is missing`)
	case shape == "attachment" && !have["version"]:
		add("version", []byte(attachmentVersion))
	case shape != "content" && !changed:
		return value
	}
	return append(out, '}')
}

// checkContentSize returns ErrInvalid if there is no content, and ErrTooLarge if more than Limits.Content bytes were
// sent. at is the pointer to the content.
func checkContentSize(sent []byte, at string, lim Limits) error {
	if len(sent) == 0 {
		return fault.Invalid(at, "member \"content\" is missing")
	}
	if n := len(sent); n > lim.Content {
		return fault.At(at, fault.TooLarge("has %d bytes, at most %d are allowed", n, lim.Content))
	}
	return nil
}

// contentHead checks a content and returns the beginning of its stored form: a compact object with the id and the
// generator of the asset and then the members of the content (see contentCheck), without its closing brace.
// finishContent adds the last member, published, and the brace when createdAt is known. at is the pointer to the
// content. contentHead adds the faults of the content to all, and returns nil if all has more than before then: faults
// of the content, or of the id and the generator, which were checked earlier.
//
//	{"id":"17","generator":{"id":"g"},"content":"Hello"
func contentHead(in NewAsset, at string, before int, all *fault.List) []byte {
	// Only strict JSON is stored, so that every client reads the same in it: no duplicate names, no
	// invalid UTF-8, no U+0000.
	if err := strictjson.Check(in.Content, strictjson.MaxDepth); err != nil {
		_ = all.Add(fault.Malformed(strictjson.Within(at, err)))
		return nil
	}
	value := slices.Clone(jsontext.Value(in.Content))
	if err := value.Compact(); err != nil {
		_ = all.Add(fault.Invalid(at, "%s", err))
		return nil
	}
	// The bytes of members without a rule are copied as they were sent, so numbers keep their digits and
	// strings their escapes.
	if value = (contentCheck{all, in.stored}).object("content", value, at); len(*all) > before {
		return nil
	}
	head := append(make([]byte, 0, len(value)+len(in.ID)+len(in.Generator.ID)+64), `{"id":`...)
	head = strictjson.AppendString(head, in.ID)
	head = strictjson.AppendString(append(head, `,"generator":{"id":`...), in.Generator.ID)
	head = append(head, '}')
	if members := value[1 : len(value)-1]; len(members) > 0 {
		head = append(append(head, ','), members...)
	}
	return head
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
