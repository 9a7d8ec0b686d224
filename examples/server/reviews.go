package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vitrine-go/vitrine/reviews"
)

// exitUnable is the status of a reviews command that could not do its work; exitFailed says that
// it did, and that some record had an error.
const exitUnable = 2

// jsonUsage says what -json does.
const jsonUsage = "print each problem as a line of JSON, and the report as the last line"

// reviewCommands are the words after "reviews".
var reviewCommands = map[string]func(ctx context.Context, p *program, args []string) error{
	"check": checkReviews, "import": importReviews, "export": exportReviews,
}

// reviewCommand carries out reviews check, import or export.
func reviewCommand(ctx context.Context, p *program, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("reviews: want check, import or export after it")}
	}
	if isHelp(args[0]) {
		p.usage(p.stdout, "reviews ")
		return nil
	}
	run := reviewCommands[args[0]]
	if run == nil {
		return usageError{fmt.Errorf("reviews: there is no command %q: want check, import or export", args[0])}
	}
	err := run(ctx, p, args[1:])
	var exit exitError
	var usage usageError
	var help helpError
	if err == nil || errors.As(err, &exit) || errors.As(err, &usage) || errors.As(err, &help) {
		return err
	}
	return exitError{err, exitUnable}
}

// records is a file of records that is being read, with its progress.
type records struct {
	io.Reader
	file *os.File // nil for standard input
	bar  *progress
}

// openRecords opens FILE, or standard input for "-". Reading ends when ctx does.
func openRecords(ctx context.Context, p *program, name string) (*records, error) {
	if name == "-" {
		return &records{untilDone{ctx, p.stdin}, nil, newProgress(p.stderr, -1)}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	size := int64(-1)
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return &records{untilDone{ctx, file}, file, newProgress(p.stderr, size)}, nil
}

func (r *records) close() {
	r.bar.end()
	if r.file != nil {
		_ = r.file.Close() // it was only read
	}
}

// options are how the library is to read the file.
func (r *records) options() reviews.Options { return reviews.Options{Progress: r.bar.show} }

// untilDone is a reader that fails once its context has ended.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

func (u untilDone) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, errors.New("interrupted")
	}
	return u.in.Read(b)
}

// outcomeOf is how a check or an import ends: err when it could not be done, else by its report.
func outcomeOf(name string, report reviews.Report, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case report.Errors > 0:
		return exitError{nil, exitFailed}
	}
	return nil
}
