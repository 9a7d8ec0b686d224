package main

import (
	"fmt"

	"github.com/vitrine-go/vitrine/adapters/webhook"
)

// Usages of the flags of serve that are about webhooks.
const (
	webhooksUsage = "`file` with a JSON array of webhooks {name, url, secret, types, groups, tags, headers, wait}, " +
		"which changes are posted to; read again at SIGHUP"
	webhooksAllowUsage = "`networks`, such as 10.0.0.0/8,fd00::/8, to which webhooks may post, besides public addresses"
)

// readWebhooks reads the file that -webhooks names; "" has none. The error names it.
func (p *program) readWebhooks(file string) (endpoints []webhook.Endpoint, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := p.readShared("webhooks file", file)
	if err == nil {
		endpoints, err = webhook.Parse(text)
	}
	if err != nil {
		err = fmt.Errorf("-webhooks %s: %w", file, err)
	}
	return endpoints, err
}
