//go:build proof

package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// checks are what the page promises. Each returns how the promise is broken.
var checks = []struct {
	name   string
	broken func(*page) error
}{
	{"a user of the service gets its answers and its errors", users},
	{"data goes into the body or the query", data},
	{"a result is data, status and headers", results},
	{"calls end in time", timeouts},
	{"a request that breaks off is an error", breaks},
	{"methods but request are unknown", unknownMethods},
	{"parameters are in the query or the hash", parameters},
	{"what one caller has read is not shown to the next", kept},
	{"a repeat with an idempotency key gets the first answer", repeated},
	{"other origins are not asked", otherOrigins},
	{"user information in an address is refused", userinfo},
	{"addresses outside of the service are refused", outside},
	{"dot segments are refused", dots},
	{"what is no address is refused", noAddresses},
	{"other methods are refused", otherMethods},
	{"other headers are refused", otherHeaders},
	{"data without a text is refused", textless},
	{"redirects are not followed", redirects},
	{"cookies are neither sent nor kept", cookies},
	{"framed by another origin the page is silent", otherParents},
	{"framed without good parameters the page is silent", badParameters},
	{"messages of another frame do not count", otherFrames},
	{"messages that are no calls do not count", noCalls},
	{"without a frame the page does nothing", unframed},
	{"parameters do not get into the document", untouched},
	{"the policy stops what gets into the document", policed},
	{"nothing else may be framed", denied},
}

// users does what users of the service do, through easyXDM.
func users(p *page) error {
	config := func(method, path, body string) string {
		headers := `{"authorization":"svctoken good","Content-Type":"application/json"}`
		return fmt.Sprintf(`{"url":%q,"method":%q,"headers":%s,"data":%q}`, path, method, headers, body)
	}
	created := p.outcomes("request", nil,
		config("POST", "/v4/apps/", `{"title":"framed","groups":["urn:vitrine:example.test"]}`))[0]
	if created.Result == nil || created.Result.Status != 201 {
		return fmt.Errorf("POST: %s", created.text)
	}
	_, app, _ := strings.Cut(created.Result.Headers["location"], "/v4/apps/")
	patch := `[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title",` +
		`"value":"changed"}]`
	assets := "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test/assets"
	steps := []struct {
		method, path, body string
		status             int
		holds              string
	}{
		{"GET", "/v4/apps/" + app, "", 200, `"title":"framed"`},
		{"GET", "apps/" + app, "", 200, `"title":"framed"`},
		{"GET", p.api.url + "/v4/apps/" + app, "", 200, `"title":"framed"`},
		{"PATCH", "/v4/apps/" + app, patch, 200, `"title":"changed"`},
		{"PATCH", "/v4/apps/" + app, patch, 409, `{"error":"`},
		{"PATCH", "/v4/apps/" + app, `[]`, 400, `{"error":"`},
		{"PUT", "/v4/apps/" + app + "/tags/live", `{"appVersion":"1"}`, 201, `"live"`},
		{"DELETE", "/v4/apps/" + app + "/tags/live", "", 204, ""},
		{"DELETE", "/v4/apps/" + app + "/tags/live", "", 404, `{"error":"`},
		{"GET", "/v4/apps/none", "", 404, `{"error":"`},
		{"GET", "/v4/apps/?limit=0", "", 400, `limit`},
		{"GET", assets, "", 200, `"assets":[]`},
		{"POST", assets, `{"remove":7}`, 400, `{"error":"`},
	}
	configs := []string{`{"url":"/v4/apps/","method":"GET"}`}
	for _, s := range steps {
		configs = append(configs, config(s.method, s.path, s.body))
	}
	outcomes := p.outcomes("request", nil, configs...)
	var broken []error
	for i, s := range steps {
		if o := outcomes[i+1]; !o.is(s.status, s.holds) {
			broken = append(broken,
				fmt.Errorf("%s %s: %s, want %d with %s", s.method, s.path, o.text, s.status, s.holds))
		}
	}
	if o := outcomes[0]; !o.is(401, `{"error":"`) {
		broken = append(broken, fmt.Errorf("without a token: %s", o.text))
	}
	return errors.Join(broken...)
}

// is reports whether the outcome has this status and a text that contains holds. A status below 300 must be
// a result; any other must be the JSON-RPC error -32099, INVALID_STATUS_CODE.
func (o outcome) is(status int, holds string) bool {
	if status < 300 {
		return o.Result != nil && o.Error == nil && o.Result.Status == status && strings.Contains(o.Result.Data, holds)
	}
	return o.Result == nil && o.Error != nil && o.Error.Code == -32099 && o.Error.Message == "INVALID_STATUS_CODE" &&
		o.Error.Data != nil && o.Error.Data.Status == status && strings.Contains(o.Error.Data.Data, holds)
}

func data(p *page) error {
	cases := []struct{ config, want string }{
		{`{"url":"/v4/echo"}`, "POST /v4/echo||*/*|"},
		{`{"url":"/v4/echo","method":null,"headers":null,"data":null}`, "POST /v4/echo||*/*|"},
		{`{"url":"/v4/echo","data":{"a":"1 2","é&":"=+"}}`,
			"POST /v4/echo|application/x-www-form-urlencoded|*/*|a=1%202&%C3%A9%26=%3D%2B"},
		{`{"url":"/v4/echo","method":"patch","data":{"n":1}}`,
			"PATCH /v4/echo|application/x-www-form-urlencoded|*/*|n=1"},
		{`{"url":"/v4/echo","method":"PUT","headers":{"content-type":"text/x","ACCEPT":"text/y"},"data":{"n":1}}`,
			"PUT /v4/echo|text/x|text/y|n=1"},
		{`{"url":"/v4/echo","method":"GET","data":{"a":"1 2","b":"&"}}`, "GET /v4/echo?a=1%202&b=%26||*/*|"},
		{`{"url":"/v4/echo?x=1#part","method":"GET","data":{"a":"#"}}`, "GET /v4/echo?x=1&a=%23||*/*|"},
		{`{"url":"/v4/echo","method":"GET","data":"as=is&b"}`, "GET /v4/echo?as=is&b||*/*|"},
		{`{"url":"/v4/echo","method":"GET","data":{}}`, "GET /v4/echo||*/*|"},
		{`{"url":"/v4/echo?q=a/../b","method":"GET"}`, "GET /v4/echo?q=a/../b||*/*|"},
		{`{"url":"./echo","method":"GET"}`, "GET /v4/echo||*/*|"},
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		cases = append(cases, struct{ config, want string }{
			`{"url":"/v4/echo","method":"` + method +
				`","headers":{"Content-Type":"text/x"},"data":"as \"it\" is \u00e9"}`,
			method + ` /v4/echo|text/x|*/*|as "it" is é`,
		})
	}
	configs := make([]string, len(cases))
	for i, c := range cases {
		configs[i] = c.config
	}
	var broken []error
	for i, o := range p.outcomes("request", nil, configs...) {
		if want := cases[i].want; o.Result == nil || o.Result.Data != want {
			broken = append(broken, fmt.Errorf("%s: %s, want %s", cases[i].config, o.text, want))
		}
	}
	return errors.Join(broken...)
}

func results(p *page) error {
	o := p.outcomes("request", nil, `{"url":"/v4/echo","method":"DELETE"}`)[0]
	if !strings.HasPrefix(o.text, `{"result":{"data":"DELETE /v4/echo||*/*|","status":200,"headers":{`) ||
		o.Result.Headers["x-echo"] != "heard" {
		return errors.New(o.text)
	}
	return nil
}

// timeouts makes calls that are never answered and lets their time run out when the server has them,
// however long that takes: the frame's timers fire when the test says so.
func timeouts(p *page) error {
	cases := []struct {
		config  string
		headers bool // the answer begins
		timeout int
	}{
		{`{"url":"slow","method":"GET","timeout":50}`, false, 50},
		{`{"url":"stalled","timeout":50}`, true, 50},
		{`{"url":"slow"}`, false, 10_000},
		{`{"url":"slow","timeout":0}`, false, 10_000},
		{`{"url":"slow","timeout":-1}`, false, 10_000},
		{`{"url":"slow","timeout":"soon"}`, false, 10_000},
		{`{"url":"slow","timeout":null}`, false, 10_000},
	}
	for _, c := range cases {
		if err := p.timesOut(c.config, c.headers, c.timeout); err != nil {
			return fmt.Errorf("%s: %w", c.config, err)
		}
	}
	return nil
}

// ownTimers makes timers of the page wait for a test, and notes what becomes of the call. The timers of
// the driver are longer or shorter.
const ownTimers = `() => {
	const later = setTimeout, never = clearTimeout, ask = fetch;
	window.timers = new Map();
	window.setTimeout = (f, ms) => {
		if (ms < 50 || ms > 10000) return later(f, ms);
		const id = "timer" + timers.size;
		timers.set(id, { f, ms });
		return id;
	};
	window.clearTimeout = (id) => timers.delete(id) || never(id);
	window.fetch = (url, init) => {
		window.signal = init.signal;
		const answer = ask(url, init);
		window.answered = answer.then(() => null, () => null);
		return answer;
	};
}`

// fireTimers lets the time of all timers run out.
const fireTimers = `() => {
	const due = [...timers.values()];
	for (const timer of due) timer.f();
	return { timers: due.map((timer) => timer.ms), aborted: signal.aborted };
}`

func (p *page) timesOut(config string, headers bool, timeout int) error {
	var nothing any
	p.fresh()
	p.Run(&nothing, "async (page) => { window.rpc = await connect(page, {}); }", p.address())
	p.Enter(0)
	p.Run(&nothing, ownTimers)
	p.Enter(nil)
	p.Run(&nothing, "(config) => { window.pending = ask(rpc, 'request', JSON.parse(config)); }", config)
	if !p.hears("/v4/s") {
		return errors.New("the server is not asked")
	}
	p.Enter(0)
	if headers {
		p.Run(&nothing, "() => answered")
	}
	var fired struct {
		Timers  []int
		Aborted bool
	}
	p.Run(&fired, fireTimers)
	p.Enter(nil)
	if !slices.Equal(fired.Timers, []int{timeout}) || !fired.Aborted {
		return fmt.Errorf("timers of %v ms run, and the call is given up: %t; want %d ms", fired.Timers, fired.Aborted,
			timeout)
	}
	var o outcome
	p.Run(&o, "() => pending")
	if want := fmt.Sprintf(`{"error":{"code":-32099,"message":"timeout: no answer within %d ms"}}`,
		timeout); o.text != want {
		return errors.New(o.text)
	}
	if !p.hears("gone") {
		return errors.New("the server is left waiting")
	}
	return nil
}

// hears waits until the service was asked for something that has this in it.
func (p *page) hears(what string) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		calls, _ := p.api.calls()
		if slices.ContainsFunc(calls, func(r request) bool { return strings.Contains(r.what, what) }) {
			return true
		}
	}
	return false
}

func breaks(p *page) error {
	o := p.outcomes("request", nil, `{"url":"cut","method":"GET"}`)[0]
	if o.Error == nil || o.Error.Code != -32099 || !strings.HasPrefix(o.Error.Message, "the request failed: ") {
		return errors.New(o.text)
	}
	return nil
}

func unknownMethods(p *page) error {
	unknown := `{"error":{"code":-32601,"message":"Procedure not found."}}`
	var broken []error
	for _, o := range p.outcomes("evaluate", nil, `"1"`, `{"url":"echo"}`) {
		if o.text != unknown {
			broken = append(broken, errors.New(o.text))
		}
	}
	names := []string{"constructor", "__proto__", "toString", "", "Request"}
	var messages, said, want []string
	for i, name := range names {
		messages = append(messages,
			fmt.Sprintf(`c {"jsonrpc":"2.0","method":%q,"params":[{"url":"echo"}],"id":%d}`, name, i+1))
		want = append(want, fmt.Sprintf(`c {"id":%d,%s,"jsonrpc":"2.0"}`, i+1, unknown[1:len(unknown)-1]))
	}
	p.fresh()
	p.Run(&said, "heardOf", p.address(), p.framed("c"), messages)
	if fmt.Sprint(said) != fmt.Sprint(want) {
		broken = append(broken, fmt.Errorf("%q, want %q", said, want))
	}
	return errors.Join(broken...)
}

// parameters has easyXDM put its parameters here and there, beside others and with odd channels.
func parameters(p *page) error {
	for _, options := range []map[string]any{
		{}, {"hash": true}, {"channel": "mine"}, {"hash": true, "channel": "a b&c=#é<\"'>"},
		{"remote": p.address() + "?mine=1"},
		{"remote": p.address() + "?mine=1", "hash": true}, {"remote": p.address() + "?svctoken=good"},
	} {
		if o := p.outcomes("request", options, `{"url":"echo","method":"GET"}`)[0]; o.Result == nil {
			return fmt.Errorf("%v: %s", options, o.text)
		}
	}
	return nil
}

// repeated creates an app twice with one idempotency key, and gets the same one.
func repeated(p *page) error {
	create := `{"url":"apps/","headers":{"Authorization":"svctoken good","Content-Type":"application/json",` +
		`"Idempotency-Key":"one"},` +
		`"data":"{\"title\":\"once\",\"groups\":[\"urn:vitrine:example.test\"]}"}`
	o := p.outcomes("request", nil, create, create)
	if o[0].Result == nil || o[1].Result == nil || o[0].Result.Headers["location"] != o[1].Result.Headers["location"] {
		return fmt.Errorf("the first answer is %s, the second %s", o[0].text, o[1].text)
	}
	return nil
}

// kept reads a version, which browsers keep for a year, and asks for it again as the same caller
// and as nobody.
func kept(p *page) error {
	headers := `"headers":{"Authorization":"svctoken good","Content-Type":"application/json"}`
	created := p.outcomes("request", nil,
		`{"url":"apps/",`+headers+`,"data":"{\"title\":\"kept\",\"groups\":[\"urn:vitrine:example.test\"]}"}`)[0]
	if created.Result == nil {
		return errors.New(created.text)
	}
	read := `{"url":"` + created.Result.Headers["location"] + `/versions/0","method":"GET"`
	o := p.outcomes("request", nil, read+","+headers+"}", read+","+headers+"}", read+"}")
	calls, _ := p.api.calls()
	if !o[0].is(200, "kept") || !o[1].is(200, "kept") || !o[2].is(401, `{"error":"`) || len(calls) != 2 {
		return fmt.Errorf("the caller gets %s, then %s, nobody %s, of %q", o[0].text, o[1].text, o[2].text, calls)
	}
	return nil
}
