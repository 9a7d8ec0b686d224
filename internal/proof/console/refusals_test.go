//go:build proof

package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const disallowed = `{"error":{"code":-32099,"message":"DISALLOWED_REQUEST"}}`

// refused makes calls that the page must refuse, before anybody is asked anything.
func (p *page) refused(configs ...string) error {
	p.T.Helper()
	var broken []error
	for i, o := range p.outcomes("request", nil, configs...) {
		if o.text != disallowed {
			broken = append(broken, fmt.Errorf("%s: %s", configs[i], o.text))
		}
	}
	return errors.Join(append(broken, p.unasked())...)
}

// unasked is an error when the service or the other origin was asked anything.
func (p *page) unasked() error {
	mine, pages := p.api.calls()
	others, foreign := p.evil.calls()
	if len(mine)+len(others)+len(foreign) > 0 || len(pages) == 0 {
		return fmt.Errorf("the service was asked %q and the other origin %q, by %d pages", mine,
			append(others, foreign...), len(pages))
	}
	return nil
}

// addresses makes a config of each address.
func addresses(all ...string) []string {
	configs := make([]string, len(all))
	for i, a := range all {
		text, _ := json.Marshal(map[string]string{"url": a, "method": "GET"})
		configs[i] = string(text)
	}
	return configs
}

func otherOrigins(p *page) error {
	evil := p.evil.host + "/v4/echo"
	return p.refused(addresses(
		"http://"+evil, "https://"+evil, "//"+evil, `\\`+evil, `/\`+evil, `\/`+evil, "///"+evil, "http:\\\\"+evil,
		"HTTP://"+evil,
		" //"+evil, "/\t/"+evil, "\n//"+evil, "ht\ttp://"+evil, "http:/"+evil, "blob:http://"+evil,
		"ws://"+p.api.host+"/v4/echo",
		p.consumer.url+"/v4/echo", "https://"+p.api.host+"/v4/echo", "http://"+p.api.host+"0/v4/echo",
		"http://"+p.api.host+"@"+evil,
		"https://evil.test/v4/echo", "javascript:alert(1)", "data:text/html,x", "about:blank", "file:///etc/passwd",
	)...)
}

func userinfo(p *page) error {
	mine := "@" + p.api.host + "/v4/echo"
	return p.refused(addresses("http://u:p"+mine, "//u"+mine, `\\u`+mine, "//:p"+mine, "http://"+p.evil.host+mine,
		"//%40"+mine)...)
}

func outside(p *page) error {
	return p.refused(addresses("/echo", "/", "/v4", "/v4x/echo", "/V4/echo", "/%764/echo", "//"+p.api.host+"/echo",
		p.api.url+"/echo", "/healthz",
		"/services/frontline/api/v4/echo", "/services/frontline/api/v4/assetManagers/echo", "/;/v4/echo", "/./echo",
		"/ /v4/echo")...)
}

func dots(p *page) error {
	var all []string
	for _, dots := range []string{"..", "%2e%2e", "%2E.", ".%2e", "%2e"} {
		all = append(all, dots+"/echo", "/v4/"+dots+"/echo", "/v4/"+dots, "/v4/x/"+dots+"/echo", `/v4/x\`+dots+`\echo`,
			"/v4/x%2f"+dots+"%2fecho",
			"/v4/x%5C"+dots+"%5cecho", "/v4/x/"+dots+"?q", "/v4/x/"+dots+"#f", " "+dots+"/echo", "/v4/x/"+dots+" ",
			"/v4/x/"+dots[:1]+"\t"+dots[1:]+"/echo",
			"http:"+dots+"/v4/echo", p.api.url+"/v4/x/"+dots+"/echo")
	}
	return p.refused(addresses(append(all, "/services/frontline/api/v4/assetManager/../../../../../v4/echo")...)...)
}

func noAddresses(p *page) error {
	return p.refused(`{}`, `{"url":null}`, `{"url":7}`, `{"url":["/v4/echo"]}`, `{"url":{"href":"/v4/echo"}}`,
		`{"url":"http://"}`, `{"url":"/v4/echo\u0000"}`,
		`null`, `7`, `"x"`, `[]`, `true`)
}

func otherMethods(p *page) error {
	var configs []string
	for _, method := range []string{`"TRACE"`, `"trace"`, `"CONNECT"`, `"HEAD"`, `"OPTIONS"`, `"TRACK"`, `"PROPFIND"`,
		`""`, `" GET"`, `"GET\r\nX: y"`, `7`, `{}`, `{"toString":1,"valueOf":1}`} {
		configs = append(configs, `{"url":"/v4/echo","method":`+method+`}`)
	}
	return p.refused(configs...)
}

func otherHeaders(p *page) error {
	var configs []string
	for _, headers := range []string{
		`{"Cookie":"a=b"}`, `{"cookie":"a=b"}`, `{"Host":"evil.test"}`, `{"HOST":"evil.test"}`,
		`{"X-Forwarded-For":"1"}`, `{"X-HTTP-Method-Override":"TRACE"}`,
		`{"If-Match":"1"}`, `{"Origin":"http://evil.test"}`, `{"Referer":"http://evil.test"}`, `{"Range":"bytes=0-1"}`,
		`{"Transfer-Encoding":"chunked"}`,
		`{"Accept":"*/*","Cookie":"a=b"}`, `{"Accept ":"x"}`, `{"":"x"}`, `{"Accept\r\nCookie":"a=b"}`,
		`{"Accept":"x\r\nCookie: a=b"}`, `{"Accept":"x\u0000"}`,
		`{"Authorization":"\u20ac"}`, `{"Accept":{"toString":1,"valueOf":1}}`, `[["Cookie","a=b"]]`, `"Cookie: a=b"`,
		`{"__proto__":"x"}`,
	} {
		configs = append(configs, `{"url":"/v4/echo","headers":`+headers+`}`)
	}
	return p.refused(configs...)
}

func textless(p *page) error {
	return p.refused(`{"url":"/v4/echo","data":{"a":"\ud800"}}`,
		`{"url":"/v4/echo","method":"GET","data":{"\udc00":1}}`,
		`{"url":"/v4/echo","data":{"a":{"toString":1,"valueOf":1}}}`,
		`{"url":"/v4/echo","timeout":{"toString":1,"valueOf":1}}`)
}

func redirects(p *page) error {
	var configs []string
	for _, to := range []string{"/v4/echo", "/echo", p.evil.url + "/echo", "//" + p.evil.host + "/v4/echo"} {
		configs = append(configs, fmt.Sprintf(`{"url":"redirect?to=%s"}`, url.QueryEscape(to)),
			fmt.Sprintf(`{"url":"redirect?to=%s","method":"GET"}`, url.QueryEscape(to)))
	}
	var broken []error
	for i, o := range p.outcomes("request", nil, configs...) {
		if o.text != disallowed {
			broken = append(broken, fmt.Errorf("%s: %s", configs[i], o.text))
		}
	}
	mine, _ := p.api.calls()
	others, _ := p.evil.calls()
	if len(mine) != len(configs) || len(others) > 0 {
		broken = append(broken, fmt.Errorf("the service was asked %q and the other origin %q", mine, others))
	}
	return errors.Join(broken...)
}

// cookies looks at requests while the browser has a cookie for the service, which its own request
// for cors.html carries.
func cookies(p *page) error {
	p.ForgetCookies() // those of earlier pages; the consumer gives its own again
	p.outcomes("request", nil, `{"url":"echo","method":"GET"}`, `{"url":"echo","data":"x"}`,
		`{"url":"apps/","headers":{"Authorization":"svctoken good"}}`)
	calls, _ := p.api.calls()
	var broken []error
	for _, r := range calls {
		if r.cookie != "" || r.referer != "" {
			broken = append(broken, fmt.Errorf("%s came with the cookie %q, and from %q", r.what, r.cookie, r.referer))
		}
	}
	p.outcomes("request", nil)
	if _, pages := p.api.calls(); len(calls) != 3 || len(pages) != 1 || pages[0].cookie != "secret=1" {
		broken = append(broken, fmt.Errorf("%d requests; the page came with %q", len(calls), pages))
	}
	return errors.Join(broken...)
}

// otherParents frames the page for somebody else.
func otherParents(p *page) error {
	return p.silent("?xdm_e="+p.evil.url+"&xdm_c=c&xdm_p=1", "#xdm_e="+p.evil.url+"&xdm_c=c&xdm_p=1",
		"?xdm_e="+p.api.url+"&xdm_c=c&xdm_p=1",
		"?xdm_e="+p.consumer.url+"0&xdm_c=c&xdm_p=1",
		"?xdm_e=http://"+p.consumer.host+"@"+p.evil.host+"&xdm_c=c&xdm_p=1",
		"?xdm_e="+p.evil.url+"&xdm_c=c&xdm_p=1&xdm_e="+p.consumer.url,
		"?xdm_e="+p.evil.url+"&xdm_c=c&xdm_p=1#xdm_e="+p.consumer.url)
}

func badParameters(p *page) error {
	me := "xdm_e=" + p.consumer.url
	return p.silent("", "?xdm_c=c&xdm_p=1", "?xdm_e=&xdm_c=c&xdm_p=1", "?xdm_e=*&xdm_c=c&xdm_p=1",
		"?xdm_e=/&xdm_c=c&xdm_p=1", "?xdm_e=null&xdm_c=c&xdm_p=1",
		"?xdm_e=javascript:alert(1)&xdm_c=c&xdm_p=1", "?xdm_e=data:,x&xdm_c=c&xdm_p=1",
		"?xdm_e=ftp://"+p.consumer.host+"&xdm_c=c&xdm_p=1",
		"?xdm_e="+p.consumer.host+"&xdm_c=c&xdm_p=1", "?"+me+"&xdm_p=1", "?"+me+"&xdm_c=&xdm_p=1", "?"+me+"&xdm_c=c",
		"?"+me+"&xdm_c=c&xdm_p=4",
		"?"+me+"&xdm_c=c&xdm_p=1x", "?"+me+"&xdm_c=c#xdm_p=1")
}

// silent frames the page with each of the suffixes and calls it; it must neither say nor ask anything.
func (p *page) silent(suffixes ...string) error {
	p.T.Helper()
	p.fresh()
	var heard [][]any
	p.Run(&heard, "heard", p.address(), suffixes)
	var broken []error
	for i, said := range heard {
		if len(said) > 0 {
			broken = append(broken, fmt.Errorf("%s: the page says %q", suffixes[i], said))
		}
	}
	return errors.Join(append(broken, p.unasked())...)
}

func otherFrames(p *page) error {
	p.fresh()
	var heard []any
	p.Run(&heard, "heardBySibling", p.address(), p.framed("c"),
		`c {"jsonrpc":"2.0","method":"request","params":[{"url":"echo"}],"id":1}`)
	if len(heard) > 0 {
		return fmt.Errorf("the page says %q", heard)
	}
	return p.unasked()
}

func noCalls(p *page) error {
	call := `{"jsonrpc":"2.0","method":"request","params":[{"url":"echo"}],"id":1}`
	p.fresh()
	var heard []any
	p.Run(&heard, "heardOf", p.address(), p.framed("c"), []any{
		"c2 " + call, "C " + call, "c" + call, " " + call, call, "c\t" + call, "", "c", "c ", "c no JSON", "c null",
		"c 7", "c []", `c "request"`, `c {}`,
		`c {"result":1,"id":1}`, `c {"method":7,"id":1}`, `c {"method":["request"],"id":1}`, `c {"method":"evaluate"}`,
		nil, 7,
		map[string]any{"method": "request", "params": []any{map[string]string{"url": "echo"}}, "id": 1},
		[]string{"c " + call},
	})
	if len(heard) > 0 {
		return fmt.Errorf("the page says %q", heard)
	}
	return p.unasked()
}

// unframed opens the page by itself, as if its own origin had framed it.
func unframed(p *page) error {
	p.fresh()
	p.Open(p.address() + "?xdm_e=" + p.api.url + "&xdm_c=c&xdm_p=1")
	var heard []string
	p.Run(&heard, `async () => {
		const heard = [], rounds = 3;
		await new Promise((done) => {
			let round = 0;
			addEventListener("message", (e) => {
				if (e.data !== "round") heard.push(e.data);
				else if (++round === rounds) done();
				else postMessage("round", "*");
			});
			postMessage('c {"jsonrpc":"2.0","method":"evaluate","id":1}', "*");
			postMessage("round", "*");
		});
		return heard;
	}`)
	if len(heard) != 1 || !strings.Contains(heard[0], "evaluate") {
		return fmt.Errorf("the page hears %q, and not just the call", heard)
	}
	return p.unasked()
}
