"use strict";
// The proxy that cors.html is: it takes calls from the page that frames it, over the postMessage
// transport of easyXDM with JSON-RPC 2.0, and answers what this service answers. It keeps nothing,
// shows nothing and sends no cookies.

const assetPrefix = "/services/frontline/api/v4/assetManager/";
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const headerNames = ["authorization", "content-type", "accept", "if-none-match", "idempotency-key"];
const failure = -32099,
	unknownMethod = -32601;

// parameters reads who frames the page and what the channel is called, from the query or the
// hash; null when that is not said in full.
function parameters(location) {
	for (const part of [location.search, location.hash]) {
		const p = new URLSearchParams(part.slice(1));
		if (!p.has("xdm_e")) continue;
		const channel = p.get("xdm_c");
		let remote;
		try {
			remote = new URL(p.get("xdm_e"));
		} catch {
			return null;
		}
		if (!/^https?:$/.test(remote.protocol) || !channel || p.get("xdm_p") !== "1") return null;
		return { origin: remote.origin, channel };
	}
	return null;
}

// target returns the URL to ask, or null unless it is of this origin and below the base path or
// the asset prefix. A segment ".." is refused however it is written and wherever it leads, as
// servers on the way need not agree on it; so are control characters, which the parser drops.
function target(url, location) {
	if (/[\x00-\x1f]/.test(url)) return null;
	const segments = url
		.trim()
		.split(/[?#]/)[0]
		.split(/[/\\:]|%2f|%5c/i);
	if (segments.some((s) => s !== "." && /^(\.|%2e){1,2}$/i.test(s))) return null;
	let u;
	try {
		u = new URL(url, location.href);
	} catch {
		return null;
	}
	const base = location.pathname.slice(0, location.pathname.lastIndexOf("/") + 1);
	const below = u.pathname.startsWith(base) || u.pathname.startsWith(assetPrefix);
	if (u.origin !== location.origin || u.username || u.password || !below) return null;
	u.hash = "";
	return u;
}

// encode writes an object as a form.
function encode(data) {
	return Object.entries(data)
		.map(([k, v]) => encodeURIComponent(k) + "=" + encodeURIComponent(v))
		.join("&");
}

// plan turns the config of a request into what fetch takes; null when it is not allowed. It throws
// where the config holds what is no text (an address of another type, half a surrogate pair, an
// object that hides toString) and what no header may hold.
function plan(config, location) {
	if (config === null || typeof config !== "object") return null;
	const url = target(config.url, location);
	const method = String(config.method ?? "POST").toUpperCase();
	const headers = Object.entries(config.headers ?? {});
	if (!url || !methods.includes(method)) return null;
	if (headers.some(([name]) => !headerNames.includes(name.toLowerCase()))) return null;

	const form = typeof config.data === "object" && config.data !== null;
	const data = form ? encode(config.data) : (config.data ?? undefined);
	if (form && method !== "GET" && !headers.some(([name]) => name.toLowerCase() === "content-type")) {
		headers.push(["Content-Type", "application/x-www-form-urlencoded"]);
	}
	const init = {
		method,
		headers: new Headers(headers),
		mode: "same-origin",
		credentials: "omit",
		redirect: "manual",
		referrerPolicy: "no-referrer",
	};
	if (method !== "GET") {
		// which has no body: its text is the query
		init.body = data === undefined ? undefined : String(data);
	} else if (data !== undefined && data !== "") {
		url.search += (url.search ? "&" : "?") + data;
	}
	const timeout = Number(config.timeout ?? 10000);
	return { url: url.href, init, timeout: timeout > 0 ? Math.min(timeout, 2 ** 31 - 1) : 10000 };
}

// request carries out one call and returns the outcome: a result or an error.
async function request(config, window) {
	let p = null;
	try {
		p = plan(config, window.location);
	} catch {
		/* not allowed either */
	}
	if (!p) return { error: { code: failure, message: "DISALLOWED_REQUEST" } };
	const abort = new AbortController();
	const timer = setTimeout(() => abort.abort(), p.timeout);
	try {
		const answer = await window.fetch(p.url, { ...p.init, signal: abort.signal });
		if (answer.type === "opaqueredirect") return { error: { code: failure, message: "DISALLOWED_REQUEST" } };
		const data = await answer.text(),
			status = answer.status;
		if (!answer.ok) return { error: { code: failure, message: "INVALID_STATUS_CODE", data: { status, data } } };
		return { result: { data, status, headers: Object.fromEntries(answer.headers) } };
	} catch (e) {
		const message = abort.signal.aborted
			? `timeout: no answer within ${p.timeout} ms`
			: `the request failed: ${e.message}`;
		return { error: { code: failure, message } };
	} finally {
		clearTimeout(timer);
	}
}

// call reads a message of the channel; null unless it is a JSON-RPC call.
function call(text) {
	let rpc;
	try {
		rpc = JSON.parse(text);
	} catch {
		return null;
	}
	return rpc !== null && typeof rpc === "object" && typeof rpc.method === "string" ? rpc : null;
}

async function answerTo(rpc, window) {
	if (rpc.method !== "request") return { error: { code: unknownMethod, message: "Procedure not found." } };
	return request(Array.isArray(rpc.params) ? rpc.params[0] : rpc.params, window);
}

function start(window) {
	const remote = parameters(window.location);
	if (!remote || window.parent === window) return;
	const send = (text) => window.parent.postMessage(remote.channel + text, remote.origin);
	window.addEventListener("message", async (event) => {
		const prefix = remote.channel + " ";
		if (event.source !== window.parent || event.origin !== remote.origin) return;
		if (typeof event.data !== "string" || !event.data.startsWith(prefix)) return;
		const rpc = call(event.data.slice(prefix.length));
		if (!rpc) return;
		const outcome = await answerTo(rpc, window);
		if (rpc.id !== undefined) send(" " + JSON.stringify({ id: rpc.id, ...outcome, jsonrpc: "2.0" }));
	});
	send("-ready");
}

start(window);
