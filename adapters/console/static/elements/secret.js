/**
 * Texts to copy: links, keys, lines for a page.
 * @module
 */
import { button, h } from "../dom.js";
import { show, toast } from "./dialog.js";

/** A text with a button that copies it. @param {string} label @param {string} text */
export function copyable(label, text) {
	return h(
		"div",
		{ class: "field" },
		h(
			"div",
			{ class: "label" },
			h("span", { class: "name" }, label),
			button("Copy", () => void navigator.clipboard?.writeText(text).then(() => toast("It is copied.")), {
				class: "small bare",
			}),
		),
		h("pre", { class: "raw", tabindex: "0", "aria-label": label }, text),
	);
}

/**
 * Shows texts that are shown once, by their labels.
 * @param {string} title @param {Record<string, string>} texts @param {...import("../dom.js").Child} help
 */
export function once(title, texts, ...help) {
	return show(
		title,
		h(
			"form",
			null,
			h("p", null, ...help),
			Object.entries(texts).map(([label, text]) => copyable(label, text)),
			h("div", { class: "buttons" }, h("button", { class: "main", autofocus: true }, "Done")),
		),
		{ submit: () => true },
	);
}
