package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// maxAsset is the maximum number of bytes of the JSON of an asset in a file.
const maxAsset = 16 << 20

// assetReader reads the assets of a file: NDJSON, a JSON array, JSON objects over several lines, or a request
// {"add": [...]}.
type assetReader struct {
	in      *bufio.Reader
	dec     *json.Decoder // nil for NDJSON
	below   int           // how many arrays and objects are around an asset
	depth   int           // how many were begun
	item    int64         // number of the line of NDJSON, or else of the asset, that was read last
	left    int           // bytes that may be read for a value
	removes bool          // the request removes assets, too
}

// errNoJSON is the error of a file that does not begin as JSON does.
var errNoJSON = errors.New("this is no JSON: want assets")

// openAssets looks at the beginning of a file in UTF-8 or UTF-16, as it is or compressed with gzip.
func openAssets(file io.Reader) (*assetReader, error) {
	in, err := gunzip.Unpacked(bufio.NewReaderSize(file, 64<<10))
	if err != nil {
		return nil, err
	}
	switch head, _ := in.Peek(3); {
	case string(head) == "\ufeff":
		_, _ = in.Discard(3)
	case len(head) == 3 && (string(head[:2]) == "\xff\xfe" || string(head[:2]) == "\xfe\xff"):
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		in = bufio.NewReaderSize(transform.NewReader(in, utf16.NewDecoder()), 64<<10)
	}
	head, _ := in.Peek(in.Size()) // an error comes again
	text := bytes.TrimLeft(head, " \t\r\n")
	if len(text) == 0 {
		return &assetReader{in: in}, nil
	}
	if text[0] != '{' && text[0] != '[' {
		return nil, errNoJSON
	}
	r := &assetReader{in: in}
	name := bytes.TrimLeft(text[1:], " \t\r\n")
	switch {
	case text[0] == '[':
		r.below = 1
	case bytes.HasPrefix(name, []byte(`"add"`)), bytes.HasPrefix(name, []byte(`"remove"`)):
		r.below = 2
	}
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	first = bytes.TrimRight(first, " \t\r")
	if r.below > 0 || slices.Contains([]byte("{[,"), first[len(first)-1]) {
		r.dec = json.NewDecoder(r)
	}
	return r, nil
}

// Read gives the decoder the file.
func (r *assetReader) Read(p []byte) (int, error) {
	if r.left < 0 {
		return 0, fmt.Errorf("asset %d has more than %d MiB", r.item+1, maxAsset>>20)
	}
	n, err := r.in.Read(p)
	r.left -= n
	return n, err
}

// where says where the asset is that was read last.
func (r *assetReader) where() string {
	if r.dec == nil {
		return fmt.Sprint("line ", r.item)
	}
	return fmt.Sprint("asset ", r.item)
}

// next returns the JSON of the next asset, or io.EOF. A line of NDJSON may be anything.
func (r *assetReader) next() (text []byte, err error) {
	if r.dec == nil {
		return r.nextLine()
	}
	r.left = maxAsset
	var value json.RawMessage
	if err = r.enter(); err == nil {
		err = r.dec.Decode(&value)
	}
	r.item++
	return value, r.fault(err)
}

// enter reads up to the next asset: into the array of assets, or from one array to the next.
func (r *assetReader) enter() error {
	for r.depth < r.below || r.below > 0 && !r.dec.More() {
		token, err := r.dec.Token()
		switch token {
		case json.Delim('['), json.Delim('{'):
			r.depth++
		case json.Delim(']'), json.Delim('}'):
			r.depth--
		case "remove":
			var ids []json.RawMessage
			err = r.dec.Decode(&ids)
			r.removes = r.removes || len(ids) > 0
		}
		if err == io.EOF && r.depth > 0 {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fault returns the error for JSON that cannot be read.
func (r *assetReader) fault(err error) error {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("behind asset %d is no JSON: %w", r.item-1, err)
	}
	return err
}

// nextLine returns the next line of NDJSON that is not blank.
func (r *assetReader) nextLine() ([]byte, error) {
	for {
		var line []byte
		err := bufio.ErrBufferFull
		for err == bufio.ErrBufferFull {
			var part []byte
			part, err = r.in.ReadSlice('\n')
			if len(line) <= maxAsset { // adding it tells that it is too long
				line = append(line, part...)
			}
		}
		r.item++
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || err == io.EOF) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
