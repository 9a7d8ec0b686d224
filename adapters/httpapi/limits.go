package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// Limits are the largest size and number of requests that are handled at the same time. Zero means the default, which
// is the number in the comment of the field. A limit cannot be switched off, and New returns an error for a negative
// one. A request beyond Body is 413, beyond Token 401, beyond Memory and Exports 503, and beyond Uploads or Streams
// 429. LimitsOf returns the limits that a handler has.
type Limits struct {
	Body  int64 // bytes of a JSON body; 4 MiB
	Token int   // bytes of a token that RequestToken finds; 16 KiB
	// Memory is how many bytes the requests whose body, response or work needs more than 64 KiB may use together; 256
	// MiB. They are counted in slots of 1 MiB, of which a caller may have an eighth. The process needs more than that:
	// see the package's comment.
	Memory int64

	// Uploads of reviews have no limit of size or time. These fields limit how many there are at a time.
	Uploads          int // in all; 32
	UploadsOfNetwork int // for one network; 8
	UploadsOfCaller  int // 4
	// Pause is how long an upload may pause; 30 seconds.
	Pause time.Duration
	// Event streams of changes stay open. These fields limit how many there are at a time.
	Streams         int // in all; 2,000
	StreamsOfCaller int // 16
	// Line is how many bytes a line of an upload may have; 16 MiB. A longer one is an error in the report.
	Line int
	// LongLines is how many uploads at a time have a line of more than 1 MiB in memory; 4. The others wait.
	LongLines int

	// Each export of reviews keeps a snapshot of the store open until its client has read everything. These fields
	// limit how many there are at a time.
	Exports         int // in all; 8
	ExportsOfCaller int // 4
}

// normalise replaces zeros by the defaults. It returns an error if a field is negative.
func (l *Limits) normalise() error {
	return cmp.Or(
		orDefault("Limits.Body", &l.Body, 4<<20),
		orDefault("Limits.Token", &l.Token, defaultTokenBytes),
		orDefault("Limits.Memory", &l.Memory, defaultMemory),
		orDefault("Limits.Uploads", &l.Uploads, 32),
		orDefault("Limits.UploadsOfNetwork", &l.UploadsOfNetwork, 8),
		orDefault("Limits.UploadsOfCaller", &l.UploadsOfCaller, 4),
		orDefault("Limits.Pause", &l.Pause, 30*time.Second),
		orDefault("Limits.Streams", &l.Streams, 2000),
		orDefault("Limits.StreamsOfCaller", &l.StreamsOfCaller, 16),
		orDefault("Limits.Line", &l.Line, 16<<20),
		orDefault("Limits.LongLines", &l.LongLines, 4),
		orDefault("Limits.Exports", &l.Exports, 8),
		orDefault("Limits.ExportsOfCaller", &l.ExportsOfCaller, 4),
	)
}

// orDefault sets a number that is 0 to value, its default. It returns an error that names the field if the number is
// negative.
func orDefault[N int | int64 | time.Duration](field string, number *N, value N) error {
	if *number < 0 {
		return fmt.Errorf("httpapi: %s is %v: want a positive number, or 0 for the default, which is %v", field,
			*number, value)
	}
	*number = cmp.Or(*number, value)
	return nil
}

// Load is how much of the limits of a handler is in use at a moment. The figures are read one after the other, so they
// may belong to slightly different moments. Streams.Count has the number of event streams.
type Load struct {
	Memory  int64 // bytes that large requests use, of Limits.Memory
	Uploads int   // imports of reviews under way, of Limits.Uploads
	Exports int   // exports of reviews under way, of Limits.Exports
}

// LoadOf returns the load of a handler of New, for metrics. ok is false for any other handler.
func LoadOf(h http.Handler) (load Load, ok bool) {
	own, ok := h.(*handler)
	if !ok {
		return Load{}, false
	}
	return Load{Memory: int64(own.large.inUse()) * slotBytes, Uploads: own.uploads.inUse(),
		Exports: own.exports.inUse()}, true
}

// LimitsOf returns the limits of a handler of New as they are in force, with the defaults in place of zeros. ok is
// false for any other handler.
func LimitsOf(h http.Handler) (limits Limits, ok bool) {
	own, ok := h.(*handler)
	if !ok {
		return Limits{}, false
	}
	return own.Limits, true
}
