//go:build proof

package postgres

import (
	"testing"

	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestWebhooks(t *testing.T) {
	storagetest.Webhooks(t, func(t *testing.T) webhookstore.Store { return openTest(t, nil).Webhooks() })
}
