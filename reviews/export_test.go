package reviews

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// WithBuffer has files read in blocks of n bytes, so that a short line is a long one, whose
// temporary file is compressed from there on.
func WithBuffer(o Options, n int) *Options {
	o.buffer, o.plainLimit = n, int64(n)
	return &o
}

// WithLimit has an import store reviews of up to n bytes.
func WithLimit(o Options, n int) *Options {
	o.sizeLimit = n
	return &o
}

// MaxStored is that limit without it.
const MaxStored = maxStored

var (
	TimestampFault    = timestampFault
	Base64Fault       = base64Fault
	IsPlainWebAddress = isPlainWebAddress
	WithParent        = withParent
)

// MarkupFault gives the first fault of HTML and where it is.
func MarkupFault(text string) (at int, fault string) {
	return MarkupFaultInPieces(text, max(1, len(text)))
}

// MarkupFaultInPieces gives the same of a text that is read n bytes at a time.
func MarkupFaultInPieces(text string, n int) (at int, fault string) {
	var m markup
	m.begin()
	for piece := range slices.Chunk([]byte(text), n) {
		if !m.read(piece) {
			break
		}
	}
	return m.fault()
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
	out := newSender(make(chan batch, 2), make(chan struct{}), newBatchPool())
	go out.run(func() { panic(value) })
	for p := range out.to {
		p.replay(nil)
	}
}

// Spooled writes text in pieces through a temporary file, of which the given number of bytes is not
// compressed, and gives what comes back and how many bytes the file had.
func Spooled(dir, text string, piece, plain int) (back string, size int64, err error) {
	s := &tempFile{dir: dir, plainLimit: int64(plain)}
	defer s.close()
	for rest := text; rest != ""; {
		n := min(piece, len(rest))
		if _, err := s.Write([]byte(rest[:n])); err != nil {
			return "", 0, err
		}
		rest = rest[n:]
	}
	r, err := s.reader(0, func() error { return nil })
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

// Taken is how many imports are inside of a Gate.
func (g *Gate) Taken() int { return len(g.inside) }

// ExampleFile gives a file with an example of a rule in its place; the rest of the file keeps every rule.
func (r Rule) ExampleFile(example string) string {
	const review = `{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"}`
	example = strings.ReplaceAll(example, `\xe9`, "\xe9")
	name, _, _ := strings.Cut(example, ":")
	put := func(object, member string) string { // in place of the member of that name, or behind the last
		if at := strings.Index(object, name+":"); at >= 0 {
			end := at + strings.Index(object[at:], ",\"")
			if end < at {
				end = len(object) - 1
			}
			return object[:at] + member + object[end:]
		}
		return strings.TrimSuffix(object, "}") + "," + member + "}"
	}
	switch {
	case strings.HasPrefix(name, `"source`), strings.HasPrefix(name, `"dimensions`), strings.HasPrefix(name, `"reviews`), strings.HasPrefix(r.ID, "collection-id-"), r.ID == "id-text":
		return put(rightLine, example)
	case strings.HasPrefix(example, `{"id"`): // reviews
	case !strings.HasPrefix(example, `"`) || name == example:
		return example // lines
	default:
		example = put(review, example)
	}
	return strings.Replace(rightLine, "[]", "["+example+"]", 1)
}

// EditReview changes the data of a stored review past all rules.
func EditReview(db storage.Store, network string, key Key, id string, edit func(string) string) error {
	ctx := context.Background()
	return update(ctx, db, network, storage.UpdateOptions{}, func(s *rows) error {
		c, err := s.existing(ctx, key)
		if err != nil {
			return err
		}
		for r, err := range s.byID(ctx, c, slices.Values([]string{id})) {
			if err != nil || r.ID != id {
				return fmt.Errorf("review %q: %w", r.ID, err)
			}
			r.Data = []byte(edit(string(r.Data)))
			if err := s.putReviews(ctx, &c, []row{r}); err != nil {
				return err
			}
		}
		return nil
	})
}

// EditTally replaces the counts of a stored collection, unless they are nil, and returns those before.
func EditTally(db storage.Store, network string, key Key, counts []byte) (before []byte, err error) {
	ctx := context.Background()
	err = update(ctx, db, network, storage.UpdateOptions{}, func(s *rows) error {
		c, err := s.existing(ctx, key)
		if err != nil {
			return err
		}
		if before = c.Tally; counts != nil {
			c.Tally = counts
			s.putCollection(c)
		}
		return nil
	})
	return before, err
}
