package appsvc_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// largePages are pairs of versions that are costly to compare.
func largePages() map[string][2]page {
	r := rand.New(rand.NewPCG(1, 1))
	objects := func() page {
		p := newPage()
		for range 1000 {
			var members []string
			for m := range 380 {
				members = append(members, fmt.Sprintf(`"member number %d":"%016x"`, m, r.Uint64()))
			}
			p.elements = append(p.elements, anyElement("{"+strings.Join(members, ",")+"}"))
		}
		return p
	}
	list := func(text func() string) page {
		var b strings.Builder
		for b.Len() < 15<<20 {
			b.WriteString(text())
			b.WriteByte(',')
		}
		return newPage(anyElement(`{"list":[` + b.String() + `0]}`))
	}
	small := func() page {
		p := newPage()
		for i := range 1000 {
			p.elements = append(p.elements,
				anyElement(fmt.Sprintf(`{"a":%d,"b":%d,"c":"%x"}`, i%3, r.IntN(5), r.Uint64())))
		}
		return p
	}
	nested := func(n int) page {
		config := `{"text":"` + strings.Repeat("x", 14<<20) + fmt.Sprintf(`","n":%d}`, n)
		for range 50 {
			config = `{"a":` + config + `}`
		}
		return newPage(anyElement(config))
	}
	members := func() page {
		var b strings.Builder
		for b.Len() < 15<<20 {
			fmt.Fprintf(&b, `"%x":1,`, r.Uint64())
		}
		return newPage(anyElement("{" + b.String() + `"a":1}`))
	}
	shuffled := func() page {
		p := newPage()
		for i := range 1000 {
			p.elements = append(p.elements,
				anyElement(fmt.Sprintf(`{"a":%d,"text":"%s"}`, i, strings.Repeat("x", 16000))))
		}
		r.Shuffle(1000, func(i, j int) { p.elements[i], p.elements[j] = p.elements[j], p.elements[i] })
		return p
	}
	digits := func() string { return fmt.Sprint(r.IntN(10)) }
	words := func() string { return fmt.Sprint(r.Uint32()) }
	return map[string][2]page{
		"objects": {objects(), objects()}, "digits": {list(digits), list(digits)}, "words": {list(words), list(words)},
		"small": {small(), small()}, "nested": {nested(1), nested(2)}, "members": {members(), members()},
		"shuffled": {shuffled(), shuffled()},
	}
}

// BenchmarkDiffOfLargeVersions compares versions of up to 16 MiB, as large as an app can be, that differ everywhere.
func BenchmarkDiffOfLargeVersions(b *testing.B) {
	ctx := context.Background()
	for name, pair := range largePages() {
		s := appsvc.New(memory.New(),
			&appsvc.Options{Limits: appsvc.Limits{PatchBytes: 64 << 20, DocumentBytes: 64 << 20}})
		if _, err := s.As(designer).CreateComponent(ctx,
			appsvc.CreateComponentRequest{
				Manifest: strings.NewReader(
					`{"name":"any","version":"1","main":"/any.js","configSchema":{}}`)}); err != nil {
			b.Fatal(err)
		}
		app, err := s.As(designer).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}, Elements: pair[0].elements})
		if err != nil {
			b.Fatal(name, err)
		}
		if _, err = s.As(designer).Patch(ctx, app.ID, bytes.NewReader(pair[1].replacing(app, pair[0]))); err != nil {
			b.Fatal(name, err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := s.As(designer).Diff(ctx, app.ID, vitrine.NewVersion(0), vitrine.NewVersion(1))
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
