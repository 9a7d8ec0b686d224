package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/vitrine-go/vitrine/internal/keyval"
)

const (
	window = 16      // bytes that are compared by hash; shorter matches are not looked for
	stride = 8       // the windows of the old text at multiples of this are indexed
	reach  = 2 << 10 // how far a better match may extend back over earlier ones, in bytes
	// largest advance through text without a match; odd, so that it reaches every position modulo stride
	skip = 7
)

// span is a part of a new text: bytes that are copied from a position of the old text, and then new bytes.
type span struct{ from, copied, added int }

// makeEdit returns an edit from old to new: the bytes that both have in common at their end, as a number, and spans for
// what is before these. A span is twice the number of copied bytes, plus one if they do not follow those that were
// copied before; then the distance to them; and the number of new bytes, and these bytes.
//
// It finds blocks of bytes at any position of the new text. Its cost is about linear in both texts; for a single change
// it is little more than that of comparing them.
func makeEdit(old, new []byte) []byte {
	prefix := commonPrefix(old, new)
	suffix := commonSuffix(old[prefix:], new[prefix:])
	end := len(new) - suffix
	spans := []span{{0, prefix, 0}}
	if end-prefix < window {
		spans[0].added = end - prefix
	} else {
		spans = newMatcher(old).match(spans, new, prefix, end)
	}
	edit := binary.AppendUvarint(nil, uint64(suffix))
	at, done := 0, 0 // in old and in new
	for _, s := range spans {
		if s.copied > 0 && s.from != at {
			edit = binary.AppendUvarint(edit, uint64(s.copied)<<1|1)
			edit = binary.AppendVarint(edit, int64(s.from-at))
			at = s.from
		} else {
			edit = binary.AppendUvarint(edit, uint64(s.copied)<<1)
		}
		at, done = at+s.copied, done+s.copied
		edit = keyval.AppendText(edit, new[done:done+s.added])
		done += s.added
	}
	return edit
}

// applyEdit returns the new text that an edit makes from old, whose memory it may use. An edit that does not fit is an
// error.
func applyEdit(old, edit []byte) ([]byte, error) {
	in := keyval.Fields{Rest: edit}
	suffix := int(in.Uint())
	if suffix < 0 || suffix > len(old) {
		return nil, fmt.Errorf("an edit keeps the last %d of %d bytes", suffix, len(old))
	}
	var text []byte
	for at, first := 0, true; len(in.Rest) > 0; first = false {
		n := int(in.Uint())
		if n&1 != 0 {
			at += int(in.Int())
		}
		if n >>= 1; at < 0 || at > len(old) || n < 0 || n > len(old)-at || len(text)+n > MaxBody {
			return nil, fmt.Errorf("an edit copies %d bytes from %d of %d", n, at, len(old))
		}
		added := in.Text()
		// one change, as most edits are
		if first && at == 0 && len(in.Rest) == 0 && n <= len(old)-suffix && in.Err() == nil {
			return slices.Replace(old, n, len(old)-suffix, added...), nil
		}
		text = append(append(text, old[at:at+n]...), added...)
		at += n
	}
	if in.Err() != nil || len(text)+suffix > MaxBody {
		return nil, errors.New("an edit is cut short, or makes too large a body")
	}
	return append(text, old[len(old)-suffix:]...), nil
}

// matcher finds places in a text by the hash of window bytes. Of several places with the same bytes it finds the first.
// If that is the wrong one, the copy ends early, and the next match extends back over it.
type matcher struct {
	old    []byte
	shift  int
	places []int32 // by hash: 1 + the place divided by stride, 0 for none
}

// newMatcher indexes the old text. It goes backwards, so of several places with the same hash the first one stays.
func newMatcher(old []byte) *matcher {
	blocks := 0
	if len(old) >= window {
		blocks = (len(old)-window)/stride + 1
	}
	width := max(8, bits.Len(uint(blocks)))
	m := &matcher{old: old, shift: 64 - width, places: make([]int32, 1<<width)}
	for b := blocks - 1; b >= 0; b-- {
		m.places[m.hash(old[b*stride:])] = int32(b + 1)
	}
	return m
}

// hash returns the index in places for the first window bytes of text.
func (m *matcher) hash(text []byte) uint64 {
	x := binary.LittleEndian.Uint64(text) * 0x9e3779b97f4a7c15
	y := binary.LittleEndian.Uint64(text[8:]) * 0xc2b2ae3d27d4eb4f
	return (x ^ bits.RotateLeft64(y, 31)) * 0x9e3779b97f4a7c15 >> m.shift
}

// match adds the spans that make new[at:end] to those that make new[:at]. At each position it looks the next window
// bytes up in the old text. A match is extended forward and backward as far as the texts are equal. Without a match it
// advances, in larger steps the longer nothing matches.
func (m *matcher) match(spans []span, new []byte, at, end int) []span {
	done := at // spans make new[:done]
	for at+window <= end {
		from := max(0, int(m.places[m.hash(new[at:])])-1) * stride
		n := commonPrefix(m.old[from:], new[at:end])
		if n < window {
			at += min(skip, 1+(at-done)/512*2)
			continue
		}
		back := commonSuffix(m.old[:from], new[max(0, done-reach):at])
		if begin := at - back; begin >= done {
			spans[len(spans)-1].added += begin - done
		} else {
			spans = shorten(spans, done-begin)
		}
		spans = append(spans, span{from - back, n + back, 0})
		at += n
		done = at
	}
	spans[len(spans)-1].added += end - done
	return spans
}

// shorten removes the last n bytes from the text that spans make, since a better match has them.
func shorten(spans []span, n int) []span {
	for last := len(spans) - 1; ; last-- {
		s := &spans[last]
		added := min(n, s.added)
		copied := min(n-added, s.copied)
		s.added, s.copied, n = s.added-added, s.copied-copied, n-added-copied
		if n == 0 {
			return spans[:last+1]
		}
	}
}

// commonPrefix returns how many bytes a and b have in common at their beginning.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+512 <= n && bytes.Equal(a[i:i+512], b[i:i+512]) {
		i += 512
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix returns how many bytes a and b have in common at their end.
func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for i >= 512 && bytes.Equal(a[i-512:i], b[i-512:i]) {
		i -= 512
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}
