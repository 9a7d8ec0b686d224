package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/proof"
)

// The test binary is also the other process: it does what this variable names, and ends.
const roleVariable = "VITRINE_SQLITE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		name, path, _ := strings.Cut(role, " ")
		if err := roles[name](path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// roles are what another process can be.
var roles = map[string]func(path string) error{
	"append":  appendForEver,
	"visit":   visit,
	"build":   keepBuilding,
	"limit":   limitFiles,
	"migrate": migrated,
}

// process starts another process in a role. It is killed when the test ends.
func process(t *testing.T, role, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role+" "+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

// nextVersion adds a version to an app in an update of its own, with a tag on it.
func nextVersion(s appsvc.Store, id string) (int, error) {
	ctx, added := context.Background(), 0
	err := s.Update(ctx, func(t appsvc.Tx) error {
		h, err := t.Head(ctx, id)
		if err != nil && !errors.Is(err, vitrine.ErrNotFound) {
			return err
		}
		added = int(h.Version.Next().Number())
		next, body := benchApp(id, added, 1<<10)
		return errors.Join(t.AddVersion(ctx, next, autosave(body, added)),
			t.SetTag(ctx, appsvc.Tag{AppID: id, Name: "live", AppVersion: vitrine.NewVersion(added)}))
	})
	return added, err
}

// look reads an app, its body and its tag in one View and holds them against one another.
func look(s appsvc.Store, id string) (int, error) {
	ctx, version := context.Background(), vitrine.Version{}
	err := s.View(ctx, func(r appsvc.Reader) error {
		h, err := r.Head(ctx, id)
		if err != nil {
			return err
		}
		version = h.Version
		app, err := r.App(ctx, id, vitrine.Latest)
		if err != nil {
			return err
		}
		for tag, err := range r.Tags(ctx, appsvc.TagQuery{AppID: id, Name: "live"}) {
			if err != nil {
				return err
			}
			tagged, err := r.App(ctx, id, tag.AppVersion)
			if err != nil {
				return err
			}
			number := int(version.Number())
			_, body := benchApp(id, number, 1<<10)
			if app.Version != version || tag.AppVersion != version || tagged.Version != version ||
				string(app.Body) != string(autosave(body, number)) {
				return fmt.Errorf("head of version %s, app of %s, tag on %s", version, app.Version, tag.AppVersion)
			}
		}
		return nil
	})
	return int(version.Number()), err
}

// appendForEver adds versions and says on stdout which are acknowledged.
func appendForEver(path string) error {
	db, err := Open(path, nil)
	if err != nil {
		return err
	}
	for {
		v, err := nextVersion(db.Apps(), "app")
		if err != nil {
			return err
		}
		fmt.Println(v)
	}
}

// visit opens the store, adds a version and closes it, again and again.
func visit(path string) error {
	for range 25 {
		db, err := Open(path, nil)
		if err != nil {
			return err
		}
		if _, err := nextVersion(db.Apps(), "app"); err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Processes that come and go find a whole store, whether they build it, recover its log, or meet
// one that is just being closed.
func TestProcessesComeAndGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var others []*exec.Cmd
	for range 4 {
		cmd, _ := process(t, "visit", path)
		others = append(others, cmd)
	}
	for _, cmd := range others {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if v, err := look(openAt(t, path, nil).Apps(), "app"); err != nil || v != 4*25-1 {
		t.Errorf("version %d in the end, want %d: %v", v, 4*25-1, err)
	}
}

// Whoever has heard of a commit of another process reads it, or what came after.
func TestCommitsOfAnotherProcessAreSeenAtOnce(t *testing.T) {
	db := openTest(t, nil)
	s := db.Apps()
	if _, err := nextVersion(s, "app"); err != nil {
		t.Fatal(err)
	}
	_, acknowledged := process(t, "append", db.path)
	rounds, cached := 2000, 0
	if proof.Short() {
		rounds = 300
	}
	for i := range rounds {
		if !acknowledged.Scan() {
			t.Fatal("the other process has ended: ", acknowledged.Err())
		}
		least, err := strconv.Atoi(acknowledged.Text())
		if err != nil {
			t.Fatal(err)
		}
		if i%4 == 0 { // and writes of this process in between
			if _, err := nextVersion(s, "mine"); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			v, err := look(s, "app")
			if err != nil || int(v) < least {
				t.Fatalf("version %d is acknowledged, version %d was read: %v", least, v, err)
			}
			if _, ok := db.cache.state(); ok {
				cached++
			}
		}
	}
	t.Logf("of %d reads, %d met a cache of their state", 3*rounds, cached)
}

// Writers of two stores and readers of both at the same time: no reader goes back, none sees half.
func TestReadersAmongWritersOfTwoStores(t *testing.T) {
	one := openTest(t, nil)
	two := openAt(t, one.path, nil)
	if err := two.writer.c.script("PRAGMA synchronous=OFF"); err != nil {
		t.Fatal(err)
	}
	if _, err := nextVersion(one.Apps(), "app"); err != nil {
		t.Fatal(err)
	}
	rounds := 200
	if proof.Short() {
		rounds = 50
	}
	done := make(chan bool)
	var writers, readers sync.WaitGroup
	for _, db := range []*DB{one, two} {
		for range 2 {
			writers.Go(func() {
				for range rounds {
					if _, err := nextVersion(db.Apps(), "app"); err != nil {
						t.Error(err)
						return
					}
				}
			})
			readers.Go(func() {
				last := 0
				for {
					v, err := look(db.Apps(), "app")
					if err != nil || v < last {
						t.Errorf("version %d after version %d: %v", v, last, err)
						return
					}
					last = v
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if v, err := look(two.Apps(), "app"); err != nil || int(v) != 4*rounds {
		t.Errorf("version %d in the end, want %d: %v", v, 4*rounds, err)
	}
}

// A commit of this process leaves in the cache what it did not touch.
func TestOwnCommitsKeepTheCache(t *testing.T) {
	db := openTest(t, nil)
	s := db.Apps()
	for _, id := range []string{"a", "b"} {
		if _, err := nextVersion(s, id); err != nil {
			t.Fatal(err)
		}
		if _, err := look(s, id); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := nextVersion(s, "b"); err != nil {
			t.Fatal(err)
		}
		at, ok := db.cache.state()
		if !ok {
			t.Fatal("the cache is of another state")
		}
		for _, key := range []any{headKey("a"), versionKey{"a", vitrine.Latest}, tagsKey("a"), headKey("b"), versionKey{"b", vitrine.Latest}} {
			if _, found := db.cache.get(key, at); !found {
				t.Errorf("%T %v is no longer in the cache", key, key)
			}
		}
		if _, found := db.cache.get(tagsKey("b"), at); found {
			t.Error("the tags of b are still in the cache")
		}
	}
}

// What is cached is read without a connection.
func TestCachedReadsTouchNoConnection(t *testing.T) {
	db := openTest(t, nil)
	s := db.Apps()
	for range 2 {
		if _, err := nextVersion(s, "a"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := look(s, "a"); err != nil {
		t.Fatal(err)
	}
	db.readers.dial = func() (*conn, error) { return nil, io.ErrUnexpectedEOF }
	for _, c := range db.readers.idle {
		c.close()
	}
	db.readers.idle = nil
	if _, err := look(s, "a"); err != nil {
		t.Error(err)
	}
	ctx := context.Background()
	err := s.View(ctx, func(r appsvc.Reader) error { _, err := r.App(ctx, "a", vitrine.NewVersion(0)); return err })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an old version, which is not cached: %v", err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	const limit = 100 << 10
	db := openTest(t, &Options{Cache: 2 * limit}) // the other half is for assets
	s := db.Apps()
	for i := range 200 {
		h, body := benchApp(fmt.Sprint(i), 0, 5<<10)
		addApp(t, s, h, body)
	}
	h, body := benchApp("big", 0, 50<<10)
	addApp(t, s, h, body)
	if size := db.cache.values.Size(); size > limit || size < limit/2 {
		t.Errorf("%d bytes are cached, of %d", size, limit)
	}
	if _, found := db.cache.get(versionKey{"big", vitrine.Latest}, db.cache.at); found {
		t.Error("one body takes half of the cache")
	}
}
