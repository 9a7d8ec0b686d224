package webhook_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestRecords(t *testing.T) {
	storagetest.Webhooks(t, func(t *testing.T) webhookstore.Store { return webhook.NewRecords(memory.New()) })
}
