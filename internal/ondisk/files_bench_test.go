package ondisk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
)

// pdfOf is a file that is stored as it is, of about this size.
func pdfOf(size int) []byte {
	return append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("0123456789abcdef"), size/16)...)
}

// BenchmarkFileServed reads a file over HTTP from SQLite, beside the same bytes from http.FileServer. Run it with -cpu
// 1.
func BenchmarkFileServed(b *testing.B) {
	for _, size := range []int{50 << 10, 5 << 20} {
		db, dir := open(b)
		svc, body := assets.New(db, nil), pdfOf(size)
		a, err := svc.As(moderator).Upload(ctx, lib, assets.UploadRequest{Name: "a"}, bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		var in struct{ Content struct{ ID string } }
		if err := json.Unmarshal(a.Body, &in); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a"), body, 0o600); err != nil {
			b.Fatal(err)
		}
		h, err := httpapi.New(httpapi.Config{Assets: svc,
			Authenticate: func(*http.Request) (httpapi.Principal, error) { return httpapi.Principal{}, nil }})
		if err != nil {
			b.Fatal(err)
		}
		for name, on := range map[string]struct {
			handler http.Handler
			path    string
		}{"vitrine": {h, "/x/file/" + in.Content.ID + "/a"}, "bare": {http.FileServer(http.Dir(dir)), "/a"}} {
			b.Run(fmt.Sprintf("%dK/%s", size>>10, name), func(b *testing.B) {
				s := httptest.NewServer(on.handler)
				defer s.Close()
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					r, err := http.Get(s.URL + on.path)
					if err != nil {
						b.Fatal(err)
					}
					n, err := io.Copy(io.Discard, r.Body)
					if r.Body.Close(); err != nil || n != int64(len(body)) {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}

// BenchmarkFileUploaded stores files that are not decoded, beside a loop that writes the same chunks.
func BenchmarkFileUploaded(b *testing.B) {
	for _, size := range []int{50 << 10, 5 << 20} {
		body := pdfOf(size)
		b.Run(fmt.Sprintf("%dK/vitrine", size>>10), func(b *testing.B) {
			db, _ := open(b)
			svc := assets.New(db, nil)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := svc.As(moderator).Upload(ctx, lib, assets.UploadRequest{},
					bytes.NewReader(body)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%dK/bare", size>>10), func(b *testing.B) {
			db, _ := open(b)
			b.SetBytes(int64(len(body)))
			for i := 0; b.Loop(); i++ {
				for at := 0; at < len(body); at += 1 << 20 {
					err := db.Update(ctx, "raw", storage.UpdateOptions{Large: true}, func(t storage.Tx) error {
						return t.Put(ctx, storage.Entry{Key: fmt.Sprintf("raw %d %d", i, at),
							Value: bytes.Clone(body[at:min(at+1<<20, len(body))])})
					})
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkPatchBesideUploads patches apps with 32 clients, alone and while others upload 1,000 files of 300 KB.
func BenchmarkPatchBesideUploads(b *testing.B) {
	for _, uploads := range []int{0, 1000} {
		b.Run(fmt.Sprint(uploads), func(b *testing.B) {
			db, _ := open(b)
			s, apps := assets.New(db, nil), appsvc.New(db, nil)
			stop, done := context.WithCancel(ctx)
			var uploading, patching sync.WaitGroup
			left := make(chan struct{}, uploads)
			for range uploads {
				left <- struct{}{}
			}
			close(left)
			for range 4 {
				uploading.Go(func() {
					for range left {
						if _, err := s.As(moderator).Upload(ctx, lib, assets.UploadRequest{},
							bytes.NewReader(pdfOf(300<<10))); err != nil {
							b.Error(err)
						}
					}
				})
			}
			var mu sync.Mutex
			var took []time.Duration
			for c := range 32 {
				app, err := apps.As(moderator).CreateApp(ctx,
					appsvc.CreateAppRequest{Title: strings.Repeat("x", 1000), Groups: []string{network}})
				if err != nil {
					b.Fatal(err)
				}
				patching.Go(func() {
					for i := 0; stop.Err() == nil; i++ {
						begun := time.Now()
						if _, err := apps.As(vitrine.Caller{URN: moderator.URN,
							Moderates: moderator.Moderates}).Edit(ctx,
							app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
								p.SetTitle(fmt.Sprint(c, " ", i))
								return nil
							}); err != nil {
							b.Error(err)
						}
						mu.Lock()
						took = append(took, time.Since(begun))
						mu.Unlock()
					}
				})
			}
			begun := time.Now()
			if uploads == 0 {
				time.Sleep(5 * time.Second)
			}
			uploading.Wait()
			b.ReportMetric(time.Since(begun).Seconds(), "s")
			done()
			patching.Wait()
			for b.Loop() { // it ran once, for as long as the uploads did
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "99th-ms")
			b.ReportMetric(float64(len(took)), "patches")
		})
	}
}
