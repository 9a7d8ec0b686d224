package appsvc_test

import (
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// An answer is one that a write stores, and names a version that the store has.
func TestAuditOfAnswers(t *testing.T) {
	for result, fits := range map[string]bool{
		`{}`:                   true,
		`{"ID":"a component"}`: true,
		`{"ID":"a component","Name":"poll","Version":"1.0.0","Main":"/poll.js","Manifest":"e30="}`: true, // of an earlier release
		`{"ID":"a component","Other":1}`:                       false,
		`{"ID":"app","Version":0}`:                             true,
		`{"ID":"app","Version":1}`:                             false,
		`{"AppID":"app","Name":"production","AppVersion":0}`:   true,
		`{"AppID":"app","Name":"production","AppVersion":1}`:   false,
		`{"AppID":"other","Name":"production","AppVersion":0}`: false,
		`{"Other":1}`: false,
		`[]`:          false,
		`null`:        false,
	} {
		a := appsvc.NewAuditor(appsvc.Limits{})
		app := appsvc.App{Meta: appsvc.Meta{ID: "app", Version: vitrine.NewVersion(0), Owner: editor.URN, UpdatedBy: editor.URN},
			Body: appsvc.Body(`{"title":"t","owner":{"urn":"` + editor.URN + `"},"groups":["` + site1 + `"],"elements":[]}`)}
		if err := a.Version(app); err != nil {
			t.Fatal(err)
		}
		err := a.Answer(appsvc.Answer{By: editor.URN, Key: "key", Request: make([]byte, 32), Result: []byte(result)})
		if (err == nil) != fits {
			t.Errorf("%s: error %v, want one: %t", result, err, !fits)
		}
	}
}
