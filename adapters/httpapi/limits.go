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
//
// What many requests share is limited by slots: so many in all, and so many of a caller. A caller is known by its URN;
// a delivery token stands in public pages, so its requests are counted for the address of the client, and those of IPv6
// for its network of 64 bits. A slot that becomes free goes to the caller who has got one the longest ago. A request
// that finds no slot within a second is rejected with Retry-After, before it has changed anything. While it waits, the
// slowest request with such a slot is cut off, if the server has waited for its client for more than ten seconds and
// the client has sent or read less than 64 KiB/s. Only the time in which the server waits for the client counts.
//
//   - Reads that are at work: 16, or four for each processor if that is more; four of a caller, or two for each
//     processor. The others wait, and are not rejected. Sending a response does not count.
//   - Requests with a body or a response above 64 KiB, and those whose work needs as much, have a slot for each MiB of
//     memory: [Limits.Memory], 256 MiB, an eighth of them a caller, else 503. A single request may exceed the eighth. A
//     body counts four times. A picture that is decoded has slots, too, up to three quarters of all; it waits for ten
//     seconds, and counts in no caller's eighth.
//   - Uploads of reviews: 32, 8 for a network and 4 of a caller, else 429 ([Limits.Uploads] and the two after it). An
//     upload that pauses for [Limits.Pause], 30 seconds, is ended. One that is ended or cut off gets 200, the report of
//     what was imported, and "Connection: close". A line has at most [Limits.Line], 16 MiB; a longer one is an error in
//     the report. Lines of more than 1 MiB are in memory of four uploads at a time ([Limits.LongLines]); the others
//     wait for that.
//   - Exports of reviews, since each keeps a snapshot open: 8, and 4 of a caller, else 503 ([Limits.Exports],
//     [Limits.ExportsOfCaller]).
//   - Event streams: 2,000, and 16 of a caller, else 429 ([Limits.Streams] and [Limits.StreamsOfCaller]).
//
// Slow clients: a body and a response above 64 KiB may take a minute, and a second more for each 64 KiB, and a page of
// an event stream 30 seconds in place of the minute. Smaller ones are limited by the timeouts of the server.
//
// The process needs more memory than Limits.Memory: for the store, for garbage that is not collected yet, 1 to 20 MiB
// for each upload, about 60 MiB for each that stores a large review, and 16 bytes for each collection of an upload and
// each review of its longest line. Set GOMEMLIMIT, or [runtime/debug.SetMemoryLimit] as examples/vitrine does. Limit
// the number of connections too, and mark requests beyond it with [Overloaded]. Close connections that [Draining] names
// first.
type Limits struct {
	Body  int64 // bytes of a JSON body; 4 MiB
	Token int   // bytes of a token that RequestToken finds; 16 KiB
	// Memory is how many bytes the requests whose body, response or work needs more than 64 KiB may use together; 256
	// MiB. They are counted in slots of 1 MiB, of which a caller may have an eighth. The process needs more than that.
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
