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
// The text is parsed by golang.org/x/net/html as by a browser, but what only looks like a tag stays text. No markup is
// copied: the output has escaped text and the tags that are written here. So it is well-formed, and reviews.Check
// accepts it. The result is valid until the next call.
func (w *bodyWriter) body(text string) []byte {
	w.out = w.out[:0]
	if strings.IndexByte(text, '<') < 0 && strings.IndexByte(text, '&') < 0 || !markup.MatchString(text) {
		w.lines(text)
		w.end()
		return w.out
	}
	lines := !lineTag.MatchString(text) // line breaks of a text with none but inline tags are its lines
	in := html.NewTokenizer(strings.NewReader(text))
	hidden, seen := "", false // the element whose text is hidden
	unclosed := map[string]bool{}
	for {
		kind := in.Next()
		raw := text[:len(in.Raw())]
		rest := text[len(raw):]
		name, more := in.TagName() // of no other token has one
		tag := string(name)
		begins := kind != html.EndTagToken
		switch {
		case kind == html.ErrorToken: // the end, or a tag that does not end
			if hidden == "" {
				w.text(text)
			}
			w.end()
			if seen {
				w.media++
			}
			return w.out
		case hidden != "":
			if tag == hidden && !begins {
				hidden = ""
			}
		case kind == html.TextToken && lines:
			w.lines(string(in.Text()))
		case kind == html.TextToken:
			w.text(string(in.Text()))
		case kind == html.DoctypeToken, kind == html.CommentToken && comment.MatchString(raw):
		case !elements[tag], more && !strings.Contains(raw, "="), unclosed[tag]:
			w.text(raw)
		case invisible[tag] && begins:
			if hidden = tag; !strings.Contains(strings.ToLower(rest), "</"+tag) {
				hidden, unclosed[tag] = "", true
				w.text(raw)
			}
		case begins && (tag == "td" || tag == "th"):
			w.text(" ")
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
		seen = seen || begins && media[tag]
		text = rest
	}
}

const (
	hiding   = "script style title iframe noembed noframes noscript textarea template xmp plaintext"
	breaking = "p br div li ul ol dl dt dd tr table blockquote pre h1 h2 h3 h4 h5 h6 section article hr header footer"
	playing  = "img iframe video audio embed object"
	inline   = "a abbr acronym address applet area aside b base bdi bdo big body button canvas caption center cite " +
		"code col colgroup data datalist del details dfn dialog dir em fieldset figcaption figure font form frame " +
		"frameset head html i input ins kbd label legend link main map mark marquee menu meta meter nav nobr o:p " +
		"optgroup option output param picture progress q rp rt ruby s samp select small source span strike strong " +
		"sub summary sup svg tbody td tfoot th thead time track tt u var wbr"
)

// invisible are the elements whose text browsers hide, breaks those at which a line begins or ends, and media those of
// pictures and films. A tag of another name than those of elements is text, as in <ann@example.com>.
var (
	invisible, breaks, media = setOf(hiding), setOf(breaking), setOf(playing)
	elements                 = setOf(hiding + " " + breaking + " " + playing + " " + inline)
	lineTag                  = regexp.MustCompile("(?i)</?(" + strings.ReplaceAll(breaking, " ", "|") + `)[\s/>]`)
	comment                  = regexp.MustCompile(`(?is)^<(!--.*--|!\[(if|endif)[^>]*|\?xml[^>]*)>$`)
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
	linked    bool  // a link has begun
	media     int64 // texts that had pictures or films
}

// lines writes a text whose line breaks end paragraphs.
func (w *bodyWriter) lines(text string) {
	for line := range strings.Lines(text) {
		end := strings.TrimRight(line, "\r\n")
		if w.text(end); end != line {
			w.end()
		}
	}
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
