package sqlite

import (
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Answer returns the answer that is stored for an idempotency key of a caller, or ErrNotFound. Only one update runs at a time, so
// of two calls with the same key the second one finds the answer of the first.
func (r *appReader) Answer(ctx context.Context, by, key string) (appsvc.Answer, error) {
	c, err := r.conn(ctx)
	if err != nil {
		return appsvc.Answer{}, err
	}
	rows := c.query("SELECT request, result, expires FROM answer WHERE caller = $1 AND name = $2", by, key)
	defer rows.close()
	if rows.next() {
		return appsvc.Answer{By: by, Key: key, Request: rows.blob(0), Result: rows.blob(1), Expires: rows.int(2)}, nil
	}
	if rows.err != nil {
		return appsvc.Answer{}, rows.err
	}
	return appsvc.Answer{}, fmt.Errorf("%w: answer to key %q", vitrine.ErrNotFound, key)
}

// Answers yields every answer that is stored, by caller and key.
func (r *appReader) Answers(ctx context.Context) iter.Seq2[appsvc.Answer, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(appsvc.Answer) bool) error { return r.answers(ctx, out) })
}

func (r *appReader) answers(ctx context.Context, out func(appsvc.Answer) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	rows := c.query("SELECT caller, name, request, result, expires FROM answer ORDER BY caller, name")
	defer rows.close()
	for rows.next() && out(appsvc.Answer{
		By: rows.text(0), Key: rows.text(1), Request: rows.blob(2), Result: rows.blob(3), Expires: rows.int(4),
	}) {
	}
	return rows.err
}

// KeepAnswer removes the answers that expired at now or before, and stores a in place of one with the same caller and key.
func (t *appTx) KeepAnswer(ctx context.Context, a appsvc.Answer, now int64) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	if _, err := t.c.exec("DELETE FROM answer WHERE expires <= $1", now); err != nil {
		return err
	}
	_, err := t.c.exec("INSERT OR REPLACE INTO answer (caller, name, request, result, expires) VALUES ($1, $2, $3, $4, $5)",
		a.By, a.Key, orNull(a.Request), orNull(a.Result), a.Expires)
	return err
}
