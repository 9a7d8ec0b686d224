package appsvc

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
)

// Version names a version of one app: 0, 1, 2 and so on, without gaps. In JSON it is a string of
// decimal digits. The zero Version names none: in a request it means "not given", and a method that
// needs a version returns ErrInvalid. So a program that forgets to set a version never gets version 0 by mistake.
// Versions are compared with == and Compare.
type Version struct {
	next uint64 // the number plus one; 0 = none, math.MaxUint64 = Latest
}

// Latest stands for the highest version that an app has when the call is made. Requests may have it; an App never does.
var Latest = Version{math.MaxUint64}

// NewVersion returns the version with this number. It panics if the number is negative.
func NewVersion[Int int | int64](number Int) Version {
	if number < 0 {
		panic(fmt.Sprintf("appsvc: a version cannot have the number %d", number))
	}
	return Version{uint64(number) + 1}
}

// ParseVersion reads the decimal form of a number of at most 63 bits. It returns ErrInvalid for anything
// else, such as a sign or a leading zero.
func ParseVersion(s string) (Version, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return Version{}, invalid("", "%q is not a version: a version is a decimal number without leading zeros, such as 0 or 12", s)
	}
	return Version{n + 1}, nil
}

// IsZero reports whether v names no version.
func (v Version) IsZero() bool { return v == Version{} }

// Number returns the number of the version. It is -1 for the zero Version and for Latest, which have none. Stores keep this
// number.
func (v Version) Number() int64 {
	if v == Latest {
		return -1
	}
	return int64(v.next) - 1
}

// Next returns the version after v. The one after the zero Version is version 0, and so is the one after Latest.
func (v Version) Next() Version { return NewVersion(v.Number() + 1) }

// Compare is negative if v is lower than w, and positive if it is higher. The zero Version and Latest are equal here, and
// lower than all others.
func (v Version) Compare(w Version) int { return cmp.Compare(v.Number(), w.Number()) }

// String returns the decimal form, "latest" for Latest, and "" for the zero Version.
func (v Version) String() string {
	switch {
	case v == Latest:
		return "latest"
	case v.IsZero():
		return ""
	}
	return strconv.FormatInt(v.Number(), 10)
}

// MarshalText returns the same as String.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the decimal form, as ParseVersion does. It returns ErrInvalid for anything else, also for "latest".
func (v *Version) UnmarshalText(text []byte) (err error) {
	*v, err = ParseVersion(string(text))
	return err
}
