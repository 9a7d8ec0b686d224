package qrischema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// check returns an error for a schema that the library cannot handle or reads differently from everybody else: with
// references that form a cycle, which it follows without end; with references that are not a JSON pointer into the
// document; and with the other keywords that the comment of the package names.
func check(doc any) error {
	c := checker{doc: doc, state: map[string]progress{}}
	return c.visit(doc, "")
}

// progress is how far the walk has come with one object of the schema.
type progress int

// An object without an entry was not met yet.
const (
	open progress = iota + 1
	done
)

// checker walks the objects of a schema.
type checker struct {
	doc   any
	state map[string]progress // by JSON pointer
}

// visit walks every value at and below v that the library may read as a schema, also behind references. pointer is the
// JSON pointer of v. An object that is met again while it is open is part of a cycle.
func (c *checker) visit(v any, pointer string) error {
	switch v := v.(type) {
	case []any:
		for i, element := range v {
			if err := c.visit(element, pointer+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		switch c.state[pointer] {
		case done:
			return nil
		case open:
			return fmt.Errorf("%s: a reference leads back here: this engine takes no recursive schemas", name(pointer))
		}
		c.state[pointer] = open
		for _, keyword := range slices.Sorted(maps.Keys(v)) {
			if err := c.member(keyword, v[keyword], pointer); err != nil {
				return err
			}
		}
		c.state[pointer] = done
	}
	return nil
}

// member checks one keyword and walks on into its value. Values that are data, such as those of enum, are not schemas.
func (c *checker) member(keyword string, v any, pointer string) error {
	at := pointer + "/" + jsonpointer.Escape(keyword)
	text, isString := v.(string)
	switch keyword {
	case "const", "enum", "default", "examples":
		return nil
	case "$id":
		if isString && pointer != "" {
			return fmt.Errorf("%s: this engine takes an id at the root only", at)
		}
	case "format":
		if text == "regex" {
			return fmt.Errorf("%s: this engine does not take the format regex: it would compile every value of a config as a pattern", at)
		}
	case "$recursiveRef":
		if isString {
			return fmt.Errorf("%s: this engine takes no recursive schemas", at)
		}
	case "$ref":
		if isString {
			target, err := c.target(text)
			if err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			return c.visit(target, text[1:])
		}
	}
	return c.visit(v, at)
}

// target returns the value that a reference names. It refuses pointers that the library reads differently from others:
// those with escapes, and those through items, where the library expects an index even if items is a single schema.
func (c *checker) target(ref string) (any, error) {
	if ref != "#" && (!strings.HasPrefix(ref, "#/") || strings.ContainsAny(ref, "~%")) {
		return nil, fmt.Errorf("%q is not a reference that this engine takes: use a JSON pointer like \"#/$defs/name\", without escapes", shorten(ref))
	}
	if strings.Contains(ref+"/", "/items/") {
		return nil, fmt.Errorf("%q leads through items, which this engine does not take in a reference", shorten(ref))
	}
	v, ok := lookup(c.doc, ref[1:])
	if !ok {
		return nil, fmt.Errorf("there is nothing at %q", shorten(ref))
	}
	return v, nil
}

// lookup returns the value at a JSON pointer without escapes, and false if there is none.
func lookup(v any, pointer string) (any, bool) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch parent := v.(type) {
		case map[string]any:
			member, ok := parent[token]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil, false
			}
			v = parent[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// name names a place in a sentence: its JSON pointer, or in words for the root, whose pointer is empty.
func name(pointer string) string {
	if pointer == "" {
		return "the schema"
	}
	return pointer
}
