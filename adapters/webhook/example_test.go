package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// verify reports whether a delivery was signed with the secret, and is no older than five minutes. It is what the
// libraries of Standard Webhooks do. A receiver also remembers the ids of recent deliveries: the same id is the same
// change.
func verify(secret string, header http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	seconds, wrong := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || wrong != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), seconds, body)
	for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
		version, text, _ := strings.Cut(signature, ",")
		if given, err := base64.StdEncoding.DecodeString(text); version == "v1" && err == nil &&
			hmac.Equal(given, mac.Sum(nil)) {
			return true
		}
	}
	return false
}

// A receiver purges a cache when the tag production moves. It verifies each delivery, and answers 204.
func Example_receiver() {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	purged := make(chan string)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || !verify(secret, r.Header, body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var change struct {
			Type string
			Data struct{ App, Tag, To string }
		}
		if err := json.Unmarshal(body, &change); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if change.Data.Tag == "production" {
			purged <- "version " + change.Data.To + " is in production"
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer receiver.Close()

	endpoints, err := webhook.Parse(
		[]byte(`[{"name": "cdn", "url": "` + receiver.URL + `", "secret": "` + secret + `", "types": ["tag.set"]}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	db := memory.New()
	apps := appsvc.New(db, nil)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	d := webhook.New(db, webhook.Services{Apps: apps}, &webhook.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, // the receiver is on this machine
	})
	if err := d.Set(ctx, endpoints); err != nil {
		fmt.Println(err)
		return
	}
	go d.Run(ctx)

	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	app, err := apps.As(me).CreateApp(ctx, appsvc.CreateAppRequest{Title: "Front page", Groups: me.Moderates})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := apps.As(me).PutTag(ctx,
		appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-purged)
	// Output: version 0 is in production
}
