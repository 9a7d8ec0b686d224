/**
 * Dialogs: a question, a form, or anything that is shown above the page.
 * @module
 */
import { ApiError } from "../api.js";
import { button, fill, h, icon, labelled, newID } from "../dom.js";
import { inFull, told } from "../model/told.js";

/**
 * Shows content in a dialog until it is submitted or closed. A form inside is submitted without a request.
 * @template T
 * @param {string} title
 * @param {HTMLElement} content
 * @param {{required?: boolean, wide?: boolean, submit?: (form: HTMLFormElement) => T | undefined | Promise<T |
 *   undefined>}} [options] With required the dialog cannot be closed. submit returns the result, or undefined to stay;
 * what it throws is shown.
 * @returns {Promise<T | undefined>}
 */
export function show(title, content, options = {}) {
	return new Promise((resolve) => {
		const id = newID();
		const before = document.activeElement;
		/** @type {T | undefined} */
		let result;
		const trouble = h("div", { role: "alert", class: "note bad", hidden: true });
		const dialog = h(
			"dialog",
			{ "aria-labelledby": id, class: options.wide ? "wide" : "", "data-required": options.required },
			h(
				"header",
				null,
				h("h2", { id }, title),
				!options.required && button("Close", () => dialog.close(), { icon: "close", bare: true }),
			),
			trouble,
			content,
		);
		dialog.addEventListener("cancel", (event) => {
			if (options.required) event.preventDefault();
		});
		dialog.addEventListener("close", () => {
			dialog.remove();
			if (stack && dialog.contains(stack)) place(stack);
			if (before instanceof HTMLElement && before.isConnected) before.focus();
			resolve(result);
		});
		dialog.addEventListener("click", (event) => {
			if (event.target === dialog && !options.required && !dialog.querySelector("form")) dialog.close();
		});
		let busy = false;
		dialog.addEventListener("submit", async (event) => {
			event.preventDefault();
			if (busy || !options.submit) return;
			busy = true;
			trouble.hidden = true;
			try {
				result = await options.submit(/** @type {HTMLFormElement} */ (event.target));
				if (result !== undefined) dialog.close();
			} catch (e) {
				fill(trouble, sentence(e));
				trouble.hidden = false;
			}
			busy = false;
		});
		document.body.append(dialog);
		dialog.showModal();
		if (stack?.isConnected) place(stack);
		/** @type {HTMLElement | null} */ (
			content.querySelector("input:not([type='checkbox'], [type='radio'], [type='file'], [readonly]), textarea")
		)?.focus();
	});
}

/**
 * Asks with a form and one button that sends it.
 * @template T
 * @param {string} title
 * @param {(import("../dom.js").Child | import("../dom.js").Child[])} content
 * @param {string} yes what the button says
 * @param {() => T | undefined | Promise<T | undefined>} submit returns the result, or undefined to stay; what it throws
 * is shown
 * @param {{wide?: boolean, required?: boolean, danger?: boolean, focus?: boolean}} [options] with focus the button has
 * the focus
 * @returns {Promise<T | undefined>}
 */
export function askWith(title, content, yes, submit, options = {}) {
	const send = h("button", { class: options.danger ? "main danger" : "main", autofocus: options.focus }, yes);
	return show(
		title,
		h("form", null, content, options.required ? h("div", { class: "buttons" }, send) : buttons(send)),
		{ ...options, submit },
	);
}

/** The last line of a form in a dialog: a button that closes the dialog, and others. @param {...HTMLElement} others */
export function buttons(...others) {
	return h("div", { class: "buttons" }, button("Cancel", closeAround), others);
}

/** Closes the dialog that the target of an event stands in. @param {Event} event */
export function closeAround(event) {
	/** @type {HTMLElement} */ (event.currentTarget).closest("dialog")?.close();
}

/** Closes the dialogs of a view that is left, but those that must be answered. */
export function closeAll() {
	for (const dialog of document.querySelectorAll("dialog:not([data-required])"))
		/** @type {HTMLDialogElement} */ (dialog).close();
}

/**
 * Asks a question that is answered with one button or by closing.
 * @param {string} title @param {string | Node} text @param {string} yes @param {{danger?: boolean}} [options]
 * @returns {Promise<boolean>}
 */
export async function confirm(title, text, yes, options = {}) {
	return (await askWith(title, h("p", null, text), yes, () => true, { ...options, focus: true })) ?? false;
}

/**
 * Asks for a line of text.
 * @param {string} title @param {string} label @param {string} yes
 * @param {(text: string) => Promise<boolean | void> | boolean | void} submit what it throws is shown; false stays
 * @param {{value?: string, help?: string}} [options]
 */
export async function ask(title, label, yes, submit, options = {}) {
	const input = h("input", { value: options.value ?? "", required: true, autocomplete: "off" });
	await askWith(title, labelled(label, input, options.help), yes, async () =>
		(await submit(input.value)) === false ? undefined : true,
	);
}

/** A field for a note that the history of a version or a tag will show. */
export function noteField() {
	const input = h("input", { maxlength: 1024, autocomplete: "off" });
	return {
		node: labelled("Note for the history", input),
		get value() {
			return input.value;
		},
	};
}

/** What a person is told about an error. @param {unknown} e */
export function sentence(e) {
	return h("div", { class: "told" }, told(e), e instanceof ApiError && details(e));
}

/** What the service itself says about an error, and the id of the request, behind a button. @param {ApiError} e */
export function details(e) {
	const id = e.requestID;
	const says = ![e.message, inFull(e)].includes(told(e)) && h("p", null, e.message);
	return (
		(says || id !== "") &&
		h(
			"details",
			null,
			h("summary", null, "Details"),
			says,
			id &&
				button(
					`Request ${id}`,
					() => void navigator.clipboard?.writeText(id).then(() => toast("The id is copied.")),
					{ class: "bare small mono", title: "Copy the id of the request; the log has it too" },
				),
		)
	);
}

/** @type {HTMLElement | undefined} */
let stack;

/** Puts the notes above the dialog that is open, below which nothing can be reached. @param {HTMLElement} notes */
function place(notes) {
	([...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body).append(notes);
}

/**
 * Tells something for a few seconds; errors stay until they are closed.
 * @param {string | Node} text
 * @param {{bad?: boolean, action?: string, onaction?: () => void, seconds?: number}} [options]
 */
export function toast(text, options = {}) {
	stack ??= h("div", { class: "toasts", role: "status", "aria-live": "polite" });
	place(stack);
	const node = h(
		"div",
		{ class: options.bad ? "toast bad" : "toast" },
		icon(options.bad ? "warn" : "ok"),
		h("div", null, text),
		options.action &&
			button(
				options.action,
				() => {
					options.onaction?.();
					node.remove();
				},
				{ class: "bare strong" },
			),
		button("Close", () => node.remove(), { icon: "close", bare: true }),
	);
	stack.append(node);
	if (!options.bad) setTimeout(() => node.remove(), (options.seconds ?? 6) * 1000);
	return node;
}

/** Tells an error. @param {unknown} e */
export function trouble(e) {
	if (e instanceof DOMException && e.name === "AbortError") return;
	toast(sentence(e), { bad: true });
}
