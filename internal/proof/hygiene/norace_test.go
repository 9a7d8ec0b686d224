//go:build linux && !race

package hygiene

import "time"

const (
	raced  = false
	second = time.Second
)
