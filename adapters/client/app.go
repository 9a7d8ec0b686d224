package client

import (
	"errors"

	"github.com/vitrine-go/vitrine/appsvc"
)

// apps is the body of an answer with apps.
type apps struct {
	Apps []appsvc.App `json:"apps"`
}

// one returns the only app of an answer.
func (a apps) one() (appsvc.App, error) {
	if len(a.Apps) != 1 {
		return appsvc.App{}, errors.New("the answer is not one app")
	}
	return a.Apps[0], nil
}
