package jsonpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

var (
	errMissing = errors.New("there is no such place")
	errIndex   = errors.New("array indices are written in decimal digits without leading zeros")
)

// resolve returns the value that pointer names in doc. It returns errIndex if the pointer goes into a list by an index
// that is not canonical, and errMissing if there is no such place.
func resolve(doc []byte, pointer string) ([]byte, error) {
	at, end, err := locate(doc, pointer)
	return bytes.TrimSpace(doc[at:end]), err
}

// locate returns the place of the value that pointer names, doc[at:end]. Its errors are those of resolve.
func locate(doc []byte, pointer string) (at, end int, err error) {
	if pointer == "" {
		return 0, len(doc), nil
	}
	for _, token := range strings.Split(pointer, "/")[1:] {
		name, index := jsonpointer.Unescape(token), math.MaxInt
		if jsonpointer.IsIndex(name) {
			if i, err := strconv.Atoi(name); err == nil {
				index = i
			}
		}
		inside, kind, err := rawjson.Lookup(doc[at:], name, index)
		switch {
		case kind == '[' && isOddIndex(name):
			return 0, 0, fmt.Errorf("%w: at %q of %q", errIndex, token, pointer)
		case err != nil || inside < 0:
			return 0, 0, fmt.Errorf("%w: at %q of %q", errMissing, token, pointer)
		}
		at += inside
	}
	value, _ := rawjson.Cut(doc[at:])
	return at, at + len(value), nil
}

// Equal reports whether two JSON values are the same: objects with the same members in any order, lists with the same
// items in order, and numbers that same says are the same. Both must be strict JSON.
func Equal(a, b []byte, same func(x, y string) bool) bool {
	if a, b = bytes.TrimSpace(a), bytes.TrimSpace(b); bytes.Equal(a, b) {
		return true
	}
	return !differ(a, b, same, 4) && equal(tree(a), tree(b), same)
}

// differ reports whether a look at the first levels of two values shows that they are not the same. It saves decoding
// them: values that differ usually have their members in the same order all the same. If it returns false, nothing is
// known.
func differ(a, b []byte, same func(x, y string) bool, levels int) bool {
	if bytes.Equal(a, b) || levels == 0 {
		return false
	}
	x, errX := rawjson.Members(a)
	y, errY := rawjson.Members(b)
	switch {
	case errX != nil && errY != nil:
		return plain(a) && plain(b) && !same(string(a), string(b))
	case errX != nil || errY != nil || len(x) != len(y):
		return true
	}
	for i := range x {
		if x[i].Name == y[i].Name && differ(x[i].Value, y[i].Value, same, levels-1) {
			return true
		}
	}
	return false
}

// plain reports whether a value is a scalar that has one spelling only. Numbers have several, which same decides about.
func plain(value []byte) bool {
	return len(value) > 0 && value[0] != '[' && bytes.IndexByte(value, '\\') < 0
}

// SameText compares numbers as they are written.
func SameText(x, y string) bool { return x == y }

// tree decodes a value, with numbers as they are written.
func tree(data []byte) any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return err // equal to nothing
	}
	return v
}

// equal compares decoded values as Equal says.
func equal(a, b any, same func(x, y string) bool) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, x := range a {
			if y, ok := b[name]; !ok || !equal(x, y, same) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i], same) {
				return false
			}
		}
		return true
	case json.Number:
		b, ok := b.(json.Number)
		return ok && same(a.String(), b.String())
	case string, bool, nil:
		return a == b
	}
	return false
}

// SameNumber compares numbers by value, however they are written: 1, 1.0 and 10e-1 are one.
func SameNumber(x, y string) bool { return x == y || normal(x) == normal(y) }

// normal returns one spelling for all spellings of a number: its sign, its digits without zeros at either end, and a
// power of ten. It takes time and memory linear in the text, however large the exponent is: 1e1000000000 is never
// written out.
func normal(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	var power int64
	if exponent != "" {
		var err error
		if power, err = strconv.ParseInt(exponent, 10, 64); err != nil || power > 1<<40 || power < -1<<40 {
			return sign + text // beyond any use: by its text
		}
	}
	power += int64(len(digits) - len(trimmed) - len(fraction))
	return sign + trimmed + "e" + strconv.FormatInt(power, 10)
}
