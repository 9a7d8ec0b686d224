// Package s3files keeps the bytes of files in a bucket of Amazon S3, or of a server that speaks its API, for a program
// whose files outgrow its store:
//
//	files, err := s3files.Open(ctx, "s3://photos?region=eu-central-1", keys)
//	svc := assets.New(db, &assets.Options{Files: files})
//
// The records of the files stay in the store. A bucket, or a prefix of one, belongs to one store: after a day
// [assets.Service.Upkeep] deletes what the store has no record of, also what another store has put there.
package s3files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
)

// Files is an [assets.Files]. Each name is an object, and its bytes are read and written as they stream by, so a call
// takes less than a megabyte of memory, however large they are. Requests that fail are repeated twice. After that an
// error of the network or of the server is a storage.ErrBusy that names the bucket and its endpoint, and neither keys
// nor objects.
type Files struct {
	s3             minio.Core
	puts           *minio.Client // does not repeat: the client would read the bytes of two requests from one reader
	bucket, prefix string
	where          string // for errors
}

var _ assets.Files = (*Files)(nil)

// Keys are what the server knows the program by.
type Keys struct {
	ID, Secret string
	Session    string // of temporary keys; "" for others
}

const (
	// partBytes is how long the parts are in which larger objects are written, one after the other.
	partBytes = 16 << 20
	// rangeBytes is how much one request reads, so that a download ends soon after its bytes were deleted, and a slow
	// one keeps no connection for long.
	rangeBytes = 4 << 20
)

// Open returns the Files in a bucket once it has listed it. address is
//
//	s3://BUCKET/PREFIX?endpoint=URL&region=REGION
//
// PREFIX begins the names of all objects; without it they are the names of files. URL is such as
// https://s3.example.test or http://127.0.0.1:9000, without endpoint https://s3.amazonaws.com. Without region the
// server is asked for it. The keys must be allowed to list the bucket, to get, put and delete objects, and to list and
// abort multipart uploads.
//
// An error is a storage.ErrBusy if the server could not be reached, so that another call may succeed. Any other error
// says which argument is wrong, that the bucket does not exist, or that the keys may not list it.
func Open(ctx context.Context, address string, keys Keys) (*Files, error) {
	const want = "want s3://BUCKET?endpoint=URL&region=REGION"
	u, err := url.Parse(address)
	if err != nil { // it has the address, in which somebody may have put keys
		return nil, errors.New("this is no URL: " + want)
	}
	in, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil || u.Scheme != "s3" || u.Host == "" || u.Fragment != "":
		return nil, errors.New(want)
	case u.User != nil:
		return nil, errors.New("keys are not a part of the address: " + want)
	case keys.ID == "" || keys.Secret == "":
		return nil, errors.New("the keys for bucket " + u.Host + " are missing")
	}
	for name := range in {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("there is no parameter %q: %s", name, want)
		}
	}
	at, err := url.Parse(cmp.Or(in.Get("endpoint"), "https://s3.amazonaws.com"))
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.User != nil ||
		strings.Trim(at.Path, "/") != "" {
		return nil, errors.New("endpoint: want a URL such as https://s3.example.test or http://127.0.0.1:9000")
	}
	transport, err := minio.DefaultTransport(at.Scheme == "https")
	if err != nil {
		return nil, err
	}
	transport.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	options := minio.Options{
		Creds: credentials.NewStaticV4(keys.ID, keys.Secret, keys.Session), Secure: at.Scheme == "https",
		Region: in.Get("region"), Transport: transport, MaxRetries: 3,
	}
	client, err := minio.New(at.Host, &options)
	options.MaxRetries = 1
	puts, wrong := minio.New(at.Host, &options)
	if err = cmp.Or(err, wrong); err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", at.Host, err)
	}
	f := &Files{minio.Core{Client: client}, puts, u.Host, strings.Trim(u.Path, "/"),
		"bucket " + u.Host + " at " + at.Scheme + "://" + at.Host}
	if f.prefix != "" {
		f.prefix += "/"
	}
	for o := range client.ListObjectsIter(ctx, f.bucket, minio.ListObjectsOptions{Prefix: f.prefix, MaxKeys: 1}) {
		_, lost := errors.AsType[*url.Error](o.Err)
		if o.Err != nil && ctx.Err() == nil && !lost && minio.ToErrorResponse(o.Err).StatusCode < 500 {
			return nil, errors.New(f.where + ": " + said(o.Err))
		}
		return f, f.failure(ctx, o.Err)
	}
	return f, ctx.Err()
}

// failure returns the error of a request as assets.Files wants it. Its text has no URL, since those of objects are
// secret.
func (f *Files) failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	kind := storage.ErrBusy
	switch minio.ToErrorResponse(err).Code {
	case minio.NoSuchKey:
		kind = fs.ErrNotExist
	case "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded":
		kind = storage.ErrFull
	}
	return &failure{f.where + ": " + said(err), kind}
}

// said returns what an error says, without the URL of the request.
func said(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return strings.ReplaceAll(e.Err.Error(), " "+e.URL, "")
	}
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return e.Code + ": " + e.Error()
	}
	return err.Error()
}

// failure is an error with a text of its own.
type failure struct {
	text string
	kind error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.kind }

// Put is that of assets.Files. Bytes of more than 16 MiB are written in parts, which List yields until all are there.
func (f *Files) Put(ctx context.Context, name string, size int64, from io.Reader) error {
	in := &source{from: from}
	if again, ok := from.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		if at, err := again.Seek(0, io.SeekCurrent); err == nil {
			in.from, in.again = nil, io.NewSectionReader(again, at, size)
		}
	}
	var err error
	for try := range time.Duration(3) {
		time.Sleep(try * 200 * time.Millisecond)
		_, err = f.puts.PutObject(ctx, f.bucket, f.prefix+name, io.NewSectionReader(in, 0, size), size,
			minio.PutObjectOptions{PartSize: partBytes, NumThreads: 1})
		if err = f.failure(ctx, err); in.again == nil || !errors.Is(err, storage.ErrBusy) || in.failed() {
			break
		}
	}
	return cmp.Or(in.end(), err)
}

// source is what a Put reads. A request that is repeated reads again, if that is possible.
type source struct {
	mu    sync.Mutex // a request that has failed may still read beside the next one
	again *io.SectionReader
	from  io.Reader // if again is nil
	at    int64     // how much of from was read
	err   error     // the first one
	ended bool
}

func (s *source) ReadAt(p []byte, off int64) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended || s.again == nil && off != s.at:
		return 0, errors.New("the bytes cannot be read again")
	case s.again != nil:
		n, err = s.again.ReadAt(p, off)
	default:
		n, err = io.ReadFull(s.from, p)
		s.at += int64(n)
	}
	if n == len(p) {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // a section ends with its size
	}
	s.err = cmp.Or(s.err, err)
	return n, err
}

// failed reports whether reading has failed.
func (s *source) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

// end returns the error of reading. Nothing is read any more after it.
func (s *source) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.err
}

// Open is that of assets.Files.
func (f *Files) Open(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	return &reader{ctx: ctx, files: f, name: name, next: offset, end: offset + size}, nil
}

// reader reads one range after the other.
type reader struct {
	ctx       context.Context
	files     *Files
	name      string
	next, end int64         // offsets
	part      io.ReadCloser // from next on; nil if it is yet to be asked for
	left      int64         // how many bytes part has
}

func (r *reader) Read(p []byte) (n int, err error) {
	f := r.files
	if r.next >= r.end {
		return 0, io.EOF
	}
	if r.part == nil {
		r.left = min(r.end-r.next, rangeBytes)
		var in minio.GetObjectOptions
		if err = in.SetRange(r.next, r.next+r.left-1); err != nil {
			return 0, err
		}
		if r.part, _, _, err = f.s3.GetObject(r.ctx, f.bucket, f.prefix+r.name, in); err != nil {
			r.part = nil
			return 0, f.failure(r.ctx, err)
		}
	}
	n, err = r.part.Read(p[:min(int64(len(p)), r.left)])
	r.next += int64(n)
	if r.left -= int64(n); r.left == 0 {
		return n, r.Close()
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, f.failure(r.ctx, err)
}

func (r *reader) Close() (err error) {
	if r.part != nil {
		err = r.part.Close()
	}
	r.part = nil
	return err
}

// Delete is that of assets.Files. A bucket with versions keeps the bytes as an older version, until a rule of its
// lifecycle deletes that.
func (f *Files) Delete(ctx context.Context, names ...string) error {
	results, err := f.s3.RemoveObjectsWithIter(ctx, f.bucket, func(yield func(minio.ObjectInfo) bool) {
		for _, name := range names {
			if !yield(minio.ObjectInfo{Key: f.prefix + name}) {
				return
			}
		}
	}, minio.RemoveObjectsOptions{})
	if err == nil {
		for r := range results {
			if err == nil && minio.ToErrorResponse(r.Err).Code != minio.NoSuchKey {
				err = r.Err
			}
		}
	}
	if err = cmp.Or(ctx.Err(), f.failure(ctx, err)); err != nil {
		return err
	}
	for u := range f.unfinished(ctx) {
		if err = u.Err; err == nil && slices.Contains(names, strings.TrimPrefix(u.Key, f.prefix)) {
			err = f.s3.AbortMultipartUpload(ctx, f.bucket, u.Key, u.UploadID)
		}
		if err != nil && minio.ToErrorResponse(err).Code != minio.NoSuchUpload {
			return f.failure(ctx, err)
		}
	}
	return nil
}

// unfinished yields the uploads in parts that have not ended. An error is in the last one.
func (f *Files) unfinished(ctx context.Context) iter.Seq[minio.ObjectMultipartInfo] {
	return func(yield func(minio.ObjectMultipartInfo) bool) {
		ctx, stop := context.WithCancel(ctx)
		uploads := f.s3.ListIncompleteUploads(ctx, f.bucket, f.prefix, true)
		defer func() {
			stop()
			for range uploads { // else its goroutine waits for ever
			}
		}()
		for u := range uploads {
			none := minio.ToErrorResponse(u.Err).Code == minio.NoSuchUpload // what some servers answer
			if none || !yield(u) {
				return
			}
		}
	}
}

// List is that of assets.Files. The times are those of the server.
func (f *Files) List(ctx context.Context) iter.Seq2[assets.StoredFile, error] {
	return func(yield func(assets.StoredFile, error) bool) {
		one := func(key string, since time.Time, err error) bool {
			return yield(assets.StoredFile{Name: strings.TrimPrefix(key, f.prefix), Since: since},
				f.failure(ctx, err)) && err == nil
		}
		in := minio.ListObjectsOptions{Prefix: f.prefix, Recursive: true}
		for o := range f.s3.ListObjectsIter(ctx, f.bucket, in) {
			if !one(o.Key, o.LastModified, o.Err) {
				return
			}
		}
		for u := range f.unfinished(ctx) {
			if !one(u.Key, u.Initiated, u.Err) {
				return
			}
		}
	}
}
