package appsvc

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/storage"
)

// This file imports archives of format 2, written by releases whose stores had tables. It can be removed together with the
// file of examples/vitrine that calls it, when nobody has such archives any more.

// oldLine is a line of such an archive. Exactly one member is set.
type oldLine struct {
	Component *struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Version  string         `json:"version"`
		Main     string         `json:"main"`
		Manifest jsontext.Value `json:"manifest"`
	} `json:"component"`
	Version *struct {
		App          string         `json:"app"`
		Version      oldVersion     `json:"version"`
		Owner        string         `json:"owner"`
		CreatedAt    int64          `json:"createdAt"`
		UpdatedAt    int64          `json:"updatedAt"`
		UpdatedBy    string         `json:"updatedBy"`
		RestoredFrom *oldVersion    `json:"restoredFrom"`
		Body         jsontext.Value `json:"body"`
	} `json:"version"`
	Tag *struct {
		App     string     `json:"app"`
		Name    string     `json:"name"`
		Version oldVersion `json:"version"`
	} `json:"tag"`
	Move *struct {
		App    string      `json:"app"`
		Tag    string      `json:"tag"`
		Number int64       `json:"number"`
		At     int64       `json:"at"`
		By     string      `json:"by"`
		From   *oldVersion `json:"from"` // null: there was no tag
		To     *oldVersion `json:"to"`   // null: the tag was deleted
	} `json:"move"`
	Answer *jsontext.Value `json:"answer"` // archives may have it; it is not imported
}

// oldVersion is a version in these archives: a number.
type oldVersion struct{ vitrine.Version }

func (v *oldVersion) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err == nil && n < 0 {
		err = fmt.Errorf("there is no version %d", n)
	}
	v.Version = versionOrNone(n)
	return err
}

func (v *oldVersion) orNone() vitrine.Version {
	if v == nil {
		return vitrine.Version{}
	}
	return v.Version
}

// importOld is ImportOld of Maintenance.
func importOld(ctx context.Context, db storage.Store, lines [][]byte) error {
	return newRecords(db, 0).update(ctx, func(t *writer) error {
		for _, text := range lines {
			var l oldLine
			err := json.Unmarshal(text, &l, json.RejectUnknownMembers(true))
			if err == nil {
				err = l.put(ctx, t)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (l oldLine) put(ctx context.Context, t *writer) error {
	if c := l.Component; c != nil {
		old := Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main, Manifest: c.Manifest}
		if _, err := t.vacant(ctx, sentComponent{old, true}); err != nil {
			return err
		}
		return t.addComponent(ctx, old)
	}
	if v := l.Version; v != nil {
		app := App{ID: v.App, Version: v.Version.Version, Owner: v.Owner, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, UpdatedBy: v.UpdatedBy}
		var head appHead
		var err error
		if app.Body, err = withKeys(v.Body); err == nil {
			head, err = app.head()
		}
		if err == nil {
			err = t.addVersion(ctx, head, app.Body)
		}
		if err == nil && v.RestoredFrom != nil {
			err = t.addRestoration(ctx, v.App, v.Version.Version, v.RestoredFrom.Version)
		}
		return err
	}
	if x := l.Tag; x != nil {
		return t.tx.Put(ctx, storage.Entry{Key: keyOf(tagKind, x.App, x.Name), Value: decimal(x.Version.Number())})
	}
	if m := l.Move; m != nil {
		return t.keepMove(ctx, m.App, m.Tag, move{number: m.Number, At: m.At, By: m.By, From: m.From.orNone().Number(), To: m.To.orNone().Number()})
	}
	return nil
}

// withKeys returns a body of these releases, whose elements have no keys, with the index of each element as its key.
func withKeys(body []byte) (Body, error) {
	var content struct {
		Elements []jsontext.Value `json:"elements"`
	}
	if err := json.Unmarshal(body, &content); err != nil {
		return nil, err
	}
	out, _, _ := bytes.Cut(body, []byte(`,"elements":[`)) // in the texts before the elements, all quotes are escaped
	out = append(slices.Clip(out), `,"elements":[`...)
	for i, e := range content.Elements {
		rest, ok := bytes.CutPrefix(e, fmt.Appendf(nil, `{"id":"%d",`, i))
		if !ok {
			return nil, fmt.Errorf("stored element %d: does not begin with its id", i)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"id":"%d","key":"%d",%s`, i, i, rest)
	}
	return append(out, "]}"...), nil
}
