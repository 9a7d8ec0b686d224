package keyval

import (
	"encoding/binary"
	"errors"
)

// Fields reads a value that is a sequence of fields: numbers, as encoding/binary appends them, and texts, as AppendText
// does. After the end of the value every field is zero, and Err returns an error.
type Fields struct {
	Key  string // of the entry, for the error
	Rest []byte // the fields that were not read yet
	bad  bool
}

// AppendText appends the length of a text, and the text.
func AppendText[T string | []byte](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Uint reads a number that binary.AppendUvarint has appended.
func (f *Fields) Uint() uint64 {
	n, size := binary.Uvarint(f.Rest)
	if size <= 0 {
		f.bad, f.Rest = true, nil
		return 0
	}
	f.Rest = f.Rest[size:]
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
	if n > uint64(len(f.Rest)) {
		f.bad, f.Rest = true, nil
		return nil
	}
	text := f.Rest[:n:n]
	f.Rest = f.Rest[n:]
	return text
}

// Err returns an error if the value has ended within a field.
func (f *Fields) Err() error {
	if f.bad {
		return Damaged(f.Key, errors.New("it ends too early"))
	}
	return nil
}
