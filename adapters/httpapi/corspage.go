package httpapi

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"
)

// corsScript is the script of cors.html.
//
//go:embed cors.js
var corsScript string

// corsPage is the page that other sites frame to reach the service from browsers without CORS. It is static. Its
// Content-Security-Policy lets it run its own script and send requests to its own origin, and nothing else. Any page
// may frame it: it shows nothing, sends no cookies, and uses only the token that the page around it gives.
type corsPage struct {
	html   []byte
	policy []string
}

// newCORSPage builds the page of a server whose asset manager is at manager. The policy names the script by its hash,
// so no other script runs in the page.
func newCORSPage(manager string) corsPage {
	corsScript := strings.Replace(corsScript, assetPrefix, manager, 1)
	sum := sha256.Sum256([]byte(corsScript))
	hash := base64.StdEncoding.EncodeToString(sum[:])
	return corsPage{
		html: []byte(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Vitrine proxy</title><script>` +
			corsScript + "</script></html>\n"),
		policy: []string{"default-src 'none'; script-src 'sha256-" + hash + "'; connect-src 'self'; " +
			"base-uri 'none'; form-action 'none'"},
	}
}

// htmlType is the media type of the page.
var htmlType = []string{"text/html; charset=utf-8"}

// get serves GET /cors.html without a token: 200 with the page.
func (p corsPage) get(c *call) error {
	header := c.w.Header()
	header["Content-Type"] = htmlType
	header["Content-Security-Policy"] = p.policy
	c.cacheAs(publicForDay)
	c.out = append(c.out, p.html...)
	return nil
}
