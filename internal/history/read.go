package history

import (
	"fmt"
	"iter"
)

// Rows are the rows of one history up to some version, newest first. Read and List stop the iteration at the snapshot with
// which the oldest version that they return can be made. There is about one snapshot in some hundred versions. So a driver
// should read the rows from the database in portions.
type Rows = iter.Seq2[Row, error]

// Read returns version number, which must be older than the latest one. rows must yield the rows of versions ≤ number.
// It returns the first error of rows, or an error that wraps ErrCorrupt if the version cannot be made from the tail and
// the rows.
func (c *Codec) Read(tail []byte, rows Rows, number int64) (Version, error) {
	versions, err := c.List(tail, rows, number, 1, 0)
	if err != nil {
		return Version{}, err
	}
	return versions[0], nil
}

// List returns versions, newest first from number on, which must be older than
// the latest one. It ends before limit versions when it has reached version 0,
// or when their bodies without the ids of elements have size bytes together; it
// returns one at least. limit is at least 1. rows must yield the rows of
// versions ≤ number. Errors are as for Read.
func (c *Codec) List(tail []byte, rows Rows, number int64, limit, size int) ([]Version, error) {
	if number < 0 || limit < 1 {
		return nil, fmt.Errorf("history: no %d versions before version %d", limit, number+1)
	}
	var list []Version
	var packs []Row // of the chain that holds version number, newest first
	// The tail is the newest pack. It counts if it begins at or below the wanted version.
	if p, err := parsePack(tail); len(tail) > 0 && err != nil {
		return nil, err
	} else if len(tail) > 0 && p.first <= number {
		packs = append(packs, Row{p.first, tail})
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if len(row.Data) > 0 && row.Data[0] == formatPack {
			packs = append(packs, row)
			continue
		}
		chain, err := c.replay(row, packs, number)
		if err != nil {
			return nil, err
		}
		list, size, err = chain.list(list, limit, size)
		if err != nil {
			return nil, err
		}
		number, packs = row.Version-1, nil
		if number < 0 || len(list) == limit || size <= 0 {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%w: no snapshot for version %d", ErrCorrupt, number)
}

// list appends the versions of the chain, newest first, until there are limit of them or their forms have size bytes.
// It returns how many bytes are left. The versions are made oldest first, since edits lead forward.
func (ch *chain) list(list []Version, limit, size int) ([]Version, int, error) {
	from := len(ch.links)
	for n := len(list); from > 0 && n < limit && (n == 0 || size > 0); n++ {
		from--
		size -= int(ch.links[from].size)
	}
	first := len(list)
	list = append(list, make([]Version, len(ch.links)-from)...)
	for i := from; i < len(ch.links); i++ {
		v, err := ch.version(i)
		if err != nil {
			return nil, 0, err
		}
		list[first+len(ch.links)-1-i] = v
	}
	return list, size, nil
}

// replay decodes a snapshot and the packs after it, up to version number.
func (c *Codec) replay(snapshot Row, packs []Row, number int64) (*chain, error) {
	l, form, err := c.parseSnapshot(snapshot)
	if err != nil {
		return nil, err
	}
	ch := &chain{codec: c, base: form, first: snapshot.Version, links: []link{l}, rawLeft: rawRatio * maxChain}
	bytes := 0
	for _, row := range packs {
		bytes += len(row.Data)
	}
	ch.grow(number-ch.first, bytes)
	for i := len(packs) - 1; i >= 0; i-- {
		if err := ch.addPack(packs[i], number); err != nil {
			return nil, err
		}
	}
	if last := ch.lastNumber(); last != number {
		return nil, fmt.Errorf("%w: version %d is missing, its chain ends with %d", ErrCorrupt, number, last)
	}
	return ch, nil
}

// addPack adds the steps of a pack up to version number. The pack must begin with the step after the last version of the
// chain. So a missing row is an error and not a wrong text.
func (ch *chain) addPack(row Row, number int64) error {
	p, err := parsePack(row.Data)
	if err != nil {
		return err
	}
	if last := ch.lastNumber(); row.Version != last+1 {
		return fmt.Errorf("%w: steps from version %d on do not follow version %d", ErrCorrupt, row.Version, last)
	}
	in := input{rest: p.steps}
	for len(in.rest) > 0 && ch.lastNumber() < number {
		step := in.bytes("step", in.length("length of a step", len(in.rest)))
		if in.err == nil {
			in.err = ch.addStep(step)
		}
	}
	if in.err != nil {
		return fmt.Errorf("version %d: %w", ch.lastNumber()+1, in.err)
	}
	return nil
}
