package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/history"
	"github.com/vitrine-go/vitrine/storage/internal/lists"
)

// appRow is a row of table app.
type appRow struct {
	appsvc.Head
	body, tail []byte                  // tail, the column recent, is read in an Update and by Users only
	chains     map[int64][]history.Row // what chain returns for some older versions, read ahead by Users
}

// headColumns are what scanHead reads.
const headColumns = "id, created, updated, version, owner, editor, groups, components"

func scanHead(r *rows) appsvc.Head {
	return appsvc.Head{
		Meta: appsvc.Meta{
			ID: r.text(0), CreatedAt: r.int(1), UpdatedAt: r.int(2), Version: vitrine.NewVersion(r.int(3)),
			Owner: r.text(4), UpdatedBy: r.text(5),
		},
		Groups:     lists.Split(r.blob(6)),
		Components: lists.Split(r.blob(7)),
	}
}

// row returns an app, nil if there is none with this id. An Update locks the row, so nobody changes the app until the commit.
// If there is no row, it claims the id, so nobody adds the app. Each app is read once in a transaction.
func (r *appReader) row(ctx context.Context, id string) (*appRow, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	if row, known := r.apps[id]; known {
		return row, nil
	}
	row, err := r.find(ctx, id)
	if err == nil && row == nil && r.locks != nil {
		r.claim("app", id)
		row, err = r.find(ctx, id) // another update may have added it before the claim
	}
	if err == nil {
		r.apps[id] = row
	}
	return row, err
}

// find reads the row of an app, in an Update with a lock; nil if there is none. A View does not read the tail.
func (r *appReader) find(ctx context.Context, id string) (*appRow, error) {
	var found *rows
	if r.locks != nil {
		found = r.c.query(ctx, "SELECT "+lockedColumns+" FROM app WHERE id = $1 FOR UPDATE", id)
	} else {
		found = r.latest(ctx, id)
	}
	if !found.next() {
		return nil, found.err
	}
	return lockedRow(found), nil
}

// latest reads an app in a View, together with other Views if it is the first thing that the View reads; see sharedreads.go.
func (r *appReader) latest(ctx context.Context, id string) *rows {
	again := newStatement("SELECT version FROM app WHERE id = $1", []any{id}) // a version never changes
	version := func(found *rows) (versions []row) {
		for _, row := range found.values {
			versions = append(versions, row[3:4])
		}
		return versions
	}
	if r.alone && !r.c.pooled {
		found, done := r.db.readShared(ctx, id)
		defer done()
		if found != nil {
			if found.err == nil {
				r.alone, r.first, r.found = false, &again, version(found)
			}
			return found
		}
	}
	return r.read(ctx, newStatement(latestApp, []any{id}), &again, version)
}

// latestApp reads the latest version of an app.
const latestApp = "SELECT " + headColumns + ", body, NULL::bytea FROM app WHERE id = $1"

// lockedColumns are what lockedRow reads.
const lockedColumns = headColumns + ", body, recent"

func lockedRow(r *rows) *appRow { return &appRow{Head: scanHead(r), body: r.blob(8), tail: r.blob(9)} }

// there returns an app. It returns ErrNotFound if there is none with this id.
func (r *appReader) there(ctx context.Context, id string) (*appRow, error) {
	row, err := r.row(ctx, id)
	if err == nil && row == nil {
		err = fmt.Errorf("%w: app %q", vitrine.ErrNotFound, id)
	}
	return row, err
}

// Head returns the Head of the latest version.
func (r *appReader) Head(ctx context.Context, id string) (appsvc.Head, error) {
	row, err := r.there(ctx, id)
	if err != nil {
		return appsvc.Head{}, err
	}
	return row.head(), nil
}

// head returns a copy of the Head, which the caller may change.
func (r *appRow) head() appsvc.Head {
	h := r.Head
	h.Groups, h.Components = slices.Clone(h.Groups), slices.Clone(h.Components)
	return h
}

// joinList is lists.Join for a column that is never NULL: an empty list has no bytes.
func joinList(list []string) []byte { return orEmpty(lists.Join(list)) }
