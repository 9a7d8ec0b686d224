package httpapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
)

// What the page does in a browser is tested in internal/proof/browser.
func TestCORSPageIsStaticAndItsPolicyStrict(t *testing.T) {
	w := newWorld(t)
	r := w.send("GET", "/cors.html", "").want(200)
	if other := w.send("GET", "/cors.html?xdm_e=https://x.test&xdm_c=<script>", "").want(200); other.body != r.body {
		t.Error("the page depends on its query")
	}
	if r.header.Get("Content-Type") != "text/html; charset=utf-8" || r.header.Get("X-Frame-Options") != "" {
		t.Errorf("%v", r.header)
	}
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(r.body, -1)
	if len(script) != 1 {
		t.Fatalf("%d scripts", len(script))
	}
	sum := sha256.Sum256([]byte(script[0][1]))
	want := "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; connect-src 'self'; base-uri 'none'; form-action 'none'"
	if got := r.header.Get("Content-Security-Policy"); got != want {
		t.Errorf("policy %q, want %q", got, want)
	}
	for _, word := range []string{"innerHTML", "document.write", "eval(", "localStorage", "document.cookie", "src="} {
		if strings.Contains(r.body, word) {
			t.Errorf("the page holds %s", word)
		}
	}
}
