package httpapi

import "net/http"

// Load is how much of the limits of a handler is in use at a moment. The figures are read one after the other, so they
// may belong to slightly different moments. Streams.Count has the number of event streams.
type Load struct {
	Memory  int64 // bytes that large requests have taken, of Limits.Memory
	Uploads int   // imports of reviews under way, of Limits.Uploads
	Exports int   // exports of reviews under way, of Limits.Exports
}

// LoadOf returns the load of a handler of New, for metrics. ok is false for any other handler.
func LoadOf(h http.Handler) (load Load, ok bool) {
	own, ok := h.(*handler)
	if !ok {
		return Load{}, false
	}
	return Load{Memory: int64(own.large.inUse()) * slotBytes, Uploads: own.uploads.inUse(), Exports: own.exports.inUse()}, true
}

// LimitsOf returns the limits of a handler of New as they are in force, with the defaults in place of zeros. ok is false for
// any other handler.
func LimitsOf(h http.Handler) (limits Limits, ok bool) {
	own, ok := h.(*handler)
	if !ok {
		return Limits{}, false
	}
	return own.Limits, true
}
