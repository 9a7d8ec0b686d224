package feed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// The errors of Seal.Open.
var (
	// ErrForeign means that a text is not a cursor of this feed.
	ErrForeign = fault.Invalid("after", "not a cursor of this feed of changes")
	// ErrGone means that a cursor is of this feed, but the entries after it are no longer all kept, or the feed has
	// another identity since.
	ErrGone = &vitrine.Error{Kind: vitrine.ErrGone, Code: vitrine.CodeGone, Parameter: "after",
		Reason: "the feed does not go back to this cursor: entries after it were removed, or the feed was reset " +
			"or copied " +
			"since; begin without a cursor, or with now, and read what you follow anew"}
)

// Seal makes cursors of the positions in one feed, and reads them. A cursor is encrypted and authenticated, so it
// tells nobody how much others have changed, and nobody can make one up. The same position has the same cursor.
//
// A cursor is a synthetic initialization vector, the first half of an HMAC-SHA-256 over the feed's name and the
// text, followed by the text under AES-CTR. The text is the feed's identity and the position.
type Seal struct {
	state State
	name  string
	mac   []byte
	block cipher.Block
}

const (
	identitySize = 8
	textSize     = identitySize + 8
	vectorSize   = aes.BlockSize
	cursorSize   = vectorSize + textSize
)

// NewSeal returns the seal of a feed with this state. The name tells the feeds of a store apart.
func NewSeal(s State, name string) *Seal {
	derive := func(use string) []byte {
		h := hmac.New(sha256.New, s.Key)
		h.Write([]byte(use))
		return h.Sum(nil)
	}
	block, err := aes.NewCipher(derive("encrypt"))
	if err != nil {
		panic(err) // not possible: AES takes the 32 bytes of an HMAC-SHA-256 as a key
	}
	return &Seal{s, name, derive("authenticate"), block}
}

// Close returns the cursor of a position.
func (s *Seal) Close(p Position) string {
	var text [textSize]byte
	copy(text[:identitySize], s.identity())
	binary.BigEndian.PutUint64(text[identitySize:], uint64(p))
	out := make([]byte, cursorSize)
	vector := s.vector(text[:])
	copy(out, vector)
	cipher.NewCTR(s.block, vector).XORKeyStream(out[vectorSize:], text[:])
	return base64.RawURLEncoding.EncodeToString(out)
}

// Open returns the position of a cursor. It returns ErrForeign for what Close of this feed never returned, and
// ErrGone for a cursor of an earlier identity and for one before the last entry that was removed.
func (s *Seal) Open(cursor string) (Position, error) {
	if len(cursor) != base64.RawURLEncoding.EncodedLen(cursorSize) || strings.ContainsAny(cursor, "\r\n") {
		return 0, ErrForeign
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) != cursorSize {
		return 0, ErrForeign
	}
	var text [textSize]byte
	vector := b[:vectorSize]
	cipher.NewCTR(s.block, vector).XORKeyStream(text[:], b[vectorSize:])
	if !hmac.Equal(vector, s.vector(text[:])) {
		return 0, ErrForeign
	}
	p := Position(binary.BigEndian.Uint64(text[identitySize:]))
	if string(text[:identitySize]) != string(s.identity()) || p < s.state.Removed {
		return 0, ErrGone
	}
	return p, nil
}

// identity is the feed's identity in the size that a cursor has room for.
func (s *Seal) identity() []byte {
	sum := sha256.Sum256(s.state.Identity)
	return sum[:identitySize]
}

// vector returns the synthetic initialization vector of a cursor with this text.
func (s *Seal) vector(text []byte) []byte {
	h := hmac.New(sha256.New, s.mac)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s.name))))
	h.Write([]byte(s.name))
	h.Write(text)
	return h.Sum(nil)[:vectorSize]
}
