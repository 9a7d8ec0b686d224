// vitrine-data.js reads the published apps of a service, and renders them where there is no document: in Node.js, Deno
// and Bun, for builds and servers. See vitrine-data.d.ts for its types.

const mostApps = 50; // that one request may ask for
const attempts = 6; // of a request that the service answers with 429 or 503
const longestPause = 60; // seconds between two of them

/** Yields what is published under a tag: every app that has it and that the key may read. */
export async function* listApps({ limit = 500, ...options }) {
	let after = "";
	do {
		const { apps, next } = await get(options, [["limit", limit], ...(after ? [["after", after]] : [])]);
		yield* apps;
		after = next;
	} while (after);
}

/** Returns apps in the order of their ids, as pages get them, with texts in a language or in the base. */
export async function getApps({ apps, lang, ...options }) {
	if (!Array.isArray(apps)) throw new TypeError("apps: want an array of ids");
	const ids = [...new Set(apps)];
	const found = new Map();
	for (let i = 0; i < ids.length; i += mostApps) {
		const some = ids.slice(i, i + mostApps).map((id) => ["app", id]);
		if (lang) some.push(["lang", lang]);
		for (const app of (await get(options, some)).apps) found.set(app.id, app);
	}
	const { server, key } = options;
	return apps.map((id) => ({ ...found.get(id), server: String(server), key }));
}

/** Returns the HTML of an app of getApps: the element that vitrine.js takes over, with what its components render. */
export async function renderApp({ elements, server, key: pageKey, error, ...app }, components) {
	if (error) throw new Error(`the app ${app.id} cannot be rendered: ${error}`);
	const parts = elements
		.filter(({ headless }) => !headless)
		.map(async ({ key, name, main, config }) => {
			let html = "";
			try {
				html =
					(await components[name]?.render?.({
						config: structuredClone(config),
						app,
						key,
						server,
						pageKey,
						main,
					})) ?? "";
			} catch (cause) {
				throw new Error(`the element ${key} (${name}) of the app ${app.id} cannot be rendered: ${cause}`, {
					cause,
				});
			}
			return `<div${attributes({ "data-key": key, "data-component": name })}>${html}</div>`;
		});
	const own = { app: app.id, tag: app.tag, "page-key": pageKey, server, "data-version": app.version };
	if (app.lang) own["data-lang"] = app.lang;
	return `<vitrine-app${attributes(own)}>${(await Promise.all(parts)).join("")}</vitrine-app>`;
}

const attributes = (values) =>
	Object.entries(values)
		.map(([name, value]) => ` ${name}="${String(value).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)}"`)
		.join("");

// get asks for {server}/x/public/{tag} with these parameters, again if the service is busy.
async function get({ server, tag, key, fetch = globalThis.fetch }, parameters) {
	for (const [name, value] of Object.entries({ server, tag, key })) {
		if (!value) throw new TypeError(`${name} is missing: want server, tag and key`);
	}
	const url = new URL(String(server).replace(/\/*$/, `/x/public/${encodeURIComponent(tag)}`));
	for (const parameter of [...parameters, ["key", key]]) url.searchParams.append(...parameter);
	for (let attempt = 1; ; attempt++) {
		const asked = fetch(url.href, { credentials: "omit", signal: AbortSignal.timeout(30_000) });
		const response = await asked.catch((cause) => {
			throw new Error(`${url.origin} does not answer: ${cause.cause?.message || cause.message}`, { cause });
		});
		if (response.ok) return response.json();
		const { error, code } = await response.json().catch(() => ({})); // something between may answer without JSON
		if (attempt === attempts || (response.status !== 429 && response.status !== 503)) {
			const { status } = response;
			const text = `${error ?? "there is no JSON in the response"} (${status} of ${url.origin}${url.pathname})`;
			throw Object.assign(new Error(text), { status, code });
		}
		const seconds = Number(response.headers.get("Retry-After")) || 2 ** (attempt - 1);
		await new Promise((done) => setTimeout(done, 1000 * Math.min(seconds, longestPause)));
	}
}
