/**
 * A table of reviews that somebody has exported: which column is what.
 * @module
 */
import { button, count, h, labelled } from "../dom.js";

/**
 * @typedef {{charset: string, separator: string, columns: string[], rows: string[][], mapping: Record<string, unknown>,
 *   scale: number, dates: string}} Sight what the service sees of a table
 */

/** The fields that a column can be. One that ends with a colon goes on with the name of the column. */
const fields = [
	["", "— not used —"],
	["collection_id", "What is reviewed: its id"],
	["collection_title", "What is reviewed: its name"],
	["review_id", "Id of the review"],
	["rating", "Rating"],
	["rating:", "Rating of a dimension"],
	["created", "Date"],
	["title", "Title"],
	["body", "Text"],
	["author_name", "Author: name"],
	["author_email", "Author: e-mail address (never shown)"],
	["author_id", "Author: id of a profile"],
	["author_url", "Author: web site"],
	["parent_id", "Id of the review that is replied to"],
	["reply", "Answer of the shop"],
	["reply_created", "Answer of the shop: date"],
	["reply_author", "Answer of the shop: author"],
	["subpart:", "Further data, as it is"],
	["skip:", "Skip: says which rows are left out"],
];

/**
 * A form that says what a table looks like, and lets the columns be matched.
 * @param {string} name @param {Sight} sight @param {string} from the source that is proposed
 * @param {(query: Record<string, string | undefined>) => void} convert gets what the service is asked with
 */
export function table(name, sight, from, convert) {
	const skipped = sight.columns.map((column) =>
		h("input", {
			hidden: true,
			placeholder: "spam, pending",
			"aria-label": `Words of ${column} that leave rows out`,
		}),
	);
	const selects = sight.columns.map((column, i) => {
		const select = h(
			"select",
			{
				"aria-label": `What ${column} is`,
				onchange: () => {
					/** @type {HTMLElement} */ (skipped[i]).hidden = select.value !== "skip:";
					if (!select.value.endsWith(":"))
						selects.forEach(
							(other) => other !== select && other.value === select.value && (other.value = ""),
						);
				},
			},
			fields.map(([value, text]) => h("option", { value }, text)),
		);
		const [field = ""] = Object.entries(sight.mapping).find(([, c]) => c === column) ?? [];
		select.value = field.replace(/:.*/, ":");
		return select;
	});
	/** What is guessed of several columns, unless a column is chosen for it, and where JSON has its rows. */
	const more = Object.fromEntries(
		Object.entries(sight.mapping).filter(([, value]) => !sight.columns.includes(/** @type {string} */ (value))),
	);
	const one = h("input", { autocomplete: "off" });
	const source = h("input", { value: from, required: true, autocomplete: "off" });
	const scale = h(
		"select",
		null,
		[5, 10, 100].map((n) => h("option", { value: n }, String(n))),
	);
	scale.value = String(sight.scale);
	const dates = h(
		"select",
		null,
		h("option", { value: "" }, "As the first 1,000 rows tell"),
		h("option", { value: "dmy" }, "Day first: 03/04 is 3 April"),
		h("option", { value: "mdy" }, "Month first: 03/04 is 4 March"),
	);
	dates.value = sight.dates;
	const zone = h("input", { placeholder: "UTC", autocomplete: "off", list: "zones" });
	const zones = h(
		"datalist",
		{ id: "zones" },
		Intl.supportedValuesOf("timeZone").map((value) => h("option", { value })),
	);
	const kinds = /** @type {Record<string, string>} */ ({
		",": "commas",
		";": "semicolons",
		"\t": "tabs",
		"|": "bars",
	});
	const separated = sight.separator && `, separated by ${kinds[sight.separator] ?? sight.separator}`;
	const missing = h("div", { class: "note bad", role: "alert", hidden: true });
	return h(
		"form",
		{
			onsubmit: (/** @type {Event} */ event) => {
				event.preventDefault();
				const chosen = new Set([...selects.map((select) => select.value), ...Object.keys(more)]);
				const all = one.value.trim() !== "" && !chosen.has("collection_id") && `=${one.value.trim()}`;
				if (all) chosen.add("collection_id");
				const lacks = [["collection_id"], ["rating", "rating:"], ["created"], ["author_name", "author_id"]]
					.filter((any) => !any.some((field) => chosen.has(field)))
					.map(([field]) => fields.find(([value]) => value === field)?.[1]);
				missing.hidden = lacks.length === 0;
				missing.textContent =
					`Choose the column for: ${lacks.join(" · ")}.` +
					(chosen.has("collection_id") ? "" : " If no column says what is reviewed, name it above.");
				if (lacks.length > 0) return;
				const mapping = Object.fromEntries([
					...Object.entries(more),
					...(all ? [["collection_id", all]] : []),
					[
						"skip",
						sight.columns.flatMap((column, i) =>
							selects[i]?.value === "skip:"
								? [{ column, is: (skipped[i]?.value ?? "").split(",").map((word) => word.trim()) }]
								: [],
						),
					],
					...selects.flatMap((select, i) =>
						select.value === "" || select.value === "skip:"
							? []
							: [
									[
										select.value.endsWith(":") ? select.value + sight.columns[i] : select.value,
										sight.columns[i],
									],
								],
					),
				]);
				convert({
					mapping: JSON.stringify(mapping),
					source: source.value,
					scale: scale.value,
					dates: dates.value || undefined,
					zone: zone.value.trim() || undefined,
				});
			},
		},
		h("h2", null, `${name} is a table`),
		h(
			"p",
			{ class: "detail" },
			`${count(sight.columns.length, "column")}${separated}, in ${sight.charset.toUpperCase()}. ` +
				"What each column has was guessed from its name: look whether it is right.",
		),
		Object.entries(more).map(([field, value]) =>
			h(
				"p",
				{ class: "note" },
				`${fields.find(([name]) => name === field)?.[1] ?? "Rows"}: ${JSON.stringify(value)}`,
			),
		),
		h(
			"div",
			{ class: "scroll", tabindex: "0", role: "group", "aria-label": "Columns" },
			h(
				"table",
				{ class: "matched" },
				h(
					"thead",
					null,
					h(
						"tr",
						null,
						["Column", "What it is", "The first rows"].map((text) => h("th", { scope: "col" }, text)),
					),
				),
				h(
					"tbody",
					null,
					sight.columns.map((column, i) =>
						h(
							"tr",
							null,
							h("th", { scope: "row" }, column),
							h("td", null, selects[i], skipped[i]),
							h(
								"td",
								null,
								h(
									"ol",
									null,
									sight.rows.map((row) => h("li", null, (row[i] ?? "").slice(0, 60))),
								),
							),
						),
					),
				),
			),
		),
		h(
			"div",
			{ class: "row" },
			labelled("Where the reviews come from", source),
			labelled("What is reviewed, if no column says it", one),
			labelled("Best rating", scale),
			labelled("Dates", dates),
			labelled("Zone of times that name none", zone),
			zones,
		),
		missing,
		h(
			"p",
			null,
			button("Convert and check", () => {}, { class: "main", type: "submit" }),
		),
	);
}
