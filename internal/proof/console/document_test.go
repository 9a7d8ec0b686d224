//go:build proof

package console

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// untouched frames the page with parameters that are markup and scripts; its document must be the same.
func untouched(p *page) error {
	suffixes := []string{""}
	for _, attack := range []string{
		"<img src=x onerror=pwned=1>", `"></script><script>pwned=1</script>`, "javascript:pwned=1", "';pwned=1;//",
	} {
		escaped := url.QueryEscape(attack)
		suffixes = append(suffixes, p.framed(attack), "#"+p.framed(attack)[1:], "?xdm_e="+escaped+"&xdm_c=c&xdm_p=1",
			"?xdm_e="+p.consumer.url+"&xdm_c=c&xdm_p="+escaped,
			"?"+escaped, "#"+escaped)
	}
	p.fresh()
	var nothing any
	p.Run(&nothing, "show", p.address(), suffixes)
	var documents []string
	for i := range suffixes {
		var document string
		p.Enter(i)
		p.Run(&document, "() => document.title + document.documentElement.outerHTML + ' ' + typeof window.pwned")
		p.Enter(nil)
		documents = append(documents, document)
	}
	if !strings.HasSuffix(documents[0], "undefined") || !strings.Contains(documents[0], "<script>") {
		return fmt.Errorf("the document is %q", documents[0])
	}
	var broken []error
	for i, document := range documents {
		if document != documents[0] {
			broken = append(broken, fmt.Errorf("%s: the document is %q", suffixes[i], document))
		}
	}
	return errors.Join(broken...)
}

// policed does within the page what it would do for an attacker, had there been a way in.
func policed(p *page) error {
	p.fresh()
	var nothing any
	p.Run(&nothing, "show", p.address(), []string{""})
	p.Enter(0)
	defer p.Enter(nil)
	var done struct{ Inline, Evaluated, Left bool }
	p.Run(&done, `async (evil) => {
		const script = document.createElement("script");
		await new Promise((done) => setTimeout(done)); // what the driver itself evaluates is above policies
		script.textContent = "window.inline = true";
		document.head.append(script);
		let evaluated = false, left = true;
		try { evaluated = Function("return true")(); } catch {}
		try { await fetch(evil + "/echo", { mode: "no-cors" }); } catch { left = false; }
		for (const name of ["img", "script", "iframe"]) {
			const element = document.createElement(name);
			element.src = evil + "/echo?" + name;
			await new Promise((done) => { element.onload = element.onerror = done; document.head.append(element); });
		}
		return { inline: window.inline === true, evaluated, left };
	}`, p.evil.url)
	if others, _ := p.evil.calls(); done.Inline || done.Evaluated || done.Left || len(others) > 0 {
		return fmt.Errorf("%+v, and the other origin was asked %q", done, others)
	}
	return nil
}

// denied frames answers of all kinds; only cors.html may be seen.
func denied(p *page) error {
	paths := []string{"/v4/cors.html", "/healthz", "/v4/openapi.json", "/v4/apps/", "/v4/apps/?svctoken=good",
		"/v4/none?svctoken=good", "/v4/cors.html/",
		"/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test/assets?svctoken=good"}
	p.fresh()
	var nothing any
	p.Run(&nothing, "show", p.api.url, paths)
	var broken []error
	for i, path := range paths {
		var shown string
		p.Enter(i)
		p.Run(&shown, "() => document.URL")
		p.Enter(nil)
		if may := i == 0; strings.HasPrefix(shown, p.api.url) != may {
			broken = append(broken, fmt.Errorf("%s: framed, %s is shown", path, shown))
		}
	}
	return errors.Join(broken...)
}
