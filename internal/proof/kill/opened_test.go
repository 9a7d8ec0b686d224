//go:build proof

package kill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof/intact"
	"github.com/vitrine-go/vitrine/storage/sqlite"

	_ "modernc.org/sqlite"
)

// errLost is an acknowledged change that is not there, or one that is there in part.
var errLost = errors.New("lost")

func lost(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errLost, fmt.Errorf(format, args...))
}

// opened is a store after a kill.
type opened struct {
	db     *sqlite.DB
	apps   *appsvc.Service
	assets *assets.Service
}

func open(path string) (*opened, error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, err
	}
	return &opened{db, appsvc.New(db.Apps(), nil), assets.New(db.Assets(), nil)}, nil
}

// checkInvariants looks at the file with nothing but SQLite.
func checkInvariants(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = intact.Check(ctx, db)
	if errors.Is(err, intact.ErrBroken) {
		return lost("%w", err)
	}
	return err
}
