package main

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// mutated changes one line of an archive, by what another one has, or takes it out.
func mutated(lines []string, random *rand.Rand) []string {
	out := slices.Clone(lines)
	i, j := 1+random.IntN(len(out)-1), 1+random.IntN(len(out)-1)
	key, value, _ := strings.Cut(out[i], `,"value`)
	switch random.IntN(6) {
	case 0:
		return slices.Delete(out, i, i+1)
	case 1: // the value of another one
		_, other, _ := strings.Cut(out[j], `,"value`)
		out[i] = key + `,"value` + other
	case 2: // a key like it
		at := len(key) - 1 - random.IntN(min(10, len(key)-8))
		out = append(out, key[:at]+string(rune('0'+random.IntN(70)))+key[at+1:]+`,"value`+value)
	case 3: // a shorter key
		at := strings.LastIndexByte(key, ' ')
		out = append(out, key[:at]+`","value`+value)
	default: // another byte in the value
		at := 1 + random.IntN(len(value)-3)
		out[i] = key + `,"value` + value[:at] + string("0123459abcAZ/\"[]{}, "[random.IntN(20)]) + value[at+1:]
	}
	slices.SortFunc(out[1:], func(a, b string) int { return strings.Compare(keyIn(a), keyIn(b)) })
	return out
}

func keyIn(line string) string {
	_, key, _ := strings.Cut(line, `":"`)
	key, _, _ = strings.Cut(key, `","value`)
	return key
}

// However a line of an archive is changed: what is accepted can be read, and what is refused is refused with a reason.
func TestAcceptedArchivesCanBeRead(t *testing.T) {
	ctx, random := t.Context(), rand.New(rand.NewPCG(1, 2))
	s := memory.New()
	defer s.Close()
	if _, err := newDemo(ctx, &program{}, s, demoPeople(t, s), "http://demo.test", "/"); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := archive.Export(ctx, s, &text, notArchived(false)); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(text.String(), "\n")
	lines = lines[:len(lines)-2]
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	accepted := 0
	for range 30 {
		damaged := resummed(strings.Join(mutated(lines, random), "") + `{"entries":`)
		into := memory.New()
		if _, _, err := fillStore(ctx, into, bufio.NewReader(strings.NewReader(damaged))); err != nil {
			_ = into.Close()
			continue
		}
		accepted++
		apps, library, stored := appsvc.New(into, nil).As(by), assets.New(into, nil).As(by), reviews.New(into, nil)
		for a, err := range apps.AllApps(ctx, appsvc.ListAppsRequest{}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range apps.AllVersions(ctx, appsvc.ListVersionsRequest{AppID: a.ID}) {
				if err != nil {
					t.Error(err)
				}
			}
			for _, err := range apps.AllTags(ctx, appsvc.ListTagsRequest{AppID: a.ID}) {
				if err != nil {
					t.Error(err)
				}
			}
		}
		for _, err := range library.AllAssets(ctx, demoLibrary, assets.SearchRequest{Query: "harbour"}) {
			if err != nil {
				t.Error(err)
			}
		}
		if err := stored.As(operator).Export(ctx, demoLibrary.Network, io.Discard); err != nil {
			t.Error(err)
		}
		_ = into.Close()
	}
	t.Logf("%d were accepted", accepted)
}
