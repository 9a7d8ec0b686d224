// A round trip with a client that @hey-api/openapi-ts has generated from openapi.json: node main.js URL
// TOKEN. It prints what the other clients print.
import * as api from "./api/index.js";
import { client } from "./api/client.gen.js";

declare const process: { argv: string[] };
const [, , baseUrl, token] = process.argv;
client.setConfig({ baseUrl, auth: token });

/** done returns the data of an answer, or throws what the service says is wrong. */
async function done<T>(answer: Promise<{ data?: T; error?: unknown; response?: Response }>): Promise<T> {
	const { data, error, response } = await answer;
	if (data === undefined) {
		throw new Error(`${response?.status}: ${JSON.stringify(error)}`);
	}
	return data;
}

await done(
	api.createComponent({
		body: {
			name: "@scope/poll",
			version: "1.0.0",
			main: "https://cdn.example.test/poll.js",
			configSchema: { required: ["question"], properties: { size: { default: 3 } } },
		},
	}),
);
const created = await done(
	api.createApp({
		headers: { "Idempotency-Key": "one" },
		body: {
			title: "Front page",
			groups: ["urn:vitrine:example.test:site=1"],
			elements: [{ component: { name: "@scope/poll", version: "1.0.0" }, config: { question: "Tea?" } }],
		},
	}),
);
const path = { id: created.id };
const version = (await done(api.getApp({ path }))).apps[0]!.version;
const patched = await done(
	api.patchApp({
		path,
		body: [
			{ op: "test", path: "/apps/0/version", value: version },
			{ op: "replace", path: "/apps/0/title", value: "Winter" },
			{ op: "replace", path: "/apps/0/elements/0/config/question", value: "Cocoa?" },
		],
	}),
);
const tagPath = { id: created.id, tag: "production" };
await done(api.putTag({ path: tagPath, body: { appVersion: patched.apps[0]!.version } }));
const tagged = (await done(api.getTaggedApp({ path: tagPath, query: { withDefaults: true } }))).apps[0]!;
const stale = await api.patchApp({ path, body: [{ op: "test", path: "/apps/0/version", value: version }] });
const manifest = await done(api.getComponentVersion({ path: { name: "@scope/poll", version: "1.0.0" } }));

console.log(
	JSON.stringify({
		title: tagged.title,
		version: tagged.version,
		config: tagged.elements[0]!.config,
		stale: [stale.response?.status, stale.error?.code, stale.error?.version],
		main: manifest.main,
	}),
);

export async function mustNotCompile() {
	// @ts-expect-error an app has a title
	await api.createApp({ body: { groups: [] } });
	// @ts-expect-error there is no such order
	await api.listApps({ query: { sort: "title" } });
	// @ts-expect-error an app has no member named name
	console.log(tagged.name);
}
