package record

import (
	"encoding/binary"
	"fmt"

	"github.com/vitrine-go/vitrine/storage"
)

// Fields reads a value that is a sequence of fields: numbers, as encoding/binary appends them, and texts, as AppendText does. After the
// end of the value every field is zero, and Err returns an error.
type Fields struct {
	key  string
	rest []byte
	bad  bool
}

// FieldsOf returns the fields of the value of an entry.
func FieldsOf(e storage.Entry) *Fields { return &Fields{key: e.Key, rest: e.Value} }

// AppendText appends the length of a text, and the text.
func AppendText[T string | []byte](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Uint reads a number that binary.AppendUvarint has appended.
func (f *Fields) Uint() uint64 {
	n, size := binary.Uvarint(f.rest)
	if size <= 0 {
		f.bad, f.rest = true, nil
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

// Int reads a number that binary.AppendVarint has appended.
func (f *Fields) Int() int64 {
	n := f.Uint()
	return int64(n>>1) ^ -int64(n&1)
}

// Text reads a text. It shares the memory of the value.
func (f *Fields) Text() []byte {
	n := f.Uint()
	if n > uint64(len(f.rest)) {
		f.bad, f.rest = true, nil
		return nil
	}
	text := f.rest[:n:n]
	f.rest = f.rest[n:]
	return text
}

// Rest returns the rest of the value. It shares the memory of the value.
func (f *Fields) Rest() []byte { return f.rest }

// Err returns an error if the value has ended within a field.
func (f *Fields) Err() error {
	if f.bad {
		return fmt.Errorf("the record %q is damaged: it ends too early", f.key)
	}
	return nil
}
