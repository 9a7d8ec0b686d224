package httpapi

import "time"

// The rates of uploads and downloads, in bytes a second. Other rates apply when requests wait for memory; see slowclients.go.
const (
	// An upload of reviews that gives less than uploadRate over Limits.Pause is ended: the answer is 200, with the report of what
	// was imported. One that gives at least uploadSafe is never ended to make room for another one.
	uploadRate = 1 << 10
	uploadSafe = 64 << 10

	// downloadRate is the least that a client must read on average. An export of 1 GB then waits for its client for less than
	// five hours, and holds its snapshot no longer than that and the time that the server works.
	downloadRate = 64 << 10
)

// pace measures how fast a client sends or reads bytes. It counts the bytes of the last period, with the precision of a tenth of
// the period: marks holds the count at the beginning of each tenth, so the bytes of the last ten tenths are a subtraction. The
// caller passes the time, so it can leave out the time in which the server does not wait for the client.
type pace struct {
	period time.Duration
	begun  time.Time
	last   time.Time // of the last byte, or begun
	bytes  int64
	tenth  int64     // how many tenths of the period have passed
	marks  [11]int64 // bytes at the beginning of the last tenths, by number modulo 11
}

// newPace returns a pace that begins to measure now.
func newPace(period time.Duration, now time.Time) pace {
	return pace{period: period, begun: now, last: now}
}

// add counts bytes that have passed by now.
func (p *pace) add(now time.Time, n int) {
	p.turn(now)
	p.bytes += int64(n)
	p.last = now
}

// turn goes on to the tenth of now, and sets the marks of those that have begun since the last call. After a long pause
// only the last eleven are set.
func (p *pace) turn(now time.Time) {
	to := int64(now.Sub(p.begun) * 10 / p.period)
	for p.tenth = max(p.tenth, to-int64(len(p.marks))); p.tenth < to; {
		p.tenth++
		p.marks[p.tenth%int64(len(p.marks))] = p.bytes
	}
}

// below reports whether a period has passed and the average of the last period is below rate, which is in bytes a second. It is
// false until a period has passed.
func (p *pace) below(rate int64, now time.Time) bool {
	return now.Sub(p.begun) >= p.period && p.recent(now) < float64(rate)
}

// recent is how many bytes a second there were within the last period, or since the start if no period has passed.
func (p *pace) recent(now time.Time) float64 {
	p.turn(now)
	first := max(p.tenth-10, 0)
	over := now.Sub(p.begun) - time.Duration(first)*p.period/10
	return float64(p.bytes-p.marks[first%int64(len(p.marks))]) / max(over, time.Millisecond).Seconds()
}

// idle is how long ago the last byte was.
func (p *pace) idle(now time.Time) time.Duration { return now.Sub(p.last) }

// average is how many bytes a second there were since the start.
func (p *pace) average(now time.Time) float64 {
	return float64(p.bytes) / max(now.Sub(p.begun), time.Millisecond).Seconds()
}
