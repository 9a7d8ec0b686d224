package reviews

import "strconv"

// WithBuffer has files read in stretches of n bytes, so that a short line is a long one.
func WithBuffer(o Options, n int) *Options {
	o.buffer = n
	return &o
}

// WithLimit has an import store reviews of up to n bytes.
func WithLimit(o Options, n int) *Options {
	o.limit = n
	return &o
}

// MaxStored is that limit without it.
const MaxStored = maxStored

var (
	TimestampFault    = timestampFault
	Base64Fault       = base64Fault
	IsPlainWebAddress = isPlainWebAddress
)

// MarkupFault reads HTML in pieces of the given length. It gives the first fault and where it is.
func MarkupFault(text string, piece int) (at int, fault string) {
	var m markup
	m.reset()
	t := &tokens{buf: []byte(text)}
	for from := 0; ; {
		to := min(from+piece, len(text))
		t.str.piece, t.str.from, t.str.closed = t.buf[from:to], from, to == len(text)
		if offset, message := m.read(t); message != "" {
			return int(offset), message
		}
		if from = to; t.str.closed {
			return 0, ""
		}
	}
}

// Set is the set of fingerprints.
type Set struct {
	set
	h *hasher
}

func NewSet() *Set { return &Set{h: newHasher()} }

func (s *Set) Add(i int) bool    { return s.add(s.of(i)) }
func (s *Set) Has(i int) bool    { return s.has(s.of(i)) }
func (s *Set) Mark(i int)        { s.mark(s.of(i)) }
func (s *Set) Marked(i int) bool { return s.marked(s.of(i)) }
func (s *Set) Clear()            { s.clear() }
func (s *Set) Bytes() (n int) {
	for _, g := range s.segments {
		n += 12 * len(g.hi)
	}
	return n
}

func (s *Set) of(i int) fingerprint { return s.h.of(strconv.AppendInt(nil, int64(i), 10)) }
