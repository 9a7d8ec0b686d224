package reviews

// WithBuffer has files read in stretches of n bytes, so that a short line is a long one.
func WithBuffer(o Options, n int) *Options {
	o.buffer = n
	return &o
}
