package appsvc

import (
	"context"
	"encoding/json"
)

// CreateAppRequest is the content of a new app. In JSON it is the body of POST /apps/.
type CreateAppRequest struct {
	Title          string       `json:"title"`    // 1 to 1,024 characters
	Groups         []string     `json:"groups"`   // 1 to 100 URNs of networks or sites, each once
	Elements       []NewElement `json:"elements"` // at most 1,000
	IdempotencyKey string       `json:"-"`        // "" = none
}

// NewElement is an element that is not stored yet: a component and a config for it. The service gives it an id and the
// manifest of the component.
type NewElement struct {
	Component ComponentRef    `json:"component"`
	Config    json.RawMessage `json:"config"` // an object that conforms to the component's configSchema
}

// CreateApp stores a new app with version 0. The caller becomes its owner, and the service gives it a random id.
//
// The configs are validated before the transaction, which checks that the components are still the same. It returns:
//   - ErrInvalid if the input breaks a limit;
//   - ErrForbidden unless the caller moderates each of the groups;
//   - ErrUnprocessable if a component is unknown, a config breaks its schema, or the idempotency key was used for another
//     request;
//   - ErrConflict if a component was replaced meanwhile;
//   - ErrTooLarge if the app with the manifests of its components has more than 16 MiB.
func (s *Service) CreateApp(ctx context.Context, by Caller, in CreateAppRequest) (App, error) {
	if err := by.check(); err != nil {
		return App{}, err
	}
	d := draft{title: in.Title, groups: in.Groups}
	for _, e := range in.Elements {
		d.elements = append(d.elements, draftElement{ref: e.Component, config: e.Config})
	}
	if err := s.limits.checkShape("", d); err != nil {
		return App{}, asInvalid(err)
	}
	if err := by.mayCreateIn("/groups", in.Groups, nil); err != nil {
		return App{}, err
	}
	write, err := newIdempotentWrite(by, in.IdempotencyKey, "create app", in)
	if err != nil {
		return App{}, err
	}
	var used map[ComponentRef]Component
	prepare := func() (err error) {
		d, used, err = s.complete(ctx, "", d)
		return err
	}
	return s.writeVersion(ctx, write, prepare, func(tx Tx) (App, error) {
		if err := checkUnchanged(ctx, tx, used, Version{}); err != nil {
			return App{}, err
		}
		now := s.millis()
		meta := Meta{ID: s.newID(), Version: NewVersion(0), Owner: by.URN, CreatedAt: now, UpdatedAt: now, UpdatedBy: by.URN}
		return s.addVersion(ctx, tx, by, Change{Type: AppCreated}, meta, d, s.limits.AppBytes)
	})
}

// addVersion stores the draft as a version of an app, and records the change. It is the last step of CreateApp, Patch and
// Restore, which have checked the rights of the caller and the draft by then. They fill the members of c that describe
// the app before the change; addVersion fills those that describe it after. It returns ErrTooLarge if the JSON of the app
// has more than most bytes.
func (s *Service) addVersion(ctx context.Context, tx Tx, by Caller, c Change, meta Meta, d draft, most int) (App, error) {
	body, components := d.body(meta.Owner)
	app := App{Meta: meta, Body: body}
	if err := app.checkSize(most); err != nil {
		return App{}, err
	}
	c.AppID, c.After, c.New = meta.ID, Head{Meta: meta, Groups: d.groups, Components: components}, body
	c.From, c.To = c.Before.Version, meta.Version
	if err := tx.AddVersion(ctx, c.After, body); err != nil {
		return App{}, err
	}
	if c.Type == AppRestored {
		if err := tx.AddRestoration(ctx, Restoration{meta.ID, meta.Version, c.Restored}); err != nil {
			return App{}, err
		}
	}
	return app, s.record(ctx, tx, by, c)
}

// next returns the Meta of the version after h. Its time is never before that of h, even if the clock was set back, so
// that lists by time keep the order of versions.
func (s *Service) next(h Head, by Caller) Meta {
	m := h.Meta
	m.Version = m.Version.Next()
	m.UpdatedAt = max(s.millis(), h.UpdatedAt)
	m.UpdatedBy = by.URN
	return m
}
