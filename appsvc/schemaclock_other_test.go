//go:build !unix

package appsvc

import "time"

var begin = time.Now()

// spent stands in for the processor time that this process has used.
func spent() time.Duration { return time.Since(begin) }
