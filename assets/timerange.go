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
// searched for by halving, with one read of an asset for each step.
func (req *request) lastAddedBefore(t time.Time) (int64, error) {
	at := t.UnixMilli()
	if t.Truncate(time.Millisecond).Before(t) {
		at++ // the times of assets are whole milliseconds
	}
	low, high := int64(0), req.state.Last // the result is one of these or between them
	for low < high {
		middle, next := low+(high-low)/2, Record{}
		// If the first asset above the middle was added before t, the result is above the middle.
		// There may be no such asset, since assets are removed.
		for first, err := range req.assetsIn(nil, pageRange{after: middle, ascending: true, limit: 1}) {
			if err != nil {
				return 0, err
			}
			next = first
		}
		if next.Ordinal == 0 || next.CreatedAt >= at {
			high = middle
		} else {
			low = next.Ordinal
		}
	}
	return low, nil
}
