package httpapi

import (
	"fmt"
	"time"
)

// Limits bound the size and the number of requests that are handled at the same time. Zero means the default, which is the
// number in the comment of the field. A limit cannot be switched off, and New refuses a negative one. A request beyond Body
// is answered with 413, beyond Token with 401, beyond Memory and Exports with 503, and beyond Uploads or Streams with 429. LimitsOf
// returns the limits that a handler has.
type Limits struct {
	Body  int64 // bytes of a JSON body; 4 MiB
	Token int   // bytes of a token that RequestToken finds; 16 KiB
	// Memory is how many bytes the requests whose body, response or work needs more than 64 KiB may take together; 256 MiB. They are
	// counted in slots of 1 MiB, of which a caller has an eighth. The process needs more than that: see the package's comment.
	Memory int64

	// Uploads of reviews have no limit of size or time. These fields bound how many there are at a time.
	Uploads          int // in all; 32
	UploadsOfNetwork int // for one network; 8
	UploadsOfCaller  int // 4
	// Pause is how long an upload may pause; 30 seconds.
	Pause time.Duration
	// Event streams of changes stay open. These fields bound how many there are at a time.
	Streams         int // in all; 2,000
	StreamsOfCaller int // 16
	// Line is how many bytes a line of an upload may have; 16 MiB. A longer one is an error in the report.
	Line int
	// LongLines is how many uploads at a time have a line of more than 1 MiB in memory; 4. The others wait.
	LongLines int

	// Each export of reviews holds a snapshot of the store until its client has read everything. These fields bound how
	// many there are at a time.
	Exports         int // in all; 8
	ExportsOfCaller int // 4
}

// normalise replaces zeros by the defaults. It returns an error if a field is negative.
func (l *Limits) normalise() error {
	for _, n := range []struct {
		field string
		limit *int64
		value int64
	}{{"Body", &l.Body, 4 << 20}, {"Memory", &l.Memory, defaultMemory}} {
		if err := orDefault("Limits."+n.field, n.limit, n.value); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		field string
		limit *int
		value int
	}{{"Token", &l.Token, defaultTokenBytes}, {"Uploads", &l.Uploads, 32}, {"UploadsOfNetwork", &l.UploadsOfNetwork, 8},
		{"UploadsOfCaller", &l.UploadsOfCaller, 4}, {"Line", &l.Line, 16 << 20}, {"LongLines", &l.LongLines, 4}, {"Exports", &l.Exports, 8},
		{"ExportsOfCaller", &l.ExportsOfCaller, 4}, {"Streams", &l.Streams, 2000}, {"StreamsOfCaller", &l.StreamsOfCaller, 16}} {
		if err := orDefault("Limits."+n.field, n.limit, n.value); err != nil {
			return err
		}
	}
	if l.Pause < 0 {
		return fmt.Errorf("httpapi: Limits.Pause is %s: want a positive duration, or 0 for the default", l.Pause)
	}
	if l.Pause == 0 {
		l.Pause = 30 * time.Second
	}
	return nil
}

// orDefault sets a number that is 0 to value, its default. It returns an error that names the field if the number is negative.
func orDefault[N int | int64](field string, number *N, value N) error {
	if *number < 0 {
		return fmt.Errorf("httpapi: %s is %d: want a positive number, or 0 for the default, which is %d", field, *number, value)
	}
	if *number == 0 {
		*number = value
	}
	return nil
}
