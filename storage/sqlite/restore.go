package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// logFiles are the files that SQLite keeps beside a file: the log, and the index of the log.
var logFiles = []string{"-wal", "-shm"}

// Restore puts a store with the content of the file copied at path, and returns the name under which it has put aside
// the store that was there, "" if there was none. That name is path with the time of the call: Restore with it as the
// copy brings that store back.
//
// The file copied must be a whole store of this format without a log, as Backup makes it. Restore reads every page of
// it and does not change it. The new store has another identity than the copy (see storage.Identity), and mode 0600.
// Where root calls Restore, its owner is that of the store that was there, or else that of the directory.
// Restore calls check, if it is not nil, with the new store before it gets its name; if check returns an error, Restore
// returns it.
//
// Restore returns an error if the store at path is open anywhere, also in this process, or if path is a symbolic link.
// After an error the store at path is the one that was there before. If the process is killed, it is that one or the
// new one, complete.
func Restore(ctx context.Context, path, copied string, check func(*DB) error) (aside string, err error) {
	if check == nil {
		check = func(*DB) error { return nil }
	}
	r := restoration{path: path, copied: copied, check: check, now: time.Now(), reached: func(string) {}}
	aside, err = r.run(ctx)
	if err != nil {
		return "", fmt.Errorf("sqlite: restore: %w", err)
	}
	return aside, nil
}

// restoration is a call of Restore.
//
// A log belongs to one file, but has only its name in common with it: SQLite would apply the log of the old store to a
// new file of the same name. Since no system renames three files at once, the old store gives up its log first: SQLite
// copies the log into the file and removes it. Then the old file gets a second name, and the new file replaces it under
// the first name in one step. From the moment at which there is no log until the new file has its name, an exclusive
// lock keeps all others from opening the old one.
//
// SQLite cannot copy the log into a file that is damaged. Then the log gets the second name too, before the new file
// replaces the old one.
type restoration struct {
	path, copied string
	check        func(*DB) error
	now          time.Time
	reached      func(step string) // called before each step that others could see; for tests
}

func (r restoration) run(ctx context.Context) (aside string, err error) {
	if r.path, err = absolute(r.path); err != nil {
		return "", err
	}
	if err := r.inspectNames(); err != nil {
		return "", err
	}
	source, err := openImmutable(r.copied)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	err = buildBeside(r.path, func(tmp string) error {
		r.reached("built")
		if err := source.checkPages(r.copied); err != nil {
			return err
		}
		if err := source.copyTo(ctx, tmp); err != nil {
			return err
		}
		if err := source.unchanged(); err != nil {
			return err
		}
		return within(tmp, r.check)
	}, func(dir *os.File, tmp string) error {
		aside, err = r.replace(dir, tmp)
		return err
	})
	return aside, err
}

// inspectNames returns an error for a path where no store can be put now, and for a copy that is no other file than the
// store.
func (r restoration) inspectNames() error {
	info, err := os.Lstat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: name the file that it leads to", r.path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", r.path)
	}
	if copied, err := os.Stat(r.copied); err == nil && os.SameFile(info, copied) {
		return fmt.Errorf("%s is the store itself: name a copy of it", r.copied)
	}
	free, err := r.lockFile()
	if err != nil {
		return err
	}
	return free()
}

// replace puts aside what is at path, and gives the new file its name.
func (r restoration) replace(dir *os.File, tmp string) (aside string, err error) {
	free := func() error { return nil }
	if _, err := os.Lstat(r.path); err == nil {
		if free, err = r.lockWithoutLog(); err != nil {
			return "", err
		}
	}
	defer func() { err = errors.Join(err, free()) }()
	r.reached("locked")
	if aside, err = r.nameAside(); err != nil {
		return "", err
	}
	r.reached("put aside")
	for _, suffix := range logFiles { // of a store that is damaged, or gone
		if err := os.Rename(r.path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		r.reached("put aside " + suffix)
	}
	if err := dir.Sync(); err != nil { // so that no log comes back after a loss of power
		return "", err
	}
	r.reached("synced")
	if err := keepOwner(tmp, r.path, dir); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, r.path); err != nil {
		return "", err
	}
	r.reached("replaced")
	if _, err := os.Lstat(aside); err != nil {
		aside = ""
	}
	return aside, nil
}

// nameAside gives the file at path, if there is one, a second name that nothing had before, and returns that name.
func (r restoration) nameAside() (string, error) {
	dated := r.path + ".before-" + r.now.UTC().Format("2006-01-02T150405Z")
	for n := 2; ; n++ {
		taken := false
		for _, suffix := range append(logFiles, "") {
			if _, err := os.Lstat(dated + suffix); err == nil {
				taken = true
			}
		}
		err := error(fs.ErrExist)
		if !taken {
			err = os.Link(r.path, dated) // unlike a rename it never replaces a file
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if !errors.Is(err, fs.ErrExist) || n > 1000 {
			return dated, err
		}
		dated = fmt.Sprintf("%s.before-%s-%d", r.path, r.now.UTC().Format("2006-01-02T150405Z"), n)
	}
}

// lockFile locks the file at path, and returns what unlocks it. It returns an error if the store is open anywhere.
func (r restoration) lockFile() (free func() error, err error) {
	free, locked, err := lockStore(r.path)
	if err != nil {
		return nil, withRights(r.path, err)
	}
	if !locked {
		err = fmt.Errorf("%s is open: stop the server, and whatever else uses the store, and try again", r.path)
	}
	return free, err
}

// lockWithoutLog copies the log of the store at path into its file, unless the file is damaged, and locks the file.
func (r restoration) lockWithoutLog() (free func() error, err error) {
	for range 10 {
		if free, err = r.lockFile(); err != nil || !hasLog(r.path) {
			return free, err
		}
		if err := free(); err != nil { // SQLite takes the lock itself
			return nil, err
		}
		r.reached("log")
		c, err := dialLog(r.path, time.Second)
		if err == nil {
			_, _, _, err = c.checkpoint("TRUNCATE")
			err = errors.Join(err, c.close())
		}
		if IsDamaged(err) {
			return r.lockFile()
		}
		if err != nil {
			return nil, fmt.Errorf("copying the log of %s into its file: %w", r.path, err)
		}
	}
	return nil, fmt.Errorf("%s is written to all the time: stop the server, and whatever else uses the store, and "+
		"try again",
		r.path)
}
