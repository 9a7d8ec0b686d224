// Renders the page of each framework on a server, and prints it as JSON.
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { compile } from "svelte/compiler";
import { render } from "svelte/server";
import { createSSRApp } from "vue";
import { parse } from "vue/compiler-sfc";
import { renderToString } from "vue/server-renderer";

const pages = {};
for (const [name, jsxImportSource] of Object.entries({ react: "react", preact: "preact" })) {
	const outfile = `${name}.js`;
	await build({
		entryPoints: [`${name}.tsx`],
		outfile,
		bundle: true,
		packages: "external",
		format: "esm",
		jsx: "automatic",
		jsxImportSource,
	});
	pages[name] = (await import(`./${outfile}`)).html;
}

const { template } = parse(await readFile("Page.vue", "utf8")).descriptor;
const app = createSSRApp({ template: template.content, setup: () => ({ key: "pk_1" }) });
app.config.compilerOptions.isCustomElement = (tag) => tag === "vitrine-app";
pages.vue = await renderToString(app);

const { js } = compile(await readFile("Page.svelte", "utf8"), { generate: "server", name: "Page" });
await writeFile("svelte.js", js.code);
pages.svelte = (await render((await import("./svelte.js")).default)).body;
console.log(JSON.stringify(pages, null, 1));
