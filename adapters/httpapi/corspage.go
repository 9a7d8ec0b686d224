package httpapi

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

// corsScript is what cors.html does.
//
//go:embed cors.js
var corsScript string

// corsPage is the page that other sites frame to reach the service from browsers without CORS. It is static. Its
// Content-Security-Policy lets it run its own script and send requests to its own origin, and nothing else.
type corsPage struct {
	html   []byte
	policy []string
}

func newCORSPage() corsPage {
	sum := sha256.Sum256([]byte(corsScript))
	hash := base64.StdEncoding.EncodeToString(sum[:])
	return corsPage{
		html: []byte(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Vitrine proxy</title><script>` + corsScript + "</script></html>\n"),
		policy: []string{"default-src 'none'; script-src 'sha256-" + hash + "'; connect-src 'self'; " +
			"base-uri 'none'; form-action 'none'"},
	}
}

var (
	htmlType     = []string{"text/html; charset=utf-8"}
	publicForDay = []string{"public, max-age=86400"}
)

func (p corsPage) table() []route {
	return []route{
		{method: "GET", path: "/cors.html", status: 200, public: true, call: p.get},
	}
}

// get serves GET /cors.html without a token: 200 with the page.
func (p corsPage) get(c *call) error {
	header := c.header()
	header["Content-Type"] = htmlType
	header["Content-Security-Policy"] = p.policy
	if !c.query.has(tokenParameter) {
		header["Cache-Control"] = publicForDay
	}
	c.out = append(c.out, p.html...)
	return nil
}
