package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
)

// The functions of this file split a text without decoding it, several times as fast as a tokenizer that must check
// whether the text is JSON. For text that is not JSON they return meaningless parts or an error, and never panic.

// errNotJSON says that a text is no object or no array, or ends too early.
var errNotJSON = errors.New("not the expected JSON")

// Cut returns the value that data begins with, or the one punctuation mark, without white space before it, and what
// follows. value is nil at the end of the text, and if the value has no end.
func Cut(data []byte) (value, rest []byte) {
	begin := 0
	for begin < len(data) && (data[begin] == ' ' || data[begin] == '\n' || data[begin] == '\t' || data[begin] == '\r') {
		begin++
	}
	data = data[begin:]
	if len(data) == 0 {
		return nil, nil
	}
	switch data[0] {
	case ',', ':', '}', ']':
		return data[:1], data[1:]
	case '"', '{', '[':
	default:
		end := bytes.IndexAny(data, " \n\t\r,:}]")
		if end < 0 {
			end = len(data)
		}
		return data[:end], data[end:]
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case '"':
			length := stringLength(data[i:])
			if length == 0 {
				return nil, nil
			}
			i += length - 1
		default:
			continue
		}
		if depth == 0 {
			return data[:i+1], data[i+1:]
		}
	}
	return nil, nil
}

// stringLength returns how many bytes the string has that data begins with, its quotes counted; 0 if it has no end.
func stringLength(data []byte) int {
	for end := 1; ; end++ {
		quote := bytes.IndexByte(data[end:], '"')
		if quote < 0 {
			return 0
		}
		end += quote
		escapes := 0
		for data[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
	}
}

// each calls visit with every member of an object, or every item of an array, until visit returns false. name is the
// name of a member as a JSON string, and nil for an item.
func each(data []byte, visit func(name, value []byte) bool) error {
	data = bytes.TrimLeft(data, " \n\t\r")
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return errNotJSON
	}
	isObject := data[0] == '{'
	for rest := data[1:]; ; {
		var name, value []byte
		value, rest = Cut(rest)
		if len(value) == 0 {
			return errNotJSON
		}
		switch value[0] {
		case ',':
			continue
		case '}', ']':
			return nil
		}
		if isObject {
			var colon []byte
			name = value
			colon, rest = Cut(rest)
			value, rest = Cut(rest)
			if name[0] != '"' || string(colon) != ":" || value == nil {
				return errNotJSON
			}
		}
		if !visit(name, value) {
			return nil
		}
	}
}

// Items returns the items of an array.
func Items(data []byte) ([][]byte, error) {
	out := make([][]byte, 0, 8)
	err := each(data, func(name, value []byte) bool {
		out = append(out, value)
		return name == nil
	})
	if err == nil && bytes.TrimLeft(data, " \n\t\r")[0] != '[' {
		err = errNotJSON
	}
	return out, err
}

// Lookup returns the rest of the text of an object, from the value of the member of this name on, nil if there is none.
// It reads the object only up to that value.
func Lookup(object []byte, name string) []byte {
	rest, isObject := bytes.CutPrefix(bytes.TrimLeft(object, " \n\t\r"), []byte("{"))
	for isObject {
		var quoted, punctuation []byte
		quoted, rest = Cut(rest)
		punctuation, rest = Cut(rest)
		if string(punctuation) != ":" {
			return nil
		}
		if isName(quoted, name) {
			return bytes.TrimLeft(rest, " \n\t\r")
		}
		_, rest = Cut(rest)
		punctuation, rest = Cut(rest)
		isObject = string(punctuation) == ","
	}
	return nil
}

// Member returns the value of the member with this name, or nil if the object has no such member.
func Member(object []byte, name string) []byte {
	value, _ := Cut(Lookup(object, name))
	return value
}

// Text decodes a JSON string. ok is false if data is another value.
func Text(data []byte) (text string, ok bool) {
	switch {
	case len(data) < 2 || data[0] != '"':
		return "", false
	case bytes.IndexByte(data, '\\') < 0:
		return string(data[1 : len(data)-1]), true
	}
	return text, json.Unmarshal(data, &text) == nil
}

// Texts yields the decoded strings in a compact JSON value, without the names of members. They may share the bytes of
// data.
func Texts(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for {
			begin := bytes.IndexByte(data, '"')
			if begin < 0 {
				return
			}
			length := stringLength(data[begin:])
			if length == 0 {
				return
			}
			quoted := data[begin : begin+length]
			if data = data[begin+length:]; len(data) > 0 && data[0] == ':' {
				continue
			}
			text := quoted[1 : length-1]
			if bytes.IndexByte(text, '\\') >= 0 {
				decoded, _ := Text(quoted)
				text = []byte(decoded)
			}
			if !yield(text) {
				return
			}
		}
	}
}

// isName reports whether the value of a JSON string is name.
func isName(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) == len(name)+2 && string(quoted[1:len(quoted)-1]) == name
	}
	text, _ := Text(quoted)
	return text == name
}
