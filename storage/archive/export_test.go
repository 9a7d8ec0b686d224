package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// What could not be read back is not written.
func TestALineThatIsTooLongIsNotExported(t *testing.T) {
	s := inMemory()
	add := func(size int) error {
		lib := assets.Library{Network: "example.test", ID: "example.test"}
		check(t, s.Assets.Update(ctx, lib, func(tx assets.Tx) error {
			body := assets.Body(`{"content":{"content":"` + strings.Repeat("x", size) + `"},"safe_tags":[]}`)
			if err := tx.SetState(ctx, assets.State{Key: assets.Key{1}, Last: 1, Count: 1}); err != nil {
				return err
			}
			return tx.PutAsset(ctx, assets.Record{Ordinal: 1, Body: body}, assets.Index{})
		}))
		_, err := archive.Export(ctx, s, io.Discard)
		return err
	}
	const most = 64 << 20
	envelope := 0
	check(t, add(0))
	data, _ := export(t, s)
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, `{"asset"`) {
			envelope = len(line)
		}
	}
	if err := add(most - envelope); err != nil {
		t.Errorf("a line of 64 MiB: %v", err)
	}
	long, _ := export(t, s)
	if _, err := archive.Check(ctx, bytes.NewReader(long), nil); err == nil || strings.Contains(err.Error(), "too long") {
		t.Errorf("a line of 64 MiB is not read back: %v", err) // it is refused for what is in it
	}
	if err := add(most - envelope + 1); err == nil || !strings.Contains(err.Error(), "asset 1 takes") {
		t.Errorf("a line of 64 MiB and a byte: error %v", err)
	}
}

// An archive that cannot be read twice is copied, and the copy is removed.
func TestAStreamIsImported(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	source, target := inMemory(), inMemory()
	fill(t, source, 1)
	data, _ := export(t, source)
	_, err := archive.Import(ctx, target, iotest.OneByteReader(bytes.NewReader(data)), nil)
	check(t, err)
	if again, _ := export(t, target); !bytes.Equal(data, again) {
		t.Error("another archive comes out")
	}
	_, err = archive.Import(ctx, inMemory(), iotest.OneByteReader(bytes.NewReader(data[:len(data)-9])), nil)
	if err == nil {
		t.Error("a stream that was cut is imported")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// An archive may begin in the middle of a file, and a file is not copied.
func TestAnArchiveIsReadFromTheCurrentOffset(t *testing.T) {
	source, target := inMemory(), inMemory()
	fill(t, source, 1)
	data, _ := export(t, source)
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	check(t, err)
	defer file.Close()
	_, err = file.WriteString("before")
	check(t, err)
	_, err = file.Write(data)
	check(t, err)
	_, err = file.Seek(int64(len("before")), io.SeekStart)
	check(t, err)
	a, err := archive.Open(ctx, file, nil)
	check(t, err)
	n, err := a.Import(ctx, target)
	check(t, err, a.Close())
	if n != a.Counts() {
		t.Errorf("imported %+v, the archive has %+v", n, a.Counts())
	}
}

// ErrDamaged promises that the stores are empty, and nobody can promise that if the source changes after the check: the
// stores may have a part of the content by then.
func TestAnArchiveThatChangesAfterItsCheckIsNotDamaged(t *testing.T) {
	source := inMemory()
	fill(t, source, 1)
	data, _ := export(t, source)
	a, err := archive.Open(ctx, bytes.NewReader(data), nil)
	check(t, err)
	end := bytes.LastIndex(data, []byte(`{"end"`))
	copy(data[end:], "#####")
	_, err = a.Import(ctx, inMemory())
	if err == nil || errors.Is(err, archive.ErrDamaged) || !strings.Contains(err.Error(), "cannot be read again: ") {
		t.Errorf("error %v", err)
	}
	check(t, a.Close())
}

func TestAnImportThatIsInterruptedEnds(t *testing.T) {
	source := inMemory()
	fill(t, source, 1)
	data, _ := export(t, source)
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := archive.Open(stopped, bytes.NewReader(data), nil); err == nil {
		t.Error("no error")
	}
}

// Stores of services with higher limits are imported where the limits are given.
func TestLimitsOfOtherServices(t *testing.T) {
	source := inMemory()
	limits := archive.Options{Apps: appsvc.Limits{Title: 2000}, Assets: assets.Limits{Depth: 65}}
	apps := appsvc.NewWith(source.Apps, &appsvc.Options{Limits: limits.Apps})
	me := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	_, err := apps.CreateApp(ctx, me, appsvc.CreateAppRequest{Title: strings.Repeat("x", 2000), Groups: []string{network}})
	check(t, err)
	folders := nest(t, source, &assets.Options{Limits: limits.Assets}, 65)
	data, _ := export(t, source)
	if _, err := archive.Check(ctx, bytes.NewReader(data), &limits); err != nil {
		t.Errorf("with the limits of the services: %v", err)
	}
	for what, o := range map[string]*archive.Options{
		"of apps": {Assets: limits.Assets}, "of assets": {Apps: limits.Apps}, "of none": nil,
	} {
		if _, err := archive.Check(ctx, bytes.NewReader(data), o); err == nil {
			t.Errorf("with the limits %s: no error", what)
		}
	}
	if len(folders) != 65 {
		t.Fatalf("there are %d folders", len(folders))
	}
}

// nest makes so many folders, each in the one before.
func nest(t *testing.T, s archive.Stores, o *assets.Options, depth int) (ids []string) {
	t.Helper()
	svc := assets.NewWith(s.Assets, o)
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	by := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	path := ""
	for i := range depth {
		made, err := svc.ChangeFolders(ctx, by, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: fmt.Sprint(i), Path: path}}})
		check(t, err)
		path += "/" + made[0].ID
		ids = append(ids, made[0].ID)
	}
	return ids
}

func TestFoldersOf64LevelsAreImported(t *testing.T) {
	source := inMemory()
	nest(t, source, nil, 64)
	data, _ := export(t, source)
	_, err := archive.Import(ctx, inMemory(), bytes.NewReader(data), nil)
	check(t, err)
}
