package reviews

import (
	"bytes"
	"html"
)

// maxHref is how many bytes an href may have, as it stands in the HTML.
const maxHref = 64 << 10

// The faults of a tag. Those of an href are in hrefFault. Each is a whole message of the rule body-html, and says what would be
// right where that is not plain.
const (
	faultTag      = `only <p>, </p>, <a href="…"> and </a> are allowed; write &lt; for a '<' in the text`
	faultNoHref   = `<a> needs href="…"`
	faultAttr     = "no other attribute than one href of <a> is allowed"
	faultUnquoted = "href needs a value in single or double quotes"
	faultNested   = "a link may not hold another link or a paragraph, and a paragraph no other paragraph"
	faultStray    = "this tag closes nothing that is open here; take it out"
	faultUnclosed = "this is never closed; write its end tag, or &lt; for a '<' in the text"
	faultCrossed  = "</a> is missing before this </p>"
	faultLong     = "href is longer than 65536 bytes"
)

// markupFault applies the rule body-html. It accepts text, entities, <p>, </p>, <a href="…"> and </a>, and nothing else: letters in
// either case, and white space where HTML allows it inside a tag. Paragraphs do not nest, links do not nest, no paragraph is in
// a link, and every tag is closed. An href is an http, https or mailto address in single or double quotes. A bare & or > is
// text; a bare < is a fault, since it would begin a tag.
//
//	<p>Bright &amp; light.</p>              accepted
//	<A HREF='https://example.test/'>x</a>   accepted
//	5 < 6                                   faultTag, at byte 2
//	<p>one<p>two</p>                        faultNested, at byte 6
//	<a href="javascript:x">x</a>            a fault of its href, at byte 0
//	<p>one                                  faultUnclosed, at byte 0
//
// It returns the first fault, and where the tag begins that has it; message is "" if the text is accepted.
//
// The rule refuses a text instead of repairing it. Programs show body_html as it is, so what is accepted must be harmless HTML;
// and the owner of a file learns what is not.
func markupFault(text []byte) (at int, message string) {
	// At most one paragraph is open and, inside it or alone, one link. So three rules are enough: p needs both to be closed before
	// it, a needs the link to be closed, and </p> needs the link inside to be closed.
	p, a := -1, -1 // where they begin
	for t := (tagReader{text: text}); ; {
		n := bytes.IndexByte(text[t.at:], '<')
		if n < 0 {
			break
		}
		at := t.at + n
		t.at = at + 1
		name, closes, href, message := t.tag()
		switch {
		case message != "":
		case !closes && (a >= 0 || name == 'p' && p >= 0):
			message = faultNested
		case closes && (name == 'p' && p < 0 || name == 'a' && a < 0):
			message = faultStray
		case closes && name == 'p' && a >= 0: // the link is in this paragraph, since no paragraph is in a link
			message = faultCrossed
		case name == 'p' && closes:
			p = -1
		case name == 'p':
			p = at
		case closes:
			a = -1
		default:
			a, message = at, hrefFault(href)
		}
		if message != "" {
			return at, message
		}
	}
	switch {
	case a >= 0:
		return a, faultUnclosed
	case p >= 0:
		return p, faultUnclosed
	}
	return 0, ""
}

// tagReader reads tags.
type tagReader struct {
	text []byte
	at   int // the next byte
}

// next reads a byte; it is -1 at the end of the text.
func (t *tagReader) next() int {
	if t.at == len(t.text) {
		return -1
	}
	t.at++
	return int(t.text[t.at-1])
}

// skip reads white space and the byte after it.
func (t *tagReader) skip() int {
	c := t.next()
	for isSpace(c) {
		c = t.next()
	}
	return c
}

// isSpace returns whether c is ASCII white space of the HTML standard.
func isSpace(c int) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// tag reads a tag after its '<'. name is p or a, and href the value of the href of an opening a, as it stands in the HTML. message says
// what is wrong with the tag in itself.
func (t *tagReader) tag() (name int, closes bool, href []byte, message string) {
	refuse := func(c int, message string) (int, bool, []byte, string) {
		if c < 0 {
			message = faultUnclosed
		}
		return 0, false, nil, message
	}
	c := t.next()
	if closes = c == '/'; closes {
		c = t.next()
	}
	if name = c | 0x20; name != 'p' && name != 'a' {
		return refuse(c, faultTag)
	}
	if closes || name == 'p' {
		if c = t.skip(); c != '>' {
			return refuse(c, faultTag)
		}
		return name, closes, nil, ""
	}
	c = t.next()
	switch {
	case c == '>':
		return refuse(c, faultNoHref)
	case !isSpace(c):
		return refuse(c, faultTag)
	}
	c = t.skip()
	for i, letter := range "href" { // any other attribute is a fault, and so is a second one of this name
		if i > 0 {
			c = t.next()
		}
		switch {
		case c == '>':
			return refuse(c, faultNoHref)
		case c|0x20 != int(letter):
			return refuse(c, faultAttr)
		}
	}
	if c = t.skip(); c != '=' {
		return refuse(c, faultAttr)
	}
	if c = t.skip(); c != '"' && c != '\'' {
		return refuse(c, faultUnquoted)
	}
	href, _, whole := bytes.Cut(t.text[t.at:], []byte{byte(c)})
	switch {
	case len(href) > maxHref:
		return refuse(c, faultLong)
	case !whole:
		return refuse(-1, "")
	}
	t.at += len(href) + 1
	if c = t.skip(); c != '>' {
		return refuse(c, faultAttr)
	}
	return name, false, href, ""
}

// hrefFault returns what is wrong with the value of an href, as it stands in the HTML; "" for nothing. It judges the value as a
// browser does: entities are decoded first, so &#106;avascript: is no way around the rule. Control characters are refused,
// because browsers ignore some of them inside a scheme, such as the tab in java&Tab;script:.
func hrefFault(value []byte) string {
	// Decoding makes a copy, and most addresses do not need it.
	if entitiesMatter(value) {
		value = []byte(html.UnescapeString(string(terminated(value))))
	}
	for _, c := range value {
		if c < ' ' || c == 0x7f {
			return "href holds a control character; take it out"
		}
	}
	if rest, ok := afterScheme(value, "mailto:"); ok && len(rest) > 0 { // the address itself is not checked
		return ""
	}
	if isWebAddress(value) {
		return ""
	}
	return "href is no http, https or mailto address; want one such as https://example.test/, or no link"
}

// terminated ends references of one digit, such as &#9, with the semicolon that they lack. Browsers decode them without
// one, and html.UnescapeString does not.
func terminated(value []byte) []byte {
	// Only a reference of one digit lacks something: from two digits on, html.UnescapeString needs no semicolon.
	digit := func(at int) bool { return at < len(value) && '0' <= value[at] && value[at] <= '9' }
	out := make([]byte, 0, len(value)+1)
	for i, c := range value {
		out = append(out, c)
		if digit(i) && !digit(i+1) && bytes.HasSuffix(out[:len(out)-1], []byte("&#")) && (i+1 == len(value) || value[i+1] != ';') {
			out = append(out, ';')
		}
	}
	return out
}

// entitiesMatter returns whether decoding the entities of value can change what hrefFault says: one may be in its scheme or at
// the beginning of its host, or stand for a control character, as &#…; &Tab; and &NewLine; can. Most addresses have an & only
// in their query, and need no decoding.
func entitiesMatter(value []byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(value[at:], '&')
		if n < 0 {
			return false
		}
		at += n
		if at < len("https://x") || at+1 < len(value) && bytes.IndexByte([]byte("#TN"), value[at+1]) >= 0 {
			return true
		}
	}
}
