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

// Uploads, replacements and removals are killed. What was acknowledged is served whole, a response is never a part of
// a file or of two, and the records of the store agree.
func TestFilesAndKills(t *testing.T) { filesAndKills(t) }

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
	filesAndKills(t, env...)
	list, err := backend.ListBucket("photos", nil, gofakes3.ListBucketPage{})
	if err != nil || len(list.Contents) == 0 {
		t.Errorf("the bucket has %d objects, %v: this shows nothing", len(list.Contents), err)
	}
}

// filesAndKills kills servers with env in their environment.
func filesAndKills(t *testing.T, env ...string) {
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
	db := filepath.Join(t.TempDir(), "files.db")
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
		server.Kill()
		cancel()
		all.Wait()
		if err := checkInvariants(t.Context(), binary, db); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d acknowledged changes, %d whole responses", kills, acknowledged.Load(), served.Load())
	if acknowledged.Load() < int64(kills) || served.Load() == 0 {
		t.Error("hardly anything was written: this shows nothing")
	}
}

// fileWriter uploads one file, replaces and removes it, again and again.
type fileWriter struct {
	name string

	mu      sync.Mutex
	asset   assets.Asset // as of the last acknowledged change; it has no id before the first one
	version int          // of its bytes
	doubt   bool         // the change after it has no response
}

// bytes are those of a version, of 0 to 3 MiB.
func (w *fileWriter) bytes(version int) []byte {
	return append([]byte("%PDF-1.7\n"),
		bytes.Repeat([]byte(fmt.Sprintf("%s%09d", w.name, version)), version*7919%314573)...)
}

// address returns the path of the file, as of the last acknowledged change.
func (w *fileWriter) address() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var in struct {
		Content struct {
			Attachment []struct{ URL struct{ Href string } }
		}
	}
	if w.asset.ID == "" || json.Unmarshal(w.asset.Body, &in) != nil {
		return "/x/file/" + strings.Repeat("0", 32) + "/x"
	}
	path, _, _ := strings.Cut(in.Content.Attachment[0].URL.Href, "?")
	return path
}

// step makes the next change: an upload, three replacements, and a removal.
func (w *fileWriter) step(c *remote.Assets) error {
	lib, ctx := assets.Library{Network: network, ID: network}, context.Background()
	var a assets.Asset
	var err error
	switch body := bytes.NewReader(w.bytes(w.version + 1)); {
	case w.asset.ID == "":
		a, err = c.Upload(ctx, lib, assets.UploadRequest{Name: w.name, Size: body.Size()}, body)
	case w.version%5 == 4:
		_, err = c.ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Remove: []string{w.asset.ID}})
	default:
		a, err = c.ReplaceFile(ctx, lib,
			assets.ReplaceFileRequest{Asset: w.asset.ID, IfMatch: w.asset.ETag(), Size: body.Size()}, body)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doubt = err != nil; err == nil {
		w.asset, w.version = a, w.version+1
	}
	return err
}

// settle holds a server that nobody writes to against what the writer knows, and finds out what became of a change
// without a response.
func (w *fileWriter) settle(c *remote.Assets, url string) error {
	lib, ctx := assets.Library{Network: network, ID: network}, context.Background()
	known := w.asset.ID
	page, err := c.Search(ctx, lib, assets.SearchRequest{Query: w.name, In: []string{"attachments"}})
	if err != nil {
		return err
	}
	have := ""
	var present assets.Asset
	if len(page.Assets) > 1 {
		return fmt.Errorf("%s has %d assets", w.name, len(page.Assets))
	}
	for _, a := range page.Assets {
		have, present = a.ID, a
	}
	switch {
	case have != known && !w.doubt:
		return Lost("%s is the asset %q, want %q", w.name, have, known)
	case have == "":
		if _, err := fetch(url, w.address()); err == nil || errors.Is(err, errHalf) {
			return fmt.Errorf("the file of a removed asset: %w", err)
		}
		if known != "" {
			w.version++
		}
		w.asset, w.doubt = assets.Asset{}, false
		return nil
	}
	before := w.asset
	w.asset = present
	body, err := fetch(url, w.address())
	if err != nil {
		return fmt.Errorf("%s, version %d: %w", w.name, w.version, err)
	}
	switch {
	case known != "" && bytes.Equal(body, w.bytes(w.version)):
	case w.doubt && bytes.Equal(body, w.bytes(w.version+1)):
		w.version++
	default:
		return Lost("%s has other bytes than those of version %d (in doubt: %t, was %q)", w.name, w.version, w.doubt,
			before.ID)
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
