package format

import (
	"bytes"
	"html"
	"regexp"
)

// maxHref is how many bytes an href may have, as it stands in the HTML.
const maxHref = 64 << 10

// The faults of a tag. Those of an href are in hrefFault. Each is a complete message of the rule body-html, and says
// what would be right where that is not obvious.
const (
	faultTag = `only <p>, </p>, <a href="…"> and </a> are allowed; take other tags out, and write &lt; for a ` +
		`'<' in the text`
	faultNoHref   = `<a> needs href="…"`
	faultAttr     = "no other attribute than one href of <a> is allowed"
	faultUnquoted = "href needs a value in single or double quotes"
	faultNested   = "a link may not hold another link or a paragraph, and a paragraph no other paragraph"
	faultStray    = "this tag closes nothing that is open here; take it out"
	faultUnclosed = "this is never closed; write its end tag, or &lt; for a '<' in the text"
	faultCrossed  = "</a> is missing before this </p>"
	faultLong     = "href is longer than 65536 bytes"
)

// MarkupFault applies the rule body-html. It accepts text, entities, <p>, </p>, <a href="…"> and </a>, and nothing
// else: letters in either case, and white space where HTML allows it inside a tag. Paragraphs do not nest, links do not
// nest, no paragraph is in a link, and every tag is closed. An href is an http, https or mailto address in single or
// double quotes. A bare & or > is text; a bare < is a fault, since it would begin a tag.
//
//	<p>Bright &amp; light.</p>              accepted
//	<A HREF='https://example.test/'>x</a>   accepted
//	5 < 6                                   faultTag, at byte 2
//	<p>one<p>two</p>                        faultNested, at byte 6
//	<a href="javascript:x">x</a>            a fault of its href, at byte 0
//	<p>one                                  faultUnclosed, at byte 0
//
// It returns the first fault, and the index of its tag. message is "" if the text is accepted.
//
// The rule rejects a text instead of repairing it: programs show body_html unchanged, so what is accepted must be
// harmless HTML, and the owner of a file learns what is not.
func MarkupFault(text []byte) (at int, message string) {
	// At most one paragraph is open and, inside it or alone, one link. So three rules are enough: <p> requires both to
	// be closed, <a> requires the link to be closed, and </p> requires the link inside to be closed.
	p, a := -1, -1 // the index of the open tag; -1 if none is open
	for {
		n := bytes.IndexByte(text[at:], '<')
		if n < 0 {
			break
		}
		at += n
		t := readTag(text[at+1:])
		switch {
		case t.fault != "":
			return at, t.fault
		case !t.closes && (a >= 0 || t.name == 'p' && p >= 0):
			return at, faultNested
		case t.closes && (t.name == 'p' && p < 0 || t.name == 'a' && a < 0):
			return at, faultStray
		// the link is in this paragraph, since no link may contain a paragraph
		case t.closes && t.name == 'p' && a >= 0:
			return at, faultCrossed
		case t.name == 'p' && t.closes:
			p = -1
		case t.name == 'p':
			p = at
		case t.closes:
			a = -1
		default:
			a = at
		}
		at += 1 + t.size
	}
	switch {
	case a >= 0:
		return a, faultUnclosed
	case p >= 0:
		return p, faultUnclosed
	}
	return 0, ""
}

// tag is a tag of HTML.
type tag struct {
	name   byte // p or a
	closes bool
	size   int    // bytes after the '<'
	fault  string // what is wrong with the tag itself
}

// readTag reads a tag. text begins after its '<'.
func readTag(text []byte) tag {
	end := bytes.IndexByte(text, '>')
	if end < 0 {
		return tag{fault: faultUnclosed}
	}
	t := tag{size: end + 1}
	inside := text[:end]
	if t.closes = end > 0 && inside[0] == '/'; t.closes {
		inside = inside[1:]
	}
	if len(inside) == 0 {
		return tag{fault: faultTag}
	}
	t.name = inside[0] | 0x20
	rest := trimSpace(inside[1:])
	switch {
	case t.name != 'p' && t.name != 'a', len(rest) > 0 && (t.closes || t.name == 'p' || len(rest) == len(inside)-1):
		return tag{fault: faultTag}
	case t.closes || t.name == 'p':
		return t
	case len(rest) == 0:
		return tag{fault: faultNoHref}
	// an attribute of this name follows once
	case len(rest) < len("href") || !bytes.EqualFold(rest[:len("href")], []byte("href")):
		return tag{fault: faultAttr}
	}
	// The value may contain a '>', so it is read from text.
	rest = text[end-len(rest):]
	rest, found := bytes.CutPrefix(trimSpace(rest[len("href"):]), []byte("="))
	if !found {
		return tag{fault: faultAttr}
	}
	if rest = trimSpace(rest); len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return tag{fault: faultUnquoted}
	}
	href, rest, found := bytes.Cut(rest[1:], rest[:1])
	switch {
	case len(href) > maxHref:
		return tag{fault: faultLong}
	case !found:
		return tag{fault: faultUnclosed}
	}
	if rest = trimSpace(rest); len(rest) == 0 || rest[0] != '>' {
		return tag{fault: faultAttr}
	}
	t.size = len(text) - len(rest) + 1
	t.fault = hrefFault(href)
	return t
}

// trimSpace returns text without leading ASCII white space of HTML.
func trimSpace(text []byte) []byte {
	for i, c := range text {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' {
			return text[i:]
		}
	}
	return nil
}

// shortReference matches a reference to a character by one digit, such as &#9. Browsers decode it without a semicolon;
// html.UnescapeString needs two digits for that.
var shortReference = regexp.MustCompile(`&#([0-9])`)

// hrefFault returns what is wrong with the value of an href as it is in the HTML, or "". It reads the value as a
// browser does: entities are decoded first, so &#106;avascript: does not evade the rule. Control characters are
// rejected, because browsers ignore some of them inside a scheme, such as the tab in java&Tab;script:.
func hrefFault(value []byte) string {
	// Decoding makes a copy. Most addresses have an & only in their query. There, only an entity for a control
	// character matters: &#…; &Tab; or &NewLine;.
	first := bytes.IndexByte(value, '&')
	decode := first >= 0 && first < len("https://x")
	for i := first; i >= 0 && i+1 < len(value) && !decode; i++ {
		decode = value[i] == '&' && (value[i+1] == '#' || value[i+1] == 'T' || value[i+1] == 'N')
	}
	if decode {
		value = []byte(html.UnescapeString(shortReference.ReplaceAllString(string(value), "&#0$1")))
	}
	for _, c := range value {
		if c < ' ' || c == 0x7f {
			return "href holds a control character; take it out"
		}
	}
	// the address of an email is not checked
	if len(value) > len("mailto:") && hasScheme(value, "mailto:") || isWebAddress(value) {
		return ""
	}
	return "href is no http, https or mailto address; want one such as https://example.test/, or no link"
}
