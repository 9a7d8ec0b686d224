// A round trip with the types that openapi-typescript has generated from openapi.json: node main.js URL
// TOKEN. It prints what a tag shows in the end. Lines marked @ts-expect-error must not compile: they show that the
// types say something.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { argv: string[] };
const [, , baseUrl, token] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
const group = "urn:vitrine:example.test:site=1";

/** done returns the data of an answer, or throws what the service says is wrong. */
function done<T>(answer: { data?: T; error?: components["schemas"]["Error"]; response: Response }): T {
	if (answer.error !== undefined || answer.data === undefined) {
		throw new Error(`${answer.response.status}: ${answer.error?.error}`);
	}
	return answer.data;
}

done(
	await client.POST("/components", {
		body: {
			name: "@scope/poll",
			version: "1.0.0",
			main: "https://cdn.example.test/poll.js",
			configSchema: { required: ["question"], properties: { size: { default: 3 } } },
		},
	}),
);
const created = done(
	await client.POST("/apps", {
		params: { header: { "Idempotency-Key": "one" } },
		body: {
			title: "Front page",
			groups: [group],
			elements: [{ component: { name: "@scope/poll", version: "1.0.0" }, config: { question: "Tea?" } }],
		},
	}),
);
const id = created.id;
const version = done(await client.GET("/apps/{id}", { params: { path: { id } } })).apps[0]!.version;
const patched = done(
	await client.PATCH("/apps/{id}", {
		params: { path: { id } },
		body: [
			{ op: "test", path: "/apps/0/version", value: version },
			{ op: "replace", path: "/apps/0/title", value: "Winter" },
			{ op: "replace", path: "/apps/0/elements/0/config/question", value: "Cocoa?" },
		],
	}),
);
done(
	await client.PUT("/apps/{id}/tags/{tag}", {
		params: { path: { id, tag: "production" } },
		body: { appVersion: patched.apps[0]!.version },
	}),
);
const tagged = done(
	await client.GET("/apps/{id}/tagged/{tag}", {
		params: { path: { id, tag: "production" }, query: { withDefaults: true } },
	}),
).apps[0]!;

const stale = await client.PATCH("/apps/{id}", {
	params: { path: { id } },
	body: [{ op: "test", path: "/apps/0/version", value: version }],
});
const manifest = done(
	await client.GET("/components/{name}/versions/{version}", {
		params: { path: { name: "@scope/poll", version: "1.0.0" } },
	}),
);

// The asset manager, whose paths have a double slash.
const library = { network: "example.test", library: "example.test" };
const prefix = "/services/frontline/api/v4/assetManager//{network}/assetLibrary/{library}" as const;
const folder = done(
	await client.POST(`${prefix}/folders`, { params: { path: library }, body: { create: [{ label: "Winter" }] } }),
).folders[0]!;
done(
	await client.POST(`${prefix}/assets`, {
		params: { path: library },
		body: {
			add: [
				{
					id: "1",
					generator: { id: "g" },
					content: { content: "First snow" },
					folders: [folder.id],
					safe_tags: ["cold"],
				},
			],
		},
	}),
);
const found = done(
	await client.GET(`${prefix}/assets`, {
		params: { path: library, query: { query: "snow", tags: ["cold"], limit: 1 } },
	}),
);

if (found.paging.total !== 1 || found.assets[0]!.folders[0]!.label !== "Winter") {
	throw new Error(JSON.stringify(found));
}
console.log(
	JSON.stringify({
		title: tagged.title,
		version: tagged.version,
		config: tagged.elements[0]!.config,
		stale: [stale.response.status, stale.error?.code, stale.error?.version],
		main: manifest.main,
	}),
);

export async function mustNotCompile() {
	// @ts-expect-error an app has a title
	await client.POST("/apps", { body: { groups: [group] } });
	// @ts-expect-error an element has a config
	await client.POST("/apps", {
		body: { title: "x", groups: [group], elements: [{ component: { name: "c", version: "1" } }] },
	});
	// @ts-expect-error there is no such order
	await client.GET("/apps", { params: { query: { sort: "title" } } });
	// @ts-expect-error there is no such path
	await client.GET("/app/", {});
	// @ts-expect-error an app has no member named name
	console.log(tagged.name);
}
