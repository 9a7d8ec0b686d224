package reviews

import (
	"io"
	"strconv"
)

// WithBuffer has files read in stretches of n bytes, so that a short line is a long one, whose
// temporary file is compressed from there on.
func WithBuffer(o Options, n int) *Options {
	o.buffer, o.plain = n, int64(n)
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
func (s *Set) Bytes() int        { return len(s.pages) * pageSlots * 12 }

// AddLast adds the i-th of the fingerprints that all want the last place.
func (s *Set) AddLast(i int) bool { return s.add(fingerprint{1<<64 - 1, uint32(i) << 2}) }

func (s *Set) of(i int) fingerprint { return s.h.of(strconv.AppendInt(nil, int64(i), 10)) }

// PanicInWorker has a worker panic, and its findings replayed.
func PanicInWorker(value any) {
	out := newSender(make(chan part, 2), make(chan struct{}), newRecycled())
	go out.run(func() { panic(value) })
	for p := range out.to {
		p.replay(nil)
	}
}

// Spooled writes text in pieces through a temporary file, of which the given number of bytes is not
// compressed, and gives what comes back and how many bytes the file had.
func Spooled(dir, text string, piece, plain int) (back string, size int64, err error) {
	s := &spool{dir: dir, limit: int64(plain)}
	defer s.close()
	for rest := text; rest != ""; {
		n := min(piece, len(rest))
		if _, err := s.Write([]byte(rest[:n])); err != nil {
			return "", 0, err
		}
		rest = rest[n:]
	}
	r, err := s.reader(func() error { return nil })
	if err != nil {
		return "", 0, err
	}
	all, err := io.ReadAll(r)
	if err != nil {
		return "", 0, err
	}
	info, err := s.file.Stat()
	return string(all), info.Size(), err
}
