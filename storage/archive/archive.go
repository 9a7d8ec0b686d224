// Package archive writes all entries of a store into one file, and reads them into an empty store of any kind. An
// archive carries a store from one engine to another, and is a backup that can be read without an engine.
//
// An archive is NDJSON. The first line names the format, then there is a line for each entry, in the order of keys, and
// the last line has their number and the SHA-256 of all lines before it:
//
//	{"vitrine":3}
//	{"key":"apps tag/6f1c… production","value":12}
//	{"key":"assets/example/main asset/b17","value64":"AZkC…"}
//	{"entries":2,"sha256":"…"}
//
// A value that is JSON on one line is written byte by byte. Other values are in base64, as are keys that are not UTF-8
// (key64). So the same store always gives the same archive, and an imported store gives the archive that it was
// imported from.
//
// An archive leaves out what the caller names, such as feeds and the positions of their readers: a copy must not
// deliver again what the original delivers. Of the identity of the store (storage.Identity) it has the secret and not
// the name, so that an imported store can tell the cursors of the original from those of any other store. Who has the
// archive can read the position in a cursor, and could make cursors of the original and of the imported store up. They
// lead to nothing else than a follower that begins without a cursor gets to see.
package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/storage"
)

// format is the number in the first line. v0.1.0 wrote firstFormat.
const format, firstFormat = 3, 2

// maxLine is how many bytes a line has at most: the largest value in base64, and the longest key with every byte
// escaped.
const maxLine = storage.MaxValue/3*4 + 6*storage.MaxKey + 100

// maxUpdate is how many bytes an update of an import writes, unless one entry has more.
const maxUpdate = 1 << 20

var (
	// ErrDamaged says that an archive was truncated or changed, or that the file is no archive.
	ErrDamaged = errors.New("damaged archive")
	// ErrNotEmpty says that a store to import into has entries.
	ErrNotEmpty = errors.New("the store is not empty")
)

// line is a line of an archive. Lines of entries have one of the keys and one of the values.
type line struct {
	Vitrine int             `json:"vitrine"`
	Key     *string         `json:"key"`
	Key64   *[]byte         `json:"key64"`
	Value   json.RawMessage `json:"value"`
	Value64 *[]byte         `json:"value64"`
	Entries *int64          `json:"entries"`
	SHA256  string          `json:"sha256"`
}

// Without names entries that are left out, by prefixes of their keys: "apps log/" leaves out the logs of the space
// "apps", and "assets/* log/" those of all spaces whose names begin with "assets/". "webhooks " leaves out a whole
// space.
type Without []string

// Has reports whether a key is left out.
func (w Without) Has(key string) bool {
	space, kind, _ := strings.Cut(key, " ")
	for _, name := range w {
		spaces, kinds, _ := strings.Cut(name, " ")
		above, below := strings.CutSuffix(spaces, "*")
		if (space == spaces || below && strings.HasPrefix(space, above)) && strings.HasPrefix(kind, kinds) {
			return true
		}
	}
	return space == storage.IdentitySpace && key != storage.IdentitySecret
}

// Export writes the entries of one snapshot of a store, and returns how many there are. After an error, which may be
// one of w, the archive is incomplete, and Import returns ErrDamaged for it.
func Export(ctx context.Context, from storage.Store, w io.Writer, without Without) (entries int64, err error) {
	out, sum := bufio.NewWriterSize(w, 256<<10), sha256.New()
	lines := io.MultiWriter(out, sum)
	began := false
	err = from.View(ctx, func(r storage.Reader) error {
		if began {
			return errors.New("the snapshot was lost on the way")
		}
		began = true
		if _, err := fmt.Fprintf(lines, "{\"vitrine\":%d}\n", format); err != nil {
			return err
		}
		var text []byte
		for e, err := range r.Scan(ctx, storage.Range{}) {
			if err != nil {
				return err
			}
			if without.Has(e.Key) {
				continue
			}
			text = appendEntry(text[:0], e)
			if _, err := lines.Write(text); err != nil {
				return err
			}
			entries++
		}
		return nil
	})
	if err == nil {
		_, err = fmt.Fprintf(out, "{\"entries\":%d,\"sha256\":\"%x\"}\n", entries, sum.Sum(nil))
	}
	if err == nil {
		err = out.Flush()
	}
	return entries, err
}

// appendEntry appends the line of an entry.
func appendEntry(to []byte, e storage.Entry) []byte {
	if utf8.ValidString(e.Key) {
		key, _ := json.Marshal(e.Key) // never fails for a string
		to = append(append(to, `{"key":`...), key...)
	} else {
		to = append(base64.StdEncoding.AppendEncode(append(to, `{"key64":"`...), []byte(e.Key)), '"')
	}
	if isLine(e.Value) {
		to = append(append(to, `,"value":`...), e.Value...)
	} else {
		to = append(base64.StdEncoding.AppendEncode(append(to, `,"value64":"`...), e.Value), '"')
	}
	return append(to, "}\n"...)
}

// mostNested is how deep the JSON of a value may nest to be written as it is. Package json reads 10,000 levels.
const mostNested = 9000

// isLine reports whether a value is JSON that can be written in a line as it is.
func isLine(value []byte) bool {
	n := len(value)
	return n > 0 && value[0] > ' ' && value[n-1] > ' ' && !bytes.ContainsAny(value, "\r\n") && utf8.Valid(value) &&
		bytes.Count(value, []byte("["))+bytes.Count(value, []byte("{")) < mostNested && json.Valid(value)
}

// Import puts the entries of an archive into an empty store, in updates of about 1 MiB, and returns how many there are.
// It returns ErrNotEmpty, or ErrDamaged with the line and what is wrong there. After an error the store has a part of
// the entries: discard it.
//
// The store gets the secret of the archive and a name of its own: in its feeds a cursor of the exported store is
// vitrine.ErrGone. v0.2.0 made archives without a secret; then it is vitrine.ErrInvalid.
//
// Import does not know what entries mean. Its caller audits the records of the domains before the store is used.
func Import(ctx context.Context, to storage.Store, r io.Reader, without Without) (entries int64, err error) {
	empty, err := Empty(ctx, to, without)
	if err == nil && !empty {
		err = fmt.Errorf("%w: want a new one", ErrNotEmpty)
	}
	if err != nil {
		return 0, err
	}
	var (
		sum    = sha256.New()
		last   string          // key of the last entry
		batch  []storage.Entry // of one space, for the next update
		size   int             // bytes of batch
		sealed bool            // the archive has the secret of its store
	)
	flush := func() error {
		put, large := batch, storage.UpdateOptions{Large: size > maxUpdate}
		batch, size = nil, 0
		if len(put) == 0 {
			return nil
		}
		return to.Update(ctx, storage.SpaceOf(put[0].Key), large, func(t storage.Tx) error {
			return t.Put(ctx, put...)
		})
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 256<<10), maxLine)
	for number := int64(1); lines.Scan() && lines.Err() == nil; number++ {
		l, err := parseLine(lines.Bytes())
		switch {
		case number == 1 && err == nil && l.Vitrine == firstFormat:
			return 0, errors.New("line 1: this is an archive of v0.1.0: import it with v0.2.0 into a new store, " +
				"which this release opens")
		case number == 1 && (err != nil || l.Vitrine != format):
			return 0, fmt.Errorf("%w: line 1: this is no archive, or one of another release: want {\"vitrine\":%d}",
				ErrDamaged, format)
		case err != nil:
			return 0, fmt.Errorf("%w: line %d: %w", ErrDamaged, number, err)
		case l.Entries != nil:
			if sum := hex.EncodeToString(sum.Sum(nil)); *l.Entries != entries || l.SHA256 != sum {
				return 0, fmt.Errorf("%w: line %d: the lines before have %d entries and the sum %s, and it says %d "+
					"and %s", ErrDamaged, number, entries, sum, *l.Entries, l.SHA256)
			}
			if lines.Scan() {
				return 0, fmt.Errorf("%w: line %d: something follows the last line", ErrDamaged, number+1)
			}
			if err := lines.Err(); err != nil {
				return 0, err
			}
			err := flush()
			if err == nil && sealed {
				err = storage.RenewIdentity(ctx, to)
			}
			return entries, err
		case number > 1:
			e, err := l.entry()
			switch {
			case err != nil:
			case e.Key <= last:
				err = fmt.Errorf("the key %.60q comes after %.60q: want each once, in their order", e.Key, last)
			case without.Has(e.Key):
				err = fmt.Errorf("the key %.60q belongs into no archive", e.Key)
			case e.Key == storage.IdentitySecret:
				if sealed = true; len(e.Value) != storage.SecretSize {
					err = fmt.Errorf("the secret has %d bytes, want %d", len(e.Value), storage.SecretSize)
				}
			}
			if err != nil {
				return 0, fmt.Errorf("%w: line %d: %w", ErrDamaged, number, err)
			}
			more := len(e.Key) + len(e.Value)
			if size+more > maxUpdate || storage.SpaceOf(last) != storage.SpaceOf(e.Key) {
				if err := flush(); err != nil {
					return 0, err
				}
			}
			last, batch, size = e.Key, append(batch, e), size+more
			entries++
		}
		sum.Write(lines.Bytes())
		sum.Write([]byte{'\n'})
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return 0, err
	}
	return 0, fmt.Errorf("%w: it ends before its last line, or has a line that is too long", ErrDamaged)
}

func parseLine(text []byte) (l line, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&l)
	if err == nil && d.InputOffset() != int64(len(text)) {
		err = errors.New("something follows the object")
	}
	return l, err
}

// entry returns the entry of a line.
func (l line) entry() (e storage.Entry, err error) {
	if (l.Key == nil) == (l.Key64 == nil) || (l.Value == nil) == (l.Value64 == nil) {
		return e, errors.New("want a key and a value, each once")
	}
	if e.Value = l.Value; l.Value64 != nil {
		e.Value = *l.Value64
	}
	if l.Key != nil {
		e.Key = *l.Key
	} else {
		e.Key = string(*l.Key64)
	}
	if storage.SpaceOf(e.Key) == "" || len(e.Key) > storage.MaxKey || len(e.Value) > storage.MaxValue {
		err = fmt.Errorf("the key %.60q, of %d bytes with a value of %d, can be in no store", e.Key, len(e.Key),
			len(e.Value))
	}
	return e, err
}

// Empty reports whether a store has no entries but its identity and those that are left out.
func Empty(ctx context.Context, s storage.Store, without Without) (empty bool, err error) {
	err = s.View(ctx, func(r storage.Reader) error {
		empty = false
		for space, err := range r.Spaces(ctx, "") {
			if err != nil {
				return err
			}
			for e, err := range r.Scan(ctx, storage.Prefix(space+" ")) {
				if err != nil || space != storage.IdentitySpace && !without.Has(e.Key) {
					return err
				}
			}
		}
		empty = true
		return nil
	})
	return empty, err
}

// Line returns the number of the line that a key has, or would have, in the archive that a store was made of.
func Line(ctx context.Context, s storage.Store, key string, without Without) (number int64, err error) {
	err = s.View(ctx, func(r storage.Reader) error {
		number = 2
		for e, err := range r.Scan(ctx, storage.Range{To: key}) {
			if err != nil {
				return err
			}
			if !without.Has(e.Key) {
				number++
			}
		}
		return nil
	})
	return number, err
}
