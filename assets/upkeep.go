package assets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/assets/internal/media"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// fileHome says in which library a file is. It is put before the record of the file, and does not change. Whether the
// file is there is known in the library alone.
type fileHome struct {
	Library Library `json:"library"`
	Since   int64   `json:"since"` // milliseconds since the epoch
}

// isFileID reports whether a text has the form of the id of a file.
func isFileID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// fileAt returns a file by its id, and reports whether it may be served: its asset is in no folder, or in one that is
// not deleted. The record is nil if there is no such file.
func (s *Service) fileAt(ctx context.Context, r storage.Reader, id string) (f *fileRecord, served bool, err error) {
	key := keyval.Key(fileSpace(id), homeKind, id)
	values, err := r.Get(ctx, key)
	if err != nil || values[0] == nil {
		return nil, false, err
	}
	var home fileHome
	if err := readJSON(key, values[0], &home); err != nil {
		return nil, false, err
	}
	in := newRecords(ctx, home.Library, r, nil)
	if values, err = r.Get(ctx, in.key(stateKind), in.fileKey(id)); err != nil || values[0] == nil || values[1] == nil {
		return nil, false, err
	}
	var ordinal int64
	if err := readJSON(in.fileKey(id), values[1], &ordinal); err != nil {
		return nil, false, err
	}
	if err := readJSON(in.key(stateKind), values[0], &in.state); err != nil {
		return nil, false, err
	}
	found, err := in.assetsWith([]int64{ordinal})
	if err != nil {
		return nil, false, err
	}
	if f, err = found[0].fileOf(); err != nil || f == nil {
		return nil, false, err
	}
	folders := found[0].Folders
	if len(folders) == 0 {
		return f, true, nil
	}
	t, err := s.trees.of(in)
	if err != nil {
		return nil, false, err
	}
	return f, slices.ContainsFunc(folders, func(id string) bool {
		n := t.nodes[id]
		return n != nil && n.live()
	}), nil
}

// FileRequest names a file, or one of its renditions.
type FileRequest struct {
	ID, Name string
	Width    int // 320, 640, 1280 or 2560, for a picture that is not wider; 0 = as it was uploaded
}

// File is a file to be sent. Its bytes are read while they are sent, and reading ends with an error, after a MiB at
// most, once the file is replaced, removed, or in deleted folders alone.
type File struct {
	ID      string
	Name    string
	Type    string // media type
	Version string // the parameter v of addresses that name the present bytes: 16 hexadecimal digits
	ETag    string // strong, with its quotes
	Bytes   io.ReadSeekCloser
}

// File returns a file. It asks for no rights: the id of a file is the secret that lets whoever knows it read the bytes.
// A picture without a rendition of the width, or one that is not wider, is returned as it was uploaded.
//
// It returns ErrNotFound if there is no such file, if it has another name, and if its asset is in folders that are all
// deleted, and ErrInvalid for another Width. The bytes can be read as long as ctx is not done.
func (s *Service) File(ctx context.Context, in FileRequest) (File, error) {
	if in.Width != 0 && !slices.Contains(media.AllWidths, in.Width) {
		return File{}, fault.Invalid("w", "want 320, 640, 1280 or 2560")
	}
	absent := fault.NotFound("there is no such file")
	s.made()
	if !isFileID(in.ID) {
		return File{}, absent
	}
	read := func() (f *fileRecord, err error) {
		err = s.db.View(ctx, func(r storage.Reader) (err error) {
			var served bool
			if f, served, err = s.fileAt(ctx, r, in.ID); err == nil && (!served || f.Name != in.Name) {
				err = absent
			}
			return err
		})
		return f, err
	}
	f, err := read()
	if err != nil {
		return File{}, err
	}
	out := File{ID: f.ID, Name: f.Name, Type: f.Type, Version: f.version(), ETag: `"` + f.version() + `"`}
	still := func() error {
		now, err := read()
		if errors.Is(err, absent) || err == nil && now.Bytes != f.Bytes {
			return fmt.Errorf("%s was removed or replaced meanwhile: %w", in.ID, fs.ErrNotExist)
		}
		return err
	}
	content := &fileContent{ctx: ctx, files: s.files, name: f.Bytes, size: f.Size, still: still}
	for _, r := range f.Renditions {
		if r.Width == in.Width {
			content.name, content.size, out.Type = f.renditionName(r.Width), r.Size, r.Type
			out.ETag = `"` + strings.TrimPrefix(content.name, f.ID+"-") + `"`
		}
	}
	out.Bytes = content
	return out, nil
}

// uploadTime is how long bytes may be without a record, as those of an upload that has not ended.
const uploadTime = 24 * time.Hour

// Upkeep deletes the bytes of files that were replaced or removed, and once an hour those that have had no record for a
// day. When it returns nil, the store on disk has none of the former any more. It also builds the search indices of a
// store of v0.2.0 by the rules of now, in small steps beside other changes, for up to a minute. A later call continues.
// Until such an index is complete, searches read the old one.
//
// A program calls it every few seconds; several processes may do so. After an error, such as ErrBusy because somebody
// reads from copies, a later call continues.
func (s *Service) Upkeep(ctx context.Context) error {
	var errs []error // a library that has a fault holds up no other
	for lib, err := range libraries(ctx, s.made().db) {
		if err == nil {
			err = s.sweepGone(ctx, lib)
		}
		errs = append(errs, err)
	}
	errs = append(errs, s.buildIndices(ctx))
	now := s.now()
	if last := s.listed.Load(); now.UnixMilli()-last >= time.Hour.Milliseconds() {
		err := s.sweepUnrecorded(ctx, now.Add(-uploadTime))
		if errs = append(errs, err); err == nil {
			s.listed.Store(now.UnixMilli())
		}
	}
	return errors.Join(errs...)
}

// sweepGone deletes the bytes that no file of a library has any more.
func (s *Service) sweepGone(ctx context.Context, lib Library) error {
	const atOnce = 100
	for {
		space := spaceOf(lib)
		var keys, names, homes []string
		var damaged error
		err := s.db.View(ctx, func(r storage.Reader) error {
			keys, names, homes, damaged = nil, nil, nil, nil
			in := storage.Prefix(keyval.Prefix(space, goneKind))
			in.Limit = atOnce
			for e, err := range r.Scan(ctx, in) {
				if err != nil {
					return err
				}
				var gone goneFile
				if err := readJSON(e.Key, e.Value, &gone); err != nil {
					damaged = errors.Join(damaged, err)
					continue
				}
				keys, names = append(keys, e.Key), append(names, gone.Names...)
				if gone.Home != "" {
					homes = append(homes, gone.Home)
				}
			}
			return nil
		})
		if err != nil || len(keys) == 0 {
			return cmp.Or(err, damaged)
		}
		if err := s.files.Delete(ctx, names...); err != nil {
			return err
		}
		if err := s.deleteHomes(ctx, homes); err != nil {
			return err
		}
		// The records are deleted last: if the bytes cannot be erased now, a later call tries again.
		err = s.db.Update(ctx, fileSpaces+fileShards[:1], storage.UpdateOptions{Erase: true},
			func(storage.Tx) error { return nil })
		if err == nil {
			err = s.db.Update(ctx, space, storage.UpdateOptions{},
				func(t storage.Tx) error { return t.Delete(ctx, keys...) })
		}
		if err != nil {
			return err
		}
	}
}

func (s *Service) deleteHomes(ctx context.Context, ids []string) error {
	for _, id := range ids {
		space := fileSpace(id)
		err := s.db.Update(ctx, space, storage.UpdateOptions{}, func(t storage.Tx) error {
			return t.Delete(ctx, keyval.Key(space, homeKind, id))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepUnrecorded deletes bytes, and the homes of files, that were put before a time and have no record.
func (s *Service) sweepUnrecorded(ctx context.Context, before time.Time) error {
	names, err := s.unrecorded(ctx, s.files.List(ctx), before)
	if err != nil {
		return err
	}
	homes, err := s.unrecorded(ctx, listStored(ctx, s.db, homeKind), before)
	if err != nil {
		return err
	}
	if err := s.files.Delete(ctx, names...); err != nil {
		return err
	}
	return s.deleteHomes(ctx, homes)
}

// unrecorded returns the names of a list that were put before a time and have no record.
func (s *Service) unrecorded(
	ctx context.Context, list iter.Seq2[StoredFile, error], before time.Time,
) (names []string, err error) {
	for f, err := range list {
		has := true
		if err == nil && f.Since.Before(before) {
			has, err = s.recorded(ctx, f.Name)
		}
		if err != nil {
			return nil, err
		}
		if !has {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

// recorded reports whether the record of a file names these bytes, or whether it is there, for the id of a file.
func (s *Service) recorded(ctx context.Context, name string) (has bool, err error) {
	id, _, isBytes := strings.Cut(name, "-")
	if !isFileID(id) {
		return true, nil // not of a Service
	}
	err = s.db.View(ctx, func(r storage.Reader) error {
		f, _, err := s.fileAt(ctx, r, id)
		has = f != nil && (!isBytes || slices.Contains(f.names(), name))
		return err
	})
	return has, err
}
