package appsvc

import (
	"encoding/json"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// TagGuard is a condition of PutTag and of the moves of a release: where the tag must point before. It keeps two people
// who move a tag at the same time from overwriting each other's move. The zero TagGuard sets no condition. In JSON it
// is a version as a string, or null if there must be no tag. The zero TagGuard has no JSON of its own: its member is
// left out, as omitzero does.
type TagGuard struct {
	set bool // there is a condition
	// the tag must point there; zero: the app must have no such tag; Latest: PointsTo got no version
	at vitrine.Version
}

// PointsTo is the condition that the tag points to this version. The zero Version and Latest name no version:
// PutTag returns ErrInvalid for them.
func PointsTo(v vitrine.Version) TagGuard {
	if v.IsZero() {
		v = vitrine.Latest
	}
	return TagGuard{true, v}
}

// NoTag is the condition that the app has no tag of this name.
func NoTag() TagGuard { return TagGuard{set: true} }

// Version returns the version that the tag points to, and the zero Version for NoTag.
func (g TagGuard) Version() vitrine.Version { return g.at }

// IsZero reports whether g sets no condition.
func (g TagGuard) IsZero() bool { return !g.set }

// check returns ErrInvalid if g names no version although it should.
func (g TagGuard) check() error {
	if g.at == vitrine.Latest {
		return errNoGuard()
	}
	return nil
}

// errNoGuard is the error of a guard in a request that is neither a version nor null.
func errNoGuard() *vitrine.Error {
	return fault.Invalid("/from", "want a version, or null if the tag must not be there")
}

// verify returns ErrConflict with CodeMoved unless the tag meets the condition. at is where the tag points, or zero if
// there is no such tag; head is the latest version of the app. Both are in the error.
func (g TagGuard) verify(name string, at, head vitrine.Version) error {
	if !g.set || g.at == at {
		return nil
	}
	err := fault.Conflict(vitrine.CodeMoved, head,
		"the tag %q points to version %q, and not to version %q", name, at, g.at)
	switch {
	case at.IsZero():
		err.Reason = fmt.Sprintf("the app has no tag %q, and the tag should point to version %q", name, g.at)
	case g.at.IsZero():
		err.Reason = fmt.Sprintf("the tag %q points to version %q, and there should be no such tag", name, at)
	}
	err.Pointer, err.PointsTo = "/from", at
	return err
}

// key is the text of g in the digest of a request with an idempotency key. It must not change, as newIdempotentWrite
// explains. Without a condition it is "", which is left out of the digest, so that the digest is the same as in
// releases without guards.
func (g TagGuard) key() string {
	if g.set && g.at.IsZero() {
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
	if g.at.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(g.at)
}

// noGuardError is the error of UnmarshalJSON. A decoder of a larger document knows the pointer of the guard and uses
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
