package httpapi

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// An answer is compressed as it goes out, when it is long and the client takes gzip; what is stored
// is sent as it is otherwise. The usual app, of some KB, costs less to send than to compress.

const (
	defaultCompressFrom = 16 << 10
	compressedPart      = 4 // how many times shorter JSON is in gzip, about
)

// compression is the gzip writers that wait to be used again.
type compression struct{ writers sync.Pool }

// compress returns p in gzip.
func (z *compression) compress(p []byte) []byte {
	w, _ := z.writers.Get().(*gzip.Writer)
	if w == nil {
		w, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that exists
	}
	var out bytes.Buffer
	out.Grow(len(p)/compressedPart + 512)
	w.Reset(&out)
	_, _ = w.Write(p) // a buffer takes everything
	_ = w.Close()
	w.Reset(nil)
	z.writers.Put(w)
	return out.Bytes()
}

// takesGzip reports whether Accept-Encoding prefers gzip to the answer as it is (RFC 9110, section
// 12.5.3). Nothing that is malformed counts.
func takesGzip(lists []string) bool {
	zipped, plain, others := -1.0, -1.0, -1.0 // not mentioned
	for _, list := range lists {
		for item := range strings.SplitSeq(list, ",") {
			coding, params, _ := strings.Cut(item, ";")
			q, ok := quality(params)
			if !ok {
				continue
			}
			switch strings.ToLower(strings.Trim(coding, " \t")) {
			case "gzip", "x-gzip":
				zipped = max(zipped, q)
			case "identity":
				plain = q
			case "*":
				others = q
			}
		}
	}
	if zipped < 0 {
		zipped = others
	}
	return zipped > 0 && zipped >= plain
}

// quality reads the weight of a coding, 0 to 1. None at all is 1.
func quality(params string) (float64, bool) {
	params = strings.Trim(params, " \t")
	if params == "" {
		return 1, true
	}
	name, value, _ := strings.Cut(params, "=")
	if !strings.EqualFold(name, "q") || len(value) > len("0.123") || strings.Trim(value, "0123456789.") != "" {
		return 0, false
	}
	q, err := strconv.ParseFloat(value, 64)
	return q, err == nil && q <= 1
}
