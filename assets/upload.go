package assets

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/internal/media"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// An upload takes these steps, in Session.keep:
//
//  1. The body is read into a temporary file, without what tells of place, camera and person. Nothing is stored yet,
//     so an upload that breaks off leaves nothing, and a slow one keeps no update waiting.
//  2. The bytes are put into Files, under a new name, and so are the renditions of a picture.
//  3. An update of the library puts the record that names them.
//
// After an error in the last two steps the bytes are deleted again. What a killed process leaves is swept.

// keep stores the bytes of body as those of f, and calls commit in an update of the library, with the record of the
// file as it is then.
func (s *Session) keep(
	ctx context.Context, lib Library, f fileRecord, body io.Reader,
	commit func(*request, fileRecord) (assetRecord, error),
) (Asset, error) {
	isNew := f.Bytes == ""
	in, err := s.service.receive(body)
	if err != nil {
		return Asset{}, full(err)
	}
	defer in.close()
	f.setBytes(in, s.service.newFileID()[:16])
	var home errgroup.Group
	if isNew { // at the same time, so that both may share a commit
		home.Go(func() error { return s.service.putHome(ctx, f.ID, lib) })
	}
	memory, _ := body.(Reserver)
	err = s.service.putBytes(ctx, s.by.URN, &f, in, memory)
	if err = cmp.Or(home.Wait(), err); err == nil {
		var a Asset
		// See checkRoom.
		err = s.updateAs(ctx, lib, storage.UpdateOptions{Exclusive: lib.ID != lib.Network}, func(req *request) error {
			r, err := commit(req, f)
			if err == nil {
				a = req.asset(r)
			}
			return err
		})
		if err == nil {
			return a, nil
		}
	}
	if !errors.Is(err, storage.ErrUnknown) { // the record may be there
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
		defer cancel()
		_ = s.service.files.Delete(ctx, f.names()...) // else they are swept
	}
	return Asset{}, full(err)
}

// discardTime is how long it may take to delete the bytes of an upload that has failed.
const discardTime = 10 * time.Second

// full returns err as storage.ErrFull if the disk of the temporary files has no room.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) && !errors.Is(err, storage.ErrFull) {
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	}
	return err
}

// received are the bytes of an upload, in a temporary file.
type received struct {
	*spool
	info media.Info
}

// receive reads an upload into a temporary file, without what tells of place, camera and person. The caller closes it.
func (s *Service) receive(body io.Reader) (out *received, err error) {
	if body == nil {
		return nil, fault.Invalid("", "the request has no file")
	}
	limited := &limitedBody{from: body, left: int64(s.limits.File), limits: s.limits}
	in := bufio.NewReaderSize(limited, media.HeadSize)
	head, err := in.Peek(media.HeadSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	kind, err := media.Detect(head)
	if err != nil {
		return nil, fault.Unprocessable(vitrine.CodeMediaType, "", "%s", err)
	}
	out = &received{}
	if out.spool, err = newSpool(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			out.close()
		}
	}()
	if kind.Streams() {
		out.info, err = media.CleanStream(out, in, kind)
	} else {
		var raw *spool
		if raw, err = newSpool(); err != nil {
			return nil, err
		}
		defer raw.close()
		if _, err = io.Copy(raw, in); err == nil {
			out.info, err = media.Clean(out, raw.reader(), kind)
		}
	}
	// An error of the body counts first, since a file that did not arrive whole looks damaged too.
	if limited.err != nil && limited.err != io.EOF {
		err = limited.err
	}
	return out, err
}

// limitedBody is the body of an upload, of at most Limits.File.
type limitedBody struct {
	from   io.Reader
	left   int64
	limits Limits
	err    error // the first one
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, errFileSize(b.limits)
	}
	b.err = err
	return n, err
}

// spool is a temporary file that is written and then read, and disappears with the process. It knows the SHA-256 of
// what was written.
type spool struct {
	file *os.File
	size int64
	sum  hash.Hash
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "vitrine-file-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // where an open file cannot be removed, close removes it
	return &spool{file: f, sum: sha256.New()}, nil
}

func (s *spool) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.size += int64(n)
	_, _ = s.sum.Write(p[:n])
	return n, err
}

// reader reads what was written.
func (s *spool) reader() *io.SectionReader { return io.NewSectionReader(s.file, 0, s.size) }

func (s *spool) close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}

// setBytes makes the received bytes those of the file, and name the end of the name that they get.
func (f *fileRecord) setBytes(in *received, name string) {
	if f.Name == "" {
		f.Name = "file" + in.info.Ending
	}
	if f.Bytes == "" && f.Title == "" {
		f.Title = f.Name
	}
	f.Bytes = f.ID + "-" + name
	f.Type, f.Size, f.Sum = in.info.MediaType, in.size, hex.EncodeToString(in.sum.Sum(nil))
	f.Width, f.Height, f.Renditions = in.info.Width, in.info.Height, nil
}

// putHome notes which library a file is in.
func (s *Service) putHome(ctx context.Context, id string, lib Library) error {
	home, err := json.Marshal(fileHome{lib, s.now().UnixMilli()})
	if err != nil {
		return err
	}
	space := fileSpace(id)
	return s.db.Update(ctx, space, storage.UpdateOptions{}, func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: keyval.Key(space, homeKind, id), Value: home})
	})
}

// putBytes stores the bytes of a file that the caller has sent, and its renditions. memory may be nil.
func (s *Service) putBytes(ctx context.Context, caller string, f *fileRecord, in *received, memory Reserver) error {
	if err := s.files.Put(ctx, f.Bytes, in.size, in.reader()); err != nil {
		return err
	}
	need := in.info.Memory()
	if len(in.info.Widths()) == 0 || need > int64(s.limits.Decoding) {
		return nil
	}
	out, err := newSpool()
	if err != nil {
		return err
	}
	defer out.close()
	var made []rendition // the largest first
	err = s.decoding.do(ctx, caller, need, memory, func() error {
		return in.info.Renditions(in.reader(), func(width int, encode func(io.Writer) error) error {
			before := out.size
			if err := cmp.Or(ctx.Err(), encode(out)); err != nil {
				return err
			}
			made = append(made, rendition{width, in.info.RenditionType().MediaType, out.size - before})
			return nil
		})
	})
	if err != nil {
		return err
	}
	at := int64(0)
	for _, r := range made {
		f.Renditions = slices.Insert(f.Renditions, 0, r)
		in := io.NewSectionReader(out.file, at, r.Size)
		if err := s.files.Put(ctx, f.renditionName(r.Width), r.Size, in); err != nil {
			return err
		}
		at += r.Size
	}
	return nil
}

// decoding bounds how many pictures are decoded at a time, and their memory. Each core decodes one picture, and each
// caller has one decoded at a time, so a caller who sends many pictures delays the others by one picture at most.
type decoding struct {
	bytes, cores *semaphore.Weighted
	turns        turns
}

func newDecoding(most, cores int) *decoding {
	return &decoding{bytes: semaphore.NewWeighted(int64(most)), cores: semaphore.NewWeighted(int64(cores))}
}

// decodePatience is how long an upload waits for the pictures of other callers.
const decodePatience = 10 * time.Second

// Reserver is the body of an upload whose decoding takes memory from a budget that others use, too. A body of package
// httpapi takes it from Limits.Memory there.
type Reserver interface {
	// Reserve waits until there are so many bytes of memory for a picture, which is then decoded until release is
	// called. It returns an error if ctx is done before.
	Reserve(ctx context.Context, bytes int64) (release func(), err error)
}

// do calls fn when the caller's other pictures are decoded, and there is a core and enough memory for it. It returns
// ErrBusy if that takes longer than decodePatience. memory may be nil.
func (d *decoding) do(ctx context.Context, caller string, need int64, memory Reserver, fn func() error) error {
	end, err := d.turns.take(ctx, caller)
	if err != nil {
		return err
	}
	defer end()
	wait, cancel := context.WithTimeout(ctx, decodePatience)
	defer cancel()
	err = d.cores.Acquire(wait, 1)
	if err == nil {
		defer d.cores.Release(1)
		err = d.bytes.Acquire(wait, need)
	}
	if err == nil {
		defer d.bytes.Release(need)
		if memory != nil {
			var release func()
			if release, err = memory.Reserve(wait, need); err == nil {
				defer release()
			}
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &vitrine.Error{Kind: vitrine.ErrBusy, Code: vitrine.CodeUnavailable,
			Reason: "there is no memory to decode the picture at the moment: try again"}
	}
	return fn()
}
