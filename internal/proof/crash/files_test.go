//go:build proof

package crash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/vitrine-go/vitrine"
	remote "github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// Uploads, replacements, removals and purges are killed, and so is the erasing of bytes afterwards. What was
// acknowledged is served whole, a response is never a part of a file or of two, and the records of the store agree.
// Soon after the last start no file of the store has bytes that were replaced or removed.
func TestFilesAndKills(t *testing.T) {
	db := filepath.Join(t.TempDir(), "files.db")
	filesAndKills(t, db, func() (all []byte) {
		names, err := filepath.Glob(db + "*")
		for _, name := range names {
			content, failed := os.ReadFile(name)
			all, err = append(all, content...), errors.Join(err, failed)
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	})
}

// The same holds for bytes in a bucket of S3.
func TestBucketFilesAndKills(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("photos"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	defer server.Close()
	env := []string{"VITRINE_FILES=s3://photos?region=x&endpoint=" + server.URL, "AWS_ACCESS_KEY_ID=id",
		"AWS_SECRET_ACCESS_KEY=secret"}
	for _, one := range env { // of vitrine check
		name, value, _ := strings.Cut(one, "=")
		t.Setenv(name, value)
	}
	filesAndKills(t, filepath.Join(t.TempDir(), "files.db"), func() (all []byte) {
		list, err := backend.ListBucket("photos", nil, gofakes3.ListBucketPage{})
		if err != nil || len(list.Contents) == 0 {
			t.Fatalf("the bucket has %d objects, %v: this shows nothing", len(list.Contents), err)
		}
		for _, c := range list.Contents {
			if object, err := backend.GetObject("photos", c.Key, nil); err == nil { // else it was deleted meanwhile
				content, _ := io.ReadAll(object.Contents)
				all = append(all, content...)
			}
		}
		return all
	}, env...)
}

// filesAndKills kills servers with env in their environment. stored returns all bytes that are kept.
func filesAndKills(t *testing.T, db string, stored func() []byte, env ...string) {
	kills := *wantedKills
	if kills == 0 {
		kills = 6
	}
	binary, err := program.Build{Module: module, Package: "./examples/vitrine"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Sign(
		httpapi.Principal{Caller: vitrine.Caller{URN: urn + ":user=files", Moderates: []string{urn}}},
		time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	writers := []*fileWriter{{name: "a"}, {name: "b"}, {name: "c"}}
	var acknowledged, served atomic.Int64
	for kill := range kills + 1 {
		server, err := program.StartServer(append(slices.Clone(env), "VITRINE_KEY="+signingKey), binary, "serve",
			"-addr",
			"127.0.0.1:0",
			"-db", db)
		if err != nil {
			t.Fatal(err)
		}
		c, err := remote.New(remote.Config{URL: server.URL, Token: remote.Static(token), Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range writers {
			if err := w.settle(c.Assets, server.URL); err != nil {
				t.Fatalf("after %d kills: %v", kill, err)
			}
		}
		stop, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, w := range writers {
			all.Go(func() {
				for kill < kills && w.step(c.Assets) == nil {
					acknowledged.Add(1)
				}
			})
		}
		all.Go(func() {
			for stop.Err() == nil && kill < kills {
				for _, w := range writers {
					_, err := fetch(server.URL, w.address())
					switch {
					case err == nil:
						served.Add(1)
					case errors.Is(err, errHalf):
						t.Errorf("beside writes: %v", err)
					}
				}
			}
		})
		time.Sleep(time.Duration(100+rand.IntN(700)) * time.Millisecond)
		for end := time.Now().Add(time.Minute); kill == kills; time.Sleep(time.Second) {
			left := unerased(writers, stored())
			if len(left) == 0 {
				break
			} else if time.Now().After(end) {
				t.Fatalf("after a minute these bytes are kept, which were replaced or removed: %q", left)
			}
		}
		server.Kill()
		cancel()
		all.Wait()
		if err := checkInvariants(t.Context(), binary, db); err != nil {
			t.Fatal(err)
		}
	}
	erased := 0
	for _, w := range writers {
		erased += len(w.erased)
		if w.asset.ID != "" && !bytes.Contains(stored(), []byte(w.mark(w.version))) {
			t.Errorf("%s is not found in what is kept: this shows nothing", w.name)
		}
	}
	t.Logf("%d kills, %d acknowledged changes, %d whole responses, %d files erased", kills, acknowledged.Load(),
		served.Load(), erased)
	if acknowledged.Load() < int64(kills) || served.Load() == 0 {
		t.Error("hardly anything was written: this shows nothing")
	}
}

// unerased returns what is in the store of bytes that were replaced or removed.
func unerased(writers []*fileWriter, stored []byte) (left []string) {
	for _, w := range writers {
		for _, version := range w.erased {
			if mark := w.mark(version); bytes.Contains(stored, []byte(mark)) {
				left = append(left, mark)
			}
		}
	}
	return left
}

// fileWriter uploads one file, replaces it, and removes it or purges its folder, again and again.
type fileWriter struct {
	name string

	mu      sync.Mutex
	asset   assets.Asset // as of the last acknowledged change; it has no id before the first one
	folder  string       // that it is in
	version int          // of its bytes
	next    int          // of those of the last change
	doubt   bool         // which has no response
	erased  []int        // versions that were replaced or removed
}

// mark is what the bytes of a version consist of.
func (w *fileWriter) mark(version int) string { return fmt.Sprintf("%s%09d", w.name, version) }

// bytes are those of a version, up to 3 MiB.
func (w *fileWriter) bytes(version int) []byte {
	return []byte("%PDF-1.7\n" + strings.Repeat(w.mark(version), 1+version*7919%314573))
}

// becomes notes the present asset, whose bytes are those of a version.
func (w *fileWriter) becomes(a assets.Asset, version int) {
	if w.asset.ID != "" && (a.ID == "" || version != w.version) {
		w.erased = append(w.erased, w.version)
	}
	w.asset, w.version = a, version
}

// address returns the path of the file, as of the last acknowledged change.
func (w *fileWriter) address() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return addressOf(w.asset)
}

func addressOf(a assets.Asset) string {
	var in struct {
		Content struct {
			Attachment []struct{ URL struct{ Href string } }
		}
	}
	if a.ID == "" || json.Unmarshal(a.Body, &in) != nil {
		return "/x/file/" + strings.Repeat("0", 32) + "/x"
	}
	path, _, _ := strings.Cut(in.Content.Attachment[0].URL.Href, "?")
	return path
}

// step makes the next change: an upload, some replacements, and a removal.
func (w *fileWriter) step(c *remote.Assets) error {
	lib, ctx := assets.Library{Network: network, ID: network}, context.Background()
	var a assets.Asset
	var err error
	w.next++
	switch body := bytes.NewReader(w.bytes(w.next)); {
	case w.asset.ID == "":
		var made assets.ChangedFolders
		made, err = c.ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: w.name}}})
		if err == nil {
			w.folder = made.Folders[0].ID
			a, err = c.Upload(ctx, lib,
				assets.UploadRequest{Name: w.name, Folders: []string{w.folder}, Size: body.Size()}, body)
		}
	case w.next%10 == 4:
		_, err = c.ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Remove: []string{w.asset.ID}})
	case w.next%10 == 9:
		err = w.purge(c)
	default:
		a, err = c.ReplaceFile(ctx, lib,
			assets.ReplaceFileRequest{Asset: w.asset.ID, IfMatch: w.asset.ETag(), Size: body.Size()}, body)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doubt = err != nil; err == nil {
		w.becomes(a, w.next)
	}
	return err
}

// purge removes the folder for good, and the file with it. After a part of it was done it does the rest.
func (w *fileWriter) purge(c *remote.Assets) error {
	lib, folder := assets.Library{Network: network, ID: network}, []string{w.folder}
	_, err := c.ChangeFolders(context.Background(), lib, assets.ChangeFoldersRequest{Delete: folder, Purge: folder})
	if errors.Is(err, vitrine.ErrNotFound) { // it is deleted already
		_, err = c.ChangeFolders(context.Background(), lib, assets.ChangeFoldersRequest{Purge: folder})
	}
	if errors.Is(err, vitrine.ErrNotFound) {
		return nil
	}
	return err
}

// settle holds a server that nobody writes to against what the writer knows, and finds out what became of a change
// without a response.
func (w *fileWriter) settle(c *remote.Assets, url string) error {
	lib, ctx := assets.Library{Network: network, ID: network}, context.Background()
	known := w.asset.ID
	if w.doubt && known != "" && w.next%10 == 9 {
		if err := w.purge(c); err != nil {
			return err
		}
	}
	page, err := c.Search(ctx, lib, assets.SearchRequest{Query: w.name, In: []string{"attachments"}})
	if err != nil {
		return err
	}
	var present assets.Asset
	if len(page.Assets) > 1 {
		return fmt.Errorf("%s has %d assets", w.name, len(page.Assets))
	}
	for _, a := range page.Assets {
		present = a
	}
	switch {
	case present.ID != known && !w.doubt:
		return Lost("%s is the asset %q, want %q", w.name, present.ID, known)
	case present.ID == "":
		if _, err := fetch(url, w.address()); err == nil || errors.Is(err, errHalf) {
			return fmt.Errorf("the file of a removed asset: %w", err)
		}
		w.becomes(present, w.next)
		w.doubt = false
		return nil
	}
	body, err := fetch(url, addressOf(present))
	switch {
	case err != nil:
		return fmt.Errorf("%s, version %d: %w", w.name, w.version, err)
	case known != "" && bytes.Equal(body, w.bytes(w.version)):
		w.becomes(present, w.version)
	case w.doubt && bytes.Equal(body, w.bytes(w.next)):
		w.becomes(present, w.next)
	default:
		return Lost("%s has other bytes than those of version %d (in doubt: %t, was %q)", w.name, w.version, w.doubt,
			known)
	}
	w.doubt = false
	return nil
}

var errHalf = errors.New("the response is not what its ETag names")

// fetch reads a file. Each ETag begins with the SHA-256 of the bytes.
func fetch(url, path string) ([]byte, error) {
	r, err := http.Get(url + path)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	switch {
	case err != nil:
		return nil, err
	case r.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d", r.StatusCode)
	case r.Header.Get("Etag") != fmt.Sprintf(`"%x"`, sum[:8]):
		return nil, fmt.Errorf("%w: %d bytes of %s, %s", errHalf, len(body), path, r.Header.Get("Etag"))
	}
	return body, nil
}
