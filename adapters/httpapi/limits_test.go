package httpapi_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A negative limit is a mistake in the configuration. Without the check the handler would refuse every request, or New
// would panic.
func TestNegativeLimitsAreRefused(t *testing.T) {
	const number = ": want a positive number, or 0 for the default, which is "
	tests := []struct {
		field  string
		limits httpapi.Limits
		err    string
	}{
		{"Body", httpapi.Limits{Body: -1}, "httpapi: Limits.Body is -1" + number + "4194304"},
		{"Token", httpapi.Limits{Token: -1}, "httpapi: Limits.Token is -1" + number + "16384"},
		{"Memory", httpapi.Limits{Memory: -1 << 62},
			"httpapi: Limits.Memory is -4611686018427387904" + number + "268435456"},
		{"Uploads", httpapi.Limits{Uploads: -1}, "httpapi: Limits.Uploads is -1" + number + "32"},
		{"UploadsOfNetwork", httpapi.Limits{UploadsOfNetwork: -1},
			"httpapi: Limits.UploadsOfNetwork is -1" + number + "8"},
		{"UploadsOfCaller", httpapi.Limits{UploadsOfCaller: -1},
			"httpapi: Limits.UploadsOfCaller is -1" + number + "4"},
		{"Pause", httpapi.Limits{Pause: -time.Second},
			"httpapi: Limits.Pause is -1s: want a positive number, or 0 for the default, which is 30s"},
		{"Streams", httpapi.Limits{Streams: -1}, "httpapi: Limits.Streams is -1" + number + "2000"},
		{"StreamsOfCaller", httpapi.Limits{StreamsOfCaller: -1},
			"httpapi: Limits.StreamsOfCaller is -1" + number + "16"},
		{"Line", httpapi.Limits{Line: -1}, "httpapi: Limits.Line is -1" + number + "16777216"},
		{"LongLines", httpapi.Limits{LongLines: -1}, "httpapi: Limits.LongLines is -1" + number + "4"},
		{"Exports", httpapi.Limits{Exports: -1}, "httpapi: Limits.Exports is -1" + number + "8"},
		{"ExportsOfCaller", httpapi.Limits{ExportsOfCaller: -1},
			"httpapi: Limits.ExportsOfCaller is -1" + number + "4"},
	}
	tested := map[string]bool{}
	for _, test := range tests {
		tested[test.field] = true
		t.Run(test.field, func(t *testing.T) {
			c := httpapi.Config{Reviews: reviews.New(memory.New(), nil), Authenticate: (&people{}).authenticate,
				Limits: test.limits}
			if _, err := httpapi.New(c); err == nil || err.Error() != test.err {
				t.Errorf("the error is %v, want %s", err, test.err)
			}
			reflect.ValueOf(&c.Limits).Elem().FieldByName(test.field).SetInt(1)
			if _, err := httpapi.New(c); err != nil {
				t.Errorf("1 is refused: %v", err)
			}
		})
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[httpapi.Limits]()) {
		if !tested[field.Name] {
			t.Errorf("there is no test of a negative %s", field.Name)
		}
	}
}

func TestTokenCaches(t *testing.T) {
	key := bytes.Repeat([]byte("k"), httpapi.MinKey)
	for _, test := range []struct {
		cache int
		err   string
	}{
		{-1, "httpapi: TokenOptions.Cache is -1: want a positive number, or 0 for the default, which is 4096"},
		{0, ""},
		{1, ""},
	} {
		tokens, err := httpapi.NewTokens(key, &httpapi.TokenOptions{Cache: test.cache})
		if test.err == "" && err != nil || test.err != "" && (err == nil || err.Error() != test.err || tokens != nil) {
			t.Errorf("a cache of %d tokens: %v, want %q", test.cache, err, test.err)
		}
	}
}
