//go:build proof

package browser

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
)

// mutants are the page and its policy without one of their guards. The named check must tell.
var mutants = []struct {
	name     string
	change   func(string) string
	caughtBy string
}{
	{"an error status is a result", swap("if (!answer.ok)", "if (false)"), "a user of the service gets its answers and its errors"},
	{"PATCH is refused", swap(`"PATCH", `, ""), "a user of the service gets its answers and its errors"},
	{"an object is sent as JSON", swap("form ? encode(config.data)", "form ? JSON.stringify(config.data)"), "data goes into the body or the query"},
	{"data of GET is lost", swap(`url.search += `, `url.hash = `), "data goes into the body or the query"},
	{"headers are not told", swap("Object.fromEntries(answer.headers)", "{}"), "a result is data, status and headers"},
	{"there is no timeout", swap("abort.abort()", "{}"), "calls end in time"},
	{"the usual timeout is another", swap("config.timeout ?? 10000", "config.timeout ?? 1000"), "calls end in time"},
	{"the timeout ends with the headers", swap("const data = await", "clearTimeout(timer); const data = await"), "calls end in time"},
	{"a failure is no error", swap("} catch (e) {", "} catch (e) { return { result: {} };"), "a request that breaks off is an error"},
	{"every method is request", swap(`if (rpc.method !== "request")`, "if (false)"), "methods but request are unknown"},
	{"the hash is not looked at", swap("[location.search, location.hash]", "[location.search]"), "parameters are in the query or the hash"},
	{"versions are kept for everybody", swap("Authorization", "Accept"), "what one caller has read is not shown to the next"},
	{"every origin is asked", swap("u.origin !== location.origin || ", ""), "other origins are not asked"},
	{"user information is left to fetch", swap("u.username || u.password || ", ""), "user information in an address is refused"},
	{"every path is asked", swap("|| !below", ""), "addresses outside of the service are refused"},
	{"the base path is a prefix of text", swap(`lastIndexOf("/") + 1)`, `lastIndexOf("/"))`), "addresses outside of the service are refused"},
	{"dots may lead back", swap(`/^(\.|%2e){1,2}$/i`, `/^$/`), "dot segments are refused"},
	{"encoded dots may lead back", swap(`(\.|%2e)`, `(\.)`), "dot segments are refused"},
	{"encoded slashes hide dots", swap(`|%2f|%5c`, ``), "dot segments are refused"},
	{"control characters hide dots", swap(`/[\x00-\x1f]/.test(url)`, `false`), "dot segments are refused"},
	{"spaces hide dots", swap(`url.trim()`, `url`), "dot segments are refused"},
	{"addresses become text", swap(`url.trim()`, "String(url).trim()"), "what is no address is refused"},
	{"every method is sent", swap("!methods.includes(method)", "false"), "other methods are refused"},
	{"every header is sent", swap("if (headers.some(([name]) => !headerNames", "if (headers.some(([name]) => false && !headerNames"), "other headers are refused"},
	{"headers are left to fetch", swap("new Headers(headers)", "headers"), "other headers are refused"},
	{"what plan throws is not caught", swap("catch { /* not allowed either */ }", "catch (e) { return { error: { message: String(e) } }; }"), "data without a text is refused"},
	{"redirects are followed", swap(`redirect: "manual"`, `redirect: "follow"`), "redirects are not followed"},
	{"redirects are errors of their own", swap(`redirect: "manual"`, `redirect: "error"`), "redirects are not followed"},
	{"cookies are sent", swap(`credentials: "omit"`, `credentials: "include"`), "cookies are neither sent nor kept"},
	{"the page says where it is", swap(`referrerPolicy: "no-referrer"`, `referrerPolicy: "unsafe-url"`), "cookies are neither sent nor kept"},
	{"every origin may call", swap(" || event.origin !== remote.origin", ""), "framed by another origin the page is silent"},
	{"every origin is told", swap("remote.channel + text, remote.origin)", `remote.channel + text, "*")`), "framed by another origin the page is silent"},
	{"the protocol does not matter", swap(` || p.get("xdm_p") !== "1"`, ""), "framed without good parameters the page is silent"},
	{"there need be no channel", swap(` || !channel`, ""), "framed without good parameters the page is silent"},
	{"the framing origin is not asked for", swap("if (!p.has(\"xdm_e\")) continue;", ""), "parameters are in the query or the hash"},
	{"every frame may call", swap("event.source !== window.parent || ", ""), "messages of another frame do not count"},
	{"the channel does not matter", swap("!event.data.startsWith(prefix)", "false"), "messages that are no calls do not count"},
	{"calls need no method", swap(`typeof rpc.method === "string"`, "true"), "messages that are no calls do not count"},
	{"without a frame the page calls itself", swap(" || window.parent === window", ""), "without a frame the page does nothing"},
	{"the channel is shown", swap("  send(\"-ready\");", "  document.title = remote.channel; send(\"-ready\");"), "parameters do not get into the document"},
	{"the query is written", swap("start(window);", "document.write(decodeURIComponent(location.search)); start(window);"), "parameters do not get into the document"},
	{"inline scripts run", match(`'sha256-[^']*'`, "'unsafe-inline'"), "the policy stops what gets into the document"},
	{"texts are scripts", swap("script-src ", "script-src 'unsafe-eval' "), "the policy stops what gets into the document"},
	{"the page may ask others", swap("connect-src 'self'", "connect-src *"), "the policy stops what gets into the document"},
	{"the page may frame others", swap("default-src 'none'; script-src", "frame-src *; default-src 'none'; script-src"), "the policy stops what gets into the document"},
	{"everything may be framed", swap("; frame-ancestors 'none'", ""), "nothing else may be framed"},
	{"cors.html may not be framed", swap("connect-src 'self'", "connect-src 'self'; frame-ancestors 'none'"), "nothing else may be framed"},
}

func swap(old, with string) func(string) string {
	return func(text string) string { return strings.ReplaceAll(text, old, with) }
}

func match(pattern, with string) func(string) string {
	p := regexp.MustCompile(pattern)
	return func(text string) string { return p.ReplaceAllLiteralString(text, with) }
}

// mutated changes what is shown of a handler: its bodies and its headers. A changed script is
// still the one that the policy allows.
type mutated struct {
	next    http.Handler
	change  func(string) string
	changes atomic.Int64
}

func (m *mutated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	m.next.ServeHTTP(answer, r)
	header, body := answer.Header(), answer.Body.String()
	changed := m.changed(body)
	for name, values := range header {
		for _, value := range values {
			w.Header().Add(name, strings.ReplaceAll(m.changed(value), hashOfScript(body), hashOfScript(changed)))
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(changed)))
	w.WriteHeader(answer.Code)
	if len(changed) > 0 {
		_, _ = w.Write([]byte(changed))
	}
}

func (m *mutated) changed(text string) string {
	changed := m.change(text)
	if changed != text {
		m.changes.Add(1)
	}
	return changed
}

// hashOfScript is how a policy names the one script of a page.
func hashOfScript(page string) string {
	_, after, _ := strings.Cut(page, "<script>")
	script, _, _ := strings.Cut(after, "</script>")
	sum := sha256.Sum256([]byte(script))
	return base64.StdEncoding.EncodeToString(sum[:])
}
