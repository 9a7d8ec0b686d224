package postgres

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Answer returns the answer that is stored for an idempotency key of a caller, or ErrNotFound. An Update claims the key first. So
// of two calls with the same key the second one waits for the first, and then finds its answer.
func (r *appReader) Answer(ctx context.Context, by, key string) (appsvc.Answer, error) {
	c, err := r.conn(ctx)
	if err != nil {
		return appsvc.Answer{}, err
	}
	r.claim("answer", by, key)
	found := c.query(ctx, "SELECT request, result, expires FROM answer WHERE caller = $1 AND name = $2", by, key)
	if found.next() {
		return appsvc.Answer{By: by, Key: key, Request: found.blob(0), Result: found.blob(1), Expires: found.int(2)}, nil
	}
	if found.err != nil {
		return appsvc.Answer{}, found.err
	}
	return appsvc.Answer{}, fmt.Errorf("%w: answer to key %q", vitrine.ErrNotFound, key)
}

// Answers yields every answer that is stored, by caller and key. An Update locks the whole table first.
func (r *appReader) Answers(ctx context.Context) iter.Seq2[appsvc.Answer, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(appsvc.Answer) bool) error { return r.answers(ctx, out) })
}

func (r *appReader) answers(ctx context.Context, out func(appsvc.Answer) bool) error {
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	r.lockTable("answer", toWrite)
	found := c.walk(ctx, 256, "SELECT caller, name, request, result, expires FROM answer ORDER BY caller, name")
	defer found.close()
	for found.next() && out(appsvc.Answer{
		By: found.text(0), Key: found.text(1), Request: found.blob(2), Result: found.blob(3), Expires: found.int(4),
	}) {
	}
	return found.err
}

// KeepAnswer removes expired answers and stores a, with the commit. It skips expired answers that another update has locked, so
// no update waits for another one because of them.
func (t *appTx) KeepAnswer(ctx context.Context, a appsvc.Answer, now int64) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	t.claim("answer", a.By, a.Key)
	t.c.later(`DELETE FROM answer WHERE (caller, name) IN
		(SELECT caller, name FROM answer WHERE expires <= $1 FOR UPDATE SKIP LOCKED)`, now)
	t.c.later(`INSERT INTO answer (caller, name, request, result, expires) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (caller, name) DO UPDATE SET request = excluded.request, result = excluded.result, expires = excluded.expires`,
		a.By, a.Key, orEmpty(bytes.Clone(a.Request)), orEmpty(bytes.Clone(a.Result)), a.Expires)
	return nil
}
