package jsonpatch

import (
	"bytes"
	"crypto/rand"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// applyRenamed is apply for patches that name a member "". The library takes that name for the object around the
// member. So each such member of the document and of the patch is given another name, one that nobody can guess, and
// gets its own back at the end.
func applyRenamed(doc []byte, ops []Op, limits Limits) ([]byte, error) {
	name := "empty-name-" + rand.Text()
	ops, err := renameOps(ops, name)
	if err != nil {
		return nil, err
	}
	if doc, err = renameMembers(doc, "", name); err != nil {
		return nil, err
	}
	if doc, err = apply(doc, ops, limits); err != nil {
		return nil, err
	}
	return renameMembers(doc, name, "")
}

// renameOps returns the operations with name in place of the empty name, in pointers and in values.
func renameOps(ops []Op, name string) ([]Op, error) {
	out := slices.Clone(ops)
	for i := range out {
		op := &out[i]
		path := renameTokens(*op.Path, name)
		op.Path = &path
		if op.From != nil {
			from := renameTokens(*op.From, name)
			op.From = &from
		}
		if op.Value != nil {
			value, err := renameMembers(op.Value, "", name)
			if err != nil {
				return nil, err
			}
			op.Value = value
		}
	}
	return out, nil
}

// renameTokens returns a pointer with name in place of its empty tokens.
func renameTokens(pointer, name string) string {
	tokens := strings.Split(pointer, "/")
	for i := 1; i < len(tokens); i++ {
		if tokens[i] == "" {
			tokens[i] = name
		}
	}
	return strings.Join(tokens, "/")
}

// renameMembers returns a JSON value with each member named from renamed to to.
func renameMembers(data []byte, from, to string) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.PreserveRawStrings(true))
	for {
		kind, read := dec.StackIndex(dec.StackDepth())
		isName := kind == '{' && read%2 == 0
		if k := dec.PeekKind(); k != '"' && k != '{' && k != '[' && k != '}' && k != ']' {
			value, err := dec.ReadValue() // keeps the text of numbers
			if err == io.EOF {
				return bytes.TrimSpace(out.Bytes()), nil
			}
			if err != nil {
				return nil, err
			}
			if err := enc.WriteValue(value); err != nil {
				return nil, err
			}
			continue
		}
		token, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if isName && token.Kind() == '"' && token.String() == from {
			token = jsontext.String(to)
		}
		if err := enc.WriteToken(token); err != nil {
			return nil, err
		}
	}
}
