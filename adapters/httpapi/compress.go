package httpapi

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// A response is compressed as it goes out, if it is long and the client accepts gzip. The usual app, of some KB, costs less
// to send than to compress. Event streams and exports are never compressed.

const (
	defaultCompressFrom = 16 << 10 // Config.CompressFrom, if it is 0
	// compressedPart is how many times shorter JSON is in gzip, about. It decides how much memory is reserved for the
	// compressed form before its length is known.
	compressedPart = 4
)

// compression is the gzip writers that wait to be used again.
type compression struct{ writers sync.Pool }

// compress returns p in gzip, at the level that costs the least time. A writer of gzip is large, so writers are used again.
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

// takesGzip reports whether Accept-Encoding prefers gzip to the plain response, or likes both as much (RFC 9110, section
// 12.5.3). Without the header the response is plain. An item that is malformed is ignored.
func takesGzip(lists []string) bool {
	zipped, plain, others := -1.0, -1.0, -1.0 // the weights of gzip, identity and "*"; -1 = not mentioned
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
		zipped = others // the weight of "*" counts for codings that are not mentioned
	}
	return zipped > 0 && zipped >= plain
}

// quality reads a weight of 0 to 1, as in "q=0.5". No weight at all is 1. It returns false for one that is malformed.
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

// choose returns the bytes to be sent: out, out compressed, or nothing if the client already has what would be sent, which
// makes the response a 304. The compressed form has an ETag of its own, since a strong ETag names exact bytes (RFC 9110,
// section 8.8.1). If-None-Match is compared before anything is compressed, so a 304 costs no compression.
func (c *call) choose() []byte {
	// Vary is set for every response that could be compressed, whether this client takes gzip or not.
	header := c.header()
	zipped := false
	if from := c.h.CompressFrom; from >= 0 && len(c.out) >= from {
		header["Vary"] = append(varyEncoding[:1:1], header["Vary"]...)
		zipped = takesGzip(c.r.Header["Accept-Encoding"])
	}
	if etag := header["Etag"]; etag != nil {
		if zipped {
			etag = []string{strings.TrimSuffix(etag[0], `"`) + `-gzip"`}
			header["Etag"] = etag
		}
		if matches(c.r.Header["If-None-Match"], etag[0]) {
			c.status = http.StatusNotModified
			return nil
		}
	}
	if !zipped {
		return c.out
	}
	body := c.h.compression.compress(c.out)
	if cap(c.out) > maxKeptBuffer {
		c.out = nil
	}
	header["Content-Encoding"] = gzipCoding
	return body
}
