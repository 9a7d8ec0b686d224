// preview.js shows an app in a sandboxed frame, for a page that holds the other end of a MessagePort. The page sends
// the port once, as the only one of a message to this window. Through it come
//
//   {show: app}       the app, as the service delivers it; it is shown anew whenever something in it has changed
//   {mark: key}       the element to mark, null for none
//   {ping: anything}  is sent back as {pong: anything}
//
// and through it go
//
//   {ready: true}                          the first message
//   {click: key}                           an element was clicked
//   {height: pixels}                       the height of the document has changed
//   {marked: pixels}                       where the element is that has been marked, from the top of the document
//   {error: {key, component, message}}     an element, or the app, has failed

import "./vitrine.js";

const host = document.querySelector("vitrine-app");

addEventListener("message", function begin({ source, ports: [port] }) {
	if (source !== parent || !port) return;
	removeEventListener("message", begin);
	let marked = null;
	const mark = () => {
		for (const div of host.children) div.toggleAttribute("data-marked", div.dataset.key === marked);
	};
	port.onmessage = async ({ data }) => {
		if ("ping" in data) port.postMessage({ pong: data.ping });
		if (data.show) await host.show(data.show);
		if ("mark" in data) marked = data.mark;
		mark();
		const at = data.mark && host.querySelector("[data-marked]");
		if (at) port.postMessage({ marked: at.getBoundingClientRect().top + scrollY });
	};
	addEventListener("vitrine-error", ({ target, detail: { key, component, error } }) => {
		const message = String(error?.message ?? error);
		target.querySelector(".failed span")?.append(message);
		port.postMessage({ error: { key, component, message } });
	});
	addEventListener(
		"click",
		({ target }) => {
			const { key } = target.closest?.("[data-key]")?.dataset ?? {};
			if (key) port.postMessage({ click: key });
		},
		true,
	);
	new ResizeObserver(() => port.postMessage({ height: document.documentElement.scrollHeight })).observe(
		document.body,
	);
	port.postMessage({ ready: true });
});
