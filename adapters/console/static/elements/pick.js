/**
 * Fields for choosing: a set of texts, or one of a searchable list.
 * @module
 */
import { button, fill, h, newID, searchLine } from "../dom.js";
import { buttons, show } from "./dialog.js";

/**
 * A field for a set of texts: those that are suggested as boxes to tick, and a line for others.
 * @param {string} name
 * @param {string[]} suggested
 * @param {Set<string>} picked what is chosen; it is changed
 * @param {{help?: string, placeholder?: string, onchange?: () => void, disabled?: boolean,
 *   label?: (text: string) => string, read?: (typed: string) => string, refuse?: (text: string) => string}} [options]
 * label is what a text is shown as, with itself on hover, read makes one of what is typed, and refuse says why it
 * cannot be chosen
 */
export function choose(name, suggested, picked, options = {}) {
	const id = newID();
	const known = [...new Set([...picked, ...suggested])];
	const boxes = h("div", { class: "boxes" });
	const other = h("input", {
		placeholder: options.placeholder ?? "",
		autocomplete: "off",
		spellcheck: "false",
		"aria-label": `Another of ${name}`,
	});
	function add() {
		const text = options.read?.(other.value.trim()) ?? other.value.trim();
		if (text === "") return;
		const why = options.refuse?.(text) ?? "";
		other.setCustomValidity(why);
		if (why !== "") return void other.reportValidity();
		if (!known.includes(text)) known.push(text);
		picked.add(text);
		other.value = "";
		render();
		options.onchange?.();
	}
	// What is not added does not keep the form from being sent.
	other.addEventListener("input", () => other.setCustomValidity(""));
	other.addEventListener("blur", () => other.setCustomValidity(""));
	other.addEventListener("keydown", (event) => {
		if (event.key !== "Enter") return;
		event.preventDefault();
		add();
	});
	function render() {
		fill(
			boxes,
			known.map((text) =>
				h(
					"label",
					{ title: options.label && text },
					h("input", {
						type: "checkbox",
						checked: picked.has(text),
						disabled: options.disabled ?? false,
						onchange: (/** @type {Event} */ event) => {
							if (/** @type {HTMLInputElement} */ (event.target).checked) picked.add(text);
							else picked.delete(text);
							options.onchange?.();
						},
					}),
					options.label?.(text) ?? text,
				),
			),
		);
	}
	render();
	return h(
		"fieldset",
		{ class: "field", "aria-describedby": options.help && id },
		h("legend", null, name),
		boxes,
		!options.disabled && h("div", { class: "row" }, other, button("Add", add, { class: "small" })),
		options.help && h("p", { class: "help", id }, options.help),
	);
}

/**
 * A line for one of several things, by their names. Anything else can be typed too.
 * @param {import("../dom.js").Props} props
 * @returns {{input: HTMLInputElement, list: HTMLDataListElement, offer: (things: [string, string][]) => void,
 *   value: () => string}} offer says what there is: names and values, and value is that of the name in the line, or
 * what is typed
 */
export function nameLine(props) {
	const list = h("datalist", { id: newID("names") });
	const input = h("input", { autocomplete: "off", spellcheck: "false", list: list.id, ...props });
	/** @type {Map<string, string>} */
	const values = new Map();
	return {
		input,
		list,
		offer(things) {
			values.clear();
			for (const [name, value] of things) values.set(values.has(name) ? `${name} (${value})` : name, value);
			fill(
				list,
				[...values.keys()].map((value) => h("option", { value })),
			);
		},
		value: () => values.get(input.value.trim()) ?? input.value.trim(),
	};
}

/** How many of a list are shown at once. */
const most = 200;

/**
 * Asks for one of a list that can be searched.
 * @template T
 * @param {string} title
 * @param {T[]} list
 * @param {(item: T) => {name: string, detail?: string, picture?: string}} describe
 * @param {string} nothing what is said if the list is empty
 * @returns {Promise<T | undefined>}
 */
export async function pick(title, list, describe, nothing) {
	const id = newID();
	const search = searchLine("Search", "", {
		autocomplete: "off",
		role: "combobox",
		"aria-expanded": "true",
		"aria-controls": id,
		"aria-autocomplete": "list",
	});
	const said = h("p", { class: "help", role: "status" });
	const all = list.map((item) => ({ item, ...describe(item) }));
	const pictured = all.some((row) => row.picture) ? "options pictured" : "options";
	const options = h("ul", { id, role: "listbox", "aria-label": title, class: pictured });
	let shown = all;
	let at = 0;
	/** @param {typeof all[0]} row */
	const take = (row) => {
		at = shown.indexOf(row);
		form.requestSubmit();
	};
	function render() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const fitting = all.filter(({ name, detail = "" }) =>
			words.every((w) => `${name} ${detail}`.toLowerCase().includes(w)),
		);
		shown = fitting.slice(0, most);
		at = Math.min(at, Math.max(0, shown.length - 1));
		fill(
			options,
			shown.map((row, i) =>
				h(
					"li",
					{ role: "option", id: `${id}-${i}`, "aria-selected": String(i === at), onclick: () => take(row) },
					row.picture &&
						h("img", { src: row.picture, alt: "", loading: "lazy", referrerpolicy: "no-referrer" }),
					h("span", { class: "name" }, row.name),
					row.detail && h("span", { class: "detail" }, row.detail),
				),
			),
		);
		said.textContent =
			list.length === 0
				? nothing
				: shown.length === 0
					? "Nothing fits."
					: fitting.length > most
						? `The first ${most} of ${fitting.length} are shown. Type more of the name.`
						: "";
		if (shown.length > 0) search.setAttribute("aria-activedescendant", `${id}-${at}`);
		else search.removeAttribute("aria-activedescendant");
		options.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
	}
	search.addEventListener("input", () => {
		at = 0;
		render();
	});
	search.addEventListener("keydown", (event) => {
		if (event.key === "ArrowDown") at = Math.min(at + 1, shown.length - 1);
		else if (event.key === "ArrowUp") at = Math.max(at - 1, 0);
		else return;
		event.preventDefault();
		render();
	});
	const form = h(
		"form",
		{ class: "pick" },
		search,
		options,
		said,
		h("button", { class: "unseen", tabindex: "-1" }, "Choose"),
		buttons(),
	);
	render();
	return show(title, form, { submit: () => shown[at]?.item });
}
