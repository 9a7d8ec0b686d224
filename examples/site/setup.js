// setup.js fetches what the site takes from the service: the module that reads apps, with its types, and the types of
// the configs of all components in components/. It runs again when a component has a new version.
//
//   SERVER=https://v.example TOKEN=… node setup.js

import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";
import { server, setting } from "./settings.js";

/**
 * @param {string} path below the base URL
 * @param {Record<string, string>} [headers]
 */
async function get(path, headers = {}) {
	const response = await fetch(`${server()}/${path}`, { headers });
	if (!response.ok) throw new Error(`${response.status} ${response.url}: ${await response.text()}`);
	return response.text();
}

await mkdir("vitrine", { recursive: true });
for (const file of ["vitrine-data.js", "vitrine-data.d.ts", "vitrine.d.ts"]) {
	await writeFile(`vitrine/${file}`, await get(`x/${file}`));
}

for (const file of await readdir("components")) {
	if (!file.endsWith(".json")) continue;
	const { name, version } = JSON.parse(await readFile(`components/${file}`, "utf8"));
	const path = `components/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
	const { configSchema } = JSON.parse(await get(path, { Authorization: `Bearer ${setting("TOKEN")}` }));
	const types = await compile({ ...configSchema, title: "Config" }, "Config", {
		bannerComment: `/** The configuration of ${name} ${version}, from its schema. */`,
	});
	await writeFile(`vitrine/${file.replace(".json", ".d.ts")}`, types);
}
