/**
 * Where a field of a form is in the config: its JSON pointer, and the field of a pointer.
 * @module
 */
import { names } from "../json.js";

/**
 * The fields and items right below a node.
 * @param {Element} node @returns {HTMLElement[]}
 */
function below(node) {
	return [...node.children].flatMap((child) =>
		child instanceof HTMLElement && (child.dataset["part"] !== undefined || child.tagName === "LI")
			? [child]
			: below(child),
	);
}

/**
 * The field at a pointer, or the nearest one around it that is shown.
 * @param {Element} form @param {string} pointer @returns {HTMLElement | undefined} undefined for the whole form
 */
export function fieldOf(form, pointer) {
	/** @type {HTMLElement | undefined} */
	let found;
	for (const name of names(pointer)) {
		const parts = below(found ?? form);
		const next = parts.find((p, i) => (p.tagName === "LI" ? String(i) === name : p.dataset["part"] === name));
		if (!next) break;
		found = next;
	}
	return found;
}

/**
 * The pointer of the field that a node is in, "" outside of all fields.
 * @param {Element} form @param {Element} node
 */
export function pointerOf(form, node) {
	let pointer = "";
	for (let at = node; at !== form && at.parentElement; at = at.parentElement) {
		const member = at instanceof HTMLElement ? at.dataset["part"] : undefined;
		if (member !== undefined) pointer = `/${member.replaceAll("~", "~0").replaceAll("/", "~1")}${pointer}`;
		else if (at.tagName === "LI") pointer = `/${[...at.parentElement.children].indexOf(at)}${pointer}`;
	}
	return pointer;
}
