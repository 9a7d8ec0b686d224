package client

import (
	"errors"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// app is an app as it is answered. Its body keeps the bytes that were sent.
type app struct{ appsvc.App }

// apps is the body of an answer with apps.
type apps struct {
	Apps []app `json:"apps"`
}

func (a apps) list() []appsvc.App {
	var out []appsvc.App
	for _, x := range a.Apps {
		out = append(out, x.App)
	}
	return out
}

// one returns the only app of an answer.
func (a apps) one() (appsvc.App, error) {
	if len(a.Apps) != 1 {
		return appsvc.App{}, errors.New("the answer is not one app")
	}
	return a.Apps[0].App, nil
}

// UnmarshalJSON is the inverse of appsvc.App.AppendJSON.
func (a *app) UnmarshalJSON(text []byte) error {
	var head struct {
		ID        string  `json:"id"`
		Version   version `json:"version"`
		CreatedAt int64   `json:"createdAt"`
		UpdatedAt int64   `json:"updatedAt"`
		UpdatedBy party   `json:"updatedBy"`
		Owner     *party  `json:"owner"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	if head.ID == "" || head.Owner == nil {
		return errors.New("an app lacks its id or its owner")
	}
	a.Meta = appsvc.Meta{ID: head.ID, Version: appsvc.Version(head.Version), Owner: head.Owner.URN,
		CreatedAt: head.CreatedAt, UpdatedAt: head.UpdatedAt, UpdatedBy: head.UpdatedBy.URN}
	var err error
	a.Body, err = without(text, "id", "version", "createdAt", "updatedAt", "updatedBy")
	return err
}

type party struct {
	URN string `json:"urn"`
}

// version is a version as it is written: a string.
type version appsvc.Version

func (v *version) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	n, err := appsvc.ParseVersion(s)
	*v = version(n)
	return err
}

// without returns a JSON object without some of its members.
func without(text []byte, names ...string) ([]byte, error) {
	members, err := strictjson.Members(text)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(text))
	for _, m := range members {
		if slices.Contains(names, m.Name) {
			continue
		}
		out = append(out, ',')
		out, _ = jsontext.AppendQuote(out, m.Name) // it was read as a string
		out = append(append(out, ':'), m.Value...)
	}
	if len(out) == 0 {
		return []byte("{}"), nil
	}
	out[0] = '{'
	return append(out, '}'), nil
}
