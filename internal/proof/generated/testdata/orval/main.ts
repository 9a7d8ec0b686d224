// A round trip with a client that orval has generated from openapi.json: node main.js URL TOKEN. The
// address is in the client already. It prints what the other clients print.
import * as api from "./api.js";

declare const process: { argv: string[] };
const [, , , token] = process.argv;
const headers = { Authorization: `Bearer ${token}` };
const component = encodeURIComponent("@scope/poll"); // the client puts parameters into paths as they are

/** done returns the data of a success, or throws what the service says is wrong. */
async function done<A extends { status: number; data: unknown }, S extends A["status"]>(answer: Promise<A>, status: S) {
	const given = await answer;
	if (given.status !== status) {
		throw new Error(`${given.status}: ${JSON.stringify(given.data)}`);
	}
	return given.data as Extract<A, { status: S }>["data"];
}

await done(
	api.createComponent(
		{
			name: "@scope/poll",
			version: "1.0.0",
			main: "https://cdn.example.test/poll.js",
			configSchema: { required: ["question"], properties: { size: { default: 3 } } },
		},
		{ headers },
	),
	201,
);
const created = await done(
	api.createApp(
		{
			title: "Front page",
			groups: ["urn:vitrine:example.test:site=1"],
			elements: [{ component: { name: "@scope/poll", version: "1.0.0" }, config: { question: "Tea?" } }],
		},
		{ headers: { ...headers, "Idempotency-Key": "one" } },
	),
	201,
);
const id = created.id;
const version = (await done(api.getApp(id, {}, { headers }), 200)).apps[0]!.version;
const patched = await done(
	api.patchApp(
		id,
		[
			{ op: "test", path: "/apps/0/version", value: version },
			{ op: "replace", path: "/apps/0/title", value: "Winter" },
			{ op: "replace", path: "/apps/0/elements/0/config/question", value: "Cocoa?" },
		],
		{ headers: { ...headers, "Content-Type": "application/json" } },
	),
	200,
);
await done(api.putTag(id, "production", { appVersion: patched.apps[0]!.version }, {}, { headers }), 201);
const tagged = (await done(api.getTaggedApp(id, "production", { withDefaults: true }, { headers }), 200)).apps[0]!;
const stale = await api.patchApp(id, [{ op: "test", path: "/apps/0/version", value: version }], { headers });
const manifest = await done(api.getComponentVersion(component, "1.0.0", { headers }), 200);

console.log(
	JSON.stringify({
		title: tagged.title,
		version: tagged.version,
		config: tagged.elements[0]!.config,
		stale: stale.status === 409 ? [stale.status, stale.data.code, stale.data.version] : [stale.status],
		main: manifest.main,
	}),
);

export async function mustNotCompile() {
	// @ts-expect-error an app has a title
	await api.createApp({ groups: [] });
	// @ts-expect-error there is no such order
	await api.listApps({ sort: "title" });
	// @ts-expect-error an app has no member named name
	console.log(tagged.name);
}
