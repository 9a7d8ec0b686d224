package reviews_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
)

var windows = flag.Int("windows", 5, "how far apart the ends of TestWindowsAgreeWithTheOracle are")

// agree compares what Check finds in a line with what the oracle finds.
func agree(t *testing.T, line []byte, o *reviews.ReadOptions) {
	t.Helper()
	if bytes.IndexByte(line, '\n') >= 0 || bytes.HasPrefix(line, []byte("\xef\xbb\xbf")) ||
		bytes.HasPrefix(line, []byte("\x1f\x8b")) {
		return // these have a meaning for the file
	}
	got, want := withoutFileWarnings(check(t, line, o)), judgeLine(line, 1, 0)
	// of the file; a line with a record before it is judged by itself
	if len(got) == 1 && strings.HasPrefix(got[0].Rule, "file-") {
		got = nil
		for _, p := range withoutFileWarnings(check(t, slices.Concat([]byte("{}\n"), line), o)) {
			if p.Line--; p.Line > 0 {
				p.Offset -= 3
				got = append(got, p)
			}
		}
	}
	for i := range got {
		p := &got[i]
		if column, value := whereAndWhat(line, p.Offset, p.Rule); p.Column != column || p.Value != value {
			t.Errorf("%q: %+v\nwant column %d and value %q", line, *p, column, value)
		}
		p.Message, p.Severity, p.Column, p.Value = "", "", 0, ""
	}
	for _, p := range slices.Concat(refs(got), refs(want)) {
		switch {
		case p.Rule == "json" || p.Rule == "json-depth" || p.Rule == "utf-8":
			p.Collection, p.Review = "", "" // as far as they were read
			if p.Rule == "utf-8" && onlyUTF8(line) {
				break
			}
			p.Rule, p.Offset = "json", 0 // the tokenizers put it differently, and see another fault first
		case p.Rule == "body-html":
			p.Offset = -1
		}
	}
	order := func(a, b reviews.Problem) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Offset, b.Offset))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("%q\n   got %+v\noracle %+v", line, got, want)
	}
}

func refs(list []reviews.Problem) (out []*reviews.Problem) {
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

// onlyUTF8 says whether a line is JSON but for bytes that are no UTF-8.
func onlyUTF8(line []byte) bool {
	return jsontext.Value(bytes.ToValidUTF8(line, []byte("?"))).IsValid(jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
}

func TestCheckAgreesWithTheOracle(t *testing.T) {
	var lines [][]byte
	for _, s := range samples(t) {
		lines = append(lines, bytes.Split(s.text, []byte("\n"))...)
	}
	r := rand.New(rand.NewPCG(7, 7))
	rounds := 2000
	if proof.Short() {
		rounds = 300
	}
	for i := range rounds {
		line := randomCollection(r, fmt.Sprintf("1-%d", i))
		for range r.IntN(4) {
			line = damage(r, line)
		}
		data := []byte(line)
		if n := r.IntN(6); n < 3 && len(data) > 0 {
			at := r.IntN(len(data))
			switch n {
			case 0:
				data = data[:at]
			case 1:
				data[at] = byte(r.IntN(256))
			case 2:
				data = slices.Insert(data, at, "\"\\{}[],:0e\x00\x80<&"[r.IntN(14)])
			}
		}
		lines = append(lines, data)
	}
	for _, line := range lines {
		agree(t, line, nil)
		agree(t, line, reviews.WithBuffer(reviews.ReadOptions{}, 32+r.IntN(400)))
		if t.Failed() {
			return
		}
	}
}

// Wherever the window ends, the same is found. Every end: go test ./reviews -run Windows -args -windows 1
func TestWindowsAgreeWithTheOracle(t *testing.T) {
	step := *windows
	if proof.Short() {
		step = 41
	}
	first := 0
	for _, s := range samples(t) {
		for line := range bytes.SplitSeq(s.text, []byte("\n")) {
			first = (first + 1) % step // so that alike lines are cut in other places
			for n := 32 + first; n < min(len(line), 500) && !t.Failed(); n += step {
				agree(t, line, reviews.WithBuffer(reviews.ReadOptions{}, n))
			}
		}
	}
}

func FuzzRecord(f *testing.F) {
	for _, s := range samples(f) {
		for line := range bytes.SplitSeq(s.text, []byte("\n")) {
			f.Add(line, uint16(0))
			f.Add(line, uint16(60))
			f.Add(line, uint16(len(line)-33))
		}
	}
	// the window ends before the escape
	f.Add([]byte(`{"dimensions":[],"reviews":[{"body_html":"0000000000\b<"`), uint16(24))
	f.Fuzz(func(t *testing.T, line []byte, buffer uint16) {
		if buffer == 0 {
			agree(t, line, nil)
		} else {
			agree(t, line, reviews.WithBuffer(reviews.ReadOptions{}, 32+int(buffer)))
		}
	})
}
