package assets_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/services"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestTheServiceAgreesWithItsModel(t *testing.T) {
	services.Assets(t, memory.New().Assets(), 6)
}
