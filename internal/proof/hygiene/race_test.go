//go:build proof && linux && race

package hygiene

import "time"

const (
	raced  = true
	second = 2 * time.Second // the race detector makes everything slower
)
