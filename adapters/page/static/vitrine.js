// vitrine.js shows the apps of a page. It defines the element
//
//   <vitrine-app app="ID" tag="production" page-key="KEY" live="10"></vitrine-app>
//
// All elements with the same server, tag, key and language ask in one request for their apps. Each element of an app is
// mounted into a <div> of its own, by the module that its component names as main (see vitrine.d.ts). See the README of
// adapters/page for everything else.

const ownServer = new URL("..", import.meta.url).href; // the base URL of the service that this script comes from
const mostApps = 50; // that one request may ask for
const patience = 10_000; // milliseconds that a module may take to load, and mount to keep what it promises
const inOrder = 1000; // milliseconds that the elements of an app wait for the modules of those before them
const longestPause = 300_000; // milliseconds between two requests after many errors
const languageTag = /^([a-z]{2,8}|[ix]-[a-z\d]{1,8})(-[a-z\d]{1,8}){0,8}$/i; // as the service takes it

// Part is one element of an app on the page.
class Part {
	// found is a <div> for the element that a server has written, if there is one.
	constructor(host, info, element, found) {
		Object.assign(this, { host, info, element });
		if (!element.headless) {
			this.div = found ?? document.createElement("div");
			this.div.dataset.key = element.key;
			this.div.dataset.component = element.name;
			this.rendered = this.div.hasChildNodes();
		}
		this.load();
	}

	// load begins to load the module. mount sees when that fails.
	load() {
		const { main } = this.element;
		const late = new Promise((_, no) => setTimeout(no, patience, "it took too long"));
		this.module = Promise.race([import(main), late])
			.then((module) => (module.mount ? module : Promise.reject("it exports no function mount")))
			.catch((cause) => {
				// Each browser says in its own words that it could not fetch a module.
				const why = /^TypeError.*module/.test(cause)
					? "it is not there, not sent as JavaScript, or its server sends no Access-Control-Allow-Origin"
					: cause;
				throw new Error(`its script ${main} cannot be used: ${why}`, { cause });
			});
		this.module.catch(() => {});
	}

	// mount calls the component as soon as its module is there. What it returns, or what it promises, is the handle.
	mount() {
		const { config, key } = this.element;
		const gone = (this.gone = new AbortController());
		this.failed = false;
		let slow;
		this.handle = this.module.then((module) => {
			if (gone.signal.aborted) return null;
			slow = setTimeout(() => {
				if (gone.signal.aborted) return;
				this.host.report(new Error("what mount promises is not there after ten seconds"), this);
			}, patience);
			return module.mount(this.div ?? null, {
				config: structuredClone(config),
				app: this.info,
				key,
				server: new URL(this.host.server || ownServer, document.baseURI).href,
				pageKey: this.host.pageKey,
				signal: gone.signal,
				rendered: !!this.rendered,
			});
		});
		this.handle.catch((error) => this.fail(error)).then(() => clearTimeout(slow));
	}

	// update hands over a new configuration. A component that takes none, or that has failed, is mounted anew.
	update(info, element) {
		const same = JSON.stringify(this.element.config) === JSON.stringify(element.config);
		Object.assign(this, { info, element });
		if (this.failed) return this.remount();
		if (same) return;
		const { signal } = this.gone;
		this.handle
			.then((handle) =>
				signal.aborted
					? null
					: handle?.update
						? handle.update(structuredClone(element.config))
						: this.remount(),
			)
			.catch((error) => this.fail(error));
	}

	remount() {
		this.unmount();
		this.renew();
		this.load();
		this.mount();
	}

	// renew makes a new <div>, since a shadow root would stay with the old one.
	renew() {
		if (!this.div) return;
		const div = document.createElement("div");
		Object.assign(div.dataset, this.div.dataset);
		this.div.replaceWith(div);
		this.div = div;
		this.rendered = false;
	}

	unmount() {
		this.handle
			?.then(
				(handle) => handle?.unmount?.(),
				() => {},
			)
			.catch((error) => this.host.report(error, this));
		this.gone?.abort();
	}

	fail(error) {
		if (this.failed || this.gone.signal.aborted) return;
		this.failed = true;
		const { template } = this.host;
		if (template) {
			this.renew();
			this.div?.append(template.content.cloneNode(true));
		}
		this.host.report(error, this);
	}
}

// properties are the properties of <vitrine-app> with the attributes that each reads; it writes the first one.
// Templates of JSX keep the name key to themselves, and pageKey becomes pagekey in HTML.
const properties = {
	app: ["app"],
	tag: ["tag"],
	pageKey: ["page-key", "pagekey", "key"],
	server: ["server"],
	live: ["live"],
};

const seen = new Set(); // the ids of the apps that the page has shown

class Host extends HTMLElement {
	static observedAttributes = [...Object.values(properties).flat(), "lang"];
	parts = new Map(); // by app and key

	constructor() {
		super();
		for (const name in properties) {
			// a property that was set before the element was defined hides the accessor
			if (!Object.hasOwn(this, name)) continue;
			const value = this[name];
			delete this[name];
			this[name] = value;
		}
	}

	// seconds between two requests, 0 for one request alone
	get seconds() {
		const { live } = this;
		return live === false ? 0 : live === true ? 10 : Math.max(1, live);
	}

	// the language of the page here, "" if it names none
	get language() {
		const lang = (this.closest("[lang]") ?? document.documentElement).getAttribute("lang");
		return languageTag.test(lang ?? "") ? lang : "";
	}

	get template() {
		return this.querySelector(":scope > template[slot=error]") ?? this.kept;
	}

	connectedCallback() {
		join(this);
	}
	connectedMoveCallback() {}
	disconnectedCallback() {
		queueMicrotask(() => {
			// an element that was moved is connected again
			if (this.isConnected) return;
			leave(this);
			this.show({ elements: [] });
		});
	}
	attributeChangedCallback(name) {
		if (name !== "lang") this.translated = false;
		if (this.isConnected) join(this);
	}

	// report tells the page what has failed, and the browser's console unless the page calls preventDefault.
	report(error, part) {
		const { app } = this,
			{ key, name: component } = part?.element ?? {};
		const place = part?.div?.isConnected ? part.div : this;
		const event = new CustomEvent("vitrine-error", {
			bubbles: true,
			cancelable: true,
			detail: { app, key, component, error },
		});
		if (place.dispatchEvent(event)) console.error("vitrine-app", app, key, component, error);
	}

	// refuse tells the page why there is no app, and shows its template unless the app is there from before.
	refuse(error) {
		const { template } = this;
		if (!this.parts.size && template) this.replaceChildren(template, template.content.cloneNode(true));
		this.report(error);
	}

	// show shows an app as the service delivers it. The last of several calls counts.
	async show(app) {
		const text = JSON.stringify(app);
		if (text === this.shown) return;
		this.shown = text;
		this.next = JSON.parse(text);
		if (this.showing) return;
		this.showing = true;
		while (this.next) {
			const now = this.next;
			this.next = null;
			await this.change(now).catch((error) => this.report(error));
		}
		this.showing = false;
	}

	// change makes the page equal to what an app is now. Parts that stay keep their state. info is what components are
	// told of the app.
	async change({ elements, error, code, ...info }) {
		this.kept = this.template;
		if (error) {
			this.refuse(Object.assign(new Error(error), { code }));
			if (!this.parts.size) return;
			elements = [];
		}
		const before = this.parts;
		// What a server has rendered of this version in this language is taken over.
		const { version, lang } = this.dataset;
		const found = before.size || version !== String(info.version) || lang !== info.lang ? [] : [...this.children];
		this.parts = new Map();
		const fresh = [];
		for (const element of elements) {
			const name = info.id + " " + element.key;
			let part = before.get(name);
			if (part?.element.main === element.main && !part.element.headless === !element.headless) {
				before.delete(name);
				part.update(info, element);
			} else {
				const same = ({ dataset }) => dataset.key === element.key && dataset.component === element.name;
				part = new Part(this, info, element, found.find(same));
				fresh.push(part);
			}
			this.parts.set(name, part);
		}
		for (const part of before.values()) {
			part.unmount();
			part.div?.remove();
		}
		this.place([...this.parts.values()].flatMap((part) => part.div ?? []));
		const late = new Promise((done) => setTimeout(done, inOrder));
		for (const part of fresh) {
			part.mount();
			await Promise.race([late, part.module.catch(() => {})]);
		}
		if (seen.has(info.id) || error || !this.isConnected) return;
		seen.add(info.id);
		const detail = { app: info.id, tag: info.tag, version: info.version, lang: info.lang };
		this.dispatchEvent(new CustomEvent("vitrine-shown", { bubbles: true, detail }));
	}

	// place puts the divs into the document in their order, and moves as few as it easily can.
	place(divs) {
		const wanted = new Set(divs);
		for (const child of [...this.childNodes]) {
			if (!wanted.has(child) && child !== this.kept) child.remove();
		}
		let at = this.firstChild;
		for (const div of divs) {
			if (at && at === this.kept) at = at.nextSibling;
			if (div === at) {
				at = at.nextSibling;
			} else if (div.isConnected && this.moveBefore) {
				this.moveBefore(div, at); // keeps what a browser knows of it, such as the focus
			} else {
				this.insertBefore(div, at);
			}
		}
	}
}

for (const [name, attributes] of Object.entries(properties)) {
	Object.defineProperty(Host.prototype, name, {
		configurable: true,
		enumerable: true,
		get() {
			const value = attributes.map((attribute) => this.getAttribute(attribute)).find((v) => v !== null) ?? null;
			if (name !== "live") return value;
			// Frameworks keep an attribute without a value if the type of its property is boolean.
			return value === null ? false : value.trim() && !isNaN(value) ? Number(value) : true;
		},
		set(value) {
			if (value == null || value === false) for (const attribute of attributes) this.removeAttribute(attribute);
			else this.setAttribute(attributes[0], value === true ? "" : value);
		},
	});
}

// Groups are the elements with the same server, tag, key and language, which is "" for apps that are not known to have
// texts in several. Each group asks for its apps in one request, or in several
// if there are many.
const groups = new Map();

function leave(host) {
	host.group?.hosts.delete(host);
	host.group = null;
	clearTimeout(host.incomplete);
}

function join(host) {
	leave(host);
	const { app, tag, pageKey, server } = host;
	host.spoken = host.language;
	if (!app && !tag && !pageKey) return; // a script may show an app in it
	if (!app || !tag || !pageKey) {
		const absent = !app ? "app" : tag ? "page-key" : "tag";
		// the script that made the element may be about to set it
		host.incomplete = setTimeout(() => host.refuse(new Error(`<vitrine-app> has no attribute ${absent}`)));
		return;
	}
	const lang = host.translated ? host.spoken : "";
	const name = JSON.stringify([server, tag, pageKey, lang]);
	if (!groups.has(name)) groups.set(name, new Group(server || ownServer, tag, pageKey, lang));
	const group = (host.group = groups.get(name));
	host.fresh = true;
	group.hosts.add(host);
	group.soon(0);
}

class Group {
	hosts = new Set();
	errors = 0;

	constructor(server, tag, key, lang) {
		Object.assign(this, { server, tag, key, lang });
	}

	// soon asks in so many milliseconds, unless it asks earlier.
	soon(pause) {
		const due = Date.now() + pause;
		if (this.due <= due) return;
		this.due = due;
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.ask(), pause);
	}

	// ask asks for the apps of those that have none yet or are live.
	async ask() {
		this.due = undefined;
		if (this.asking) return; // it sets the next time
		this.paused = document.hidden && this.loaded;
		if (this.paused) return; // until wake
		const hosts = [...this.hosts].filter((host) => host.fresh || host.seconds);
		if (!hosts.length) return;
		this.asking = true;
		const ids = [...new Set(hosts.map((host) => host.app))].sort();
		const requests = [];
		while (ids.length) requests.push(ids.splice(0, mostApps));
		const answers = await Promise.allSettled(requests.map(this.fetch, this));
		this.asking = false;
		let failed = false;
		for (const [i, { value, reason }] of answers.entries()) {
			failed ||= !!reason;
			for (const host of hosts) {
				const id = host.app;
				if (host.group !== this || !requests[i].includes(id)) continue;
				if (reason) {
					if (reason.final && host.fresh) host.refuse(reason);
					else if (!this.errors) host.report(reason); // once, until it works again
					if (reason.final) host.fresh = false;
					continue;
				}
				host.fresh = false;
				const app = value.find((app) => app.id === id);
				const { language } = host;
				if (app.languages && language !== this.lang && (this.lang || language !== app.lang)) {
					host.translated = true;
					join(host);
				} else host.show(app);
			}
		}
		this.errors = failed ? this.errors + 1 : 0;
		this.loaded = true;
		// Next time: at once for those that have come meanwhile, after a second and then more for those that got an
		// error, after their time for those that are live.
		const seconds = Math.min(...[...this.hosts].map((host) => (host.fresh ? +failed : host.seconds || Infinity)));
		if (seconds < Infinity)
			this.soon(
				Math.min(longestPause, 1000 * seconds * 2 ** Math.max(0, this.errors - 1)) * (0.9 + Math.random() / 5),
			);
	}

	async fetch(ids) {
		const path = `/x/public/${encodeURIComponent(this.tag)}`;
		const url = new URL(this.server.replace(/\/*$/, path), document.baseURI);
		for (const id of ids) url.searchParams.append("app", id);
		url.searchParams.set("key", this.key);
		if (this.lang) url.searchParams.set("lang", this.lang);
		// The browser's cache sends the ETag.
		const answer = await fetch(url, { credentials: "omit", signal: AbortSignal.timeout(30_000) });
		if (answer.ok) return (await answer.json()).apps;
		const { error, code } = await answer.json().catch(() => ({})); // something between may answer without JSON
		throw Object.assign(new Error(error ?? `the service answered ${answer.status}`), {
			code,
			final: answer.status < 500 && answer.status !== 429,
		});
	}
}

// wake asks at once when the page is seen again, or the network is back.
function wake() {
	if (document.hidden) return;
	for (const group of groups.values()) {
		if (group.paused || group.errors) group.soon(0);
	}
}
document.addEventListener("visibilitychange", wake);

// The language of a page may change, on <html> for instance, while apps are shown.
new MutationObserver(() => {
	for (const { hosts } of [...groups.values()]) {
		for (const host of [...hosts]) if (host.language !== host.spoken) join(host);
	}
}).observe(document, { subtree: true, attributeFilter: ["lang"] });
addEventListener("online", wake);

// A page may load the script twice, also from two addresses. The first one serves all its apps.
if (!customElements.get("vitrine-app")) customElements.define("vitrine-app", Host);
export const VitrineApp = customElements.get("vitrine-app");
