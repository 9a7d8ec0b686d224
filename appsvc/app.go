package appsvc

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// App is one version of an app: what the service knows of the version, and its content. It is what reads return, and
// what a write returns as its result. In JSON it is one object:
//
//	{"id", "version", "createdAt", "updatedAt", "updatedBy": {"urn"}, "title", "owner": {"urn"}, "groups", "elements"}
//
// An app with texts that Session.In has answered in one language has "lang", "fallbacks" and "languages" before the
// title.
//
// To read the elements in Go, call Body.Content. To write JSON, call AppendJSON, which copies the stored bytes.
//
// A list with ListAppsRequest.Summary has apps without a Body. In JSON they have other members in place of the
// elements:
//
//	"components": [name], "tags": [{"name", "appVersion"}], "openComments", "deletedAt", "deletedBy": {"urn"}, "erasesAt"
//
// In a list that searches content, each app has a last member "found": [{"element", "pointer", "text"}].
//
// An App is a value: it does not change when the app gets another version. Copies of it share the Groups and the Body.
type App struct {
	// The service sets these; a patch cannot change them.
	ID        string          // given by Options.NewID, by default a random UUID (version 4); never changes
	Version   vitrine.Version // 0, 1, 2 …
	Owner     string          // URN of the user who created the app; "" as a caller with TagsOnly reads it
	CreatedAt int64           // of the app; milliseconds since the epoch
	UpdatedAt int64           // of this version; never lower than that of the version before
	UpdatedBy string          // URN of the user who made this version; "" as a caller with TagsOnly reads it

	Title  string   // as in Body
	Groups []string // as in Body; none as a caller with TagsOnly reads it
	Body   Body     // nil in a summary, and in a Change, which has it beside the App

	// An App without a Body has these. Only a summary has Tags and OpenComments.
	Components   []string // names of the components that power elements, sorted, each once
	Tags         []Tag    // by name
	OpenComments int      // comments that are not resolved

	// A deleted app without a Body has these.
	DeletedAt int64  // milliseconds since the epoch
	DeletedBy string // URN of the user
	ErasesAt  int64  // when EraseDeleted will erase the app, in milliseconds since the epoch; 0 = never

	// Found are the first three texts in which a search in content has found all words: [] if they are in the title
	// alone, and nil in all other lists.
	Found []Found

	// An app with texts, as Session.In has answered it, has these.
	Lang      string   // the language of the answer
	Fallbacks int      // how many texts were answered in another language, since they do not have that one
	Languages []string // the languages of the texts, in the order of the store's

	reading *reading // nil = the texts are as they are stored
	agent   string   // that made this version; "" = none
}

// with returns the version that a describes with another content, a stored body.
func (a App) with(body Body) App {
	out := App{ID: a.ID, Version: a.Version, Owner: a.Owner, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		UpdatedBy: a.UpdatedBy, agent: a.agent, Title: member(body, "title"), Body: body}
	out.Groups, _ = texts(jsontree.Member(body, "groups"))
	return out
}

// appHead is the latest version of an app without its body. The access rules and lists need no more. It is stored
// separately from the body, so that most calls read no body.
type appHead struct {
	App // with Components, and without Body, Tags and ErasesAt

	uses  []records.Use // Components, with their versions
	lists []int64       // numbers of the lists that the app is in, in the order of records.Head.ListKeys
	large bool          // the body is in large/
}

// whole returns the version with its body, which may be nil.
func (h appHead) whole(body Body) App {
	a := h.App
	a.Components, a.DeletedAt, a.DeletedBy, a.Body = nil, 0, "", body
	return a
}

// Body is the stored content of a version: one compact JSON object with the members title, owner, groups and elements,
// in this order. Reads return it unchanged, so numbers, strings and the order of members in a config are as they were
// sent. Bodies may share memory with a cache, so their bytes must not be changed.
type Body []byte

// Content is a Body, decoded.
type Content struct {
	Title    string    `json:"title"`
	Groups   []string  `json:"groups"`
	Elements []Element `json:"elements"`
}

// Element is one part of an app: a config and the manifest of the component that it configures. A program renders it by
// loading the script at main of the manifest and passing it the config. In JSON it is {"id", "key", "component":
// manifest, "config"}.
type Element struct {
	ID string // its index, as a string
	// stays while the element is edited, moved and restored: "12.3" first stood in version 12 at index 3
	Key       string
	Component ComponentRef    // the name and the version in Manifest
	Manifest  json.RawMessage // of the component, as it was when the element was written
	Config    json.RawMessage // the creator's values, an object
}

// ConfigAs decodes the Config of an element, as json.Unmarshal does.
func ConfigAs[T any](e Element) (config T, err error) {
	if err = json.Unmarshal(e.Config, &config); err != nil {
		err = fmt.Errorf("appsvc: the config of the element %s: %w", e.ID, err)
	}
	return config, err
}

// elementText is the JSON of an Element.
type elementText struct {
	ID       string          `json:"id"`
	Key      string          `json:"key"`
	Manifest json.RawMessage `json:"component"`
	Config   json.RawMessage `json:"config"`
}

// MarshalJSON writes the element as responses have it.
func (e Element) MarshalJSON() ([]byte, error) {
	return json.Marshal(elementText{e.ID, e.Key, e.Manifest, e.Config})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Element) UnmarshalJSON(text []byte) error {
	var t elementText
	err := json.Unmarshal(text, &t)
	*e = Element{t.ID, t.Key, storedRef(t.Manifest), t.Manifest, t.Config}
	return err
}

// Content decodes the body. It returns an error if the body is not one that a service has stored.
func (b Body) Content() (Content, error) {
	var c Content
	if err := json.Unmarshal(b, &c); err != nil {
		return Content{}, fmt.Errorf("stored body: %w", err)
	}
	return c, nil
}

// head returns the head of the version. It parses the body for the groups and components, and fails if the body is
// malformed.
func (a App) head() (appHead, error) {
	d, err := a.Body.draft()
	if err != nil {
		return appHead{}, err
	}
	return d.head(a), nil
}

// AppendJSON appends the JSON of the app to dst: what the service sets, then the members of the stored body. The body
// is copied, not decoded, so that a read decodes and encodes nothing.
func (a App) AppendJSON(dst []byte) []byte {
	if a.Body == nil {
		dst = a.appendSummary(dst)
	} else {
		dst = append(a.appendBegin(slices.Grow(dst, 256+len(a.Body))), a.Body[1:]...)
	}
	if a.Found != nil {
		dst = a.appendFound(dst)
	}
	return dst
}

// appendBegin appends what the service sets, from the opening brace to the comma after the last member. The owner is
// not among the members: it is stored in the body.
func (a App) appendBegin(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, a.ID)
	dst = append(dst, `,"version":"`...)
	dst = strconv.AppendInt(dst, a.Version.Number(), 10)
	dst = append(dst, `","createdAt":`...)
	dst = strconv.AppendInt(dst, a.CreatedAt, 10)
	dst = append(dst, `,"updatedAt":`...)
	dst = strconv.AppendInt(dst, a.UpdatedAt, 10)
	if a.UpdatedBy == "" {
		dst = append(dst, `,"updatedBy":null`...)
	} else {
		dst = append(dst, `,"updatedBy":{"urn":`...)
		dst = append(appendString(dst, a.UpdatedBy), '}')
	}
	return append(appendLanguages(dst, a.Lang, a.Fallbacks, a.Languages), ',')
}

// appendLanguages appends the members that say in which language the texts of an app are answered, if it has texts.
func appendLanguages(dst []byte, lang string, fallbacks int, languages []string) []byte {
	if len(languages) == 0 {
		return dst
	}
	dst = append(appendString(append(dst, `,"lang":`...), lang), `,"fallbacks":`...)
	return appendStrings(append(strconv.AppendInt(dst, int64(fallbacks), 10), `,"languages":`...), languages)
}

// MarshalJSON returns the same bytes as AppendJSON.
func (a App) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil), nil }

// UnmarshalJSON reads what AppendJSON writes, and any JSON of an app with the same members. The members of the body
// keep their bytes, without the white space between them, so an App that was read from JSON is equal to the one that
// was written. It returns an error if id, version, title, owner, groups or elements is missing.
func (a *App) UnmarshalJSON(text []byte) error {
	var in struct {
		ID        string          `json:"id"`
		Version   vitrine.Version `json:"version"`
		CreatedAt int64           `json:"createdAt"`
		UpdatedAt int64           `json:"updatedAt"`
		UpdatedBy user            `json:"updatedBy"` // null, as the owner, if the caller may not know it
		Found     []Found         `json:"found"`
		Lang      string          `json:"lang"`
		Fallbacks int             `json:"fallbacks"`
		Languages []string        `json:"languages"`
		summaryText
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if in.ID == "" || in.Version.IsZero() {
		return errors.New("an app lacks its id or its version")
	}
	*a = App{ID: in.ID, Version: in.Version, Owner: in.Owner.URN, CreatedAt: in.CreatedAt, UpdatedAt: in.UpdatedAt,
		UpdatedBy: in.UpdatedBy.URN,
		Title:     in.Title, Groups: in.Groups, Found: in.Found, Lang: in.Lang, Fallbacks: in.Fallbacks,
		Languages: in.Languages}
	// The body has the members of a stored one in their order, whatever their order in the text is.
	members := jsontree.New(compact(text))
	if members.Get("elements") == nil && members.Get("components") != nil {
		a.readSummary(in.summaryText)
		return nil
	}
	body := []byte{'{'}
	for _, name := range []string{"title", "owner", "groups", "elements"} {
		value := members.Get(name)
		if value == nil {
			return fmt.Errorf("an app lacks its %s", name)
		}
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = value.Append(append(appendString(body, name), ':'))
	}
	a.Body = append(body, '}')
	return nil
}

// appendString appends s as a JSON string, with as few escapes as JSON allows. All stored texts are written with it, so
// equal strings have equal bytes.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the checks reject invalid UTF-8, which would become U+FFFD
	return dst
}

// appendStrings appends a JSON array of strings.
func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

// checkSize returns ErrTooLarge if the app in its form over HTTP, {"apps":[app]}, has more than most bytes. addVersion
// calls it with Limits.DocumentBytes for a patch and with Limits.AppBytes otherwise, before anything is stored.
func (a App) checkSize(most int) error {
	const wrapper = len(`{"apps":[]}`)
	if n := len(a.appendBegin(nil)) + len(a.Body[1:]) + wrapper; n > most {
		return fault.TooLarge("the response with the app has %d bytes; at most %d are allowed", n, most)
	}
	return nil
}
