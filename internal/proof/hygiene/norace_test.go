//go:build !race

package hygiene

import "time"

const (
	raced  = false
	second = time.Second
)
