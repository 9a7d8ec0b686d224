//go:build proof

package services

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

type (
	reviewTx     = reviews.Tx
	reviewReader = reviews.Reader
)

// reviewFaults are stores that are good but for one thing.
var reviewFaults = map[string]func(reviewTx) reviewTx{
	"the last review of several is not kept":            func(w reviewTx) reviewTx { return dropsLast{w} },
	"collections stand in the other order":              func(w reviewTx) reviewTx { return reversed{w} },
	"a collection that is there is not put":             func(w reviewTx) reviewTx { return keepsOld{w} },
	"reviews are asked for by one id too few":           func(w reviewTx) reviewTx { return oneTooFew{w} },
	"what an update has put stays, whatever it returns": nil,
}

type dropsLast struct{ reviewTx }

func (d dropsLast) PutReviews(ctx context.Context, k reviews.Key, list []reviews.Review) error {
	return d.reviewTx.PutReviews(ctx, k, list[:max(len(list)-1, min(len(list), 1))])
}

type reversed struct{ reviewTx }

func (r reversed) Collections(ctx context.Context) iter.Seq2[reviews.Collection, error] {
	return func(yield func(reviews.Collection, error) bool) {
		var list []reviews.Collection
		for c, err := range r.reviewTx.Collections(ctx) {
			if err != nil {
				yield(c, err)
				return
			}
			list = append(list, c)
		}
		for _, c := range slices.Backward(list) {
			if !yield(c, nil) {
				return
			}
		}
	}
}

type keepsOld struct{ reviewTx }

func (k keepsOld) PutCollection(ctx context.Context, c reviews.Collection) error {
	if _, err := k.Collection(ctx, c.Key); err == nil {
		return nil
	}
	return k.reviewTx.PutCollection(ctx, c)
}

type oneTooFew struct{ reviewTx }

func (o oneTooFew) ReviewsByID(ctx context.Context, k reviews.Key, ids []string) iter.Seq2[reviews.Review, error] {
	return o.reviewTx.ReviewsByID(ctx, k, ids[:len(ids)-1])
}

// faultyReviews is a store with a fault; the nil one keeps what is to be rolled back.
type faultyReviews struct {
	reviews.Store
	fault func(reviewTx) reviewTx
}

type readOnlyReviews struct {
	reviewReader
	reviewWriter
}

type reviewWriter interface {
	Announce(ctx context.Context, keys []reviews.Key) error
	PutCollection(ctx context.Context, c reviews.Collection) error
	PutReviews(ctx context.Context, key reviews.Key, list []reviews.Review) error
	DeleteCollection(ctx context.Context, key reviews.Key) error
	DeleteReviews(ctx context.Context, key reviews.Key, ids []string) error
}

func (f faultyReviews) View(ctx context.Context, network string, fn func(reviewReader) error) error {
	return f.Store.View(ctx, network, func(r reviewReader) error {
		if f.fault == nil {
			return fn(r)
		}
		return fn(f.fault(readOnlyReviews{reviewReader: r}))
	})
}

func (f faultyReviews) Update(ctx context.Context, network string, fn func(reviewTx) error) error {
	var failed error
	err := f.Store.Update(ctx, network, func(w reviewTx) error {
		if f.fault == nil {
			failed = fn(w)
			return nil
		}
		return fn(f.fault(w))
	})
	if err == nil {
		err = failed
	}
	return err
}

// Stores that do the same are equal, and one that does anything else is found out.
func TestReviewsEqualFindsFaults(t *testing.T) {
	if err := compareReviews(memory.New().Reviews(), memory.New().Reviews(), 1, 30); err != nil {
		t.Errorf("two good stores: %v", err)
	}
	for name, fault := range reviewFaults {
		t.Run(name, func(t *testing.T) {
			if err := compareReviews(memory.New().Reviews(), faultyReviews{memory.New().Reviews(), fault}, 1, 60); err == nil {
				t.Error("it is not found")
			}
		})
	}
}
