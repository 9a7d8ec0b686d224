package httpapi

import "time"

// Limits bound the size and the number of requests that are handled at the same time. Zero means the default, which is the
// number in the comment of the field. A limit cannot be switched off. A request beyond Body is answered with 413, beyond
// Token with 401, beyond Memory and Spool with 503, and beyond a number of uploads, exports or streams with 429. LimitsOf
// returns the limits that a handler has.
type Limits struct {
	Body  int64 // bytes of a JSON body; 4 MiB
	Token int   // bytes of a token that RequestToken finds; 16 KiB
	// Memory is how many bytes the bodies being read and the responses being written may take together; 256 MiB. The
	// process needs more than that: see the package's comment.
	Memory int64

	// Uploads of reviews have no limit of size or time. These fields bound how many there are at a time.
	Uploads          int // in all; 32
	UploadsOfNetwork int // for one network; 8
	UploadsOfCaller  int // 4
	// Pause is the period over which an upload must send at least 1 KiB/s on average; 30 seconds. A client that reads an
	// export must take each piece of it within Pause, and must not fall behind 64 KiB/s by more than Pause.
	Pause time.Duration
	// Event streams of changes stay open. These fields bound how many there are at a time.
	Streams         int // in all; 2,000
	StreamsOfCaller int // 16
	// Spool is how many bytes the temporary files of all uploads take together; 1 GiB.
	Spool int64
	// LargeReviews is how many uploads at a time store a review of more than 1 MiB, or a collection of more
	// than that without its reviews; 2. The others wait.
	LargeReviews int

	// Each export of reviews holds a snapshot of the store until its client has read everything. These fields bound how
	// many there are at a time.
	Exports         int // in all; 8
	ExportsOfCaller int // 4
}

// normalise replaces zeros by the defaults.
func (l *Limits) normalise() {
	for _, n := range []struct {
		limit *int64
		value int64
	}{{&l.Body, 4 << 20}, {&l.Memory, defaultMemory}, {&l.Spool, 1 << 30}} {
		if *n.limit == 0 {
			*n.limit = n.value
		}
	}
	for _, n := range []struct {
		limit *int
		value int
	}{{&l.Token, defaultTokenBytes}, {&l.Uploads, 32}, {&l.UploadsOfNetwork, 8}, {&l.UploadsOfCaller, 4}, {&l.LargeReviews, 2},
		{&l.Exports, 8}, {&l.ExportsOfCaller, 4}, {&l.Streams, 2000}, {&l.StreamsOfCaller, 16}} {
		if *n.limit == 0 {
			*n.limit = n.value
		}
	}
	if l.Pause == 0 {
		l.Pause = 30 * time.Second
	}
}
