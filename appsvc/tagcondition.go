package appsvc

import (
	"encoding/json"
	"strconv"

	"github.com/vitrine-go/vitrine"
)

// TagGuard is a condition of PutTag: where the tag must point before the call. It keeps two people who move a tag at the
// same time from overwriting each other's move. The zero TagGuard sets no condition. In JSON it is a version as a string,
// or null if there must be no tag. The zero TagGuard has no JSON of its own: its member is left out, as omitzero does.
type TagGuard struct {
	kind guardKind
	at   vitrine.Version
}

// guardKind says which condition a TagGuard sets. The zero kind sets none, so that a PutTagRequest without From moves the tag
// from anywhere.
type guardKind uint8

// The conditions that a TagGuard can set.
const (
	noGuard      guardKind = iota // no condition
	guardVersion                  // the tag points to TagGuard.at
	guardAbsent                   // the app has no such tag
)

// PointsTo is the condition that the tag points to this version. The zero Version and Latest name no version:
// PutTag returns ErrInvalid for them.
func PointsTo(v vitrine.Version) TagGuard { return TagGuard{guardVersion, v} }

// NoTag is the condition that the app has no tag of this name.
func NoTag() TagGuard { return TagGuard{kind: guardAbsent} }

// IsZero reports whether g sets no condition.
func (g TagGuard) IsZero() bool { return g.kind == noGuard }

// check returns ErrInvalid if g names no version although it should.
func (g TagGuard) check() error {
	if g.kind == guardVersion && g.at.Number() < 0 {
		return errNoGuard()
	}
	return nil
}

// errNoGuard is the error of a guard in a request that is neither a version nor null.
func errNoGuard() *vitrine.Error {
	return invalid("/from", "want a version, or null if the tag must not be there")
}

// holds returns ErrConflict with CodeMoved unless the tag meets the condition. at is where the tag points, zero if there is
// no such tag; head is the latest version of the app. Both are in the error.
func (g TagGuard) holds(name string, at, head vitrine.Version) error {
	if g.kind == noGuard || g.at == at {
		return nil
	}
	err := conflict(vitrine.CodeMoved, head, "the tag %q points to version %q, and not to version %q", name, at, g.at)
	switch {
	case at.IsZero():
		err.Reason = "the app has no tag " + strconv.Quote(name) + ", and the tag should point to version " + strconv.Quote(g.at.String())
	case g.kind == guardAbsent:
		err.Reason = "the tag " + strconv.Quote(name) + " points to version " + strconv.Quote(at.String()) + ", and there should be no such tag"
	}
	err.Pointer, err.PointsTo = "/from", at
	return err
}

// key is g in the digest of a request with an idempotency key. It must not change, as newIdempotentWrite says. No condition is
// "", which is left out of the digest, so that it is the same as in releases that had no guards.
func (g TagGuard) key() string {
	switch g.kind {
	case noGuard:
		return ""
	case guardAbsent:
		return "absent"
	}
	return g.at.String()
}

// MarshalJSON writes the version as a string, and null for NoTag and the zero TagGuard. It returns ErrInvalid if
// the guard names no version although it should.
func (g TagGuard) MarshalJSON() ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	if g.kind != guardVersion {
		return []byte("null"), nil
	}
	return json.Marshal(g.at)
}

// noGuardError is the error of UnmarshalJSON. A decoder of a larger document knows the place of the guard in it and takes
// only the Sentence; for everybody else the error is an *Error with the pointer /from.
type noGuardError struct{ err *vitrine.Error }

func (e noGuardError) Error() string    { return e.err.Error() }
func (e noGuardError) Unwrap() error    { return e.err }
func (e noGuardError) Sentence() string { return e.err.Reason }

// UnmarshalJSON reads null as NoTag, and a string as PointsTo. It returns ErrInvalid for anything else.
func (g *TagGuard) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*g = NoTag()
		return nil
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return noGuardError{errNoGuard()}
	}
	v, err := vitrine.ParseVersion(s)
	if err != nil {
		return noGuardError{errNoGuard()}
	}
	*g = PointsTo(v)
	return nil
}
