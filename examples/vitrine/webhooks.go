package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/storage"
)

// Usages of the flags of serve that are about webhooks.
const (
	webhooksUsage      = "`file` with a JSON array of webhooks {name, url, secret, types, groups}, which changes are posted to; read again at SIGHUP"
	webhooksAllowUsage = "`networks`, such as 10.0.0.0/8,fd00::/8, to which webhooks may post, besides public addresses"
)

// webhookSettings are read from the flags about webhooks.
type webhookSettings struct {
	file      string // "" = there are none
	endpoints []webhook.Endpoint
	allow     []netip.Prefix
}

// webhookSettings reads the flags and the file that they name. It returns a usageError if one is wrong.
func (p *program) webhookSettings(file, allow string) (s webhookSettings, err error) {
	if s.allow, err = webhook.ParseAllow(allow); err != nil {
		return s, usageError{fmt.Errorf("-webhooks-allow: %w", err)}
	}
	s.file = file
	if file == "" {
		return s, nil
	}
	if s.endpoints, err = p.readWebhooks(file); err != nil {
		return s, usageError{err}
	}
	return s, nil
}

// readWebhooks reads the file that -webhooks names. The error names it.
func (p *program) readWebhooks(file string) ([]webhook.Endpoint, error) {
	text, err := p.readShared("webhooks file", file)
	var endpoints []webhook.Endpoint
	if err == nil {
		endpoints, err = webhook.Parse(text)
	}
	if err != nil {
		err = fmt.Errorf("-webhooks %s: %w", file, err)
	}
	return endpoints, err
}

// readAgain reads the file again and gives its endpoints to d. An error changes nothing.
func (p *program) readAgain(ctx context.Context, file string, d *webhook.Deliverer) error {
	endpoints, err := p.readWebhooks(file)
	if err != nil {
		return err
	}
	return d.Set(ctx, endpoints)
}

// deliver starts a Deliverer, which delivers changes until stop is called or ctx is done. stop waits for the deliveries that
// are under way.
func (s webhookSettings) deliver(ctx context.Context, db storage.Store, services webhook.Services, log *slog.Logger, observer func(webhook.Attempt)) (d *webhook.Deliverer, stop func(), err error) {
	d = webhook.New(db, services, &webhook.Options{Allow: s.allow, Log: log, Observer: observer})
	if err := d.Set(ctx, s.endpoints); err != nil {
		return nil, nil, err
	}
	stop = beside(ctx, func(ctx context.Context) {
		if err := d.Run(ctx); err != nil {
			log.Error("webhooks: no changes are delivered", "cause", err.Error())
		}
	})
	return d, stop, nil
}
