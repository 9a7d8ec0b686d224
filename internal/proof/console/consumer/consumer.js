"use strict";
// What the tests do in a page that frames cors.html.

const easyXDM = module.exports;

// patient is a promise that gives up.
const patience = Number(new URLSearchParams(location.search).get("patience"));
const patient = (executor) =>
	new Promise((done) => {
		executor(done);
		setTimeout(done, patience, { late: true });
	});

// connect frames the page at an address the way its clients do.
function connect(page, options) {
	return patient((done) => {
		const rpc = new easyXDM.Rpc(
			{ remote: page, ...options, onReady: () => done(rpc) },
			{ remote: { request: {}, evaluate: {} } },
		);
	});
}

// ask calls a method and returns what comes of it: {result} or {error}.
function ask(rpc, method, config) {
	return patient((done) =>
		rpc[method](
			config,
			(result) => done({ result }),
			(error) => done({ error }),
		),
	);
}

// outcomes makes calls one after the other; each config is a JSON text.
async function outcomes(page, options, method, configs) {
	const rpc = await connect(page, options);
	if (rpc.late) return configs.map(() => rpc);
	const all = [];
	for (const config of configs) all.push(await ask(rpc, method, JSON.parse(config)));
	rpc.destroy();
	return all;
}

// frame opens an address in a frame, without easyXDM, and keeps what it says.
function frame(address) {
	const element = document.createElement("iframe"),
		heard = [];
	addEventListener("message", (e) => {
		if (e.source === element.contentWindow) heard.push(e.data);
	});
	element.src = address;
	document.body.append(element);
	return new Promise((done) => {
		element.onload = () =>
			done({
				heard,
				window: element.contentWindow,
				post: (data) => element.contentWindow.postMessage(data, "*"),
			});
	});
}

// framesOf opens a page in frames, one for each ending of its address.
const framesOf = (page, endings) => Promise.all(endings.map((ending) => frame(page + ending)));

async function show(page, endings) {
	await framesOf(page, endings);
}

// settle comes back when whatever was said to frames of the page before has had its effects: they
// and a frame of its own share one queue of messages, and its requests come last.
async function settle(page) {
	await outcomes(page, {}, "request", Array(3).fill('{"url":"echo?settle","method":"GET"}'));
}

// heard frames the page with each query or hash, calls it on channel "c", and returns what it
// said in each frame.
async function heard(page, suffixes) {
	const all = await framesOf(page, suffixes);
	for (const f of all) {
		f.post('c {"jsonrpc":"2.0","method":"evaluate","id":1}');
		f.post('c {"jsonrpc":"2.0","method":"request","params":[{"url":"echo?unwanted","method":"GET"}],"id":2}');
	}
	await settle(page);
	return all.map((f) => f.heard);
}

// heardOf sends messages to the page and returns what it said after "ready".
async function heardOf(page, suffix, messages) {
	const f = await frame(page + suffix);
	for (const m of messages) f.post(m);
	await settle(page);
	return f.heard.slice(1);
}

// heardBySibling lets another frame of this origin, and so not the parent, send a message.
async function heardBySibling(page, suffix, message) {
	const f = await frame(page + suffix);
	const sibling = document.body.appendChild(document.createElement("iframe")).contentWindow;
	const said = [];
	sibling.addEventListener("message", (e) => said.push(e.data));
	sibling.Function("to", "message", "to.postMessage(message, '*')")(f.window, message);
	await settle(page);
	return [...f.heard.slice(1), ...said];
}
