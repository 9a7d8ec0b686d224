package agree

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/services"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

func TestReviewsInMemoryAndSQLiteAgree(t *testing.T) {
	agree(t, func(t *testing.T, db *sqlite.DB, seed uint64) {
		services.ReviewsEqual(t, memory.New().Reviews(), db.Reviews(), seed, operations)
	})
}
