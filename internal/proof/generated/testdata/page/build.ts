// A build that lists, reads and renders apps.
import * as component from "./component.js";
import { getApps, listApps, renderApp } from "./vitrine-data.js";
import type { Component } from "./vitrine.js";

export const notice: Component<{ text: string }> = {
	mount(element, { config, rendered }) {
		if (!rendered) element.textContent = config.text;
	},
	render: async ({ config, app, key, server, main }) => config.text + app.title + key + server + main,
};
// @ts-expect-error: it returns HTML
export const wrong: Component = { mount() {}, render: () => 1 };

export async function build(): Promise<string> {
	const source = { server: new URL("https://v.example"), tag: "production", key: "pk_1", fetch };
	const ids: string[] = [];
	for await (const { id, title, publishedAt } of listApps({ ...source, limit: 100 })) {
		if (title && publishedAt > 0) ids.push(id);
	}
	let html = "";
	for (const app of await getApps({ ...source, apps: ids })) {
		// @ts-expect-error: it may be an error
		html += await renderApp(app, {});
		if (app.error === undefined) html += await renderApp(app, { notice, component });
	}
	// @ts-expect-error: it has no key
	await getApps({ server: "https://v.example", tag: "production", apps: ids });
	document.addEventListener("vitrine-shown", ({ detail: { app, tag, version } }) => console.log(app, tag, version));
	return html;
}
