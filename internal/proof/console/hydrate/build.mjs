// Renders the page on a server in each framework, for each of the props in the arguments, and bundles what hydrates it
// in a browser, where the props are in window.props. It is the build for development, since no other one warns. The
// output is {framework: {html: [one for each of the props], client}}.
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { compile } from "svelte/compiler";

const source = await readFile("Page.svelte", "utf8");
for (const generate of ["server", "client"])
	await writeFile(
		`Page.${generate}.js`,
		compile(source, { generate, dev: generate === "client", name: "Page" }).js.code,
	);

// Of each framework: what makes HTML of the page, and what hydrates it.
const jsx = `import { Page } from "./page.jsx";`;
const vue = `import { createSSRApp } from "vue"; import { Page } from "./page.js";
	function app(props) {
		const app = createSSRApp(Page, props);
		app.config.compilerOptions.isCustomElement = (tag) => tag === "vitrine-app";
		return app;
	}`;
const frameworks = {
	react: [
		`${jsx} import { renderToString } from "react-dom/server";
		export const render = (props) => renderToString(<Page {...props} />);`,
		`${jsx} import { hydrateRoot } from "react-dom/client"; hydrateRoot(root, <Page {...props} />);`,
	],
	preact: [
		`${jsx} import { renderToString } from "preact-render-to-string";
		export const render = (props) => renderToString(<Page {...props} />);`,
		`import "preact/debug"; ${jsx} import { hydrate } from "preact"; hydrate(<Page {...props} />, root);`,
	],
	vue: [
		`${vue} import { renderToString } from "vue/server-renderer";
		export const render = (props) => renderToString(app(props));`,
		`${vue} app(props).mount(root);`,
	],
	svelte: [
		`import { render as draw } from "svelte/server"; import Page from "./Page.server.js";
		export const render = async (props) => (await draw(Page, { props })).body;`,
		`import { hydrate } from "svelte"; import Page from "./Page.client.js";
		hydrate(Page, { target: root, props });`,
	],
};
const pages = {};
for (const [name, [server, client]] of Object.entries(frameworks)) {
	const hooks = name === "preact" ? "preact/hooks" : "react";
	const bundle = (contents, options) =>
		build({
			stdin: { contents, resolveDir: ".", loader: "jsx" },
			bundle: true,
			format: "esm",
			jsx: "automatic",
			jsxImportSource: name === "preact" ? "preact" : "react",
			...options,
		});
	const outfile = `${name}.mjs`;
	await bundle(server, { outfile, packages: "external", platform: "node", alias: { hooks } });
	const { outputFiles } = await bundle(`const { root, props } = window;\n${client}`, {
		write: false,
		alias: { hooks, vue: "vue/dist/vue.esm-bundler.js" },
		conditions: ["development"],
		define: {
			"process.env.NODE_ENV": '"development"',
			__VUE_OPTIONS_API__: "true",
			__VUE_PROD_DEVTOOLS__: "false",
			__VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "true",
		},
	});
	const { render } = await import(`./${outfile}`);
	const html = await Promise.all(process.argv.slice(2).map((props) => render(JSON.parse(props))));
	pages[name] = { html, client: outputFiles[0].text };
}
console.log(JSON.stringify(pages));
