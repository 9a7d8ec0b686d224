// build.js writes the site into dist: a page for each app that the tag publishes, and a list of them. The first
// language is at the top, and each other one in a folder of its own.
//
//   SERVER=https://v.example KEY=pk_… [TAG=production] [LANGUAGES=en,de] node build.js

import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import * as article from "./components/article.js";
import { server, setting } from "./settings.js";
import { getApps, listApps, renderApp } from "./vitrine/vitrine-data.js";

const components = { article }; // by the names of their manifests

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const languages = (process.env.LANGUAGES ?? "en").split(",");
/** @type {Record<string, string>} */
const allPages = { en: "All pages", de: "Alle Seiten" }; // yours, by language

/** The folder of a language below dist. @param {string} lang */
const folder = (lang) => (lang === languages[0] ? "" : `${lang}/`);

/**
 * @param {string} file its name, in every language
 * @param {string} lang
 * @param {string} title
 * @param {string} main
 */
function page(file, lang, title, main) {
	const top = folder(lang) && "../";
	/** @param {string} other */
	const href = (other) => `hreflang="${other}" href="${top}${folder(other)}${file}"`;
	const others = languages.filter((other) => other !== lang);
	return `<!doctype html>
<html lang="${lang}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${top}style.css">
${others.map((other) => `<link rel="alternate" ${href(other)}>`).join("\n")}
<main>
<h1>${escaped(title)}</h1>
${others.map((other) => `<a lang="${other}" ${href(other)}>${other}</a>`).join(" ")}
${main}
</main>
</html>
`;
}

/**
 * The name of the page of an app, without its ending: the slug that one of its elements has, or else its id. A slug
 * that is taken is an editor's mistake, which shall not stop the site.
 * @param {import("./vitrine/vitrine-data.js").PublishedApp} app
 * @param {string[]} taken
 */
function nameOf({ id, title, elements }, taken) {
	const slugs = elements.map(({ config }) => /** @type {{slug?: unknown}} */ (config).slug);
	// Other components may let editors write anything there, such as ../index.
	const slug = slugs.filter((slug) => typeof slug === "string").find((slug) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug));
	if (!slug) return id;
	if (!taken.includes(slug)) return slug;
	console.warn(`another page is called ${slug} already, so that of "${title}" is ${id}`);
	return id;
}

/**
 * Says which elements readers without script do not see.
 * @param {import("./vitrine/vitrine-data.js").PublishedApp} app
 */
function warn({ title, elements }) {
	for (const { name, headless } of elements) {
		if (headless || Object.hasOwn(components, name)) continue;
		console.warn(`"${title}" shows ${name} with script alone: components in build.js does not have it`);
	}
}

export async function build() {
	const source = { server: server(), key: setting("KEY"), tag: process.env.TAG ?? "production" };
	const listed = [];
	for await (const app of listApps(source)) listed.push(app);
	// The pages of before stay until all new ones are there.
	await rm("dist.new", { recursive: true, force: true });
	await mkdir("dist.new/components", { recursive: true });
	await cp("style.css", "dist.new/style.css");
	await cp("components/article.js", "dist.new/components/article.js");
	/** @type {Map<string, string>} */
	const names = new Map(); // of pages, by the ids of their apps, the same in all languages
	for (const lang of languages) {
		const dir = `dist.new/${folder(lang)}`;
		await mkdir(dir, { recursive: true });
		const items = [];
		for (const app of await getApps({ ...source, lang, apps: listed.map(({ id }) => id) })) {
			if (app.error !== undefined) continue; // it was taken away since it was listed
			if (!names.has(app.id)) {
				names.set(app.id, nameOf(app, ["index", ...names.values()]));
				warn(app);
			}
			// live follows the tag in pages that are open.
			const html = (await renderApp(app, components)).replace("<vitrine-app ", "<vitrine-app live ");
			const script = `<script type="module" src="${escaped(server())}/x/vitrine.js"></script>`;
			const file = `${names.get(app.id)}.html`;
			await writeFile(dir + file, page(file, lang, app.title, `${html}\n${script}`));
			const day = new Date(app.publishedAt).toISOString().slice(0, 10);
			items.push(`<li><a href="${file}">${escaped(app.title)}</a> <time datetime="${day}">${day}</time></li>`);
		}
		const list = `<ul>\n${items.join("\n")}\n</ul>`;
		await writeFile(`${dir}index.html`, page("index.html", lang, allPages[lang] ?? "All pages", list));
		console.log(`dist/${folder(lang)} has the pages of ${items.length} apps`);
	}
	await rm("dist", { recursive: true, force: true });
	await rename("dist.new", "dist");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await build();
