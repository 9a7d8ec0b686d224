package postgres

import (
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestReviews(t *testing.T) {
	t.Parallel()
	storagetest.Reviews(t, func(t *testing.T) reviews.Store { return openTest(t, nil).Reviews() })
}
