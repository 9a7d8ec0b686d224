package assets

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// A rule reports what keeps a JSON value, which stands at the pointer at, from being of a shape.
type rule func(value jsontext.Value, at string) error

// content is the shape of an asset's content. Members that it does
// not name are kept: payloads in the wild carry more. So id, generator and published need no shape:
// what is sent there is not used.
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

var attachment = object(map[string]rule{
	"version": oneOf("1.0"),
	"type":    oneOf("photo", "video", "link", "rich", "audio"),
	"title":   text, "html": text, "provider_name": text, "author_name": text,
	"link": link.check, "url": link.check, "thumbnail_url": link.check, "author_url": link.check,
	"provider_url": either(url, link.check), // listed as a string, sent as an object
	"height":       integer, "width": integer, "thumbnail_height": integer, "thumbnail_width": integer,
}, "version", "type")

var link = object(map[string]rule{"href": url})

// shape is that of an object: the members it may have, of which some are required.
type shape struct {
	members         map[string]rule
	names, required []string
}

func object(members map[string]rule, required ...string) shape {
	return shape{members, slices.Sorted(maps.Keys(members)), required}
}

func (s shape) check(value jsontext.Value, at string) error {
	if value.Kind() == 'n' {
		return nil
	}
	found, err := s.take(value, at)
	if err != nil {
		return err
	}
	return s.checkMembers(found, at)
}

// take takes the object apart. A member whose name differs only in case from one of the shape is
// refused: some reader would take it for that.
func (s shape) take(value jsontext.Value, at string) ([]strictjson.Member, error) {
	found, err := strictjson.Members(value, s.names...)
	if err != nil {
		return nil, malformed(at, err)
	}
	return found, nil
}

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

// list is the shape of an array of objects of one shape.
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

// either is the shape of a value that is a string of the one shape, an object of the other, or null.
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

func anything(jsontext.Value, string) error { return nil }

func text(value jsontext.Value, at string) error {
	if k := value.Kind(); k != '"' && k != 'n' {
		return invalid(at, "want a string")
	}
	return nil
}

func integer(value jsontext.Value, at string) error {
	if k := value.Kind(); k != 'n' && (k != '0' || strings.ContainsAny(string(value), ".eE")) {
		return invalid(at, "want an integer")
	}
	return nil
}

func oneOf(allowed ...string) rule {
	return func(value jsontext.Value, at string) error {
		if s, ok := stringValue(value); !ok || !slices.Contains(allowed, s) {
			return invalid(at, `want "%s"`, strings.Join(allowed, `" or "`))
		}
		return nil
	}
}

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

func stringValue(value jsontext.Value) (string, bool) {
	if value.Kind() != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err == nil
}

// contentHead checks a content and returns it as it is kept, but for its last member, published, and
// the closing brace: compact, with the id and the generator of the asset.
func contentHead(sent []byte, foreignID, generator, at string) ([]byte, error) {
	if err := strictjson.Check(sent, strictjson.MaxDepth); err != nil {
		return nil, malformed(at, err)
	}
	value := slices.Clone(jsontext.Value(sent))
	if err := value.Compact(); err != nil {
		return nil, invalid(at, "%s", err)
	}
	members, err := content.take(value, at)
	if err != nil {
		return nil, err
	}
	if err := content.checkMembers(members, at); err != nil {
		return nil, err
	}
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

// finishContent closes what contentHead began.
func finishContent(head []byte, published int64) []byte {
	out := append(slices.Clone(head), `,"published":"`...)
	out = appendTime(out, published)
	return append(out, `"}`...)
}
