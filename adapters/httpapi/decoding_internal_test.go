package httpapi

import (
	"bytes"
	"image"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What decoding takes comes from the memory of large requests, and is given back when the renditions are made.
// Meanwhile the upload has a MiB, and leaves room for requests of others.
func TestDecodingTakesTheMemoryOfLargeRequests(t *testing.T) {
	var picture bytes.Buffer // which takes about 9 MiB
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 2000, 1000)), nil); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		made, err := New(Config{Assets: assets.New(memory.New(), nil), Limits: Limits{Memory: 16 * slotBytes},
			Authenticate: func(*http.Request) (Principal, error) {
				return Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=ann",
					Moderates: []string{"urn:vitrine:example.test"}}}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		h := made.(*handler)
		upload := func() (*httptest.ResponseRecorder, time.Duration) {
			begun, w := time.Now(), httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("POST",
				"/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test/files",
				bytes.NewReader(picture.Bytes())))
			return w, time.Since(begun)
		}
		others := taken(t, h.large, "others", "", 8)
		for seconds, want := range map[time.Duration]int{2: 9, 4: 10} { // 8 others', 1 of the upload, and 1 of ben's
			time.AfterFunc(seconds*time.Second, func() {
				if seconds == 4 {
					taken(t, h.large, "ben", "", 1)
				}
				if used := h.large.inUse(); used != want {
					t.Errorf("%d MiB are in use while a picture waits, want %d", used, want)
				}
			})
		}
		if w, took := upload(); w.Code != http.StatusServiceUnavailable || took != 10*time.Second ||
			!strings.Contains(w.Body.String(), "no memory to decode") {
			t.Errorf("without memory: %d %s after %v", w.Code, w.Body, took)
		}
		if used := h.large.inUse(); used != 9 {
			t.Errorf("after a refused upload %d MiB are in use, want 9", used)
		}
		time.AfterFunc(3*time.Second, func() { others.keep(0) })
		if w, took := upload(); w.Code != http.StatusOK || took != 3*time.Second ||
			!strings.Contains(w.Body.String(), `"widths":[320,640,1280]`) {
			t.Errorf("when there is memory: %d %s after %v", w.Code, w.Body, took)
		}
		if used := h.large.inUse(); used != 1 {
			t.Errorf("after an upload %d MiB are in use, want ben's", used)
		}
	})
}
