/**
 * The versions of an app, to choose one of.
 * @module
 */
import { detail, flag, h, newID, reconcile } from "../dom.js";
import { askWith } from "./dialog.js";
import { Pages } from "./pages.js";
import { person } from "./person.js";
import { Said } from "./said.js";
import { time } from "./time.js";

/** @typedef {import("../api.js").Entry} Entry */

/** What stands for no version. */
const none = "none";

/**
 * The versions of an app with what was done in each, the newest first.
 * @param {import("../api.js").Api} api @param {string} id @param {AbortSignal} signal
 * @param {string | null} [at] the one that is chosen already
 * @param {{app?: import("../api.js").App, away?: boolean}} [options] with away the tag can be taken away instead
 */
export function versions(api, id, signal, at, options = {}) {
	const name = newID("version");
	const list = h("div", { class: "options" });
	/** @param {string} value @param {import("../dom.js").Child[]} what */
	const choice = (value, what) =>
		h(
			"label",
			null,
			h("input", { type: "radio", name, value, required: true, checked: value === (at === null ? none : at) }),
			h("span", { class: "what" }, what),
		);
	/** @type {Map<string, {node: HTMLElement}>} */
	const rows = new Map();
	const said = new Said(api, id, signal);
	if (options.app) said.know(options.app);
	/** @param {Entry} e */
	const option = (e) => ({
		node: choice(e.version, [
			h("span", { class: "strong" }, `Version ${e.version}`),
			" ",
			person(e.updatedBy?.urn),
			" ",
			said.words([e]),
			" ",
			detail(time(e.updatedAt)),
			" ",
			...e.tags.map((t) => flag(t)),
		]),
	});
	/** @type {Pages<Entry>} */
	const history = new Pages(
		signal,
		"history",
		(before, signal) => api.history(id, before, signal),
		() => {
			said.read(history.items);
			reconcile(list, rows, history.items, (e) => e.version, option);
			return "";
		},
	);
	const loaded = history.load();
	const away =
		options.away &&
		h(
			"div",
			{ class: "options" },
			choice(none, [h("span", { class: "strong" }, "Take the tag away"), " ", detail("pages find no app by it")]),
		);
	const node = h("fieldset", { class: "field" }, h("legend", null, "Version"), away, list, history.foot);
	return {
		node,
		loaded,
		/** The version, "" if none is chosen, and null to take the tag away. */
		get value() {
			const { value = "" } = /** @type {HTMLInputElement | null} */ (node.querySelector(":checked")) ?? {};
			return value === none ? null : value;
		},
	};
}

/**
 * Asks where a tag shall point.
 * @param {string} title @param {ReturnType<typeof versions>} wanted
 * @returns {Promise<{to: string | null} | undefined>}
 */
export async function chooseVersion(title, wanted) {
	void wanted.loaded.then(() =>
		/** @type {HTMLElement | null} */ (
			wanted.node.querySelector(":checked") ?? wanted.node.querySelector("input")
		)?.focus(),
	);
	return askWith(title, wanted.node, "Go on", () => ({ to: wanted.value }));
}
