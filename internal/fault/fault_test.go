package fault_test

import (
	"errors"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

func TestPlaces(t *testing.T) {
	part := fault.NotApplicable("/config", "want %s", "an object")
	none := errors.New("no place")
	wrongText := strictjson.Within("/main", strictjson.Check([]byte("{"), 1))
	for name, c := range map[string]struct {
		err                error
		pointer, parameter string
	}{
		"the request as a whole":       {fault.Invalid("", "want it"), "", ""},
		"a pointer":                    {fault.Invalid("/name", "want it"), "/name", ""},
		"a parameter":                  {fault.Invalid("limit", "want it"), "", "limit"},
		"a part at a pointer":          {fault.At("/elements/2", part), "/elements/2/config", ""},
		"a part that is a parameter":   {fault.At("folder", fault.NotFound("want it")), "", "folder"},
		"a part that is the whole":     {fault.At("", part), "/config", ""},
		"the part itself is unchanged": {part, "/config", ""},
		"a malformed text":             {fault.Malformed(wrongText), "/main", ""},
		"an error of something else":   {fault.Malformed(none), "", ""},
	} {
		e, _ := errors.AsType[*vitrine.Error](c.err)
		if e.Pointer != c.pointer || e.Parameter != c.parameter {
			t.Errorf("%s: the error is at %q or %q, want %q or %q", name, e.Pointer, e.Parameter, c.pointer,
				c.parameter)
		}
	}
	if err := fault.At("/elements/2", none); err != none {
		t.Errorf("an error without a place became %v", err)
	}
}
