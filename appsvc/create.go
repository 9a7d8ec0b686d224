package appsvc

import (
	"context"
	"encoding/json"
)

// NewApp is what CreateApp is given (contract, endpoint 2).
type NewApp struct {
	Title          string       `json:"title"`    // 1 to 1,024 characters
	Groups         []string     `json:"groups"`   // 1 to 100 URNs of networks or sites, each once
	Elements       []NewElement `json:"elements"` // at most 1,000
	IdempotencyKey string       `json:"-"`        // "" = none
}

// NewElement is an element that is not stored yet.
type NewElement struct {
	Component ComponentRef    `json:"component"`
	Config    json.RawMessage `json:"config"` // an object that conforms to the component's configSchema
}

// CreateApp stores a new app, version 0, owned by the caller. ErrInvalid where the input breaks a
// limit, ErrForbidden unless the caller moderates each of the groups, ErrUnprocessable for an
// unknown component or a config against its schema, ErrTooLarge for an app over 16 MiB with
// the manifests of its components.
func (s *Service) CreateApp(ctx context.Context, by Caller, in NewApp) (App, error) {
	d := draft{title: in.Title, groups: in.Groups}
	for _, e := range in.Elements {
		d.elements = append(d.elements, draftElement{ref: e.Component, config: e.Config})
	}
	if err := s.limits.checkShape(ErrInvalid, "", d); err != nil {
		return App{}, err
	}
	if err := by.mayCreateIn(in.Groups); err != nil {
		return App{}, err
	}
	once, err := newOnce(by, in.IdempotencyKey, "create app", in)
	if err != nil {
		return App{}, err
	}
	var used map[ComponentRef]Component
	prepare := func() (err error) {
		used, err = s.complete(ctx, "", d)
		return err
	}
	return s.writeVersion(ctx, once, prepare, func(tx Tx) (App, error) {
		if err := recheck(ctx, tx, used); err != nil {
			return App{}, err
		}
		now := s.millis()
		meta := Meta{ID: s.newID(), Owner: by.URN, CreatedAt: now, UpdatedAt: now, UpdatedBy: by.URN}
		return s.addVersion(ctx, tx, meta, d, s.limits.AppBytes)
	})
}

// addVersion stores the draft as a version of an app, if its answer has no more than most bytes.
func (s *Service) addVersion(ctx context.Context, tx Tx, meta Meta, d draft, most int) (App, error) {
	body, components := d.body(meta.Owner)
	app := App{Meta: meta, Body: body}
	if err := app.checkSize(most); err != nil {
		return App{}, err
	}
	return app, tx.AddVersion(ctx, Head{Meta: meta, Groups: d.groups, Components: components}, body)
}

// next is the Meta of the version after h.
func (s *Service) next(h Head, by Caller) Meta {
	m := h.Meta
	m.Version++
	m.UpdatedAt = max(s.millis(), h.UpdatedAt)
	m.UpdatedBy = by.URN
	return m
}
