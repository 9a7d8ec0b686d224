//go:build proof

package postgres

import (
	"context"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

func TestStats(t *testing.T) {
	db := openAt(t, cluster.Database(t), &Options{Connections: 3})
	before := db.Stats()
	if before.Most != 3 || before.Busy != 0 {
		t.Errorf("at rest: %+v", before)
	}
	err := db.Apps().View(t.Context(), func(r appsvc.Reader) error {
		if _, err := r.App(context.WithoutCancel(t.Context()), "none", vitrine.Latest); err == nil {
			t.Error("an app was found")
		}
		if during := db.Stats(); during.Busy != 1 || during.Taken <= before.Taken || during.Connections < 1 {
			t.Errorf("during a View: %+v, before it %+v", during, before)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
