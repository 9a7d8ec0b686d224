package history

import (
	"bytes"
	"slices"
	"testing"
)

func TestAnEditMakesTheNewText(t *testing.T) {
	for _, tr := range traces() {
		t.Run(tr.name, func(t *testing.T) {
			p := newPage(1, 20<<10)
			old := p.body()
			for i := range 40 {
				tr.edit(p, i)
				body := p.body()
				edit := makeEdit(old, body)
				if got, err := applyEdit(slices.Clone(old), edit); err != nil || !bytes.Equal(got, body) {
					t.Fatalf("edit %d of %d bytes makes %d bytes, want the %d of the body; %v", i, len(edit), len(got),
						len(body), err)
				}
				old = body
			}
		})
	}
}

func TestEditsOfText(t *testing.T) {
	const digits, letters = "0123456789abcdefghijklmnopqrstuv", "ABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?-_"
	for _, tt := range []struct {
		name, old, new string
		want           string // the edit
	}{
		{"both empty", "", "", "\x00\x00\x00"},
		{"from empty", "", "abc", "\x00\x00\x03abc"},
		{"to empty", "abc", "", "\x00\x00\x00"},
		{"equal", "abc", "abc", "\x00\x06\x00"},
		{"replaced", "one two three", "one 22 three", "\x06\x08\x0222"},
		{"put in", "abcd", "abXcd", "\x02\x04\x01X"},
		{"taken out", "abXcd", "abcd", "\x02\x04\x00"},
		{"blocks swapped", digits + letters, letters + digits, "\x00\x00\x00\x41\x40\x00\x41\x7f\x00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edit := makeEdit([]byte(tt.old), []byte(tt.new))
			got, err := applyEdit([]byte(tt.old), edit)
			if string(edit) != tt.want || string(got) != tt.new || err != nil {
				t.Errorf("got the edit %q, which makes %q, %v; want %q", edit, got, err, tt.want)
			}
		})
	}
}
