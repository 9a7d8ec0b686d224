package reviews_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/html"

	"github.com/vitrine-go/vitrine/reviews"
)

// The oracle judges one line in the plainest way: a tokenizer of others builds a tree, and each
// rule walks over the tree, with the standard library for times and Base64 and x/net/html for HTML.

// value is a value of a record.
type value struct {
	kind    jsontext.Kind
	at      int64
	raw     []byte
	text    string // of a string
	names   []value
	members []*value // values by name, or items
}

type oracle struct {
	line     int64
	start    int64
	problems []reviews.Problem
	dec      *jsontext.Decoder
	data     []byte
	tooDeep  bool
}

// judgeLine gives the problems of one line that begins at offset start.
func judgeLine(data []byte, line, start int64) []reviews.Problem {
	o := &oracle{line: line, start: start, data: data}
	if len(bytes.Trim(data, " \t\r")) == 0 {
		return nil
	}
	record, fault := o.parse()
	if fault != nil {
		return []reviews.Problem{*fault}
	}
	o.record(record)
	if record.kind == '{' {
		for i := range o.problems {
			o.problems[i].Collection = record.id()
		}
	}
	return o.problems
}

// id is what a problem shows of the first member id.
func (v *value) id() string {
	if m := v.get("id"); m != nil && m.kind == '"' {
		return cutText(m.text)
	}
	return ""
}

// whereAndWhat gives the column of an offset of a line, and the text that a problem there shows.
func whereAndWhat(line []byte, offset int64, rule string) (column int64, value string) {
	column = int64(utf8.RuneCount(line[:offset])) + 1
	switch rule {
	case "json", "utf-8", "json-depth", "member-missing", "dimensions-absent", "author-missing":
		return column, ""
	case "text-nul", "text-surrogate":
		return column, string(line[offset : offset+6])
	case "body-html":
		value = restOfText.FindString(string(line[offset:]))
	default:
		raw, err := jsontext.NewDecoder(bytes.NewBuffer(slices.Clone(line[offset:])),
			jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)).ReadValue()
		if err != nil {
			return column, "no value: " + err.Error()
		}
		value = string(raw)
	}
	if all := []rune(value); len(all) > 80 {
		value = string(all[:80])
	}
	return column, value
}

var restOfText = regexp.MustCompile(`^([^"\\]|\\.)*`)

func (o *oracle) parse() (*value, *reviews.Problem) {
	invalid := len(o.data)
	for i := 0; i < len(o.data); {
		r, size := utf8.DecodeRune(o.data[i:])
		if r == utf8.RuneError && size == 1 {
			invalid = i
			break
		}
		i += size
	}
	o.dec = jsontext.NewDecoder(bytes.NewBuffer(slices.Clone(o.data)), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	record, err := o.value()
	if err == nil {
		if _, err = o.dec.ReadToken(); err == io.EOF {
			err = nil
		} else {
			err = fmt.Errorf("trailing: %v", err)
		}
	}
	switch {
	case o.tooDeep && invalid >= int(o.dec.InputOffset()):
		return nil, &reviews.Problem{Line: o.line, Rule: "json-depth"}
	case err == nil && invalid == len(o.data):
		return record, nil
	case invalid < len(o.data) && (err == nil || int64(invalid) < o.dec.InputOffset()):
		return nil, &reviews.Problem{Line: o.line, Rule: "utf-8", Offset: o.start + int64(invalid)}
	}
	return nil, &reviews.Problem{Line: o.line, Rule: "json"}
}

func (o *oracle) value() (*value, error) {
	kind := o.dec.PeekKind()
	tok, err := o.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	end := o.dec.InputOffset()
	v := &value{kind: kind}
	switch kind {
	case '{', '[':
		v.at = o.start + end - 1
		if o.dec.StackDepth() > 64 {
			o.tooDeep = true
			return nil, fmt.Errorf("too deep")
		}
		for o.dec.PeekKind() != '}' && o.dec.PeekKind() != ']' {
			if kind == '{' {
				name, err := o.value()
				if err != nil {
					return nil, err
				}
				v.names = append(v.names, *name)
			}
			member, err := o.value()
			if err != nil {
				return nil, err
			}
			v.members = append(v.members, member)
		}
		_, err := o.dec.ReadToken()
		return v, err
	case '"':
		v.text = tok.String()
	}
	// The raw text of a scalar ends here and begins behind white space and punctuation.
	begin := end
	if kind == '"' {
		for begin--; ; {
			begin = int64(bytes.LastIndexByte(o.data[:begin], '"'))
			slashes := 0
			for begin-int64(slashes) > 0 && o.data[begin-int64(slashes)-1] == '\\' {
				slashes++
			}
			if slashes%2 == 0 {
				break
			}
		}
	} else {
		for begin > 0 && !bytes.ContainsRune([]byte(" \t\r,:[{"), rune(o.data[begin-1])) {
			begin--
		}
	}
	v.raw, v.at = o.data[begin:end], o.start+begin
	return v, nil
}

func (o *oracle) add(at int64, pointer, rule string) {
	o.problems = append(o.problems, reviews.Problem{Line: o.line, Offset: at, Pointer: pointer, Rule: rule})
}

func (v *value) get(name string) *value {
	for i, n := range v.names {
		if n.text == name {
			return v.members[i]
		}
	}
	return nil
}

// object reports repeated, unknown and missing members.
func (o *oracle) object(v *value, pointer string, required, optional []string) {
	seen := map[string]bool{}
	for i, n := range v.names {
		p := pointer + "/" + cut(n.text)
		unknown := !slices.Contains(required, n.text) && !slices.Contains(optional, n.text)
		if unknown {
			o.add(n.at, p, "member-unknown")
			o.escapes(&n, p)
		}
		if seen[n.text] {
			o.add(n.at, p, "member-repeated")
		}
		if unknown {
			o.discardAt(v.members[i], pointer, "/"+cut(n.text))
		} else if seen[n.text] {
			o.discard(v.members[i], p)
		}
		seen[n.text] = true
	}
	for _, name := range required {
		if !seen[name] {
			o.add(v.at, pointer, "member-missing")
		}
	}
}

// discard looks into a value that is refused.
func (o *oracle) discard(v *value, pointer string) {
	o.discardAt(v, pointer, "")
}

// discardAt does, where path leads from the pointer to the value; a long path goes no further.
func (o *oracle) discardAt(v *value, pointer, path string) {
	o.escapes(v, pointer+path)
	seen := map[string]bool{}
	for i, m := range v.members {
		next := path
		if long := len(pointer+path) >= 512; !long && v.kind == '[' {
			next += "/" + strconv.Itoa(i)
		} else if !long {
			next += "/" + cut(v.names[i].text)
		}
		if v.kind == '{' {
			n := v.names[i]
			o.escapes(&n, pointer+next)
			if seen[n.text] {
				o.add(n.at, pointer+next, "member-repeated")
			}
			if len(seen) < 4096 {
				seen[n.text] = true
			}
		}
		o.discardAt(m, pointer, next)
	}
}

// refuse reports a value of the wrong type.
func (o *oracle) refuse(v *value, pointer, rule string) {
	o.add(v.at, pointer, rule)
	o.discard(v, pointer)
}

func cut(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(cutText(name))
}

func cutText(name string) string {
	if len(name) > 256 {
		n := 256
		for !utf8.RuneStart(name[n]) {
			n--
		}
		name = name[:n] + "…"
	}
	return name
}

// str reports what no string may be, and says whether v is one without fault.
func (o *oracle) str(v *value, pointer string) bool {
	if v.kind != '"' {
		o.refuse(v, pointer, "value-type")
		return false
	}
	before := len(o.problems)
	o.escapes(v, pointer)
	return len(o.problems) == before
}

var escape = regexp.MustCompile(`\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.`)

func (o *oracle) escapes(v *value, pointer string) {
	nul, surrogate := false, false
	for _, m := range escape.FindAllIndex(v.raw, -1) {
		e := strings.ToLower(string(v.raw[m[0]:m[1]]))
		switch {
		case e == `\u0000` && !nul:
			nul = true
			o.add(v.at+int64(m[0]), pointer, "text-nul")
		case len(e) == 6 && e[2] == 'd' && e[3] >= '8' && !surrogate:
			surrogate = true
			o.add(v.at+int64(m[0]), pointer, "text-surrogate")
		}
	}
}

// filled is a string that may not be empty.
func (o *oracle) filled(v *value, pointer string) bool {
	ok := o.str(v, pointer)
	if v.kind == '"' && v.text == "" {
		o.add(v.at, pointer, "text-empty")
		return false
	}
	return ok
}

func (o *oracle) record(v *value) {
	if v.kind != '{' {
		o.refuse(v, "", "record-object")
		return
	}
	o.object(v, "", []string{"source", "title", "created", "id", "reviews"}, []string{"dimensions"})
	if m := v.get("source"); m != nil {
		o.filled(m, "/source")
	}
	if m := v.get("title"); m != nil {
		o.str(m, "/title")
	}
	if m := v.get("created"); m != nil {
		o.time(m, "/created")
	}
	if m := v.get("id"); m != nil {
		o.collectionID(m)
	}
	dims := 1
	if m := v.get("dimensions"); m != nil {
		dims = o.dimensions(m)
	} else {
		o.add(v.at, "", "dimensions-absent")
	}
	if m := v.get("reviews"); m != nil && m.kind != '[' {
		o.refuse(m, "/reviews", "value-type")
	} else if m != nil {
		ids, accepted := map[string]bool{}, map[string]bool{}
		for i, r := range m.members {
			o.review(r, "/reviews/"+strconv.Itoa(i), dims, ids, accepted)
		}
	}
}

func (o *oracle) collectionID(v *value) {
	if !o.filled(v, "/id") {
		// Its length is judged whatever else it holds.
		if v.kind == '"' && utf8.RuneCountInString(v.text) > 150 {
			o.add(v.at, "/id", "collection-id-length")
		}
		return
	}
	switch {
	case utf8.RuneCountInString(v.text) > 150:
		o.add(v.at, "/id", "collection-id-length")
	case !isBase64(v.text):
		o.add(v.at, "/id", "collection-id-base64")
	}
}

func isBase64(s string) bool {
	if strings.ContainsAny(s, "\r\n") {
		return false
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
		base64.RawURLEncoding} {
		if b, err := e.DecodeString(s); err == nil && len(b) > 0 {
			return true
		}
	}
	return false
}

func (o *oracle) dimensions(v *value) int {
	if v.kind != '[' {
		o.refuse(v, "/dimensions", "value-type")
		return -1
	}
	seen := map[string]bool{}
	for i, m := range v.members {
		p := "/dimensions/" + strconv.Itoa(i)
		if !o.filled(m, p) {
			continue
		}
		if seen[m.text] && i < 1000 {
			o.add(m.at, p, "dimension-repeated")
		}
		seen[m.text] = true
	}
	switch {
	case len(v.members) == 0:
		o.add(v.at, "/dimensions", "dimensions-none")
		return -1
	case len(v.members) > 1000:
		o.add(v.at, "/dimensions", "dimensions-many")
		return -1
	case len(v.members) == 1 && len(seen) == 1 && !seen["default"]:
		o.add(v.at, "/dimensions", "dimensions-single")
	}
	return len(v.members)
}

func (o *oracle) review(v *value, p string, dims int, ids, accepted map[string]bool) {
	before := len(o.problems)
	if v.kind != '{' {
		o.refuse(v, p, "value-type")
		return
	}
	defer func() {
		for i := range o.problems[before:] {
			o.problems[before+i].Review = v.id()
		}
	}()
	o.object(v, p, []string{"id", "title", "body_html", "created", "ratings"},
		[]string{"author_id", "imported_display_name", "imported_email", "imported_url", "subparts", "parent_id"})
	id := ""
	if m := v.get("id"); m != nil && o.filled(m, p+"/id") {
		id = m.text
		if ids[id] {
			o.add(v.at, p, "review-repeated")
		}
		ids[id] = true
	}
	if m := v.get("title"); m != nil {
		o.str(m, p+"/title")
	}
	if m := v.get("body_html"); m != nil {
		o.str(m, p+"/body_html")
		if m.kind == '"' && !isMarkup(m.text) {
			o.add(-1, p+"/body_html", "body-html")
		}
	}
	if m := v.get("created"); m != nil {
		o.time(m, p+"/created")
	}
	if m := v.get("ratings"); m != nil {
		o.ratings(m, p+"/ratings", dims)
	}
	o.author(v, p)
	if m := v.get("subparts"); m != nil {
		o.subparts(m, p+"/subparts")
	}
	if m := v.get("parent_id"); m != nil && o.filled(m, p+"/parent_id") && !accepted[m.text] {
		o.add(m.at, p+"/parent_id", "parent")
	}
	if len(o.problems) == before {
		accepted[id] = true
	}
}

func (o *oracle) author(v *value, p string) {
	author, name, email, url := v.get("author_id"), v.get("imported_display_name"), v.get("imported_email"),
		v.get("imported_url")
	switch {
	case author != nil && (name != nil || email != nil || url != nil):
		o.add(v.at, p, "author-conflict")
	case author == nil && name == nil:
		o.add(v.at, p, "author-missing")
	}
	if author != nil {
		o.filled(author, p+"/author_id")
		if author.kind == '"' && utf8.RuneCountInString(author.text) > 255 {
			o.add(author.at, p+"/author_id", "author-id-length")
		}
	}
	if name != nil {
		o.filled(name, p+"/imported_display_name")
	}
	if email != nil && email.kind != 'n' {
		o.str(email, p+"/imported_email")
	}
	if url != nil && url.kind != 'n' {
		o.str(url, p+"/imported_url")
		if url.kind == '"' && url.text != "" && !webAddress.MatchString(url.text) {
			o.add(url.at, p+"/imported_url", "url")
		}
	}
}

var webAddress = regexp.MustCompile(`^[hH][tT][tT][pP][sS]?://[^\x00-\x20\x7f/\\?#@:][^\x00-\x20\x7f]*$`)

func (o *oracle) ratings(v *value, p string, dims int) {
	if v.kind != '[' {
		o.refuse(v, p, "value-type")
		return
	}
	for i, m := range v.members {
		p := p + "/" + strconv.Itoa(i)
		if m.kind != '0' {
			o.refuse(m, p, "value-type")
		} else if bytes.ContainsAny(m.raw, ".eE") {
			o.add(m.at, p, "rating-integer")
		} else if n, err := strconv.Atoi(string(m.raw)); err != nil || n < 1 || n > 100 {
			o.add(m.at, p, "rating-range")
		}
	}
	if dims >= 0 && len(v.members) != dims {
		o.add(v.at, p, "ratings-count")
	}
}

func (o *oracle) subparts(v *value, p string) {
	if v.kind != '{' {
		o.refuse(v, p, "value-type")
		return
	}
	seen := map[string]bool{}
	for i, n := range v.names {
		p := p + "/" + cut(n.text)
		o.escapes(&n, p)
		if seen[n.text] {
			o.add(n.at, p, "member-repeated")
		}
		seen[n.text] = true
		o.str(v.members[i], p)
	}
}

var timeForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$`)

func (o *oracle) time(v *value, p string) {
	o.str(v, p)
	if v.kind == '"' && !isTime(v.text) {
		o.add(v.at, p, "timestamp")
	}
}

func isTime(s string) bool {
	m := timeForm.FindStringSubmatch(s)
	if m == nil || strings.HasPrefix(s, "0000") {
		return false
	}
	if _, err := time.Parse("2006-01-02T15:04:05", m[1]); err != nil {
		return false
	}
	return len(m[3]) < 2 || m[3][1:3] <= "23" && m[3][4:6] <= "59"
}

var (
	openP  = regexp.MustCompile(`^<[pP][ \n\t\r\f]*>$`)
	closeP = regexp.MustCompile(`^</[pP][ \n\t\r\f]*>$`)
	openA  = regexp.MustCompile(`^<[aA][ \n\t\r\f]+[hH][rR][eE][fF][ \n\t\r\f]*=[ \n\t\r\f]*("[^"]*"|'[^']*')[ ` +
		`\n\t\r\f]*>$`)
	closeA = regexp.MustCompile(`^</[aA][ \n\t\r\f]*>$`)
	link   = regexp.MustCompile(
		`^((?i:https?)://[^\x00-\x20\x7f/\\?#@:]|(?i:mailto):[^\x00-\x1f\x7f])[^\x00-\x1f\x7f]*$`)
)

// isMarkup reads HTML with a tokenizer of others, and accepts the subset.
func isMarkup(s string) bool {
	z := html.NewTokenizer(strings.NewReader(s))
	var open []byte
	for {
		kind := z.Next()
		raw := slices.Clone(z.Raw())
		switch {
		case kind == html.ErrorToken:
			return z.Err() == io.EOF && len(raw) == 0 && len(open) == 0
		case kind == html.TextToken:
			if bytes.IndexByte(raw, '<') >= 0 {
				return false
			}
		case openP.Match(raw) && len(open) == 0:
			open = append(open, 'p')
		case closeP.Match(raw) && len(open) > 0 && open[len(open)-1] == 'p',
			closeA.Match(raw) && len(open) > 0 && open[len(open)-1] == 'a':
			open = open[:len(open)-1]
		case openA.Match(raw) && !slices.Contains(open, 'a'):
			_, _ = z.TagName()
			key, href, more := z.TagAttr()
			if string(key) != "href" || more || !link.Match(href) {
				return false
			}
			open = append(open, 'a')
		default:
			return false
		}
	}
}
