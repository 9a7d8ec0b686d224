/**
 * The rows of a table that could not be converted, each with the reason, to be mended and tried again.
 * @module
 */
import { h, labelled } from "../dom.js";
import { readRows, writeRow } from "../model/csv.js";

/** So many rows are shown. The others are tried again as they are. */
const most = 100;

/** All texts in a value. @param {unknown} value @returns {string[]} */
function textsIn(value) {
	if (typeof value === "string") return [value];
	return typeof value === "object" && value ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * A form with the cells that the mapping uses. The others stay as they are.
 * @param {string} text the rejected rows with their header, as the service answers them
 * @param {string} separator of the table @param {string} mapping of columns, as JSON
 * @param {(text: string) => void} again gets the rows as they are mended
 */
export function mend(text, separator, mapping, again) {
	const { rows, rest } = readRows(text.replace(/^\ufeff/, ""), separator);
	const [header = [], ...rejected] = rows;
	const used = new Set(textsIn(JSON.parse(mapping)));
	/** @param {string} value */
	const control = (value) =>
		value.length > 60 || value.includes("\n")
			? h("textarea", { rows: 3, value, spellcheck: "false" })
			: h("input", { value, autocomplete: "off", spellcheck: "false" });
	const parts = rejected.slice(0, most).map((row) => {
		const cells = header.slice(0, -2).map((column, i) => {
			const input = used.has(column) ? control(row[i] ?? "") : undefined;
			return { input, was: row[i] ?? "", node: input && labelled(column, input) };
		});
		const [line, reason] = row.slice(-2);
		const node = h(
			"fieldset",
			{ class: "field mended" },
			h("legend", null, `Line ${line}: ${reason}`),
			cells.map((c) => c.node),
		);
		return { row, cells, node };
	});
	const left = h("textarea", { class: "mono", rows: 6, value: rest, spellcheck: "false" });
	const several =
		rejected.length > most && ` The first ${most} are shown; mend these and go on with the others then.`;
	return h(
		"form",
		{
			onsubmit: (/** @type {Event} */ event) => {
				event.preventDefault();
				const mended = parts.map(({ row, cells }) => [
					...cells.map(({ input, was }) => (input && input.value !== was ? input.value : was)),
					...row.slice(-2),
				]);
				const lines = [header, ...mended, ...rejected.slice(most)].map((row) => writeRow(row, separator));
				again(lines.join("") + left.value);
			},
		},
		h("h2", null, "Rows to mend"),
		h(
			"p",
			{ class: "detail" },
			"Mend what stands in them, and try again. Rows that cannot be mended stay out.",
			several,
		),
		parts.map((p) => p.node),
		rest !== "" && labelled("Rows that are no whole rows of the table, as they are in the file", left),
		h("p", null, h("button", { class: "main" }, "Try again")),
	);
}
