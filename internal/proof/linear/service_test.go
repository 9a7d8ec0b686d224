//go:build proof

package linear

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

const network = "urn:vitrine:linear.test"

// world is what a history is about.
type world struct {
	owner string // who made the apps; of this history alone
	ids   [Apps]string
	begin [Apps]*Version
}

// number returns which app of the history has an id.
func (w *world) number(id string) (int, error) {
	for i := range w.ids {
		if w.ids[i] == id {
			return i, nil
		}
	}
	return 0, fmt.Errorf("an answer names app %q, which is not of this history", id)
}

// newWorld makes the apps of a history.
func newWorld(ctx context.Context, svc *appsvc.Service, name string) (*world, error) {
	w := &world{owner: network + ":user=" + name}
	by := vitrine.Caller{URN: w.owner, Moderates: []string{network}}
	for i := range w.ids {
		title := fmt.Sprintf("%s begins %d", name, i)
		app, err := svc.As(by).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: title, Groups: []string{network}, Elements: []appsvc.NewElement{{
				Component: appsvc.ComponentRef{Name: "note", Version: "1.0.0"}, Config: config(title),
			}}})
		if err != nil {
			return nil, err
		}
		w.begin[i], w.ids[i] = First(title, w.owner, app.UpdatedAt), app.ID
	}
	return w, nil
}

// addComponent makes the component that powers the elements.
func addComponent(ctx context.Context, svc *appsvc.Service) error {
	by := vitrine.Caller{URN: network + ":user=developer", Components: true}
	_, err := svc.As(by).CreateComponent(ctx, appsvc.CreateComponentRequest{Manifest: strings.NewReader(component)})
	return err
}

const component = `{"name":"note","version":"1.0.0","main":"https://linear.test/note.js","configSchema":{}}`

// config is what an app with this title has in its element.
func config(title string) json.RawMessage {
	return json.RawMessage(`{"text":"` + title + `","of":"an element whose config follows the title"}`)
}

// patchOf is the patch of an operation, as JSON.
func patchOf(o Op) []byte {
	return fmt.Appendf(nil,
		`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title","value":"%s"},`+
			`{"op":"replace","path":"/apps/0/elements/0/config","value":%s}]`, o.Version, o.Title, config(o.Title))
}

// keyOf is the Idempotency-Key of an operation. Keys belong to callers, and so to histories.
func keyOf(w *world, o Op) string {
	if o.Key == NoKey {
		return ""
	}
	return fmt.Sprintf("%s-%d-%d", strings.TrimPrefix(w.owner, network+":user="), o.Kind, o.Key)
}

func tagName(t int) string { return fmt.Sprintf("t%d", t) }

func tagNumber(name string) (int, error) {
	for t := range Tags {
		if tagName(t) == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("an answer names tag %q, which nobody set", name)
}

// direct carries out operations on a Service. An error is one that the model does not know.
type direct struct{ svc *appsvc.Service }

func (d direct) do(ctx context.Context, w *world, o Op) (Outcome, error) {
	out, err := d.answer(ctx, w, o)
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, vitrine.ErrNotFound):
		return Outcome{Status: Absent}, nil
	case errors.Is(err, vitrine.ErrConflict):
		return Outcome{Status: Conflict}, nil
	case errors.Is(err, errRefused):
		return Outcome{Status: Refused}, nil
	}
	return Outcome{}, err
}

func (d direct) answer(ctx context.Context, w *world, o Op) (Outcome, error) {
	by := vitrine.Caller{URN: o.By, Moderates: []string{network}}
	id, v := w.ids[o.App], vitrine.Latest
	if o.Version >= 0 {
		v = vitrine.NewVersion(o.Version)
	}
	one := func(app appsvc.App, err error) (Outcome, error) {
		return w.saw([]appsvc.App{app}, nil, false, err)
	}
	tags := func(list []appsvc.Tag, more bool, err error) (Outcome, error) {
		var apps []appsvc.App
		for _, t := range list {
			if t.App != nil {
				apps = append(apps, *t.App)
			}
		}
		return w.saw(apps, list, more, err)
	}
	oneTag := func(t appsvc.Tag, err error) (Outcome, error) { return tags([]appsvc.Tag{t}, false, err) }
	switch o.Kind {
	case Patch:
		return one(d.svc.As(by).Patch(ctx, id, bytes.NewReader(patchOf(o))))
	case Restore:
		return one(d.svc.As(by).Restore(ctx, appsvc.RestoreRequest{AppID: id, Version: v, IdempotencyKey: keyOf(w, o)}))
	case PutTag:
		return oneTag(d.svc.As(by).PutTag(ctx,
			appsvc.PutTagRequest{AppID: id, Name: tagName(o.Tag), Version: v, IdempotencyKey: keyOf(w, o)}))
	case DeleteTag:
		return Outcome{},
			d.svc.As(by).DeleteTag(ctx,
				appsvc.DeleteTagRequest{AppID: id, Name: tagName(o.Tag), IdempotencyKey: keyOf(w, o)})
	case ReadLatest:
		return one(d.svc.As(by).App(ctx, id))
	case ReadVersion:
		return one(d.svc.As(by).Version(ctx, id, v))
	case ReadTag:
		return oneTag(d.svc.As(by).Tag(ctx, appsvc.TagRequest{AppID: id, Name: tagName(o.Tag), Embed: true}))
	case ReadTagged:
		return one(d.svc.As(by).TaggedApp(ctx, id, tagName(o.Tag)))
	case ListVersions:
		list, more, err := listed(d.svc.As(by).ListVersions(ctx,
			appsvc.ListVersionsRequest{AppID: id, Before: v, Limit: Page}))
		return w.saw(list, nil, more, err)
	case ListTags:
		return tags(listed(d.svc.As(by).ListTags(ctx, appsvc.ListTagsRequest{AppID: id, Embed: true})))
	case TagsNamed:
		list, err := d.svc.As(by).TagsNamed(ctx, tagName(o.Tag), w.ids[:])
		return w.saw(nil, list, false, err)
	}
	list, _, err := unpage(d.svc.As(vitrine.Caller{URN: w.owner}).ListApps(ctx, appsvc.ListAppsRequest{}))
	return w.saw(list, nil, false, err)
}

// saw turns what a Service returned into an outcome.
func (w *world) saw(list []appsvc.App, tags []appsvc.Tag, more bool, err error) (Outcome, error) {
	out := Outcome{More: more}
	if err != nil {
		return out, err
	}
	for _, a := range list {
		c, err := a.Body.Content()
		if err != nil {
			return out, err
		}
		seen, err := w.sawApp(a.ID, a.Version.Number(), a.UpdatedAt, a.UpdatedBy, c.Title, c.Elements[0].Config)
		if err != nil {
			return out, err
		}
		out.Apps = append(out.Apps, seen)
	}
	for _, t := range tags {
		seen, err := w.sawTag(t.AppID, t.Name, t.AppVersion.Number())
		if err != nil {
			return out, err
		}
		out.Tags = append(out.Tags, seen)
	}
	return out, nil
}

func (w *world) sawApp(id string, v, at int64, by, title string, got json.RawMessage) (SeenApp, error) {
	app, err := w.number(id)
	if err == nil && string(got) != string(config(title)) {
		err = fmt.Errorf("version %d of app %d has the title %q and the config %s, which was never set with it", v, app,
			title, got)
	}
	return SeenApp{App: app, Version: v, Title: title, By: by, At: at}, err
}

func (w *world) sawTag(id, name string, v int64) (SeenTag, error) {
	app, err := w.number(id)
	if err != nil {
		return SeenTag{}, err
	}
	tag, err := tagNumber(name)
	return SeenTag{App: app, Tag: tag, Version: v}, err
}

// unpage takes a page apart.
func unpage[T any](p vitrine.Page[T], err error) (items []T, next string, _ error) {
	return p.Items, p.Next, err
}

// listed takes a page apart, and reports whether another one follows.
func listed[T any](p vitrine.Page[T], err error) (items []T, more bool, _ error) {
	return p.Items, p.Next != "", err
}
