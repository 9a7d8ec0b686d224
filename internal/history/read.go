package history

import (
	"fmt"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/internal/keyval"
)

// Rows are the rows of one history up to some version, newest first. Read and List stop the iteration at the snapshot
// that they need for the oldest version that they return. So the rows should be read from the store in portions.
type Rows = iter.Seq2[Row, error]

// Read returns version number, which must be older than the latest one. rows must yield the rows of versions ≤ number.
// It returns the first error of rows, or an error that wraps ErrCorrupt if the version cannot be made from the tail and
// the rows.
func Read(tail []byte, rows Rows, number int64) (Version, error) {
	versions, err := List(tail, rows, number, 1, 0)
	if err != nil {
		return Version{}, err
	}
	return versions[0], nil
}

// List returns versions, newest first from number on, which must be older than the latest one. It ends before limit
// versions when it has reached version 0, or when their bodies have size bytes together, or somewhat before if bodies
// became much smaller; it returns one at least. limit is at least 1. rows must yield the rows of versions ≤ number.
// Errors are as for Read.
func List(tail []byte, rows Rows, number int64, limit, size int) ([]Version, error) {
	if number < 0 || limit < 1 {
		return nil, fmt.Errorf("history: no %d versions before version %d", limit, number+1)
	}
	var list []Version
	var packs []Row // of the chain that has version number, newest first
	// The tail is the newest pack. It counts if it begins at or below the wanted version.
	if len(tail) > 0 {
		p, err := parsePack(tail)
		if err != nil {
			return nil, err
		}
		if p.first <= number {
			packs = append(packs, Row{p.first, tail})
		}
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if len(row.Data) > 0 && row.Data[0] == formatPack {
			packs = append(packs, row)
			continue
		}
		versions, err := replay(row, packs, number, limit-len(list), size)
		if err != nil {
			return nil, err
		}
		slices.Reverse(versions)
		list = append(list, versions...)
		for _, v := range versions {
			size -= len(v.Body)
		}
		number, packs = row.Version-1, nil
		if number < 0 || len(list) == limit || size <= 0 || list[len(list)-1].Number > row.Version {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%w: no snapshot for version %d", ErrCorrupt, number)
}

// replay makes the versions of a chain up to number, and returns the last ones of them, oldest first: at most limit,
// and no more than are needed for size bytes, but one at least.
func replay(snapshot Row, packs []Row, number int64, limit, size int) (list []Version, err error) {
	v, sum, err := parseSnapshot(snapshot)
	if err != nil {
		return nil, err
	}
	kept := 0 // bytes of list
	keep := func() error {
		if number-v.Number >= int64(limit) {
			return nil
		}
		if have := v.sum(); have != sum {
			return fmt.Errorf("%w: version %d does not have its checksum", ErrCorrupt, v.Number)
		}
		own := v
		own.Body = slices.Clone(v.Body)
		list, kept = append(list, own), kept+len(own.Body)
		for len(list) > 1 && kept-len(list[0].Body) >= size {
			list, kept = list[1:], kept-len(list[0].Body)
		}
		return nil
	}
	// Large bodies are not copied for a list that has no room for them.
	limit = min(limit, 1+2*size/(len(v.Body)+1))
	if err := keep(); err != nil {
		return nil, err
	}
	for _, row := range slices.Backward(packs) {
		p, err := parsePack(row.Data)
		if err == nil && row.Version != v.Number+1 { // a row is missing
			err = fmt.Errorf("%w: steps from version %d on do not follow version %d", ErrCorrupt, row.Version, v.Number)
		}
		if err != nil {
			return nil, err
		}
		steps := keyval.Fields{Rest: p.steps}
		for len(steps.Rest) > 0 && v.Number < number {
			if v, sum, err = follow(v, steps.Text()); err == nil {
				err = keep()
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if v.Number != number {
		return nil, fmt.Errorf("%w: version %d is missing, its chain ends with %d", ErrCorrupt, number, v.Number)
	}
	return list, nil
}

// parseSnapshot returns the version of a snapshot, with a body of its own, and its checksum.
func parseSnapshot(row Row) (v Version, sum uint32, err error) {
	if len(row.Data) <= sumSize || row.Data[0] != formatSnapshot {
		return v, 0, fmt.Errorf("%w: %.8x begins no snapshot", ErrCorrupt, row.Data)
	}
	in := keyval.Fields{Rest: row.Data[1 : len(row.Data)-sumSize]}
	v = Version{Number: row.Version, UpdatedAt: in.Int(), UpdatedBy: string(in.Text())}
	if err = in.Err(); err == nil {
		v.Body, err = decompress(in.Rest)
	}
	if err != nil || len(v.Body) > MaxBody {
		return v, 0, fmt.Errorf("%w: the snapshot of version %d: %v", ErrCorrupt, row.Version, err)
	}
	return v, endSum(row.Data), nil
}

// follow returns the version that a step leads to from v, whose body it changes, and its checksum. The bytes of the
// step may be damaged.
func follow(v Version, step []byte) (next Version, sum uint32, err error) {
	v.Number++
	if len(step) <= sumSize {
		return v, 0, fmt.Errorf("%w: the step to version %d has %d bytes", ErrCorrupt, v.Number, len(step))
	}
	flags, in := step[0], keyval.Fields{Rest: step[1 : len(step)-sumSize]}
	v.UpdatedAt += int64(in.Uint())
	if flags&flagEditor != 0 {
		v.UpdatedBy = string(in.Text())
	}
	edit, err := in.Rest, in.Err()
	if err == nil && flags&flagPacked != 0 {
		edit, err = decompress(edit)
	}
	if err == nil {
		v.Body, err = applyEdit(v.Body, edit)
	}
	if err != nil {
		err = fmt.Errorf("%w: the step to version %d: %v", ErrCorrupt, v.Number, err)
	}
	return v, endSum(step), err
}
