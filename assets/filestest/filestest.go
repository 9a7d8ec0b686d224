// Package filestest is a suite of tests for implementations of [assets.Files]:
//
//	func TestFiles(t *testing.T) { filestest.Run(t, open) }
package filestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vitrine-go/vitrine/assets"
)

// Run tests an implementation. Each rule is a subtest, whose name says what must hold, with empty Files that open
// returns. Their clock is that of the machine.
func Run(t *testing.T, open func(t testing.TB) assets.Files) {
	for _, r := range []struct {
		name  string
		check func(context.Context, assets.Files) error
	}{
		{"what Put keeps is what Open returns, whole and in part", ranges},
		{"bytes may come in small portions, and be readable only once", portions},
		{"Put begins where its reader stands", rest},
		{"an absent name is fs.ErrNotExist", absent},
		{"deleting is for several names, some of them absent, and twice", deleting},
		{"a reader gets fs.ErrNotExist when the bytes are deleted meanwhile", deletedMeanwhile},
		{"an error of the reader is returned as it is, and Delete leaves nothing", failing},
		{"List yields all names with their times, and may be left early", listing},
		{"every method returns the error of its context", ended},
		{"many may put and read at a time", beside},
	} {
		t.Run(r.name, func(t *testing.T) {
			if err := r.check(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// name returns the n-th name.
func name(n int) string { return fmt.Sprintf("%032x-%016x", n*0x9e3779b1, n) }

// content returns so many bytes, which differ from those at other places.
func content(size int) []byte {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(i ^ i>>8*7 ^ i>>16*31)
	}
	return out
}

func put(ctx context.Context, f assets.Files, name string, b []byte) error {
	return f.Put(ctx, name, int64(len(b)), bytes.NewReader(b))
}

// get returns a part of the bytes with a name.
func get(ctx context.Context, f assets.Files, name string, offset, size int) ([]byte, error) {
	r, err := f.Open(ctx, name, int64(offset), int64(size))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// has returns an error unless there are these bytes under a name.
func has(ctx context.Context, f assets.Files, name string, want []byte) error {
	b, err := get(ctx, f, name, 0, len(want))
	if err == nil && !bytes.Equal(b, want) {
		err = fmt.Errorf("%d bytes are kept, which differ from the %d that were put", len(b), len(want))
	}
	return err
}

// names returns the names that List yields.
func names(ctx context.Context, f assets.Files) (all []string, err error) {
	for one, err := range f.List(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, one.Name)
	}
	slices.Sort(all)
	return all, nil
}

func ranges(ctx context.Context, f assets.Files) error {
	for i, size := range []int{1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 40<<20 + 3} {
		want := content(size)
		if err := put(ctx, f, name(i), want); err != nil {
			return err
		}
		if err := has(ctx, f, name(i), want); err != nil {
			return fmt.Errorf("of %d bytes: %v", size, err)
		}
		for _, part := range [][2]int{{0, 1}, {size - 1, size}, {size / 2, size}, {size / 3, size / 2},
			{min(1<<20, size-1), min(1<<20+1, size)}} {
			b, err := get(ctx, f, name(i), part[0], part[1]-part[0])
			if err != nil || !bytes.Equal(b, want[part[0]:part[1]]) {
				return fmt.Errorf("from %d to %d of %d: %d other bytes, %v", part[0], part[1], size, len(b), err)
			}
		}
	}
	return nil
}

// once has no method but Read.
type once struct{ io.Reader }

func portions(ctx context.Context, f assets.Files) error {
	for i, size := range []int{100, 20 << 20} {
		want := content(size)
		from := once{iotest.HalfReader(iotest.DataErrReader(bytes.NewReader(want)))}
		if err := f.Put(ctx, name(i), int64(size), from); err != nil {
			return err
		}
		if err := has(ctx, f, name(i), want); err != nil {
			return err
		}
	}
	return nil
}

func rest(ctx context.Context, f assets.Files) error {
	want := content(1000)
	from := bytes.NewReader(append([]byte("before"), append(want, "behind"...)...))
	if _, err := from.Seek(6, io.SeekStart); err != nil {
		return err
	}
	if err := f.Put(ctx, name(1), 1000, from); err != nil {
		return err
	}
	return has(ctx, f, name(1), want)
}

func absent(ctx context.Context, f assets.Files) error {
	if err := put(ctx, f, name(1), content(5)); err != nil {
		return err
	}
	if _, err := get(ctx, f, name(2), 0, 5); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("an absent name: %v", err)
	}
	if b, err := get(ctx, f, name(1), 0, 9); err == nil || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("more than there is: %d bytes, %v", len(b), err)
	}
	return nil
}

func deleting(ctx context.Context, f assets.Files) error {
	for i := range 5 {
		if err := put(ctx, f, name(i), content(1<<21)); err != nil {
			return err
		}
	}
	for range 2 {
		if err := f.Delete(ctx, name(1), name(7), name(3)); err != nil {
			return err
		}
	}
	if err := f.Delete(ctx); err != nil {
		return err
	}
	all, err := names(ctx, f)
	want := []string{name(0), name(2), name(4)}
	if slices.Sort(want); err != nil || !slices.Equal(all, want) {
		return fmt.Errorf("left are %q, %v", all, err)
	}
	if _, err := get(ctx, f, name(3), 0, 1); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a deleted name: %v", err)
	}
	return has(ctx, f, name(2), content(1<<21))
}

func deletedMeanwhile(ctx context.Context, f assets.Files) error {
	const size = 12 << 20
	if err := put(ctx, f, name(1), content(size)); err != nil {
		return err
	}
	r, err := f.Open(ctx, name(1), 0, size)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, 100); err != nil {
		return err
	}
	if err := f.Delete(ctx, name(1)); err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, r); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%d more bytes, %v", n, err)
	}
	return nil
}

func failing(ctx context.Context, f assets.Files) error {
	broken := errors.New("broken")
	for _, size := range []int{100, 3 << 20, 40 << 20} {
		begun := time.Now()
		from := io.MultiReader(bytes.NewReader(content(size-10)), iotest.ErrReader(broken))
		if err := f.Put(ctx, name(1), int64(size), from); err != broken {
			return fmt.Errorf("of %d bytes: %v", size, err)
		}
		if err := f.Put(ctx, name(2), int64(size), bytes.NewReader(content(size-10))); err != io.ErrUnexpectedEOF {
			return fmt.Errorf("ten bytes less than %d: %v", size, err)
		}
		if took := time.Since(begun); took > 20*time.Second {
			return fmt.Errorf("a broken reader took %v", took)
		}
		if err := f.Delete(ctx, name(1), name(2)); err != nil {
			return err
		}
		if all, err := names(ctx, f); err != nil || len(all) > 0 {
			return fmt.Errorf("left are %q, %v", all, err)
		}
	}
	return nil
}

func listing(ctx context.Context, f assets.Files) error {
	const many = 2100
	want, begun := []string(nil), time.Now().Add(-2*time.Second)
	for i := range many {
		if err := put(ctx, f, name(i), []byte{byte(i)}); err != nil {
			return err
		}
		want = append(want, name(i))
	}
	slices.Sort(want)
	if all, err := names(ctx, f); err != nil || !slices.Equal(all, want) {
		return fmt.Errorf("of %d names %d are yielded, %v", many, len(all), err)
	}
	for one, err := range f.List(ctx) {
		if err != nil || one.Since.Before(begun) || one.Since.After(time.Now().Add(2*time.Second)) {
			return fmt.Errorf("%s since %s, %v", one.Name, one.Since, err)
		}
		break
	}
	return f.Delete(ctx, want...)
}

func ended(ctx context.Context, f assets.Files) error {
	if err := put(ctx, f, name(1), content(9<<20)); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r, err := f.Open(ctx, name(1), 0, 9<<20)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, 5); err != nil {
		return err
	}
	stop()
	_, err = io.Copy(io.Discard, r)
	errs := map[string]error{"Read": err, "Put": put(ctx, f, name(2), content(20<<20)),
		"Delete": f.Delete(ctx, name(1))}
	_, errs["Open"] = get(ctx, f, name(1), 0, 5)
	_, errs["List"] = names(ctx, f)
	for method, err := range errs {
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%s: %v", method, err)
		}
	}
	return nil
}

func beside(ctx context.Context, f assets.Files) error {
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			want := content(1<<20 + i)
			if errs[i] = put(ctx, f, name(i), want); errs[i] == nil {
				errs[i] = has(ctx, f, name(i), want)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
