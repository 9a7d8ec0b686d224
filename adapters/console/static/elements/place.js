/**
 * Where a part of a value is shown in a form, and of which part a node of a form is.
 * @module
 */
import { buildNow } from "../dom.js";
import { escapePointer } from "../json.js";

/** @param {HTMLElement} node @returns {HTMLElement[]} the fields right below it, once it is built */
function below(node) {
	buildNow(node);
	const children = /** @type {HTMLElement[]} */ ([...node.children]);
	return children.flatMap((child) => (child.dataset["part"] === undefined ? below(child) : [child]));
}

/**
 * What shows a part of a value in a form, or the last field on the way to it.
 * @param {HTMLElement} form @param {string[]} path of names of members and indices of items
 */
export function partAt(form, path) {
	let at = form;
	for (const name of path) {
		const next = below(at).find((part) => part.dataset["part"] === name);
		if (!next) break;
		at = next;
	}
	below(at);
	return at;
}

/**
 * The pointer of the field that a node is in, "" outside of all fields.
 * @param {Element} form @param {Element | null | undefined} node @returns {string}
 */
export function pointerOf(form, node) {
	const part = /** @type {HTMLElement | null | undefined} */ (node?.closest("[data-part]"));
	if (!part || !form.contains(part)) return "";
	return `${pointerOf(form, part.parentElement)}/${escapePointer(part.dataset["part"] ?? "")}`;
}
