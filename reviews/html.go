package reviews

import (
	"bytes"
	"html"
)

// markup applies the rule body-html. It accepts text, entities, <p>, </p>, <a href="…"> and </a>, and nothing else: letters in
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
// The rule refuses a text instead of repairing it. Programs show body_html as it is, so what is accepted must be harmless HTML;
// and the owner of a file learns what is not.
//
// It is a state machine that reads one byte after the other, so that a long text can come in pieces:
//
//	var m markup
//	m.begin()
//	for piece := range pieces {
//		m.read(piece)
//	}
//	at, message := m.fault()
type markup struct {
	state   htmlState
	before  int    // bytes of the pieces that were read before
	tag     int    // where the tag that is read begins, in bytes from the beginning of the text
	p, a    int    // likewise, where the open paragraph and the open link begin
	inP     bool   // a paragraph is open
	inA     bool   // a link is open
	matched int    // how many letters of href were read
	quote   byte   // around the value of href
	href    []byte // the value of href so far, as it stands in the HTML, up to maxHref bytes
	message string // what is wrong with the text; "" if nothing is so far
}

// htmlState says what was read last. The comments show the characters of the tag so far. The tag <a href="x"> goes through these
// states, one for each piece: afterLess <, afterA a, beforeHref space, inHref hre, afterHref f, beforeQuote =, inValue "x,
// afterValue ", and inText after >. White space moves on only after <a; elsewhere inside a tag, where it is allowed, the state
// stays.
type htmlState uint8

const (
	inText      htmlState = iota
	afterLess             // <
	afterSlash            // </
	inOpenP               // <p
	inCloseP              // </p
	inCloseA              // </a
	afterA                // <a
	beforeHref            // <a and a space
	inHref                // some letters of href
	afterHref             // href
	beforeQuote           // href=
	inValue               // href="
	afterValue            // href="…"
)

// maxHref is how many bytes an href may have, as it stands in the HTML. It bounds what is kept of a text that comes in pieces.
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

// begin prepares for a text.
func (m *markup) begin() { *m = markup{href: m.href[:0]} }

// read reads the next piece of the text, and returns false once a fault was found; the caller may stop then. A piece after a
// fault is not looked at. Pieces may be cut anywhere, also inside a tag or a character: all that matters in HTML here is ASCII.
func (m *markup) read(piece []byte) bool {
	for i := 0; i < len(piece) && m.message == ""; {
		var n int
		n, m.message = m.step(piece, i)
		i += n
	}
	m.before += len(piece)
	return m.message == ""
}

// fault returns the first thing that is wrong with the text that was read, and where the tag begins that is wrong, in bytes from
// the beginning of the text. message is "" if nothing is wrong. It is called after the last piece, since a tag that is not
// closed shows only there.
func (m *markup) fault() (at int, message string) {
	switch {
	case m.message != "":
		return m.tag, m.message
	case m.state != inText:
		return m.tag, faultUnclosed
	case m.inA:
		return m.a, faultUnclosed
	case m.inP:
		return m.p, faultUnclosed
	}
	return 0, ""
}

// step reads at least one byte of text from i on, and returns how many. If they have a fault, message says what it is. It reads
// text up to the next '<', and the value of an href up to its closing quote, at once.
func (m *markup) step(text []byte, i int) (n int, message string) {
	switch m.state {
	case inText:
		// All that is not a '<' is text, so entities are not looked at here.
		n = bytes.IndexByte(text[i:], '<')
		if n < 0 {
			return len(text) - i, ""
		}
		m.tag = m.before + i + n
		length, message := m.commonTag(text[i+n:])
		return n + length, message
	case inValue:
		n = bytes.IndexByte(text[i:], m.quote)
		if n < 0 {
			return len(text) - i, m.addHref(text[i:])
		}
		// The quote ends the value. hrefFault judges it when the tag ends.
		m.state = afterValue
		return n + 1, m.addHref(text[i : i+n])
	}
	return 1, m.byte(text[i])
}

// commonTag reads a tag at once if it is written as nearly all tags are, which is faster than byte after byte. Of any other
// tag, and of a tag that the end of a piece cuts, it reads the '<' alone, and byte reads the rest. rest begins with the '<'.
func (m *markup) commonTag(rest []byte) (n int, message string) {
	switch {
	case bytes.HasPrefix(rest, []byte("<p>")):
		m.state, n = inOpenP, len("<p>")
	case bytes.HasPrefix(rest, []byte("</p>")):
		m.state, n = inCloseP, len("</p>")
	case bytes.HasPrefix(rest, []byte("</a>")):
		m.state, n = inCloseA, len("</a>")
	case bytes.HasPrefix(rest, []byte(`<a href="`)):
		m.state, m.quote, m.href = inValue, '"', m.href[:0]
		return len(`<a href="`), ""
	default:
		m.state = afterLess
		return 1, ""
	}
	return n, m.endTag()
}

// addHref adds a part to the value of href. It returns faultLong if the value is too long.
func (m *markup) addHref(part []byte) string {
	if len(m.href)+len(part) > maxHref {
		return faultLong
	}
	m.href = append(m.href, part...)
	return ""
}

// byte reads one byte inside a tag, moves to the next state, and returns the fault of a tag that is none of the allowed ones.
func (m *markup) byte(c byte) (message string) {
	space := c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' // ASCII white space of the HTML standard
	lower := c | 0x20                                                     // the lower case of a letter
	switch m.state {
	// The name of the tag, which is one letter.
	case afterLess:
		switch {
		case c == '/':
			m.state = afterSlash
		case lower == 'p':
			m.state = inOpenP
		case lower == 'a':
			m.state = afterA
		default:
			return faultTag
		}
	case afterSlash:
		switch lower {
		case 'p':
			m.state = inCloseP
		case 'a':
			m.state = inCloseA
		default:
			return faultTag
		}
	// After the name: white space, and the end of the tag. Only <a> goes on with something else.
	case inOpenP, inCloseP, inCloseA:
		switch {
		case c == '>':
			return m.endTag()
		case !space:
			return faultTag
		}
	case afterA:
		switch {
		case space:
			m.state, m.matched, m.href = beforeHref, 0, m.href[:0]
		case c == '>':
			return faultNoHref
		default:
			return faultTag
		}
	// The letters of href, one after the other. Any other attribute, and a second one of this name, is a fault.
	case beforeHref, inHref:
		switch {
		case space && m.state == beforeHref:
		case c == '>':
			return faultNoHref
		case lower != "href"[m.matched]:
			return faultAttr
		default:
			m.state = inHref
			m.matched++
			if m.matched == len("href") {
				m.state = afterHref
			}
		}
	// The equals sign and the opening quote, each with white space in front of it if wanted. step reads the value.
	case afterHref:
		switch {
		case c == '=':
			m.state = beforeQuote
		case !space:
			return faultAttr
		}
	case beforeQuote:
		switch {
		case c == '"' || c == '\'':
			m.state, m.quote = inValue, c
		case !space:
			return faultUnquoted
		}
	case afterValue:
		switch {
		case c == '>':
			return m.endTag()
		case !space:
			return faultAttr
		}
	}
	return ""
}

// endTag is called at the '>' of a tag. It checks that the tag may stand where it does, and opens or closes the paragraph or the
// link. The state says which tag it is.
func (m *markup) endTag() (message string) {
	// What is open is at most one paragraph and, inside it or alone, one link. So three rules are enough: p needs both to be
	// closed before it, a needs the link to be closed, and </p> needs the link inside to be closed.
	tag := m.state
	m.state = inText
	switch tag {
	case inOpenP:
		if m.inP || m.inA {
			return faultNested
		}
		m.inP, m.p = true, m.tag
	case inCloseP:
		if !m.inP {
			return faultStray
		}
		if m.inA { // a link in this paragraph, since no paragraph is in a link
			return faultCrossed
		}
		m.inP = false
	case inCloseA:
		if !m.inA {
			return faultStray
		}
		m.inA = false
	case afterValue:
		if m.inA {
			return faultNested
		}
		m.inA, m.a = true, m.tag
		return hrefFault(m.href)
	}
	return ""
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
