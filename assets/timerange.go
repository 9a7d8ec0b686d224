package assets

import "time"

// addedBetween returns bounds for the ordinals of the assets that were added at from or later, and
// before to. The ordinals are above after and below before. A zero time, and a bound of 0, mean no
// bound.
func (req *request) addedBetween(from, to time.Time) (after, before int64, err error) {
	if !from.IsZero() {
		if after, err = req.lastAddedBefore(from); err != nil {
			return 0, 0, err
		}
	}
	if !to.IsZero() {
		if before, err = req.lastAddedBefore(to); err != nil {
			return 0, 0, err
		}
		before++
	}
	return after, before, nil
}

// lastAddedBefore returns an ordinal that divides the assets of the library at the time t: those up
// to it were added before t, and those above it at t or later. It is 0 if none was added before t.
//
// There is no index by time. Times never decrease along the ordinals, so the ordinal can be
// searched for, with one read of an asset for each step. The steps alternate between interpolation,
// which takes few reads when assets are added at a steady pace, and halving the range, which bounds
// the number of reads when they are not.
func (req *request) lastAddedBefore(t time.Time) (int64, error) {
	at := t.UnixMilli()
	if t.Truncate(time.Millisecond).Before(t) {
		at++ // the times of assets are whole milliseconds
	}
	// The result is an ordinal from low to high. lowAt and highAt are about when the assets with
	// these ordinals were added, for the interpolation.
	low, high := int64(0), req.state.Last
	if at > req.state.At {
		return high, nil
	}
	lowAt, highAt := int64(0), req.state.At
	for step := 0; low < high; step++ {
		middle := low + (high-low)/2
		switch {
		case step == 0:
			middle = low // the first asset tells when the library begins
		case step%2 == 1 && lowAt < highAt:
			middle = low + int64(float64(high-low)*(float64(at-lowAt)/float64(highAt-lowAt)))
			middle = min(max(middle, low), high-1)
		}
		// If the first asset above the middle was added before t, the result is above the middle.
		// There may be no such asset, since assets are removed.
		next, nextAt := int64(0), int64(0)
		for first, err := range req.assetsIn(nil, pageRange{after: middle, ascending: true, limit: 1}) {
			if err != nil {
				return 0, err
			}
			next, nextAt = first.Ordinal, first.CreatedAt
		}
		if next == 0 || nextAt >= at {
			high, highAt = middle, max(nextAt, lowAt)
			if next == 0 {
				highAt = req.state.At
			}
		} else {
			low, lowAt = next, nextAt
		}
	}
	return low, nil
}
