package appsvc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine"
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

// ElementOf returns an element with a component and a config, which json.Marshal encodes as an object; the error is
// that of json.Marshal. CreateApp checks both, and says at which element something is wrong. ConfigAs reads the config.
func ElementOf(component ComponentRef, config any) (NewElement, error) {
	text, err := json.Marshal(config)
	if err != nil {
		err = fmt.Errorf("appsvc: the config of a new element of %s: %w", component.Name, err)
	}
	return NewElement{component, text}, err
}

// CreateApp stores a new app with version 0. The caller becomes its owner, and the service gives it a random id.
//
// The configs are validated before the transaction, which checks that the components are still the same. If one was
// replaced meanwhile, nothing is stored, and the caller may repeat the call.
//
// It returns:
//   - ErrInvalid if the caller has a malformed URN, or if the input or the idempotency key is malformed or breaks a
//     limit;
//   - ErrForbidden unless the caller moderates each of the groups, or if Options.Check rejects the change;
//   - ErrUnprocessable if a component is unknown or was deleted meanwhile, a config breaks its schema, validating the
//     configs would take too long (CodeCost), or the idempotency key was used for another request;
//   - ErrConflict if a component was replaced meanwhile;
//   - ErrTooLarge if the app with the manifests of its components has more than Limits.AppBytes, by default 16 MiB.
func (s *Session) CreateApp(ctx context.Context, in CreateAppRequest) (App, error) {
	s = s.calls("CreateApp")
	if err := s.check(); err != nil {
		return App{}, err
	}
	d := draft{title: in.Title, groups: in.Groups}
	for _, e := range in.Elements {
		d.elements = append(d.elements, draftElement{ref: e.Component, config: e.Config})
	}
	// What is checked without the store comes first: the content, and then the rights. A repeat is checked in the same
	// way.
	if err := s.service.limits.checkDraft("", d); err != nil {
		return App{}, asInvalid(err)
	}
	if err := mayCreateIn(s.by, "/groups", in.Groups, nil); err != nil {
		return App{}, err
	}
	write, err := newIdempotentWrite(s.by, in.IdempotencyKey, "create app", in)
	if err != nil {
		return App{}, err
	}
	prepare := func() (err error) {
		d, err = s.service.validateDraft(ctx, "", d)
		return err
	}
	return s.service.writeVersion(ctx, write, prepare, func(tx *writer) (App, error) {
		// The zero Version: a conflict has no version of an app to name, since there is no app yet.
		if err := tx.checkUnchanged(ctx, d, d.used(), vitrine.Version{}); err != nil {
			return App{}, err
		}
		id, err := s.service.newID()
		if err != nil {
			return App{}, err
		}
		now := s.service.millis()
		first := App{ID: id, Version: vitrine.NewVersion(0), Owner: s.by.URN, CreatedAt: now, UpdatedAt: now,
			UpdatedBy: s.by.URN, agent: s.by.Agent}
		return s.addVersion(ctx, tx, Change{Type: AppCreated}, first, d, s.service.limits.AppBytes)
	})
}

// asInvalid returns an error of checkDraft as ErrInvalid. CreateApp needs it: the whole draft is in the request there,
// so the request is wrong. In Patch the request may be right by itself, and its result breaks a rule.
func asInvalid(err error) error {
	e, ok := errors.AsType[*vitrine.Error](err)
	if !ok || e.Kind != vitrine.ErrUnprocessable {
		return err
	}
	malformed := *e
	malformed.Kind, malformed.Code = vitrine.ErrInvalid, vitrine.CodeInvalid
	return &malformed
}
