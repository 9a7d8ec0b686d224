//go:build proof

package postgres

import (
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestApps(t *testing.T) {
	storagetest.Apps(t, func(t *testing.T) appsvc.Store { return appsvc.NewRecords(openTest(t, nil)) })
}
