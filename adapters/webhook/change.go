package webhook

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// Types returns the types of changes that an endpoint can ask for.
func Types() []string {
	var out []string
	for _, t := range []appsvc.ChangeType{
		appsvc.AppCreated, appsvc.AppUpdated, appsvc.AppRestored, appsvc.AppLeft, appsvc.TagSet, appsvc.TagDeleted,
		appsvc.ComponentCreated, appsvc.ComponentDeleted,
	} {
		out = append(out, string(t))
	}
	return append(out, assets.EventType)
}

// change is an entry of a feed, as one endpoint gets it.
type change struct {
	Cursor string // the position right after the entry
	Type   string
	At     time.Time
	// Groups decide which endpoints get the change: the groups of the app after the change, for app.left those that were
	// taken away from it, and for assets their network. A change of a component has none.
	Groups []string
	Data   json.RawMessage // the entry as it reads over HTTP, without its cursor
}

// body returns what is posted for a change: the payload that Standard Webhooks recommends. It is the same for each attempt.
func (c change) body() []byte {
	text, err := json.Marshal(struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{c.Type, c.At.UTC().Format("2006-01-02T15:04:05.000Z"), c.Data})
	if err != nil {
		panic("webhook: an entry of a feed is not JSON: " + err.Error())
	}
	return text
}

// matches reports whether the endpoint asks for the type of the change and for one of its groups.
func (e Endpoint) matches(c change) bool {
	if e.Types != nil && !slices.Contains(e.Types, c.Type) {
		return false
	}
	return e.Groups == nil || e.holds(c.Groups)
}
