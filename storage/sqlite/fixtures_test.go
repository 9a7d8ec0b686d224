package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// benchApp is an app of about size bytes.
func benchApp(id string, v, size int) (appsvc.Head, appsvc.Body) {
	h := appsvc.Head{
		Meta: appsvc.Meta{
			ID: id, Version: vitrine.NewVersion(v), Owner: "urn:vitrine:example.test:user=owner",
			CreatedAt: 1_700_000_000_000, UpdatedAt: 1_700_000_000_000 + 2000*int64(v), UpdatedBy: "urn:vitrine:example.test:user=editor",
		},
		Groups:     []string{"urn:vitrine:example.test:site=1"},
		Components: []string{"card"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var body strings.Builder
	body.WriteString(`{"title":"t","owner":{"urn":"urn:vitrine:example.test:user=owner"},"groups":["urn:vitrine:example.test:site=1"],"elements":[`)
	for i := 0; body.Len() < size-200; i++ {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"id":"%d","component":{"name":"card","version":"1.0.%d"},"config":{"title":"%x","color":"#%06x","width":%d}}`,
			i, i%7, rng.Uint64(), rng.IntN(1<<24), rng.IntN(4000))
	}
	fmt.Fprintf(&body, `,{"id":"last","component":{"name":"card","version":"1.0.0"},"config":{"text":"%x"}}]}`, rng.Uint64())
	return h, appsvc.Body(body.String())
}

// autosave changes one field of a body: eight hexadecimal digits in its middle.
func autosave(body appsvc.Body, v int) appsvc.Body {
	next := bytes.Clone(body)
	at := bytes.Index(next[len(next)/2:], []byte(`"title":"`)) + len(next)/2 + len(`"title":"`)
	copy(next[at:], fmt.Sprintf("%08x", rand.New(rand.NewPCG(uint64(v), 7)).Uint32()))
	return next
}

func addApp(tb testing.TB, s appsvc.Store, h appsvc.Head, body appsvc.Body) {
	tb.Helper()
	ctx := context.Background()
	if err := s.Update(ctx, func(t appsvc.Tx) error { return t.AddVersion(ctx, h, body) }); err != nil {
		tb.Fatal(err)
	}
}
