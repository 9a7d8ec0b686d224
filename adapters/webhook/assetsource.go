package webhook

import (
	"context"
	"encoding/json"
	"time"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// assetSource is the source of the changes of all libraries, each of which has a feed of its own.
type assetSource struct{ assets *assets.Service }

// changed returns a channel that is closed by the next change of any library.
func (s assetSource) changed() <-chan struct{} { return s.assets.Changed() }

// feeds returns the feeds of the libraries whose networks the endpoint asks for.
func (s assetSource) feeds(ctx context.Context, e Endpoint) (out []feed, err error) {
	if !e.wantsAssets() {
		return nil, nil
	}
	for lib, err := range s.assets.Libraries(ctx) {
		if err != nil {
			return nil, err
		}
		network := s.assets.NetworkURN(lib)
		if e.Groups != nil && !e.holds([]string{network}) {
			continue
		}
		out = append(out, feed{"assets/" + lib.Network + "/" + lib.ID, func(ctx context.Context, after string, _ Endpoint) (page, error) {
			return s.read(ctx, lib, network, after)
		}})
	}
	return out, nil
}

// read reads the outbox of a library: every change, whatever folders its assets are in. An endpoint has the rights of whoever
// runs the program.
func (s assetSource) read(ctx context.Context, lib assets.Library, network, after string) (page, error) {
	read, err := s.assets.Outbox(ctx, lib, assets.ChangesRequest{After: after})
	return pageOf(read.Changes, read.Next, read.More, err, func(event assets.Event) (c change, err error) {
		c = change{Cursor: event.Cursor, Type: assets.EventType, At: time.UnixMilli(event.At), Groups: []string{network}}
		event.Cursor = ""
		c.Data, err = libraryEvent(lib, event)
		return c, err
	})
}

// libraryEvent is an event as it reads over HTTP, with the library: over HTTP the path of the request has it.
func libraryEvent(lib assets.Library, event assets.Event) (json.RawMessage, error) {
	text, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	text = append(text[:len(text)-1], `,"library":{"network":`...)
	text = strictjson.AppendString(text, lib.Network)
	text = strictjson.AppendString(append(text, `,"id":`...), lib.ID)
	return append(text, "}}"...), nil
}
