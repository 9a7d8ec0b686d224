package assets

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// stripHTML returns the text of s without tags, comments, scripts and styles, and with entities
// decoded. An inline tag is removed, so a word may be partly bold. Any other tag becomes a space,
// so the words of two paragraphs are not joined.
//
//	a<b>b</b>c &amp; <p>d</p>e    becomes    abc &  d e
//
// The result is for searching. It is not safe to put into a page.
func stripHTML(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	// The tokenizer gives all that is inside a script or a style as one text.
	skip := false // inside a script or style
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken: // the end; the tokenizer has no other error on a string
			return b.String()
		case html.TextToken:
			if !skip {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			skip = kind != html.EndTagToken && (tag == atom.Script || tag == atom.Style)
			if !isInline(tag) {
				b.WriteByte(' ')
			}
		}
	}
}

// isInline reports whether an element of HTML with this tag stands within a line of text.
func isInline(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Del, atom.Dfn,
		atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small,
		atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}
