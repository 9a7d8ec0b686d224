package s3files_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/s3files"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func ExampleOpen() {
	backend := s3mem.New()
	server := httptest.NewServer(gofakes3.New(backend).Server()) // in place of a server of S3
	defer server.Close()
	_ = backend.CreateBucket("photos")

	ctx := context.Background()
	files, err := s3files.Open(ctx, "s3://photos?region=eu-central-1&endpoint="+server.URL,
		s3files.Keys{ID: "id", Secret: "secret"})
	if err != nil {
		fmt.Println(err)
		return
	}
	svc := assets.New(memory.New(), &assets.Options{Files: files})
	me := vitrine.Caller{URN: "urn:vitrine:n.test:user=me", Moderates: []string{"urn:vitrine:n.test"}}
	_, err = svc.As(me).Upload(ctx, assets.Library{Network: "n.test", ID: "n.test"},
		assets.UploadRequest{Name: "plan.pdf"}, strings.NewReader("%PDF-1.7\n"))
	n := 0
	for range files.List(ctx) {
		n++
	}
	fmt.Println("objects:", n, err)
	// Output: objects: 1 <nil>
}
