package memory_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestReviews(t *testing.T) {
	storagetest.Reviews(t, func(t *testing.T) reviews.Store { return memory.New().Reviews() })
}
