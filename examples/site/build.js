// build.js writes the site into dist: a page for each app that the tag publishes, and a list of them.
//
//   SERVER=https://v.example KEY=pk_… [TAG=production] node build.js

import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import * as article from "./components/article.js";
import { server, setting } from "./settings.js";
import { getApps, listApps, renderApp } from "./vitrine/vitrine-data.js";

const components = { article }; // by the names of their manifests

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/**
 * @param {string} title
 * @param {string} main
 */
const page = (title, main) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="style.css">
<main>
<h1>${escaped(title)}</h1>
${main}
</main>
</html>
`;

export async function build() {
	const source = { server: server(), key: setting("KEY"), tag: process.env.TAG ?? "production" };
	const listed = [];
	for await (const app of listApps(source)) listed.push(app);
	const apps = await getApps({ ...source, apps: listed.map(({ id }) => id) });
	// The pages of before stay until all new ones are there.
	await rm("dist.new", { recursive: true, force: true });
	await mkdir("dist.new/components", { recursive: true });
	await cp("style.css", "dist.new/style.css");
	await cp("components/article.js", "dist.new/components/article.js");
	const items = [];
	for (const app of apps) {
		if (app.error !== undefined) continue; // it was taken away since it was listed
		// live follows the tag in pages that are open.
		const html = (await renderApp(app, components)).replace("<vitrine-app ", "<vitrine-app live ");
		const script = `<script type="module" src="${escaped(server())}/x/vitrine.js"></script>`;
		await writeFile(`dist.new/${app.id}.html`, page(app.title, `${html}\n${script}`));
		const day = new Date(app.publishedAt).toISOString().slice(0, 10);
		items.push(`<li><a href="${app.id}.html">${escaped(app.title)}</a> <time datetime="${day}">${day}</time></li>`);
	}
	await writeFile("dist.new/index.html", page("All pages", `<ul>\n${items.join("\n")}\n</ul>`));
	await rm("dist", { recursive: true, force: true });
	await rename("dist.new", "dist");
	console.log(`dist has the pages of ${items.length} apps`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await build();
