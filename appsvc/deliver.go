package appsvc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// Delivery is a version of an app as a page gets it: only what is needed to mount its elements.
type Delivery struct {
	ID      string          `json:"id"`
	Tag     string          `json:"tag"`
	Version vitrine.Version `json:"version"`
	Title   string          `json:"title"`
	// PublishedAt is when the tag was moved to the version, and UpdatedAt when the version was made, in milliseconds
	// since the epoch.
	PublishedAt int64 `json:"publishedAt"`
	UpdatedAt   int64 `json:"updatedAt"`
	// as of an App; only set for an app with texts
	Lang      string             `json:"lang,omitzero"`
	Fallbacks int                `json:"fallbacks,omitzero"`
	Languages []string           `json:"languages,omitzero"`
	Elements  []DeliveredElement `json:"elements"`

	// Err is the reason why the app cannot be shown; then only ID is set. It wraps ErrNotFound if the app or the tag
	// does not exist or the caller may not read it, always with the same sentence; ErrUnprocessable with CodeCost if
	// its configs with their defaults are too large; and, from a server, ErrTooLarge if the response had no room for
	// it.
	Err error `json:"-"`
}

// DeliveredElement is an element of a Delivery.
type DeliveredElement struct {
	Key     string `json:"key"`     // unchanged while the element is edited, moved or restored
	Name    string `json:"name"`    // of the component
	Version string `json:"version"` // of the component
	// address of the component's script: a URL, or a path on the host that delivers it
	Main     string         `json:"main"`
	Headless bool           `json:"headless,omitzero"` // the component shows nothing
	Config   jsontext.Value `json:"config"`            // with the defaults of the component's schema
}

// Deliver returns the versions of apps to which a tag points, in the order of appIDs, with the defaults of their
// configs, and with texts in the language of Session.In or in the base. An app that cannot be read has an error of its
// own. Deliver itself returns ErrForbidden if the caller has
// TagsOnly and the tag is not among its Tags. All apps are read from one snapshot.
func (s *Session) Deliver(ctx context.Context, tag string, appIDs []string) ([]Delivery, error) {
	if err := cmp.Or(s.by.CheckMethod("appsvc.Deliver"), s.checkLanguage(), s.mayReadTag(tag)); err != nil {
		return nil, err
	}
	out := make([]Delivery, len(appIDs))
	err := s.service.store.view(ctx, func(r *reader) error {
		var keys []string
		var tags [][2]string
		for _, id := range appIDs {
			keys = append(keys, records.HeadKey(id), records.TagKey(id, tag))
			tags = append(tags, [2]string{id, tag})
		}
		if err := r.Ahead(ctx, keys...); err != nil {
			return err
		}
		moved, err := r.LastMoves(ctx, tags)
		if err != nil {
			return err
		}
		for i, id := range appIDs {
			d, err := s.delivery(ctx, r, id, tag)
			if errors.Is(err, vitrine.ErrNotFound) {
				err = fault.NotFound("no app that this key may read has this id and this tag")
			}
			if e, ok := errors.AsType[*vitrine.Error](err); ok {
				d, err = Delivery{ID: id, Err: e}, nil
			}
			if err != nil {
				return err
			}
			if d.Err == nil { // a release that kept no moves may have made the tag
				d.PublishedAt = cmp.Or(moved[tags[i]].At, d.UpdatedAt)
			}
			out[i] = d
		}
		return nil
	})
	return out, err
}

// mayReadTag returns ErrForbidden if the caller may read apps only by other tags.
func (s *Session) mayReadTag(tag string) error {
	if s.by.TagsOnly && !slices.Contains(s.by.Tags, tag) {
		return fault.Forbidden("this caller may read apps by the tags %q, and by no other", s.by.Tags)
	}
	return nil
}

// delivery returns one app.
func (s *Session) delivery(ctx context.Context, r *reader, id, tag string) (d Delivery, err error) {
	head, at, err := s.tagged(ctx, r, id, tag)
	if err != nil {
		return d, err
	}
	app, err := r.version(ctx, head, at)
	if err != nil {
		return d, err
	}
	return s.deliveryAs(ctx, r, app, tag)
}

// deliveryAs returns a version of an app as a page gets it by a tag.
func (s *Session) deliveryAs(ctx context.Context, r *reader, app App, tag string) (d Delivery, err error) {
	name := deliveryName{versionName{app.ID, app.Version.Number()}, ""}
	if mayHaveTexts(app.Body) {
		if err := r.Ahead(ctx, records.LanguagesKey); err != nil { // once for all apps
			return d, err
		}
		rule, err := r.languages(ctx)
		if err != nil {
			return d, err
		}
		if len(rule.List) > 0 {
			app.reading = rule.reading(s.lang)
			name.reading = fmt.Sprint(rule.Number, app.reading.order)
		}
	}
	d, found := s.service.store.deliveries.Get(name)
	if !found || d.UpdatedAt != app.UpdatedAt {
		if app.reading != nil {
			if app, err = app.in(app.reading); err != nil {
				return d, err
			}
		}
		if d, err = deliveryOf(ctx, app); err != nil {
			return d, err
		}
		s.service.store.deliveries.Put(name, d, 500+len(app.Body))
	}
	d.Tag = tag
	return d, nil
}

// deliveryOf returns a version as a page gets it.
func deliveryOf(ctx context.Context, app App) (Delivery, error) {
	app, err := app.WithDefaults(ctx)
	if err != nil {
		return Delivery{}, err
	}
	var in struct {
		Title    string `json:"title"`
		Elements []struct {
			Key       string `json:"key"`
			Component struct {
				Name     string         `json:"name"`
				Version  string         `json:"version"`
				Main     string         `json:"main"`
				Headless jsontext.Value `json:"headless"`
			} `json:"component"`
			Config jsontext.Value `json:"config"`
		} `json:"elements"`
	}
	err = json.Unmarshal(app.Body, &in)
	d := Delivery{ID: app.ID, Version: app.Version, Title: in.Title, UpdatedAt: app.UpdatedAt,
		Lang: app.Lang, Fallbacks: app.Fallbacks, Languages: app.Languages}
	for _, e := range in.Elements {
		d.Elements = append(d.Elements,
			DeliveredElement{e.Key, e.Component.Name, e.Component.Version, e.Component.Main,
				string(e.Component.Headless) == "true", e.Config})
	}
	return d, err
}

// AppendJSON appends the JSON of the delivery: {"id", "tag", "version", "title", "publishedAt", "updatedAt", "lang",
// "fallbacks", "languages", "elements": [{"key", "name", "version", "main", "headless", "config"}]}, or {"id", "error",
// "code"}. tag and publishedAt are left out without a tag, as of a preview; lang, fallbacks and languages are only
// written for an app with texts, and headless if it is true. root is
// the scheme and the host, such as https://host.example, of scripts whose address is a path, and of files of the asset
// library: strings of a config that begin with base, the base path, and /x/file/.
func (d Delivery) AppendJSON(dst []byte, root, base string) []byte {
	dst = appendString(append(dst, `{"id":`...), d.ID)
	if e, ok := errors.AsType[*vitrine.Error](d.Err); ok {
		dst = appendString(append(dst, `,"error":`...), e.Reason)
		return append(appendString(append(dst, `,"code":`...), string(e.Code)), '}')
	}
	if d.Tag != "" {
		dst = appendString(append(dst, `,"tag":`...), d.Tag)
	}
	dst = appendString(append(dst, `,"version":`...), d.Version.String())
	dst = appendString(append(dst, `,"title":`...), d.Title)
	if d.Tag != "" {
		dst = strconv.AppendInt(append(dst, `,"publishedAt":`...), d.PublishedAt, 10)
	}
	dst = strconv.AppendInt(append(dst, `,"updatedAt":`...), d.UpdatedAt, 10)
	dst = append(appendLanguages(dst, d.Lang, d.Fallbacks, d.Languages), `,"elements":[`...)
	for i, e := range d.Elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		main := e.Main
		if strings.HasPrefix(main, "/") {
			main = root + main
		}
		dst = appendString(append(dst, `{"key":`...), e.Key)
		dst = appendString(append(dst, `,"name":`...), e.Name)
		dst = appendString(append(dst, `,"version":`...), e.Version)
		dst = appendString(append(dst, `,"main":`...), main)
		if e.Headless {
			dst = append(dst, `,"headless":true`...)
		}
		dst = append(appendRooted(append(dst, `,"config":`...), e.Config, base+"/x/file/", root), '}')
	}
	return append(dst, "]}"...)
}

// appendRooted appends a JSON value, with root in front of each string that begins with prefix. Names of members, and
// everything else, stay byte by byte.
func appendRooted(dst []byte, value jsontext.Value, prefix, root string) []byte {
	if !bytes.Contains(value, []byte("file")) && !bytes.Contains(value, []byte(`\u`)) {
		return append(dst, value...)
	}
	d, copied := jsontext.NewDecoder(bytes.NewReader(value)), int64(0)
	for {
		before := d.InputOffset()
		token, err := d.ReadToken()
		if err != nil { // at the end: what is stored is JSON
			return append(dst, value[copied:]...)
		}
		if token.Kind() != '"' || !strings.HasPrefix(token.String(), prefix) {
			continue
		}
		if in, n := d.StackIndex(d.StackDepth()); in == '{' && n%2 == 1 { // the name of a member
			continue
		}
		begin := before + int64(bytes.IndexByte(value[before:], '"')) // behind a comma, a colon and spaces
		dst = append(dst, value[copied:begin]...)
		dst, copied = appendString(dst, root+token.String()), d.InputOffset()
	}
}
