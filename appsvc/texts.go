package appsvc

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/keyval"
)

// A text is a string of a config in several languages: an object inside of the config with at least one member, whose
// names are all lang: and a language tag, and whose values are all strings, such as {"lang:en": "Tea", "lang:de":
// "Tee"}. There are texts only in a store with a rule of languages. It is stored as it was sent, and a read in a
// language answers one of its strings in its place.

// textName begins the names of the members of a text.
const textName = "lang:"

// escapedName finds a character of lang: that is written with an escape.
var escapedName = regexp.MustCompile(`\\u00(6[17cCeE]|3[aA])`)

// mayHaveTexts reports whether JSON may have a text in it. It takes little time where there is none.
func mayHaveTexts(value []byte) bool {
	return bytes.Contains(value, []byte(`"`+textName)) || escapedName.Match(value)
}

// languageTag is the form of language tags, of at most nine subtags. The same expression is in vitrine.js, which asks
// for no language that would be an error.
var languageTag = regexp.MustCompile(`(?i)^([a-z]{2,8}|[ix]-[a-z0-9]{1,8})(-[a-z0-9]{1,8}){0,8}$`)

// wellFormed reports whether a text has the form of a language tag. The language need not be known.
func wellFormed(tag string) bool { return languageTag.MatchString(tag) }

// canonical returns a well-formed tag in canonical form, or as it is if its language is not known.
func canonical(tag string) string {
	if known, err := language.Parse(tag); err == nil {
		return known.String()
	}
	return tag
}

// given is a member of a text.
type given struct {
	lang  string // as it is written
	value []byte // a JSON string
}

// eachText calls fn with each text in a stored object, in their order: where it begins, where it ends, and its members.
// The object itself is none.
func eachText(object []byte, fn func(begin, end int, all []given)) {
	begin, depth := -1, 0 // begin is that of an object that may be a text, or -1
	var all []given
	formed := map[string]bool{} // the languages so far, and whether they are well-formed
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '{', '[':
			begin, all = -1, all[:0]
			if depth++; object[i] == '{' && depth > 1 {
				begin = i
			}
		case '}', ']':
			if depth--; begin >= 0 && len(all) > 0 {
				fn(begin, i+1, all)
			}
			begin = -1
		case '"':
			quoted, rest := jsontree.Cut(object[i:])
			i = len(object) - len(rest) - 1
			if begin < 0 {
				continue
			}
			name, _ := jsontree.Text(quoted)
			lang, named := strings.CutPrefix(name, textName)
			value, rest := jsontree.Cut(bytes.TrimPrefix(rest, []byte(":")))
			if _, known := formed[lang]; named && !known {
				formed[lang] = wellFormed(lang)
			}
			if !named || !formed[lang] || len(value) == 0 || value[0] != '"' {
				begin = -1
				continue
			}
			all, i = append(all, given{lang, value}), len(object)-len(rest)-1
		}
	}
}

// order returns the languages in which a text is looked for, for a reader who has asked for a language: that one and
// those that RFC 4647 finds for it, from de-AT to de, then the base and the others of the rule. "" asks for the base.
func (l languages) order(asked string) (order []string) {
	for rest := asked; rest != ""; {
		if lang := canonical(rest); slices.Contains(l.List, lang) && !slices.Contains(order, lang) {
			order = append(order, lang)
		}
		rest = rest[:max(0, strings.LastIndexByte(rest, '-'))]
		if cut := len(rest) - 2; cut >= 0 && rest[cut] == '-' { // a subtag of one letter announces the next one
			rest = rest[:cut]
		}
	}
	return append(order, keyval.Without(l.List, order)...)
}

// reading answers texts in one language, and counts them.
type reading struct {
	asked     string
	rule      languages
	order     []string          // see languages.order; the first one is the language that is answered
	fallbacks int               // texts that were answered in another language
	names     map[string]string // the languages of all texts, as they are written and in canonical form
}

func (l languages) reading(asked string) *reading {
	return &reading{asked: asked, rule: l, order: l.order(asked), names: map[string]string{}}
}

// again returns a reading that begins with what this one has counted. A nil reading, which answers what is stored, has
// nil.
func (r *reading) again() *reading {
	if r == nil {
		return nil
	}
	other := *r
	other.names = maps.Clone(r.names)
	return &other
}

// resolve returns a stored object with one string in place of each text in it.
func (r *reading) resolve(object []byte) []byte {
	if r == nil || len(r.order) == 0 || !mayHaveTexts(object) {
		return object
	}
	var out []byte
	copied := 0
	eachText(object, func(begin, end int, all []given) {
		langs := make([]string, len(all))
		for i, g := range all {
			if r.names[g.lang] == "" {
				r.names[g.lang] = canonical(g.lang)
			}
			langs[i] = r.names[g.lang]
		}
		chosen := 0 // the first one if the rule has none of them
		for _, lang := range r.order {
			if i := slices.Index(langs, lang); i >= 0 {
				chosen = i
				break
			}
		}
		if langs[chosen] != r.order[0] {
			r.fallbacks++
		}
		out = append(append(out, object[copied:begin]...), all[chosen].value...)
		copied = end
	})
	if copied == 0 {
		return object
	}
	return append(out, object[copied:]...)
}

// isText reports whether a value that is a default is a text.
func (r *reading) isText(value *jsontree.Node) bool {
	if r == nil || len(r.order) == 0 {
		return false
	}
	// Most objects are no texts, as their first bytes tell without parsing.
	text := value.Bytes()
	if !bytes.HasPrefix(text, []byte(`{"`+textName)) && !bytes.HasPrefix(text, []byte(`{"\u`)) {
		return false
	}
	for i := range value.Len() {
		lang, named := strings.CutPrefix(value.Name(i), textName)
		if !named || !wellFormed(lang) || value.At(i).Kind() != '"' {
			return false
		}
	}
	return true
}

// languages returns the languages of the texts, in the order of the rule, and then those that it does not have.
func (r *reading) languages() (list []string) {
	found := slices.Compact(slices.Sorted(maps.Values(r.names)))
	for _, lang := range r.rule.List {
		if slices.Contains(found, lang) {
			list = append(list, lang)
		}
	}
	return append(list, keyval.Without(found, list)...)
}

// in returns the app as a reading answers it.
func (a App) in(r *reading) (App, error) {
	if a.reading = r; len(r.order) == 0 || !mayHaveTexts(a.Body) {
		return a, nil
	}
	return a.rewrite(r, func(_, config []byte) ([]byte, error) { return r.resolve(config), nil })
}

// rewrite returns the app with other configs, and with what a reading, if there is one, says of them.
func (a App) rewrite(r *reading, change func(manifest, config []byte) ([]byte, error)) (App, error) {
	// The elements come last in the body. What comes before them is copied, and they are written anew.
	begin := len(a.Body) - len(jsontree.Lookup(a.Body, "elements"))
	draft, err := a.Body.draft()
	if err != nil {
		return App{}, err
	}
	for i := range draft.elements {
		e := &draft.elements[i]
		manifest, config, err := e.split()
		if err != nil {
			return App{}, err
		}
		e.kept, e.manifest = nil, manifest
		if e.config, err = change(manifest, config); err != nil {
			return App{}, err
		}
	}
	out := append(make([]byte, 0, len(a.Body)+len(a.Body)/4), a.Body[:begin]...)
	a.Body = append(appendElements(out, draft.elements), '}')
	if a.reading = r; r != nil && len(r.names) > 0 {
		a.Lang, a.Fallbacks, a.Languages = r.order[0], r.fallbacks, r.languages()
	}
	return a, nil
}

// Variant names what Session.In has made of a version: the language that was asked for, and the number of the rule of
// languages, such as "de-AT.3". It is "" for the version as it is stored.
func (a App) Variant() string {
	if a.reading == nil {
		return ""
	}
	return a.reading.asked + "." + strconv.FormatInt(a.reading.rule.Number, 10)
}

// textPlace is a text in a decoded config.
type textPlace struct {
	put  func(value any) // in the place of the text
	text map[string]any
}

// textSearch finds the texts of a decoded config that is to be stored, and what is wrong with them.
type textSearch struct {
	rule   languages
	places []textPlace
	wrong  violations
}

// spot is a place in a config. Its pointer is made only when it is needed, since names may be long.
type spot struct {
	around *spot
	token  string // the last one of its pointer, without escapes
	put    func(value any)
}

func (s *spot) pointer() string {
	if s == nil {
		return ""
	}
	return s.around.pointer() + "/" + jsonpointer.Escape(s.token)
}

func (t *textSearch) search(value any, at *spot) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			t.search(item, &spot{at, strconv.Itoa(i), func(v any) { value[i] = v }})
		}
	case map[string]any:
		names := slices.Sorted(maps.Keys(value))
		if len(names) > 0 &&
			!slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, textName) }) {
			t.text(value, names, at)
			return
		}
		for _, name := range names {
			t.search(value[name], &spot{at, name, func(v any) { value[name] = v }})
		}
	}
}

// text checks an object whose names all begin with lang:.
func (t *textSearch) text(text map[string]any, names []string, at *spot) {
	reject := func(name, format string, args ...any) {
		if len(t.wrong) < maxViolations {
			member := &spot{around: at, token: name}
			t.wrong = append(t.wrong, vitrine.Violation{Pointer: member.pointer(), Keyword: "lang",
				Message: fmt.Sprintf(format, args...)})
		}
	}
	for _, name := range names {
		lang := strings.TrimPrefix(name, textName)
		_, isString := text[name].(string)
		switch {
		case at == nil:
			reject(name, "the config itself is not a text in several languages: want an object with other names")
		case slices.Contains(t.rule.List, lang) && isString:
		case slices.Contains(t.rule.List, lang):
			reject(name, "want a string: a text in several languages has one for each")
		case wellFormed(lang) && slices.Contains(t.rule.List, canonical(lang)):
			reject(name, "want the name %s%s, as the service writes this language", textName, canonical(lang))
		default:
			reject(name, "%q is no language of this service: want %s%s", lang, textName,
				strings.Join(t.rule.List, " or "+textName))
		}
	}
	if at != nil {
		t.places = append(t.places, textPlace{at.put, text})
	}
}

// chosen returns the member of a text that is answered, given the names of members in the order of their languages.
func chosen(text map[string]any, names []string) (name string, value any) {
	for _, name := range names {
		if value, ok := text[name]; ok {
			return name, value
		}
	}
	return "", nil
}

// validateTexts validates a decoded config with texts in the base and in each language that it has, by turns. The
// violations of a text name the member that was answered. It returns the errors of validateWithin.
func (c *compiledSchema) validateTexts(usage *schemaguard.Usage, rule languages, config any) error {
	t := textSearch{rule: rule}
	if t.search(config, nil); len(t.wrong) > 0 {
		return t.wrong
	}
	var all violations
	for i, lang := range rule.List {
		order := rule.order(lang)
		for i := range order {
			order[i] = textName + order[i]
		}
		usage.Visited(2 * len(t.places))
		if i > 0 && !slices.ContainsFunc(t.places, func(p textPlace) bool { return p.text[order[0]] != nil }) {
			continue
		}
		for _, p := range t.places {
			_, value := chosen(p.text, order)
			p.put(value)
		}
		found, err := c.judge(usage, config, nil)
		for _, p := range t.places {
			p.put(p.text)
		}
		if err != nil {
			return err
		}
		for _, v := range found {
			place, _ := jsonpointer.Lookup(config, v.Pointer)
			text, _ := place.(map[string]any)
			if name, _ := chosen(text, order); name != "" {
				v.Pointer += "/" + jsonpointer.Escape(name)
			}
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b vitrine.Violation) int { return strings.Compare(a.Pointer, b.Pointer) })
	return all.orNil()
}
