/**
 * What of an app is not live, and one button for it: a move of its tag, or a release where somebody has to approve.
 * @module
 */
import { keys } from "../api.js";
import { button, count, fill, h } from "../dom.js";
import { askWith, noteField, toast, trouble } from "./dialog.js";
import { compared } from "./diff.js";
import { propose } from "./release.js";

/** @typedef {import("../api.js").Tag & {approvals?: number}} Tag */

/** The tag that pages show: one that needs approval, else a protected one, else one of a usual name. @param {Tag[]} tags */
function liveTag(tags) {
	return tags.find((t) => t.approvals) ?? tags.find((t) => t.protected) ?? tags.find((t) => /^(production|live)$/.test(t.name)) ?? (tags.length === 1 ? tags[0] : undefined);
}

/**
 * @param {import("../api.js").Api} api @param {import("../session.js").Session} session @param {string} id @param {AbortSignal} signal
 * @returns {{node: HTMLElement, update: (app: import("../api.js").App) => void, reload: () => void}}
 */
export function publisher(api, session, id, signal) {
	const text = h("span", { class: "detail" });
	const publish = button("Publish", () => void go().catch(trouble), { class: "small main" });
	const node = h("span", { class: "row publish", hidden: true }, text, publish);
	/** @type {import("../api.js").App | undefined} */
	let app;
	/** @type {Tag | undefined} */
	let tag;
	let untagged = false;

	function show() {
		const first = untagged && app && app.elements.length > 0 && session.mayWrite(app);
		const behind = tag && app ? Number(app.version) - Number(tag.appVersion) : 0;
		node.hidden = !first && (!tag || !app || behind <= 0 || !session.mayMove(app, tag));
		fill(text, first ? "It is not live yet" : `${count(behind, "change")} ${behind === 1 ? "is" : "are"} not live`);
		fill(publish, tag?.approvals ? "Propose" : "Publish");
		publish.title = tag ? `${tag.approvals ? "Makes a release that somebody else approves" : "Moves the tag"}: ${tag.name}` : "";
	}

	function reload() {
		api.tags(id, {}, signal).then((page) => {
			tag = liveTag(page.tags);
			untagged = page.tags.length === 0;
			show();
		}, () => {});
	}

	async function go() {
		if (!app) return;
		if (!tag) return void await begin(app);
		const { name, appVersion: from } = tag;
		const { version } = app;
		if (tag.approvals) return void await propose(api, [{ app: id, title: app.title, tag: name, from, to: version }], { name: app.title.slice(0, 128) });
		const changes = await compared(api, id, from, version, signal);
		const keyOf = keys();
		const note = noteField();
		const moved = await askWith("Publish these changes?", [h("p", null, `Those who see ${name} will see this:`), changes, note.node], "Publish", () => api.putTag(id, name, { appVersion: version, from, note: note.value }, keyOf(version + note.value)), { wide: true });
		if (moved) toast(`${name} points to version ${version} now.`);
		reload();
	}

	/** Makes the tag of an app that has none. @param {import("../api.js").App} app */
	async function begin({ title, version }) {
		const name = "production";
		const keyOf = keys();
		await askWith(`Publish ${title}?`, h("p", null, `Pages show the app by a tag. This makes the tag ${name} and lets it point to version ${version}.`), "Publish", () =>
			api.putTag(id, name, { appVersion: version, from: null }, keyOf(version)).catch((e) => {
				if (e.code !== "needs_release") throw e;
				return propose(api, [{ app: id, title, tag: name, from: null, to: version }], { name: title.slice(0, 128) });
			}));
		reload();
	}

	reload();
	return { node, reload, update(now) {
		app = now;
		show();
	} };
}
