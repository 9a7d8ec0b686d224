package assets

import "github.com/vitrine-go/vitrine"

type (
	Caller      = vitrine.Caller
	Error       = vitrine.Error
	Page[T any] = vitrine.Page[T]
)

var (
	ErrInvalid   = vitrine.ErrInvalid
	ErrTooLarge  = vitrine.ErrTooLarge
	ErrConflict  = vitrine.ErrConflict
	ErrGone      = vitrine.ErrGone
	ErrForbidden = vitrine.ErrForbidden
	ErrNotFound  = vitrine.ErrNotFound
	ErrBusy      = vitrine.ErrBusy
	ErrFull      = vitrine.ErrFull
	ErrUnknown   = vitrine.ErrUnknown
)

const (
	CodeInvalid     = vitrine.CodeInvalid
	CodeForbidden   = vitrine.CodeForbidden
	CodeNotFound    = vitrine.CodeNotFound
	CodeMoved       = vitrine.CodeMoved
	CodeTooLarge    = vitrine.CodeTooLarge
	CodeGone        = vitrine.CodeGone
	CodeUnavailable = vitrine.CodeUnavailable
)
