// Package keyval encodes and decodes keys and values for the records of the domains.
//
// A key is the name of its space, a blank, the kind of the record with a slash, and the parts of its name with blanks
// between them:
//
//	apps tag/6f1c… production
//	assets/urn:vitrine:example/main post/c104
//
// Keys of one kind sort as the lists of their parts do: texts by their bytes, numbers by their size.
package keyval

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

const (
	// mostOfPart is how many bytes of a part a key can contain. Of a longer part the key has the first keptOfPart bytes
	// and a digest, which together are more than mostOfPart. So long texts that begin alike are not in order; Sorted
	// sorts them.
	mostOfPart = 200
	keptOfPart = 168
)

// Space returns the name of a space with these parts, with slashes between them. No two lists of parts have the same
// name.
func Space(parts ...string) string {
	for i, p := range parts {
		if parts[i] = strings.ReplaceAll(Escape(p), "/", "!o"); len(parts[i]) > mostOfPart {
			parts[i] = cut(parts[i])
		}
	}
	return strings.Join(parts, "/")
}

// SpaceCut reports whether the name of a space has a part that was too long and so was cut.
func SpaceCut(space string) bool {
	return slices.ContainsFunc(strings.Split(space, "/"), Cut)
}

// SpaceParts returns the parts of a name that Space has returned. A long part is cut.
func SpaceParts(space string) []string {
	parts := strings.Split(space, "/")
	for i, p := range parts {
		parts[i] = Unescape(p)
	}
	return parts
}

// Prefix returns the prefix of the keys of a kind whose first parts are these. The kind ends with a slash.
func Prefix(space, kind string, parts ...string) string {
	var b strings.Builder
	size := len(space) + 1 + len(kind)
	for _, p := range parts {
		size += len(p) + 1
	}
	b.Grow(size) // enough unless something is escaped
	b.WriteString(space)
	b.WriteByte(' ')
	b.WriteString(kind)
	for _, p := range parts {
		b.WriteString(Part(p))
		b.WriteByte(' ')
	}
	return b.String()
}

// Key returns a key. The kind ends with a slash.
func Key(space, kind string, parts ...string) string {
	key := Prefix(space, kind, parts...)
	return key[:len(key)-1]
}

// Join returns the key of a prefix, which Prefix has returned, and further parts.
func Join(prefix string, parts ...string) string {
	space, kind, _ := strings.Cut(prefix, " ")
	return Key(space, kind, parts...)
}

// Parts returns the parts of a key that begins with prefix. A long part is cut.
func Parts(key, prefix string) []string {
	parts := strings.Split(key[len(prefix):], " ")
	for i, p := range parts {
		parts[i] = Unescape(p)
	}
	return parts
}

// Part returns the form of a part in keys.
func Part(s string) string {
	if len(s) > mostOfPart {
		s = cut(s)
	}
	return Escape(s)
}

// cut returns the beginning and a digest of a long part.
func cut(s string) string {
	sum := sha256.Sum256([]byte(s))
	return s[:keptOfPart] + base64.RawURLEncoding.EncodeToString(sum[:])
}

// Escape returns s without bytes up to the blank, and keeps the order of texts: each of these bytes, and the
// exclamation mark, becomes an exclamation mark and a letter or another character above it.
func Escape(s string) string {
	i := 0
	for i < len(s) && s[i] > '!' {
		i++
	}
	if i == len(s) {
		return s
	}
	b := append(make([]byte, 0, len(s)+8), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] > '!' {
			b = append(b, s[i])
		} else {
			b = append(b, '!', s[i]+'@')
		}
	}
	return string(b)
}

// Unescape is the inverse of Escape.
func Unescape(s string) string {
	if !strings.Contains(s, "!") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '!' && i+1 < len(s) {
			i++
			b = append(b, s[i]-'@')
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// Number returns a text for n that sorts as the numbers do: a letter for the number of digits, and the digits; 42 is
// b42. A negative number has a capital letter, and the complements of its digits: -42 is Y57.
func Number(n int64) string {
	if n >= 0 {
		s := strconv.FormatInt(n, 10)
		return string('a'+byte(len(s)-1)) + s
	}
	b := strconv.AppendUint([]byte{0}, -uint64(n), 10)
	for i := 1; i < len(b); i++ {
		b[i] = '0' + '9' - b[i]
	}
	b[0] = 'Z' - byte(len(b)-2)
	return string(b)
}

// ParseNumber returns the number of a text that Number has returned.
func ParseNumber(s string) (int64, error) {
	if len(s) >= 2 && s[0] >= 'a' {
		return strconv.ParseInt(s[1:], 10, 64)
	}
	if len(s) < 2 {
		return 0, fmt.Errorf("%q is no number of a key", s)
	}
	b := []byte(s)
	for i := 1; i < len(b); i++ {
		b[i] = '0' + '9' - b[i]
	}
	b[0] = '-'
	return strconv.ParseInt(string(b), 10, 64)
}

// Unknown returns a fault for each kind of records in a space that is not one of kinds. The kinds of a feed, and x/ for
// an embedder's own records, are always known. Each kind ends with a slash.
func Unknown(ctx context.Context, r storage.Reader, space string, kinds ...string) (faults []storage.Fault, err error) {
	in := storage.Prefix(space + " ")
	in.Limit = 1
	for {
		key := ""
		for e, err := range r.Scan(ctx, in) {
			if err != nil {
				return nil, err
			}
			key = e.Key
		}
		if key == "" {
			return faults, nil
		}
		kind, _, _ := strings.Cut(key[len(space)+1:], "/")
		if !slices.Contains(append(kinds, "feed/", "log/", "name/", "named/", "x/"), kind+"/") {
			faults = append(faults,
				storage.Fault{Key: key, Wrong: fmt.Sprintf("there is no kind of records %q", kind+"/")})
		}
		if in.From = key + "\x00"; strings.HasPrefix(key, space+" "+kind+"/") {
			in.From = storage.Prefix(space + " " + kind + "/").To
		}
	}
}
