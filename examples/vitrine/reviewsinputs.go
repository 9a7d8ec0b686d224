package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/vitrine-go/vitrine/reviews"
)

// inputs are the files that one command reads. All of them are opened before the first is read, so that a misspelt name
// stops the command before it has done anything.
type inputs struct {
	list    []*input
	rejects *rejectsFile // nil without -rejects
}

// input is a file of records that is being read, with its progress.
type input struct {
	io.Reader
	name  string
	info  os.FileInfo // nil if it is no file
	file  *os.File    // nil for standard input that is not copied
	again io.Reader   // the input once more, for the lines of -rejects; nil if it can be read only once
	temp  bool        // file is a copy of an input that can be read only once
	bar   *progress
}

// rejectsUsage says what -rejects does.
const rejectsUsage = "write the lines that have an error to `FILE`, as they are, to be mended and imported again"

// openInputs opens each of names ("-" is standard input), and the file for rejects unless that is "". A file for
// rejects is emptied only when all inputs are open, and must not be one of them. Reading from an input ends when ctx
// does, see untilDone. Directories are for commands that take them.
func openInputs(
	ctx context.Context, p *program, names []string, shown shownFlags, directories bool,
) (_ *inputs, err error) {
	rejects := *shown.rejects
	all := &inputs{}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.close())
		}
	}()
	for i, name := range names {
		if name == "-" && slices.Contains(names[:i], name) {
			return nil, usageError{errors.New("standard input can be read only once")}
		}
		in, err := openInput(ctx, p, name)
		if err == nil && in.info != nil && in.info.IsDir() && !directories {
			in.close()
			what := name
			if name == "-" {
				what = "standard input"
			}
			err = fmt.Errorf("%s is a directory: want a file", what)
		}
		if err != nil {
			return nil, err
		}
		all.list = append(all.list, in)
		if rejects != "" && in.is(rejects) {
			return nil, usageError{fmt.Errorf("-rejects names %s, which is read: name another file", rejects)}
		}
	}
	if rejects == "" {
		return all, nil
	}
	all.rejects, err = createRejects(p, rejects)
	return all, err
}

// rejectsFile is the file for rejects. kept is where its name was taken from a file that existed, or "".
type rejectsFile struct {
	*os.File
	program *program
	kept    string
}

// createRejects creates the file for rejects. If there is a file of that name with something in it, perhaps rows that
// were mended by hand, it first gives that one the next free name.
func createRejects(p *program, name string) (*rejectsFile, error) {
	kept := ""
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		for n := 1; err == nil; n++ {
			kept = fmt.Sprintf("%s.%d", name, n)
			_, err = os.Lstat(kept)
		}
		if err := os.Rename(name, kept); err != nil {
			return nil, err
		}
	}
	file, err := createPrivate(name)
	if err != nil {
		return nil, err
	}
	return &rejectsFile{file, p, kept}, nil
}

// Close closes the file, and says where the earlier one is now.
func (r *rejectsFile) Close() error {
	if r.kept != "" {
		r.program.complain(fmt.Errorf("what %s had before is in %s", r.Name(), r.kept))
	}
	return r.File.Close()
}

// openInput opens FILE, or standard input for "-".
func openInput(ctx context.Context, p *program, name string) (_ *input, err error) {
	in := &input{Reader: untilDone{ctx, p.stdin}, name: name}
	file, _ := p.stdin.(*os.File)
	if name != "-" {
		if file, err = os.Open(name); err != nil {
			return nil, err
		}
		in.Reader, in.file = untilDone{ctx, file}, file
	}
	size := int64(-1)
	if file != nil {
		in.info, _ = file.Stat()
	}
	if in.file != nil && in.info != nil && in.info.Mode().IsRegular() {
		size = in.info.Size()
		in.again = io.NewSectionReader(file, 0, 1<<62)
	}
	in.bar = newProgress(p.stderr, size)
	return in, nil
}

// is reports whether the input is the file with this name.
func (in *input) is(name string) bool {
	named, err := os.Stat(name)
	return err == nil && in.info != nil && os.SameFile(in.info, named)
}

// makeReadable copies an input that can be read only once, such as a pipe, into a temporary file. The lines for
// -rejects are copied from the input after it was read.
func (in *input) makeReadable(ctx context.Context) (err error) {
	if in.again != nil {
		return nil
	}
	temp, err := os.CreateTemp("", "vitrine-reviews-*")
	if err != nil {
		return err
	}
	if _, err = io.Copy(temp, in.Reader); err == nil {
		_, err = temp.Seek(0, io.SeekStart)
	}
	if in.file != nil {
		_ = in.file.Close() // it was only read
	}
	in.file, in.temp = temp, true
	in.Reader, in.again = untilDone{ctx, temp}, io.NewSectionReader(temp, 0, 1<<62)
	return err
}

// close ends the progress bar, and closes the file and removes it if it is a copy.
func (in *input) close() {
	in.bar.end()
	if in.file != nil {
		_ = in.file.Close() // it was only read
	}
	if in.temp {
		_ = os.Remove(in.file.Name())
	}
}

// close closes all files. Only an error of the file for rejects matters, since that one was written.
func (a *inputs) close() (err error) {
	for _, in := range a.list {
		in.close()
	}
	if a.rejects != nil {
		err = a.rejects.Close()
		a.rejects = nil
	}
	return err
}

// each calls read with each input, in order. read gets a function to call with each problem of the input: it adds the
// problem to out, and copies its line to the rejects. each returns the sum of the counts of all reports. The first
// error ends it, and is returned with the name of the input.
func (a *inputs) each(
	ctx context.Context, out *findings, read func(in *input, problem func(reviews.Problem)) (reviews.Report, error),
) (total reviews.Counts, err error) {
	for _, in := range a.list {
		if a.rejects != nil {
			if err := in.makeReadable(ctx); err != nil {
				return total, err
			}
		}
		tell := func(p reviews.Problem) {
			if len(a.list) > 1 {
				p.File = in.name
			}
			out.add(finding{rule: p.Rule, severity: p.Severity, where: p.Where(), message: p.Message, value: p.Value,
				json: p})
		}
		var rejects *reviews.Rejects
		if a.rejects != nil {
			rejects = reviews.NewRejects(in.again, a.rejects)
			shown := tell
			tell = func(p reviews.Problem) {
				rejects.Add(p)
				shown(p)
			}
		}
		report, err := read(in, tell)
		total.Add(report.Counts)
		in.bar.end()
		if rejects != nil {
			if failed := rejects.End(); err == nil && failed != nil {
				err = fmt.Errorf("the rejects could not be copied: %w", failed)
			}
		}
		if err != nil {
			return total, fmt.Errorf("%s: %w", in.name, err)
		}
	}
	return total, nil
}

// options returns the options of package reviews for the input.
func (in *input) options(maxLine int) reviews.ReadOptions {
	return reviews.ReadOptions{MaxLine: maxLine << 20, Progress: func(bytes int64, c reviews.Counts) {
		in.bar.show(bytes, c.Reviews, "review", c.Errors+c.Warnings)
	}}
}

// untilDone is a reader whose reads fail once its context has ended. A read that waits for input at that moment is not
// interrupted; a second signal then ends the process.
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
