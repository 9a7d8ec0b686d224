//go:build proof

package console

import (
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// holdAnswers lets a test hold back what the service answers: window.hold(end) holds the next answer to a path with
// this end, and window.release(error) gives it to the page, or the error in its place.
const holdAnswers = `async () => {
	const real = fetch;
	const holds = new Set();
	window.hold = (end) => holds.add(end);
	window.answered = [];
	window.fetch = async (...request) => {
		const { pathname, search } = new URL(request[0].url ?? request[0], location);
		if ((request[1]?.headers?.Accept ?? "").includes("event-stream")) return real(...request);
		const answer = await real(...request);
		const text = await answer.text();
		for (const end of holds) {
			if (pathname.endsWith(end) && holds.delete(end)) await new Promise((resolve, reject) => {
				window.release = (error) => (error ? reject(error) : resolve());
			});
		}
		window.answered.push(pathname + search);
		return new Response(text === "" ? null : text, { status: answer.status, headers: answer.headers });
	};
}`

// miss tells the page that it has missed changes, as after a cursor that is too old. The name of the lock is that of
// the channel.
const miss = `async () => {
	const { held } = await navigator.locks.query();
	const channel = new BroadcastChannel(held.find((x) => x.name.startsWith("vitrine x/changes ")).name);
	channel.postMessage(undefined);
	channel.close();
}`

// The version of a component that a person chose stays chosen while others make versions, when everything is read anew,
// and when answers come late.
func TestAChosenVersionStaysChosen(t *testing.T) {
	w := newWorld(t)
	for i, member := range []string{"one", "two", "three"} {
		w.component("poll", fmt.Sprintf("1.%d.0", i), fmt.Sprintf(`{"type":"object","properties":{%q:{}}}`, member))
	}
	p := w.signIn(ann, "/components/poll")
	schema := func(member string) { t.Helper(); p.See(`//li/code[.="` + member + `"]`) }
	chosen := func(when, version string) {
		t.Helper()
		var have []string
		p.Run(&have,
			`async () => [...[...document.querySelectorAll('.versions [aria-pressed="true"]')].map((x) => `+
				`x.textContent), location.hash.split("=")[1]]`)
		if len(have) != 2 || have[0] != version || have[1] != version {
			t.Errorf("%s the version that is pressed and the one in the address are %q, want %s", when, have, version)
		}
	}
	hold := func(version string) {
		t.Helper()
		p.Run(new(any), `async (end) => { hold(end); }`, "/versions/"+version)
	}
	schema("three")
	p.Run(new(any), holdAnswers)

	hold("1.0.0")
	p.Click(`//button[.="1.0.0"]`)
	p.Until(`() => window.release`)
	w.component("poll", "2.0.0", `{}`)
	p.See(`//button[.="2.0.0"]`)
	chosen("after a version of somebody else", "1.0.0")

	p.Run(new(any), `async () => { answered.length = 0; }`)
	p.Run(new(any), miss)
	p.Until(`() => answered.some((path) => /[/]versions[/][^/]+$/.test(path))`)
	chosen("after everything was read anew", "1.0.0")
	schema("one")
	p.Run(new(any), `async () => { release(); window.release = undefined; }`)

	// An answer that was overtaken is dropped, and so is an error.
	p.Run(new(any), `async () => {
		const shown = document.querySelector(".manifest");
		new MutationObserver(() => {
			if (shown.querySelector('[role="alert"]')) window.wrong = shown.textContent;
			if ([...shown.querySelectorAll(".member")].some((x) => x.textContent === "two")) window.wrong = "two";
		}).observe(shown, { childList: true, subtree: true });
	}`)
	for i, failure := range []string{"", `new TypeError("no network")`} {
		hold("1.1.0")
		p.Click(`//button[.="1.1.0"]`)
		p.Until(`() => window.release`)
		p.Click(`//button[.="1.2.0"]`)
		schema("three")
		p.Run(new(any), `async () => { release(`+failure+`); window.release = undefined; }`)
		last := fmt.Sprintf("3.%d.0", i)
		w.component("poll", last, `{}`)
		p.See(`//button[.="` + last + `"]`) // by now the answer would have been shown
		chosen("after an answer that came late", "1.2.0")
		p.Run(new(any), `async () => { if (window.wrong) throw new Error("shown late: " + window.wrong); }`)
		p.Click(`//button[.="1.0.0"]`)
		schema("one")
	}

	// A version that is gone is not chosen any more.
	w.request(ann, "DELETE", "/components/poll", "")
	p.See(`//*[contains(@class, "empty") and contains(., "poll")]`)
	w.component("poll", "5.0.0", `{"type":"object","properties":{"five":{}}}`)
	schema("five")
	chosen("after the component was made anew", "5.0.0")
}

// The versions that a person compares stay when others save and when everything is read anew, and so does the
// comparison when an older one fails late.
func TestAComparisonStays(t *testing.T) {
	w := newWorld(t)
	w.component("poll", "1.0.0", `{}`)
	id := w.newApp("Winter", poll(`{"n":0}`))
	save := func(version int) { // saves of one person would be one line
		t.Helper()
		w.request([]httpapi.Principal{bob, ann}[version%2], "PATCH", "/apps/"+id,
			fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
				`"path":"/apps/0/elements/0/config/n","value":%d}]`, version, version+1))
	}
	save(0)
	save(1)
	p := w.signIn(cleo, "/apps/"+id+"/history?from=0&to=1")
	line := func(version int) {
		t.Helper()
		p.See(fmt.Sprintf(`//div[contains(@class, "line")]/span[.="%d"]`, version))
	}
	compared := func(when, from, to string) {
		t.Helper()
		var have []string
		p.Run(&have,
			`async () => [...document.querySelectorAll(".compared input")].map((x) => `+
				`x.value).concat([...document.querySelectorAll(".compared del, .compared ins")].map((x) => `+
				`x.textContent))`)
		if want := []string{from, to, from, to}; fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("%s the versions and the numbers in them are %q, want %q", when, have, want)
		}
	}
	p.See(`//section[contains(@class, "compared")]//ins[.="1"]`)
	p.Run(new(any), holdAnswers)
	save(2)
	line(3)
	compared("after a save of somebody else", "0", "1")
	p.Run(new(any), `async () => { answered.length = 0; }`)
	p.Run(new(any), miss)
	p.Until(`() => answered.some((path) => path.endsWith("/history"))`)
	compared("after everything was read anew", "0", "1")

	p.Run(new(any), `async () => { hold("/versions/0"); }`)
	p.Run(new(any), `async () => {
		const [, to] = document.querySelectorAll(".compared input");
		to.value = "2";
		to.dispatchEvent(new Event("change"));
	}`)
	p.Until(`() => window.release`)
	p.Click(named("Changes of version 2"))
	p.See(`//section[contains(@class, "compared")]//ins[.="2"]`)
	p.Run(new(any), `async () => { release(new TypeError("no network")); }`)
	save(3)
	line(4) // by now the error would have been shown
	compared("after an older comparison has failed", "1", "2")
}
