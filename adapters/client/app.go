package client

import (
	"fmt"

	"github.com/vitrine-go/vitrine/appsvc"
)

// apps is the body of an answer with apps.
type apps struct {
	Apps []appsvc.App `json:"apps"`
}

// oneApp is the body of an answer with one app.
type oneApp struct{ apps }

// check returns an error unless there is one app.
func (a oneApp) check() error {
	if len(a.Apps) != 1 {
		return fmt.Errorf("it has %d apps, not one", len(a.Apps))
	}
	return nil
}
