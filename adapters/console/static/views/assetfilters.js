/**
 * What a search of assets asks for beside facets and folders, in words, and the marks of what it has found.
 * @module
 */
import { h, labelled } from "../dom.js";

/** @typedef {Record<string, string>} Values by the parameters of the search: those of names that are set */

/** The parameters, as the address has them. The last day is one of those that are meant. */
export const names = ["in", "typos", "from", "to", "sort", "order"];

/** Those that are typed, what they are called, what they are called when they are set, and what they mean. */
const texts = /** @type {[string, string, string, string][]} */ ([
	["author", "Author", "author", "The whole name, username or id."],
	["lang", "Language", "language", "Such as en, or en-GB alone."],
	["link", "Links to", "links to", "A host, such as example.com."],
	["tagsAny", "One of these tags", "one of the tags", "With commas between them."],
	["notTags", "None of these tags", "none of the tags", "With commas between them."],
	["foreignId", "Id in its source", "id in its source", "Choose the source among the filters as well."],
]);
const filed = /** @type {[string, string][]} */ ([
	["", "in folders or not"],
	["none", "in no folder"],
	["any", "in a folder"],
]);
names.push("filed", ...texts.map(([name]) => name));

const places = /** @type {[string, string][]} */ ([
	["text", "texts and authors"],
	["attachments", "titles of attachments"],
	["attributes", "values of attributes"],
]);
const orders = /** @type {[string, string][]} */ ([
	["", "Newest here first"],
	[".asc", "Oldest here first"],
	["createdAt", "Newest published first"],
	["createdAt.asc", "Oldest published first"],
]);

/** @param {Values} values */
const orderOf = (values) => (values["sort"] ?? "") + (values["order"] === "asc" ? ".asc" : "");

/**
 * The controls.
 * @param {Values} values @param {(change: Values) => void} changed called with the parameters that are to change
 * @param {boolean} [open] whether they are in sight
 */
export function moreFilters(values, changed, open) {
	/** @param {string} name */
	const date = (name) => {
		const input = h("input", {
			type: "date",
			value: values[name] ?? "",
			max: "9998-12-31",
			onchange: () => input.validity.valid && changed({ [name]: input.value }),
		});
		return input;
	};
	const order = h(
		"select",
		{
			onchange: () => {
				const [sort = "", direction = ""] = order.value.split(".");
				changed({ sort, order: direction });
			},
		},
		orders.map(([value, text]) => h("option", { value }, text)),
	);
	order.value = orderOf(values);
	const at = new Set((values["in"] || "text").split(","));
	const boxes = places.map(([name]) =>
		h("input", {
			type: "checkbox",
			checked: at.has(name),
			onchange: () => {
				const list = places.filter((_, i) => boxes[i]?.checked).map(([x]) => x);
				changed({ in: list.join(",") === "text" ? "" : list.join(",") });
				const [first] = boxes;
				if (list.length === 0 && first) first.checked = true;
			},
		}),
	);
	const where = h(
		"select",
		{ onchange: () => changed({ filed: where.value }) },
		filed.map(([value, text]) => h("option", { value }, text)),
	);
	where.value = values["filed"] ?? "";
	/** @param {string} name */
	const line = (name) => {
		const input = h("input", {
			value: values[name] ?? "",
			maxlength: name === "foreignId" && 1024,
			onchange: () => changed({ [name]: input.value.trim() }),
		});
		return input;
	};
	const typos = h("input", {
		type: "checkbox",
		checked: values["typos"] === "1",
		onchange: () => changed({ typos: typos.checked ? "1" : "" }),
	});
	return h(
		"details",
		{ class: "more-filters", open: open || names.some((name) => values[name]) },
		h("summary", null, "Order and more filters"),
		labelled("Order", order),
		labelled("First published from", date("from")),
		labelled("First published until", date("to")),
		h(
			"fieldset",
			null,
			h("legend", null, "Look for the words in"),
			places.map(([, text], i) => h("label", { class: "row" }, boxes[i] ?? "", text)),
		),
		h("label", { class: "row" }, typos, "Similar words too"),
		labelled("In folders", where),
		texts.map(([name, label, , help]) => labelled(label, line(name), help)),
	);
}

/** The filters that are set, each with its parameters. @param {Values} values @returns {[string[], string][]} */
export function chosen(values) {
	const at = (values["in"] ?? "").split(",");
	/** @type {[string[], string][]} */
	const all = [
		[["from"], `first published from ${values["from"]}`],
		[["to"], `first published until ${values["to"]}`],
		[
			["in"],
			`in ${places
				.filter(([name]) => at.includes(name))
				.map(([, text]) => text)
				.join(", ")}`,
		],
		[["typos"], "similar words too"],
		[["filed"], filed.find(([value]) => value === values["filed"])?.[1] ?? ""],
		...texts.map(([name, , text]) => /** @type {[string[], string]} */ ([[name], `${text}: ${values[name]}`])),
		[["sort", "order"], orders.find(([value]) => value === orderOf(values))?.[1] ?? ""],
	];
	return all.filter(([parameters]) => parameters.some((name) => values[name]));
}

/**
 * The parameters as the service takes them.
 * @param {Values} values @param {boolean} source whether one is chosen @returns {Values}
 */
export function parameters(values, source) {
	/** @type {Values} */
	const out = {};
	for (const name of names) if (values[name] && (name !== "foreignId" || source)) out[name] = values[name];
	const last = Date.parse(values["to"] ?? "");
	if (!Number.isNaN(last)) out["to"] = new Date(last + 24 * 60 * 60 * 1000).toISOString();
	return out;
}

const letter = "[\\p{L}\\p{N}\\p{M}]";
const alone = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー]";
const tokens = new RegExp(`${alone}|\\p{Extended_Pictographic}|(?:(?!${alone})${letter})+`, "gu");

/**
 * Text in which the last word is found as a beginning while it is typed. Similar words and those that are excluded are
 * taken as they are.
 * @param {string} text @param {Values} values
 */
export function typed(text, values) {
	const last = /\S*$/.exec(text)?.[0] ?? "";
	return values["typos"] || last.startsWith("-") || !new RegExp(`${letter}{2}$|${alone}$`, "u").test(last)
		? text
		: `${text}*`;
}

/** A word as it is compared. @param {string} word */
function folded(word) {
	return word
		.normalize("NFKD")
		.toLowerCase()
		.replace(/œ/g, "oe")
		.replace(/æ/g, "ae")
		.replace(/ß/g, "ss")
		.replace(
			/(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}]\p{M}*)\p{M}/gu,
			"",
		)
		.normalize("NFC");
}

/**
 * How many edits there are between two words: a letter more, less or other, or two neighbours swapped.
 * @param {string[]} a @param {string[]} b
 */
function edits(a, b) {
	/** @type {number[][]} */
	const rows = [b.map((_, j) => j).concat(b.length)];
	/** @param {number} i @param {number} j */
	const at = (i, j) => rows[i]?.[j] ?? Infinity;
	for (let i = 1; i <= a.length; i++) {
		rows[i] = [i];
		for (let j = 1; j <= b.length; j++)
			/** @type {number[]} */ (rows[i])[j] = Math.min(
				at(i - 1, j) + 1,
				at(i, j - 1) + 1,
				at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
				a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity,
			);
	}
	return at(a.length, b.length);
}

/**
 * A function that marks in a text the words that a search has found.
 * @param {string} query as the service gets it @param {Values} values
 * @returns {(text: string) => (string | HTMLElement)[]}
 */
export function marker(query, values) {
	const words = [
		...query.replace(/(^|\s)-("[^"]*"?|\S+)/g, " ").matchAll(new RegExp(`(?:${tokens.source})\\*?`, "gu")),
	].map(([word]) => folded(word));
	/** @param {string} text */
	const found = (text) => {
		const word = folded(text);
		return words.some((w) =>
			w.endsWith("*")
				? word.startsWith(w.slice(0, -1))
				: word === w ||
					(values["typos"] &&
						w.length > 3 &&
						w[0] === word[0] &&
						Math.abs(w.length - word.length) < 3 &&
						edits([...w], [...word]) <= (w.length > 7 ? 2 : 1)),
		);
	};
	return (text) => {
		if (words.length === 0) return [text];
		/** @type {(string | HTMLElement)[]} */
		const out = [];
		let end = 0;
		for (const { 0: token, index } of text.matchAll(tokens)) {
			if (!found(token)) continue;
			out.push(text.slice(end, index), h("mark", null, token));
			end = index + token.length;
		}
		return [...out, text.slice(end)];
	};
}
