package httpapi

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// The bodies of the asset manager are decoded into the requests of package assets. In those, a member that was left out is the
// zero value, or nil like null. So the tables below say which members a body must have, and which it may not have as null or empty.
// What a request sends beyond that is judged by the service.

// member is a rule for one member of an object.
type member struct {
	name  string
	rule  memberRule
	below []member // rules for the value, or for each item of it
}

type memberRule int

const (
	needed   memberRule = iota // it must be there
	optional                   // it may be left out, and is null only if it is an object
	filled                     // optional, and not an empty string
	list                       // optional, and below is for each item
)

var (
	permissionMembers = []member{
		{"operation", needed, nil},
		{"role", optional, []member{{"id", needed, nil}}},
		{"user", optional, []member{{"id", needed, nil}}},
	}
	attributeMembers = []member{{"key", needed, nil}, {"value", needed, nil}}

	assetsBody = []member{{"add", list, []member{
		{"id", needed, nil}, {"generator", needed, []member{{"id", needed, nil}}}, {"via", optional, nil}, {"rights", optional, nil},
	}}}
	foldersBody = []member{
		{"create", list, []member{
			{"label", needed, nil}, {"path", filled, nil}, {"inherit", optional, nil}, {"permissions", list, permissionMembers},
		}},
		{"update", list, []member{
			{"id", needed, nil}, {"label", optional, nil}, {"path", optional, nil}, {"inherit", optional, nil}, {"deleted", optional, nil},
		}},
	}
	permissionsBody = []member{{"create", list, permissionMembers}}
	attributesBody  = []member{
		{"assets", needed, nil}, {"add", list, attributeMembers}, {"set", list, attributeMembers}, {"remove", list, attributeMembers},
	}
)

// decodeMembers decodes the body into v as decode does. It returns a 400 for the first member that breaks one of the rules.
func (c *call) decodeMembers(rules []member, v any) error {
	if err := c.decode(v); err != nil {
		return err
	}
	return checkMembers(rules, c.body, "")
}

// checkMembers returns a 400 unless the object follows the rules. at is the pointer to it.
func checkMembers(rules []member, object []byte, at string) error {
	have, err := strictjson.Members(object)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		at := at + "/" + rule.name
		i := slices.IndexFunc(have, func(m strictjson.Member) bool { return m.Name == rule.name })
		if i < 0 && rule.rule == needed {
			return refusePointer(http.StatusBadRequest, at, "member %q is missing", rule.name)
		}
		if i < 0 {
			continue
		}
		value := have[i].Value
		switch {
		case value[0] == 'n' && rule.below != nil:
		case value[0] == 'n':
			return refusePointer(http.StatusBadRequest, at, "null is not allowed here")
		case rule.rule == filled && string(value) == `""`:
			return refusePointer(http.StatusBadRequest, at, "must not be empty: want / or /<id>/<id>")
		case rule.rule == list:
			var items []jsontext.Value
			if err := json.Unmarshal(value, &items); err != nil {
				return err
			}
			for i, item := range items {
				if err := checkMembers(rule.below, item, at+"/"+strconv.Itoa(i)); err != nil {
					return err
				}
			}
		case rule.below != nil:
			if err := checkMembers(rule.below, value, at); err != nil {
				return err
			}
		}
	}
	return nil
}
