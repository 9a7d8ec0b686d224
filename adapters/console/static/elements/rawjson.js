/**
 * The elements of an app as JSON, to be read and typed into.
 * @module
 */
import { button, h, newID } from "../dom.js";
import { equal, notJSON, parse, stringify } from "../json.js";
import { merge } from "../model/merge.js";
import { newKey } from "../model/patch.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../model/patch.js").Item} Item */

/**
 * The elements as JSON, with the same content as the cards. It is made once it is shown.
 * @param {import("../model/editor.js").Editor} editor
 */
export function rawJSON(editor) {
	const id = newID();
	const input = h("textarea", {
		id,
		class: "mono whole",
		spellcheck: "false",
		autocomplete: "off",
		"aria-describedby": `${id}-wrong`,
	});
	const wrong = h("p", { class: "wrong", id: `${id}-wrong`, role: "status" });
	const discard = button(
		"Discard this text",
		() => {
			unread("");
			shown = undefined;
			update();
			editor.dispatchEvent(new Event("state"));
		},
		{ class: "small", hidden: true },
	);
	/** @type {Value | undefined} */
	let shown;
	/** What the text was made from. */
	let base = editor.draft;
	let visible = false;
	/** @param {string} what what the text is not, or "" @param {string} [message] */
	function unread(what, message = "") {
		if (what === "") delete input.dataset["unread"];
		else input.dataset["unread"] = what;
		wrong.textContent = message;
		discard.hidden = what === "";
	}
	const content = () => editor.draft.elements.map((e) => ({ component: { ...e.component }, config: e.config }));
	input.addEventListener("input", () => {
		try {
			const value = parse(input.value);
			const good =
				Array.isArray(value) &&
				value.every(
					(/** @type {any} */ e) =>
						typeof e?.component?.name === "string" &&
						typeof e.component.version === "string" &&
						e.config !== undefined,
				);
			unread(
				good ? "" : "a list of elements",
				good ? "" : 'Want a list of elements, each {"component": {"name", "version"}, "config": {…}}.',
			);
			if (!good) return;
			shown = value;
			// Since the text was last read, the draft may have become another one.
			editor.arrange(
				merge(base, { ...base, elements: keyed(/** @type {any[]} */ (value)) }, editor.draft).draft.elements,
				"raw",
			);
		} catch (e) {
			unread("JSON", notJSON(e));
		}
	});
	/**
	 * The elements with keys: one that was there before, at its place or with the same content, keeps its own.
	 * @param {Item[]} list @returns {Item[]}
	 */
	function keyed(list) {
		const now = base.elements;
		const taken = new Set();
		return list.map(({ component: { name, version }, config }, i) => {
			/** @param {Item | undefined} x */
			const alike = (x) => x !== undefined && !taken.has(x.key) && x.component.name === name;
			/** @param {Item | undefined} x */
			const same = (x) => alike(x) && equal(x?.config, config);
			const was = same(now[i]) ? now[i] : (now.find(same) ?? (alike(now[i]) ? now[i] : undefined));
			const key = was?.key ?? newKey();
			taken.add(key);
			return { key, component: { name, version }, config };
		});
	}
	function update() {
		input.readOnly = editor.readonly;
		if (!visible || input.dataset["unread"]) return;
		const now = /** @type {Value} */ (/** @type {unknown} */ (content()));
		base = editor.draft;
		if (shown !== undefined && equal(shown, now)) return;
		shown = now;
		input.value = stringify(now, 2);
		input.rows = Math.min(40, Math.max(8, input.value.split("\n").length));
	}
	editor.addEventListener("draft", update);
	return {
		node: h(
			"div",
			{ class: "field" },
			h("label", { for: id, class: "unseen" }, "Elements as JSON"),
			input,
			wrong,
			discard,
		),
		show() {
			visible = true;
			update();
		},
	};
}
