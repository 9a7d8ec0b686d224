package appsvc

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/storage"
)

// Audit looks at all records of apps, and yields what a Service with these limits cannot have written, or an error as the last pair. A
// zero limit is the default.
func Audit(ctx context.Context, db storage.Store, limits Limits) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		a, key := NewAuditor(limits), ""
		var fault error
		err := NewRecords(db).View(ctx, func(r Reader) error {
			a, key, fault = NewAuditor(limits), "", nil
			for c, err := range r.Components(ctx, ComponentQuery{}) {
				if err != nil {
					return err
				}
				key = keyOf(manifestKind, c.Name, c.Version)
				if fault = a.Component(c); fault != nil {
					return nil
				}
			}
			for id, err := range r.IDs(ctx) {
				if err != nil {
					return err
				}
				key = keyOf(headKind, id)
				if fault, err = auditApp(ctx, a, r, id); fault != nil || err != nil {
					return err
				}
			}
			fault = a.End()
			return nil
		})
		if err == nil && fault != nil {
			yield(storage.Fault{Key: key, Wrong: fault.Error()}, nil)
		} else if err != nil {
			yield(storage.Fault{}, err)
		}
	}
}

func auditApp(ctx context.Context, a *Auditor, r Reader, id string) (fault, err error) {
	head, err := r.Head(ctx, id)
	if err != nil {
		return nil, err
	}
	restored := map[vitrine.Version]Restoration{}
	for x, err := range r.Restorations(ctx, VersionQuery{AppID: id}) {
		if err != nil {
			return nil, err
		}
		restored[x.Version] = x
	}
	for n := range head.Version.Number() + 1 {
		app, err := r.App(ctx, id, vitrine.NewVersion(n))
		if err != nil {
			return err, nil
		}
		if fault := a.Version(app); fault != nil {
			return fault, nil
		}
		if x, ok := restored[app.Version]; ok {
			if fault := a.Restoration(x); fault != nil {
				return fault, nil
			}
		}
	}
	for t, err := range r.Tags(ctx, TagQuery{AppID: id}) {
		if err != nil {
			return nil, err
		}
		if fault := a.Tag(t); fault != nil {
			return fault, nil
		}
	}
	for name, err := range r.TagNames(ctx, id) {
		if err != nil {
			return nil, err
		}
		var moves []TagMoveRecord
		for m, err := range r.TagMoves(ctx, TagMoveQuery{AppID: id, Name: name}) {
			if err != nil {
				return nil, err
			}
			moves = append([]TagMoveRecord{m}, moves...)
		}
		for _, m := range moves {
			if fault := a.TagMove(m); fault != nil {
				return fault, nil
			}
		}
	}
	return nil, nil
}
