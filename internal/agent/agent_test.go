package agent_test

import (
	"errors"
	"testing"

	"github.com/vitrine-go/vitrine"
)

// An agent calls the methods of a list, and no others; "" is none. Everybody else calls any.
func TestAgentsCallTheMethodsOfAList(t *testing.T) {
	person := vitrine.Caller{URN: "urn:vitrine:example.test:user=lea"}
	agent := person
	agent.Agent, agent.Key = "writer", "vt_12345678"
	unkeyed, tags := agent, agent
	unkeyed.Key, tags.TagsOnly = "", true
	for _, test := range []struct {
		by     vitrine.Caller
		method string
		want   error
	}{
		{agent, "appsvc.Patch", nil}, {agent, "appsvc.PutTag", vitrine.ErrForbidden}, {agent, "", vitrine.ErrForbidden},
		{agent, "appsvc.", vitrine.ErrForbidden}, {person, "appsvc.PutTag", nil}, {person, "", nil},
		{tags, "appsvc.Patch", vitrine.ErrForbidden}, {unkeyed, "appsvc.Patch", vitrine.ErrInvalid},
	} {
		if err := test.by.CheckUnrestricted(test.method); !errors.Is(err, test.want) ||
			(err == nil) != (test.want == nil) {
			t.Errorf("%+v calls %q: %v, want %v", test.by, test.method, err, test.want)
		}
	}
}
