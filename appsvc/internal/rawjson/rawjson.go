// Package rawjson takes JSON apart without decoding it. It is for text that is known to be valid,
// such as what was stored, and several times as fast as a tokenizer that must find out. Other
// text gives ErrNotJSON or parts that make no sense, and never a panic.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ErrNotJSON says that a text is not the valid JSON, or not the kind of value, that was expected.
var ErrNotJSON = errors.New("not the expected JSON")

// Each calls visit with every member of the object, or with every item of the array, that data is, until visit returns false. name is
// the name of a member as a JSON string, and nil for an item. Both are parts of data. kind is '{' or '['. Each returns ErrNotJSON
// for anything else.
func Each(data []byte, visit func(name, value []byte) bool) (kind byte, err error) {
	s := scanner{data: data}
	end := byte('}')
	if !s.takes('{') {
		if end = ']'; !s.takes('[') {
			return 0, ErrNotJSON
		}
	}
	kind = end - 2 // in ASCII
	for more := !s.takes(end); more; more = s.separates(end) {
		s.space()
		var name []byte
		if end == '}' {
			if name = s.value(); len(name) < 2 || name[0] != '"' || !s.takes(':') {
				return kind, ErrNotJSON
			}
			s.space()
		}
		if value := s.value(); !visit(name, value) {
			return kind, nil
		}
	}
	if s.failed {
		return kind, ErrNotJSON
	}
	return kind, nil
}

// Items returns the items of the array in data.
func Items(data []byte) ([][]byte, error) {
	out := make([][]byte, 0, 8)
	kind, err := Each(data, func(_, value []byte) bool {
		out = append(out, value)
		return true
	})
	if err != nil || kind != '[' {
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

// Lookup returns where in an object the value of the member of this name begins, -1 if there is none. It reads data only up to that
// value.
func Lookup(data []byte, name string) int {
	s := scanner{data: data}
	if !s.takes('{') {
		return -1
	}
	for more := !s.takes('}'); more; more = s.separates('}') {
		s.space()
		found := IsName(s.value(), name)
		if !s.takes(':') {
			return -1
		}
		s.space()
		if found {
			return s.at
		}
		s.value()
	}
	return -1
}

// IsName reports whether a JSON string stands for name.
func IsName(quoted []byte, name string) bool {
	inside := len(quoted) - 2 // an escape is longer than what it stands for, at most six times
	if inside < len(name) || inside > 6*len(name) {
		return false
	}
	if inside == len(name) {
		return quoted[0] == '"' && string(quoted[1:1+inside]) == name && bytes.IndexByte(quoted, '\\') < 0
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return false
	}
	text, ok := Text(quoted)
	return ok && text == name
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
