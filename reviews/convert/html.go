package convert

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// markup matches what makes a text HTML: a tag, a comment or an entity.
var markup = regexp.MustCompile(`<[a-zA-Z/!]|&(#[0-9]+|#[xX][0-9a-fA-F]+|[a-zA-Z]+);`)

// body returns the text of a review in the import format: paragraphs and links.
//
// The text is parsed by golang.org/x/net/html as by a browser. No markup is copied: the output has escaped text and the
// tags that are written here. So it is well-formed, and reviews.Check accepts it. The result is valid until the next
// call.
func (w *bodyWriter) body(text string) []byte {
	w.out = w.out[:0]
	if strings.IndexByte(text, '<') < 0 && strings.IndexByte(text, '&') < 0 || !markup.MatchString(text) {
		for line := range strings.Lines(text) {
			w.text(strings.TrimRight(line, "\r\n"))
			w.end()
		}
		return w.out
	}
	in := html.NewTokenizer(strings.NewReader(text))
	hidden := "" // the element whose text is hidden
	for {
		kind := in.Next()
		switch kind {
		case html.ErrorToken: // the end
			w.end()
			return w.out
		case html.TextToken:
			if hidden == "" {
				w.text(string(in.Text()))
			}
			continue
		}
		name, more := in.TagName()
		begins := kind != html.EndTagToken
		switch tag := string(name); {
		case hidden != "":
			if tag == hidden && !begins {
				hidden = ""
			}
		case invisible[tag] && begins:
			hidden = tag
		case breaks[tag]:
			w.end()
		case tag == "a":
			w.endLink()
			for more && begins {
				var key, value []byte
				if key, value, more = in.TagAttr(); string(key) == "href" {
					w.link(string(value))
					break
				}
			}
		}
	}
}

// invisible are the elements whose text browsers hide, and breaks the elements at which a line begins or ends.
var (
	invisible = setOf("script style title iframe noembed noframes noscript textarea template xmp plaintext")
	breaks    = setOf("p br div li ul ol dl dt dd tr table blockquote pre h1 h2 h3 h4 h5 h6 section article hr " +
		"header footer")
)

// setOf returns the words of a text as a set.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// bodyWriter writes paragraphs with links. A paragraph begins with its first text.
type bodyWriter struct {
	out       []byte
	paragraph bool
	linked    bool // a link has begun
}

// blanks is the white space around paragraphs, which is dropped.
const blanks = " \t\r\n\f\u00a0"

// text writes a text.
func (w *bodyWriter) text(text string) {
	if !w.paragraph {
		if text = strings.TrimLeft(text, blanks); text == "" {
			return
		}
		w.begin()
	}
	w.out = append(w.out, escaper.Replace(text)...)
}

// escaper writes text as HTML.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// begin begins a paragraph unless one has begun.
func (w *bodyWriter) begin() {
	if !w.paragraph {
		w.out = append(w.out, "<p>"...)
		w.paragraph = true
	}
}

// link begins a link, if a review may link to the address.
func (w *bodyWriter) link(href string) {
	href = strings.TrimSpace(href)
	scheme, rest, _ := strings.Cut(href, ":")
	scheme = strings.ToLower(scheme)
	host, web := strings.CutPrefix(rest, "//")
	switch {
	case strings.ContainsFunc(href, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return
	case scheme == "mailto" && rest != "":
	case scheme != "http" && scheme != "https", !web, host == "", strings.IndexByte(`/\?#@: `, host[0]) >= 0:
		return
	}
	escaped := html.EscapeString(href)
	if len(escaped) > 64<<10 {
		return
	}
	w.begin()
	w.out = append(append(append(w.out, `<a href="`...), escaped...), `">`...)
	w.linked = true
}

// endLink ends a link that has begun.
func (w *bodyWriter) endLink() {
	if w.linked {
		w.out = append(w.out, "</a>"...)
		w.linked = false
	}
}

// end ends a paragraph that has begun.
func (w *bodyWriter) end() {
	w.endLink()
	if w.paragraph {
		w.out = append(bytes.TrimRight(w.out, blanks), "</p>"...)
		w.paragraph = false
	}
}
