package client_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

func TestMe(t *testing.T) {
	s := newServer(t)
	whole := httpapi.Principal{
		Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=me",
			Moderates: []string{"urn:vitrine:example.test:site=1"}, Reads: []string{"urn:vitrine:example.test"},
			Roles: []string{"writer"}, Groups: []string{"urn:vitrine:example.test:group=1"}, Components: true},
	}
	want := client.Me{URN: whole.URN, Moderates: whole.Moderates, Reads: whole.Reads, Tags: []string{},
		Roles: whole.Roles, Groups: whole.Groups, Components: true, Owner: true}
	have, err := s.client(whole, nil).Me(t.Context())
	if left := time.Until(have.Expires); left < 50*time.Minute || left > time.Hour {
		t.Errorf("expires in %v, want within the hour of the token", left)
	}
	have.Expires = time.Time{}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%+v, %v, want %+v", have, err, want)
	}
	plain := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=plain"}}
	have, err = s.client(plain, nil).Me(t.Context())
	if err != nil || have.URN != plain.URN || have.Moderates == nil ||
		len(have.Moderates)+len(have.Reads)+len(have.Roles)+len(have.Groups) > 0 || have.Components {
		t.Errorf("of a caller without rights: %+v, %v", have, err)
	}
	page := httpapi.Principal{Caller: vitrine.Caller{URN: plain.URN, Reads: whole.Reads, TagsOnly: true,
		Tags: []string{"production"}}}
	if have, err := s.client(page, nil).Me(t.Context()); !errors.Is(err, vitrine.ErrForbidden) ||
		!reflect.DeepEqual(have, client.Me{}) {
		t.Errorf("of a delivery token: %+v, %v", have, err)
	}
}

// An identity of a program's own may have no end.
func TestMeWithoutAnEnd(t *testing.T) {
	server := exampleServer()
	defer server.Close()
	have, err := client.New(client.Config{URL: server.URL, Token: client.Static("a-token")})
	if err != nil {
		t.Fatal(err)
	}
	if me, err := have.Me(t.Context()); err != nil || !me.Expires.IsZero() || me.URN != editor.URN {
		t.Errorf("%+v, %v", me, err)
	}
}
