// Package rawjson takes JSON apart without decoding it. It is for text that is known to be valid,
// such as what was stored, and several times as fast as a tokenizer that must find out. Other
// text gives ErrNotJSON or parts that make no sense, and never a panic.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
)

// ErrNotJSON says that a text is not the valid JSON, or not the kind of value, that was expected.
var ErrNotJSON = errors.New("not the expected JSON")

// Member is one member of an object. Name is decoded. Value is a part of the text, which it shares.
type Member struct {
	Name  string
	Value []byte
}

// Object is the members of an object, in the order of the text.
type Object []Member

// Get returns the value of the first member of this name, nil if there is none.
func (o Object) Get(name string) []byte {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value
		}
	}
	return nil
}

// ErrTooMany says that an object or array has more members or items than the caller takes.
var ErrTooMany = errors.New("too many members or items")

// Members returns the members of the object in data.
func Members(data []byte) (Object, error) { return MembersUpTo(data, math.MaxInt) }

// MembersUpTo is Members for an object of at most most members. It returns ErrTooMany for a larger one, as soon as it
// meets one member too many.
func MembersUpTo(data []byte, most int) (Object, error) {
	out := make(Object, 0, 8) // as many as most have
	s := scanner{data: data}
	if !s.takes('{') {
		return nil, ErrNotJSON
	}
	for more := !s.takes('}'); more; more = s.separates('}') {
		s.space()
		name, ok := Text(s.value())
		if !ok || !s.takes(':') {
			return nil, ErrNotJSON
		}
		if len(out) == most {
			return nil, ErrTooMany
		}
		s.space()
		out = append(out, Member{name, s.value()})
	}
	if s.failed {
		return nil, ErrNotJSON
	}
	return out, nil
}

// Items returns the items of the array in data.
func Items(data []byte) ([][]byte, error) { return ItemsUpTo(data, math.MaxInt) }

// ItemsUpTo is Items for an array of at most most items. It returns ErrTooMany for a longer one, as soon as it meets
// one item too many.
func ItemsUpTo(data []byte, most int) ([][]byte, error) {
	out := make([][]byte, 0, 8)
	s := scanner{data: data}
	if !s.takes('[') {
		return nil, ErrNotJSON
	}
	for more := !s.takes(']'); more; more = s.separates(']') {
		if len(out) == most {
			return nil, ErrTooMany
		}
		s.space()
		out = append(out, s.value())
	}
	if s.failed {
		return nil, ErrNotJSON
	}
	return out, nil
}

// Text returns the string that data is. ok is false if data is another value.
func Text(data []byte) (text string, ok bool) {
	switch {
	case len(data) < 2 || data[0] != '"':
		return "", false
	case bytes.IndexByte(data, '\\') < 0:
		return string(data[1 : len(data)-1]), true
	}
	return text, json.Unmarshal(data, &text) == nil
}

// Cut returns the value that data begins with, and what follows it.
func Cut(data []byte) (value, rest []byte) {
	s := scanner{data: data}
	value = s.value()
	return value, data[len(value):]
}

// Lookup returns where in data a value begins: the value of the member of this name if data is an object, the item of
// this index if it is an array, and -1 if there is none. kind is '{', '[' or 0 for a scalar. It reads data only up to
// that value.
func Lookup(data []byte, name string, index int) (at int, kind byte, err error) {
	s := scanner{data: data}
	switch {
	case s.takes('{'):
		kind = '{'
		for more := !s.takes('}'); more; more = s.separates('}') {
			s.space()
			quoted := s.value()
			if !s.takes(':') {
				return -1, kind, ErrNotJSON
			}
			s.space()
			if isName(quoted, name) {
				return s.at, kind, nil
			}
			s.value()
		}
	case s.takes('['):
		kind = '['
		for more := !s.takes(']'); more; more = s.separates(']') {
			s.space()
			if index == 0 {
				return s.at, kind, nil
			}
			s.value()
			index--
		}
	}
	if s.failed {
		return -1, kind, ErrNotJSON
	}
	return -1, kind, nil
}

// isName reports whether a JSON string stands for name.
func isName(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) == len(name)+2 && quoted[0] == '"' && string(quoted[1:len(quoted)-1]) == name
	}
	s, ok := Text(quoted)
	return ok && s == name
}

// Widest returns an upper bound of how many members or items a single object or array in data has, at any depth.
func Widest(data []byte) int {
	widest := 0
	var open []int // commas so far
	for s := (scanner{data: data}); s.at < len(s.data); {
		switch c := s.data[s.at]; {
		case c == '"':
			s.text()
			continue
		case c == '{' || c == '[':
			open = append(open, 1)
		case c == ',' && len(open) > 0:
			open[len(open)-1]++
		case (c == '}' || c == ']') && len(open) > 0:
			widest = max(widest, open[len(open)-1])
			open = open[:len(open)-1]
		}
		s.at++
	}
	return widest
}

// Depth returns how deep the objects and arrays in data nest; it is 0 for a scalar.
func Depth(data []byte) int {
	depth, deepest := 0, 0
	for s := (scanner{data: data}); s.at < len(s.data); {
		switch s.data[s.at] {
		case '"':
			s.text()
			continue
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
		s.at++
	}
	return deepest
}

// scanner walks over a text. Once it has failed it stays so.
type scanner struct {
	data   []byte
	at     int
	failed bool
}

// space steps over white space.
func (s *scanner) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\n' || s.data[s.at] == '\t' || s.data[s.at] == '\r') {
		s.at++
	}
}

// takes steps over white space and then over c. It returns false, and stays behind the white space, if another byte
// comes.
func (s *scanner) takes(c byte) bool {
	s.space()
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

// separates steps over what follows a member or an item. It returns true if that is a comma, so that another one
// follows, and false for end, the end of the container. Anything else fails the scanner.
func (s *scanner) separates(end byte) bool {
	if s.failed || s.takes(end) {
		return false
	}
	s.failed = !s.takes(',')
	return !s.failed
}

// value steps over one value and returns it.
func (s *scanner) value() []byte {
	begin := s.at
	depth := 0
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case '"':
			if !s.text() {
				return nil
			}
			if depth == 0 {
				return s.data[begin:s.at]
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth <= 1 {
				if depth == 1 {
					s.at++
				}
				return s.data[begin:s.at]
			}
			depth--
			s.at++
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return s.data[begin:s.at]
			}
			s.at++
		default:
			s.at++
		}
	}
	s.failed = s.failed || depth > 0 || begin == s.at
	return s.data[begin:s.at]
}

// text steps over a string. It returns false if the string has no end.
func (s *scanner) text() bool {
	for at := s.at + 1; ; {
		quote := bytes.IndexByte(s.data[at:], '"')
		if quote < 0 {
			s.at, s.failed = len(s.data), true
			return false
		}
		at += quote + 1
		escapes := 0
		for i := at - 2; i > s.at && s.data[i] == '\\'; i-- {
			escapes++
		}
		if escapes%2 == 0 {
			s.at = at
			return true
		}
	}
}
