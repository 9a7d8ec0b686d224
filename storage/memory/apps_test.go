package memory_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestApps(t *testing.T) {
	storagetest.Apps(t, func(t *testing.T) appsvc.Store { return memory.New().Apps() })
}

func TestClosing(t *testing.T) {
	storagetest.Closing(t, func(t *testing.T) storagetest.Closer { return memory.New() })
}
