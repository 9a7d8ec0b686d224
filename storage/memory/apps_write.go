package memory

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
)

// appTx is the next state while an Update builds it. Writes replace the trees of the copy and never change a node of a
// tree, which older states share.
type appTx struct{ *appState }

// Announce has nothing to do: reads are no round trips.
func (t appTx) Announce(ctx context.Context, _ string, _ []appsvc.ComponentRef) error {
	return ctx.Err()
}

// AddVersion adds a version, notes which components the app uses for the first time, and moves the app in its lists.
func (t appTx) AddVersion(ctx context.Context, h appsvc.Head, body appsvc.Body) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	old, found := t.findApp(h.ID)
	if !found {
		old = new(app)
	}
	if h.Version.Number() != int64(len(old.versions)) {
		return fmt.Errorf("%w: version %s of app %q: the next is %d", appsvc.ErrExists, h.Version, h.ID, len(old.versions))
	}
	// Older states share the array, but read only up to their own length. Only one state is built at a time, so
	// nobody else appends to it.
	next := &app{cloneHead(h), append(old.versions, appsvc.App{Meta: h.Meta, Body: bytes.Clone(body)})}
	t.apps = t.apps.put(next)
	for _, component := range lists.Without(next.head.Components, old.head.Components) {
		t.used = t.used.put(use{component, h.ID})
	}
	t.list(old.head, next.head)
	return nil
}

// AddRestoration stores where the content of a version comes from.
func (t appTx) AddRestoration(ctx context.Context, r appsvc.Restoration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.restored = t.restored.put(r)
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
		return fmt.Errorf("%w: tag %q of app %q", vitrine.ErrNotFound, name, appID)
	}
	t.tags = t.tags.remove(tag)
	return nil
}

// AddTagMove adds a move. Older states share the array of the moves, as they share that of versions in AddVersion.
func (t appTx) AddTagMove(ctx context.Context, m appsvc.TagMoveRecord) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	old := t.findMoves(m.AppID, m.Name)
	t.moves = t.moves.put(&tagMoves{m.AppID, m.Name, append(old.moves, m)})
	return nil
}

// AddComponent adds a component after all others of its name.
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
		return fmt.Errorf("%w: component %q", vitrine.ErrNotFound, name)
	}
	for ; found; c, found = t.components.find(sameName) {
		t.components, t.ids = t.components.remove(c), t.ids.remove(c.ID)
	}
	return nil
}

// KeepAnswer deletes the answers that expired at now or before, and stores a. The tree of expiries begins with the earliest,
// so the walk ends at the first answer that stays.
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

// AddEntry adds an entry to the feed.
func (t appTx) AddEntry(ctx context.Context, e appsvc.FeedEntry) error {
	t.feed.add(e)
	return ctx.Err()
}

// RemoveEntries removes the oldest entries of the feed.
func (t appTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	t.feed.remove(before, limit)
	return ctx.Err()
}
