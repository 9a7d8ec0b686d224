package appsvc_test

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

// A delivery has whole addresses of files, and all else as it is stored.
func TestADeliveryHasWholeAddressesOfFiles(t *testing.T) {
	const root = "https://host.example"
	for config, want := range map[string]string{
		`{"a": "/v4/x/file/1/a.jpg?v=2", "n":1.50}`: `{"a": "https://host.example/v4/x/file/1/a.jpg?v=2", "n":1.50}`,
		`{"a":["\/v4\/x\/file\/1\/é\"x\"","b"]}`:    `{"a":["https://host.example/v4/x/file/1/é\"x\"","b"]}`,
		`"\u002fv4/x/f\u0069le/1/a"`:                `"https://host.example/v4/x/file/1/a"`,
		`{"/v4/x/file/1":{"/v4/x/file/2":"/v4/x/file/3"}}`: `{"/v4/x/file/1":{"/v4/x/file/2":` +
			`"https://host.example/v4/x/file/3"}}`,
		`{"a":" /v4/x/file/1","b":"/x/file/1","c":"https://cdn.example/v4/x/file/1","d":"\"/v4/x/file/1"}`: "",
		`{"a":"/v4/x/file","b":"file","c":9007199254740993}`:                                               "",
	} {
		if want == "" {
			want = config
		}
		d := appsvc.Delivery{ID: "1", Elements: []appsvc.DeliveredElement{{Main: "/x.js", Config: []byte(config)}}}
		if got := string(d.AppendJSON(nil, root, "/v4")); !strings.Contains(got, `"config":`+want+`}`) ||
			!strings.Contains(got, `"main":"https://host.example/x.js"`) {
			t.Errorf("%s: %s", config, got)
		}
	}
}
