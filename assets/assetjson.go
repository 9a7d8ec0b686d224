package assets

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// This file reads requests that add assets, so that all faults of their JSON are known at once, and not the first
// alone, as a decoder returns.

// jsonFaults are the faults of a JSON text. Their pointers begin at it.
type jsonFaults []*vitrine.Error

// note keeps the fault of the value at a pointer.
func (f *jsonFaults) note(at string, err error) {
	e, _ := errors.AsType[*vitrine.Error](fault.Malformed(strictjson.Within(at, err)))
	*f = append(*f, e)
}

// jsonMember says how a member of an object is read.
type jsonMember struct {
	name   string
	needed bool
	into   any // a pointer, or a function that gets the value and its JSON pointer
}

// object reads the members of an object.
func (f *jsonFaults) object(text []byte, at string, rules ...jsonMember) {
	if len(text) > 0 && text[0] == 'n' {
		*f = append(*f, fault.Invalid(at, "null is not allowed here"))
		return
	}
	members, err := strictjson.Members(text)
	if err != nil {
		f.note(at, err)
		return
	}
	known := make([]string, len(rules))
	for i, rule := range rules {
		known[i] = rule.name
	}
	have := make(map[string]bool, len(members))
	for _, m := range members {
		at := at + "/" + jsonpointer.Escape(m.Name)
		var into any
		for _, rule := range rules {
			if rule.name == m.Name {
				into = rule.into
			}
		}
		switch read := into.(type) {
		case nil:
			*f = append(*f, fault.Invalid(at, "%s", strictjson.Unknown(m.Name, known)))
		case func([]byte, string):
			read(m.Value, at)
		default:
			if err := strictjson.Unmarshal(m.Value, into); err != nil {
				f.note(at, err)
			}
		}
		have[m.Name] = true
	}
	for _, rule := range rules {
		if rule.needed && !have[rule.name] {
			*f = append(*f, fault.Invalid(at+"/"+rule.name, "member %q is missing", rule.name))
		}
	}
}

// list reads the items of an array, each by itself. An item with a fault is there too, so that the others keep their
// places.
func list[T any](f *jsonFaults, into *[]T, read func(text []byte, at string, into *T)) func([]byte, string) {
	return func(text []byte, at string) {
		var items []jsontext.Value
		err := json.Unmarshal(text, &items, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err != nil || text[0] == 'n' {
			f.note(at, strictjson.Unmarshal(text, into)) // which has a sentence for it
			return
		}
		*into = make([]T, len(items))
		for i, item := range items {
			read(item, at+"/"+strconv.Itoa(i), &(*into)[i])
		}
	}
}

// value reads a value that has no parts.
func value[T any](f *jsonFaults) func(text []byte, at string, into *T) {
	return func(text []byte, at string, into *T) {
		if text[0] == 'n' {
			*f = append(*f, fault.Invalid(at, "null is not allowed here"))
		} else if err := strictjson.Unmarshal(text, into); err != nil {
			f.note(at, err)
		}
	}
}

// optional reads a value that is nil unless it is there.
func optional[T any](f *jsonFaults, into **T) func([]byte, string) {
	return func(text []byte, at string) {
		*into = new(T)
		value[T](f)(text, at, *into)
	}
}

// UnmarshalJSON reads an asset as HTTP has it: strict JSON, and no members that a NewAsset does not have. It always
// returns nil. ChangeAssets returns what is wrong with the text, with all that is wrong with its values.
func (in *NewAsset) UnmarshalJSON(text []byte) error {
	*in = NewAsset{}
	f := &in.faults
	if err := strictjson.Check(text, strictjson.MaxDepth-2); err != nil { // below the list in the request
		if _, broken := strictjson.Members(text); broken != nil {
			*f = append(*f, fault.Invalid("", "%s", err))
			return nil
		}
		f.note("", err)
	}
	f.object(text, "",
		jsonMember{"id", true, &in.ID},
		jsonMember{"generator", true, func(text []byte, at string) {
			f.object(text, at, jsonMember{"id", true, &in.Generator.ID})
		}},
		jsonMember{"content", false, func(text []byte, _ string) { in.Content = text }},
		jsonMember{"folders", false, list(f, &in.Folders, value[string](f))},
		jsonMember{"safe_tags", false, list(f, &in.SafeTags, value[string](f))},
		jsonMember{"via", false, optional(f, &in.Via)},
		jsonMember{"rights", false, optional(f, &in.Rights)},
		jsonMember{"createdAt", false, optional[time.Time](f, &in.CreatedAt)},
		jsonMember{"attributes", false, list(f, &in.Attributes, func(text []byte, at string, into *Attribute) {
			f.object(text, at, jsonMember{"key", true, &into.Key}, jsonMember{"value", true, &into.Value})
		})})
	return nil
}

// UnmarshalJSON reads the body that HTTP has: {"add": [NewAsset], "remove": [id]}. It returns ErrInvalid for what is
// wrong with the body as a whole. What is wrong with items is returned by ChangeAssets, all at once.
func (in *ChangeAssetsRequest) UnmarshalJSON(text []byte) error {
	// An item that is not strict JSON must not hide the faults of others.
	whole := strictjson.Check(text, strictjson.MaxDepth)
	if e, ok := errors.AsType[*strictjson.Error](whole); ok && strings.Count(e.Pointer, "/") < 2 {
		return fault.Malformed(whole)
	}
	f := &in.faults
	f.object(text, "",
		jsonMember{"add", false,
			list(f, &in.Add, func(text []byte, _ string, into *NewAsset) { _ = into.UnmarshalJSON(text) })},
		jsonMember{"remove", false, list(f, &in.Remove, value[string](f))})
	for _, e := range in.faults {
		if strings.Count(e.Pointer, "/") < 2 { // it is at no item
			return e
		}
	}
	if whole != nil && !in.faulty() { // by something behind the first object
		return fault.Malformed(whole)
	}
	return nil
}

// faulty reports whether the JSON of an item has a fault.
func (in *ChangeAssetsRequest) faulty() bool {
	for _, a := range in.Add {
		if len(a.faults) > 0 {
			return true
		}
	}
	return len(in.faults) > 0
}
