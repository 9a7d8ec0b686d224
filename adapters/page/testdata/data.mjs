// Reads what the server at argv[2] publishes, and prints it.
import { getApps, listApps, renderApp } from "../static/vitrine-data.js";

const source = { server: process.argv[2], tag: "pro&mo", key: "k y" };
const listed = [];
for await (const app of listApps({ ...source, limit: 2 })) listed.push(app.id);

const ids = Array.from({ length: 51 }, (_, i) => `app${i}`);
const apps = await getApps({ ...source, apps: [...ids, "app0", "gone"] });
const german = await getApps({ ...source, apps: ["app0"], lang: "de-AT" });

const poll = { render: ({ config, app, key, server, main }) => `<p>${[config.q, app.title, key, server, main]}</p>` };
const html = await renderApp(JSON.parse(JSON.stringify(apps[0])), { poll, map: { mount() {} } });

const said = async (promise) => promise.then(String, (e) => [e.message, e.status, e.code].join());
const broken = { render: () => document.body };
const asked = [];
const refused = await said(
	getApps({ ...source, tag: "no", apps: ["a"], fetch: (url, init) => (asked.push(url), fetch(url, init)) }),
);
console.log(
	JSON.stringify({
		listed,
		apps: apps.map(({ id, error }) => error ?? id),
		html,
		german: await renderApp(german[0], {}),
		refused,
		asked: asked.map((url) => new URL(url).search),
		broken: await said(renderApp(apps[1], { poll: broken })),
		wrong: [
			await said(getApps({ ...source, key: undefined, apps: ["a"] })),
			await said(getApps({ ...source, app: "a" })),
			await said(getApps({ ...source, server: "http://127.0.0.1:1", apps: ["a"] })),
		],
		gone: await said(renderApp(apps.at(-1), {})),
	}),
);
