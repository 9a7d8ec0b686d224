package reviews

import "github.com/vitrine-go/vitrine"

type (
	Caller = vitrine.Caller
	Error  = vitrine.Error
)

var (
	ErrInvalid   = vitrine.ErrInvalid
	ErrForbidden = vitrine.ErrForbidden
	ErrNotFound  = vitrine.ErrNotFound
	ErrBusy      = vitrine.ErrBusy
	ErrFull      = vitrine.ErrFull
	ErrUnknown   = vitrine.ErrUnknown
)

const (
	CodeInvalid   = vitrine.CodeInvalid
	CodeForbidden = vitrine.CodeForbidden
	CodeNotFound  = vitrine.CodeNotFound
)
