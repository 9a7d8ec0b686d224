package memory

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
)

// appTx is a state that is being built.
type appTx struct{ *appState }

// AddVersion adds a version, and puts the app in its new places.
func (t appTx) AddVersion(ctx context.Context, h appsvc.Head, body appsvc.Body) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	old, found := t.findApp(h.ID)
	if !found {
		old = new(app)
	}
	if h.Version != appsvc.Version(len(old.versions)) {
		return fmt.Errorf("%w: version %d of app %q: the next is %d", appsvc.ErrExists, h.Version, h.ID, len(old.versions))
	}
	// Older states share the array. They look no further than their own length, and of the
	// states that could write behind it only one is ever built at a time.
	next := &app{cloneHead(h), append(old.versions, appsvc.App{Meta: h.Meta, Body: bytes.Clone(body)})}
	t.apps = t.apps.put(next)
	for i, order := range t.orders {
		if found {
			order = order.remove(old)
		}
		t.orders[i] = order.put(next)
	}
	return nil
}

// SetTag adds or moves a tag.
func (t appTx) SetTag(ctx context.Context, tag appsvc.Tag) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.tags = t.tags.put(tag)
	return nil
}

// DeleteTag removes a tag.
func (t appTx) DeleteTag(ctx context.Context, appID, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tag := appsvc.Tag{AppID: appID, Name: name}
	if _, found := t.tags.find(func(have appsvc.Tag) int { return compareTags(have, tag) }); !found {
		return fmt.Errorf("%w: tag %q of app %q", appsvc.ErrNotFound, name, appID)
	}
	t.tags = t.tags.remove(tag)
	return nil
}

// AddComponent adds a component behind all others of its name.
func (t appTx) AddComponent(ctx context.Context, c appsvc.Component) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, taken := t.ids.find(func(id string) int { return strings.Compare(id, c.ID) }); taken {
		return fmt.Errorf("%w: component with id %q", appsvc.ErrExists, c.ID)
	}
	for _, err := range t.Components(ctx, appsvc.ComponentQuery{Name: c.Name, Version: c.Version}) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: version %q of component %q", appsvc.ErrExists, c.Version, c.Name)
	}
	c.Manifest = bytes.Clone(c.Manifest)
	t.added++
	t.components = t.components.put(component{c, t.added})
	t.ids = t.ids.put(c.ID)
	return nil
}

// DeleteComponent removes all versions of a component.
func (t appTx) DeleteComponent(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sameName := func(c component) int { return strings.Compare(c.Name, name) }
	c, found := t.components.find(sameName)
	if !found {
		return fmt.Errorf("%w: component %q", appsvc.ErrNotFound, name)
	}
	for ; found; c, found = t.components.find(sameName) {
		t.components, t.ids = t.components.remove(c), t.ids.remove(c.ID)
	}
	return nil
}

// KeepAnswer forgets what is over, and keeps a.
func (t appTx) KeepAnswer(ctx context.Context, a appsvc.Answer, now int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if old, found := t.findAnswer(a.By, a.Key); found {
		t.expiries = t.expiries.remove(old)
	}
	t.expiries.ascend(nil, func(old *appsvc.Answer) bool {
		if old.Expires > now {
			return false
		}
		t.answers, t.expiries = t.answers.remove(old), t.expiries.remove(old)
		return true
	})
	a.Request, a.Result = bytes.Clone(a.Request), bytes.Clone(a.Result)
	t.answers, t.expiries = t.answers.put(&a), t.expiries.put(&a)
	return nil
}
