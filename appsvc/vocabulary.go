package appsvc

import "github.com/vitrine-go/vitrine"

type (
	Caller      = vitrine.Caller
	Error       = vitrine.Error
	Violation   = vitrine.Violation
	Version     = vitrine.Version
	Page[T any] = vitrine.Page[T]
)

var (
	ErrInvalid       = vitrine.ErrInvalid
	ErrForbidden     = vitrine.ErrForbidden
	ErrNotFound      = vitrine.ErrNotFound
	ErrConflict      = vitrine.ErrConflict
	ErrTooLarge      = vitrine.ErrTooLarge
	ErrUnprocessable = vitrine.ErrUnprocessable
	ErrGone          = vitrine.ErrGone
	ErrBusy          = vitrine.ErrBusy
	ErrFull          = vitrine.ErrFull
	ErrUnknown       = vitrine.ErrUnknown
	ErrClosed        = vitrine.ErrClosed

	Latest       = vitrine.Latest
	ParseVersion = vitrine.ParseVersion
)

// NewVersion is that of package vitrine.
func NewVersion[Int int | int64](number Int) Version { return vitrine.NewVersion(number) }

const (
	CodeInvalid          = vitrine.CodeInvalid
	CodeForbidden        = vitrine.CodeForbidden
	CodeNotFound         = vitrine.CodeNotFound
	CodeStaleVersion     = vitrine.CodeStaleVersion
	CodeTestFailed       = vitrine.CodeTestFailed
	CodeMoved            = vitrine.CodeMoved
	CodeGone             = vitrine.CodeGone
	CodeTooLarge         = vitrine.CodeTooLarge
	CodeNotApplicable    = vitrine.CodeNotApplicable
	CodeReadOnly         = vitrine.CodeReadOnly
	CodeUnknownComponent = vitrine.CodeUnknownComponent
	CodeSchema           = vitrine.CodeSchema
	CodeCost             = vitrine.CodeCost
	CodeLimit            = vitrine.CodeLimit
	CodeKeyReused        = vitrine.CodeKeyReused
)
