package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// backup is the command backup: it copies a SQLite store, which others may be using, into a new file, or into a
// directory, where it keeps earlier copies for a while. The key file is not copied, and a line on standard error says
// so. A note beside the store has the time of the newest copy.
func backup(f *flag.FlagSet) action {
	db := f.String("db", "vitrine.db", "`store`: the path of a SQLite file")
	var keep retention
	f.Var(&keep, "keep",
		"`spans` for which copies in the directory OUT are kept, such as 24h,7d,4w: all of the first, "+
			"and then the newest of each day and of each week; others that backup has made there are deleted; "+
			"without it all are kept")
	every := f.Duration("every", 0, "`interval`, such as 5m, at which copies are made in the directory OUT, until it "+
		"is told to stop; 0 makes one")
	bare := withoutFilesFlag(f)
	return func(ctx context.Context, p *program) error {
		if err := checkFile(*db); err != nil {
			return err
		}
		out := f.Arg(0)
		info, err := os.Stat(out)
		if isDir := err == nil && info.IsDir(); !isDir && (keep.spans != nil || *every != 0) {
			if errors.Is(err, fs.ErrNotExist) {
				return usageError{fmt.Errorf("-keep and -every want a directory, and there is no %s: make it, or "+
					"mount its disk", out)}
			}
			return usageError{fmt.Errorf("-keep and -every want a directory, which %s is not", out)}
		} else if *every != 0 && *every < time.Second { // names of copies have seconds
			return usageError{errors.New("-every: want 1s or more, such as 5m")}
		} else if !isDir {
			return p.copyStore(ctx, *db, out, func(string) error { return nil })
		}
		once := func() error { return p.copyInto(ctx, *db, out, keep, *bare) }
		if *every == 0 {
			return once()
		}
		for next := time.Now(); ; {
			if err := once(); err != nil && ctx.Err() == nil {
				p.complain(fmt.Errorf("backup: the next copy is tried in %s: %w", *every, err))
			}
			next = next.Add(*every)
			if now := time.Now(); next.Before(now) { // the copy took longer
				next = now
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Until(next)):
			}
		}
	}
}

// copyStore makes a copy with this name, calls check, and notes the time of the copy beside the store.
func (p *program) copyStore(ctx context.Context, db, copied string, check func(copied string) error) error {
	begun := time.Now()
	_, before, _ := lastCopy(db) // "" if none is known
	err := readStore(ctx, db, func(s storage.Store) error { return s.(*sqlite.DB).Backup(ctx, copied) })
	if err == nil {
		err = check(copied)
	}
	if err != nil {
		return err
	}
	if err := noteCopy(db, copied, begun); err != nil {
		p.complain(fmt.Errorf("backup: warning: the copy is there, but servers and doctor do not know of it: %w", err))
	}
	// A timer says it with its first copy alone.
	if _, err := time.Parse(copyBegins+copyTime+copyEnds, filepath.Base(before)); err != nil {
		fmt.Fprintf(p.stderr, "vitrine: %s\n", printable(withoutKeys(copied, db+".key")))
	}
	return nil
}

// The name of a copy in a directory is its time between these two.
const copyBegins, copyTime, copyEnds = "vitrine-", "2006-01-02T150405Z", ".db"

// copyFaulty is the end of the name of a copy with faults.
const copyFaulty = ".faulty"

// copyInto makes a copy in a directory, checks all of it, and deletes the copies that keep does not keep. A copy with
// faults gets another name, and then only copies with that name are deleted: a store whose fault stays does not fill
// the disk. Where there is a copy of this second already, it waits for the next one.
func (p *program) copyInto(ctx context.Context, db, dir string, keep retention, bare bool) error {
	now := time.Now().UTC()
	name := filepath.Join(dir, copyBegins+now.Format(copyTime)+copyEnds)
	err := p.copyStore(ctx, db, name, func(string) error {
		return readStore(ctx, name, func(s storage.Store) error { return p.wholeCopy(ctx, name, s, bare) })
	})
	if errors.Is(err, fs.ErrExist) && ctx.Err() == nil {
		time.Sleep(time.Until(now.Truncate(time.Second).Add(time.Second)))
		return p.copyInto(ctx, db, dir, keep, bare)
	}
	faulty := errors.Is(err, errFaulty)
	if faulty {
		if failed := os.Rename(name, name+copyFaulty); failed != nil {
			return errors.Join(err, failed)
		}
	}
	if err != nil && !faulty || keep.spans == nil {
		return err
	}
	list, failed := os.ReadDir(dir)
	if failed != nil {
		return errors.Join(err, failed)
	}
	ends := copyEnds
	if faulty {
		ends += copyFaulty
	}
	var made []time.Time
	for _, entry := range list {
		begun, isCopy := strings.CutPrefix(entry.Name(), copyBegins)
		at, err := time.Parse(copyTime+ends, begun)
		// Parse takes fractions of seconds too, which no copy has in its name.
		if isCopy && err == nil && at.Format(copyTime+ends) == begun && entry.Type().IsRegular() {
			made = append(made, at)
		}
	}
	if faulty { // one is enough
		made = slices.DeleteFunc(made, func(at time.Time) bool { return !at.Before(now.Truncate(time.Second)) })
	} else {
		made = keep.outdated(made, now)
	}
	for _, at := range made {
		err = errors.Join(err, os.Remove(filepath.Join(dir, copyBegins+at.Format(copyTime)+ends)))
	}
	return err
}

// errFaulty says that records of a copy contradict each other.
var errFaulty = errors.New("it is no whole copy")

// wholeCopy prints the faults in the records of a copy. It returns errFaulty if there are some.
func (p *program) wholeCopy(ctx context.Context, name string, s storage.Store, bare bool) error {
	faults, err := p.printFaults(ctx, s, nil, bare)
	if faults > 0 {
		err = errors.Join(err, fmt.Errorf("%s: faults found: %d: %w", name, faults, errFaulty))
	}
	return err
}

// retention is the value of -keep: spans such as 24h, 7d and 4w. nil keeps all copies.
type retention struct {
	text  string
	spans []span
}

// span is so many hours, days or weeks.
type span struct {
	n    int
	unit time.Duration
}

// String returns the spans as they were given.
func (k *retention) String() string { return k.text }

// Set reads spans that are separated by commas.
func (k *retention) Set(text string) error {
	k.text, k.spans = text, nil
	for _, item := range items(text) {
		unit := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[item[len(item)-1]]
		n, err := strconv.ParseUint(item[:len(item)-1], 10, 14)
		if err != nil || n == 0 || unit == 0 {
			return errors.New("want spans of hours, days or weeks, such as 24h,7d,4w")
		}
		k.spans = append(k.spans, span{int(n), unit})
	}
	if k.spans == nil {
		return errors.New("want at least one span, such as 14d")
	}
	return nil
}

// outdated returns the times of the copies that are not kept. A span ends at the newest copy, which is always kept.
// Copies of a time to come, which a clock that was ahead has named, are kept and not counted: else they would end the
// spans, and each new copy would be deleted. Hours, days and weeks begin with those of UTC.
func (k *retention) outdated(made []time.Time, now time.Time) (out []time.Time) {
	made = slices.DeleteFunc(made, func(at time.Time) bool { return at.After(now) })
	slices.SortFunc(made, func(a, b time.Time) int { return b.Compare(a) })
	taken := map[span]bool{} // n is the number of the hour, day or week of a copy
	for i, at := range made {
		kept := i == 0
		for j, s := range k.spans {
			if made[0].Sub(at) > time.Duration(s.n)*s.unit {
				continue
			}
			of := span{int(at.Unix() / int64(s.unit/time.Second)), s.unit}
			kept = kept || j == 0 || !taken[of]
			taken[of] = true
		}
		if !kept {
			out = append(out, at)
		}
	}
	return out
}

// checkFile returns an error if -db does not name a SQLite file, for the commands backup and restore.
func checkFile(db string) error {
	if inPostgres(db) {
		return usageError{
			errors.New("-db: want the path of a SQLite file: for PostgreSQL use its own tools, or export, which " +
				"makes an archive of a store of any kind")}
	}
	return checkReached(db)
}

// restore is the command restore: it puts a copy of a store, which backup has made, in the place of a store, and that
// one aside.
func restore(f *flag.FlagSet) action {
	db := f.String("db", "vitrine.db",
		"`store`: the path of a SQLite file, which need not exist; the server must be stopped")
	bare := withoutFilesFlag(f)
	return func(ctx context.Context, p *program) error {
		if err := checkFile(*db); err != nil {
			return err
		}
		if file, err := os.Open(f.Arg(0)); err == nil {
			head, _ := io.ReadAll(io.LimitReader(file, 16)) // Restore returns its error
			_ = file.Close()                                // it was only read
			if bytes.HasPrefix(head, []byte(`{"vitrine":`)) {
				return fmt.Errorf("%s is an archive, and no copy that backup has made: vitrine import builds a new "+
					"store from it", f.Arg(0))
			}
		}
		// A note of copies is beside a store. -db is a copy if the note, or its own name, says so.
		if _, newest, err := lastCopy(f.Arg(0)); err == nil {
			_, err := time.Parse(copyBegins+copyTime+copyEnds, filepath.Base(*db))
			if err == nil || sameFile(newest, *db) {
				return usageError{fmt.Errorf("-db names a copy, and %s is a store: want %s", f.Arg(0),
					restoring(f.Arg(0), *db))}
			}
		}
		aside, err := sqlite.Restore(ctx, *db, f.Arg(0), func(s *sqlite.DB) error {
			return p.wholeCopy(ctx, f.Arg(0), s, *bare)
		})
		if err != nil {
			return err
		}
		said := fmt.Sprintf("%s has what %s has; followers of its feeds of changes begin anew", *db, f.Arg(0))
		if aside != "" {
			said += fmt.Sprintf(". The store that was there is %s now. To go back, stop the server, and: %s", aside,
				restoring(*db, aside))
		} else if path, err := filepath.Abs(*db); err == nil {
			said += ". No store was there: this is the new one " + path
		}
		fmt.Fprintf(p.stderr, "vitrine: restore: %s\n", printable(said))
		return nil
	}
}

// withoutKeys returns a sentence: the keys are not in the copy of a store, and where they are. beside is the key file
// beside the store, which does not exist if the keys come from elsewhere.
func withoutKeys(copied, beside string) string {
	where := "what -key-file or " + keyVariable + " gives the server"
	if _, err := os.Lstat(beside); err == nil {
		where = beside
	}
	return fmt.Sprintf("backup: the keys that sign tokens are not in %s: keep a copy of %s as well", copied, where)
}
