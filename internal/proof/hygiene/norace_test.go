//go:build proof && linux && !race

package hygiene

import "time"

const (
	raced  = false
	second = time.Second
)
