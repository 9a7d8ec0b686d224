package sqlite

import "encoding/binary"

// leaf is a page of a segment: two numbers, what is left of the list of the page before, terms with
// their lists, and behind it all where each term begins.
type leaf struct {
	b      []byte // up to where the terms end
	starts varints
}

func leafOf(page []byte) (leaf, error) {
	if len(page) < 4 {
		return leaf{}, errFormat
	}
	end := int(binary.BigEndian.Uint16(page[2:]))
	if end < 4 || end > len(page) {
		return leaf{}, errFormat
	}
	return leaf{page[:end], varints{page[end:]}}, nil
}

// next returns where the next term begins, given where the one before does; the end of the page when
// there is none.
func (l *leaf) next(start int) int {
	if len(l.starts.b) == 0 {
		return len(l.b)
	}
	return start + int(min(max(l.starts.next(), 0), int64(len(l.b)-start)))
}

// rest returns what the page has of the list of the page before, and whether the next page may have
// more of it.
func (l leaf) rest() (list []byte, more bool) {
	end := l.next(0)
	return l.b[4:max(end, 4)], end == len(l.b)
}

// find returns the list of the term and whether it may have more behind the page; nil when the term is
// not there, and then whether it stands behind all that are. Each term but the first is written as how
// many bytes it has in common with the one before, and the others.
func (l leaf) find(key []byte) (list []byte, more, behind bool, err error) {
	equal, isFirst := int64(0), true // bytes that the key has in common with the term before
	for start := l.next(0); start < len(l.b); isFirst = false {
		end := l.next(start)
		in := varints{l.b[start:end]}
		start = end
		kept := int64(0)
		if !isFirst {
			kept = in.next()
		}
		size := in.next()
		switch {
		case size < 0 || size > int64(len(in.b)):
			return nil, false, false, errFormat
		case kept > equal: // it differs from the key where the one before does
			continue
		case kept < equal: // it differs where that did not, and so stands behind the key
			return nil, false, false, nil
		}
		others := in.b[:size]
		for len(others) > 0 && equal < int64(len(key)) && others[0] == key[equal] {
			others, equal = others[1:], equal+1
		}
		switch ended := equal == int64(len(key)); {
		case ended && len(others) == 0:
			return in.b[size:], end == len(l.b), false, nil
		case ended || len(others) > 0 && others[0] > key[equal]:
			return nil, false, false, nil
		}
	}
	return nil, false, true, nil
}

// varints is a row of numbers as SQLite writes them: seven bits in a byte, the highest first, and
// eight in a ninth byte. Behind its end there are zeros.
type varints struct{ b []byte }

func (v *varints) next() int64 {
	var n uint64
	for i, b := range v.b {
		if i == 8 {
			v.b = v.b[9:]
			return int64(n<<8 | uint64(b))
		}
		n = n<<7 | uint64(b&0x7f)
		if b < 0x80 {
			v.b = v.b[i+1:]
			return int64(n)
		}
	}
	v.b = nil
	return 0
}

func (v *varints) skip(n int) {
	for range n {
		v.next()
	}
}
