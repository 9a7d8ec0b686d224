package history

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestForm(t *testing.T) {
	head := func(id string) string { return `{"id":"` + id + `","component":` }
	many := strings.Builder{}
	for i := range 1234 {
		many.Write(appendHead(nil, i))
	}
	for _, tt := range []struct{ name, body, form string }{
		{"empty", "", ""},
		{"no elements", `{"elements":[]}`, `{"elements":[]}`},
		{"elements in order", "[" + head("0") + "{}}," + head("1") + "{}}]", "[\x1e{}},\x1e{}}]"},
		{"ids of two and more digits", many.String(), strings.Repeat("\x1e", 1234)},
		{"another order", head("1") + head("0"), head("1") + "\x1e"},
		{"leading zero", head("00"), head("00")},
		{"ids in a config", head("0") + `{"items":[{"id":"1","text":1}]}` + head("1"), "\x1e" + `{"items":[{"id":"1","text":1}]}` + "\x1e"},
		{"cut off", `{"id":"0","compo`, `{"id":"0","compo`},
		{"a mark of its own", "\x1e" + head("0"), "\x1e" + head("0")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			form, marked := toForm([]byte("left over"), []byte(tt.body))
			if string(form) != tt.form {
				t.Errorf("form is %q, not %q", form, tt.form)
			}
			if marked != (tt.form != tt.body) {
				t.Errorf("marked is %v", marked)
			}
			if !marked {
				return
			}
			body, err := fromForm(form)
			if err != nil || string(body) != tt.body {
				t.Errorf("form gives back %q, %v", body, err)
			}
			if cap(body) > len(body)+len(body)/4+64 {
				t.Errorf("%d bytes made room for %d", len(body), cap(body))
			}
		})
	}
}

func TestFormOfTooLargeABodyIsCorrupt(t *testing.T) {
	if _, err := fromForm(bytes.Repeat([]byte{mark}, MaxBody/20)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}
