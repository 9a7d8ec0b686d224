package webhook

import (
	"context"
	"encoding/json"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
)

// appSource is the source of the changes of apps, tags and components. It has one feed.
type appSource struct{ apps *appsvc.Service }

// changed returns a channel that is closed by the next change.
func (s appSource) changed() <-chan struct{} { return s.apps.Changed() }

// feeds returns the one feed.
func (s appSource) feeds(_ context.Context, e Endpoint) ([]feed, error) {
	if !e.wantsApps() {
		return nil, nil
	}
	return []feed{{"apps", s.read}}, nil
}

// read reads the outbox. If the change took an app out of the groups of the endpoint, the endpoint gets app.left in
// place of the change, as readers of these groups do: the app's new content is not theirs.
func (s appSource) read(ctx context.Context, after string, e Endpoint) (page, error) {
	read, err := s.apps.Outbox(ctx, appsvc.OutboxRequest{After: after})
	return pageOf(read.Events, read.Next, read.More, err, func(entry appsvc.OutboxEvent) (c change, err error) {
		c = change{Cursor: entry.Cursor, At: time.UnixMilli(entry.At), Groups: entry.Groups, Each: entry.Apps}
		event := entry.Event
		if e.Groups != nil && !e.holds(entry.Groups) && e.holds(entry.Left) {
			event = appsvc.Event{Type: appsvc.AppLeft, At: entry.At, AppID: entry.AppID}
			c.Groups = entry.Left
		}
		c.Type, event.Cursor = string(event.Type), ""
		c.Data, err = json.Marshal(event)
		return c, err
	})
}
