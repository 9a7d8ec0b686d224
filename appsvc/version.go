package appsvc

import (
	"fmt"
	"strconv"
)

// Version numbers the states of one app: 0, 1, 2 and so on, without gaps. In JSON it is a string
// of decimal digits (contract, section 9).
type Version int64

// Latest asks a Store for the highest version of an app.
const Latest Version = -1

// ParseVersion reads the decimal form. Signs, leading zeros and anything else are ErrInvalid.
func ParseVersion(s string) (Version, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return 0, fmt.Errorf("%w: %q is no version: want a decimal number without leading zeros", ErrInvalid, s)
	}
	return Version(n), nil
}

// String gives the decimal form.
func (v Version) String() string { return strconv.FormatInt(int64(v), 10) }
