package reviews

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

func TestSpoolsAreBoundedTogether(t *testing.T) {
	all := NewSpool(1 << 20)
	one := &tempFile{dir: t.TempDir(), plainLimit: 64 << 10, spool: all}
	two := &tempFile{dir: t.TempDir(), plainLimit: 64 << 10, spool: all}
	noise := make([]byte, 512<<10) // which does not become shorter
	for i := range noise {
		noise[i] = byte(rand.Int())
	}
	if _, err := one.Write(noise); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Write(append(noise, noise...)); !errors.Is(err, ErrSpool) {
		t.Errorf("more than 1 MiB is on disk: %v", err)
	}
	r, err := one.reader(0, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, noise) {
		t.Errorf("what was written before is another: %d bytes, %v", len(got), err)
	}
	one.close()
	two.close()
	if n := all.used.Load(); n != 0 {
		t.Errorf("%d bytes are counted with no file left", n)
	}
	if _, err := (&tempFile{dir: t.TempDir(), plainLimit: 1 << 20, spool: all}).Write(noise); err != nil {
		t.Errorf("there is no room again: %v", err)
	}
}

func TestANilSpoolCountsNothing(t *testing.T) {
	var none *Spool
	f := &tempFile{dir: t.TempDir(), plainLimit: 1, spool: none}
	defer f.close()
	if _, err := f.Write([]byte("a line")); err != nil || none.Used() != 0 {
		t.Errorf("%d bytes are counted, %v", none.Used(), err)
	}
}
