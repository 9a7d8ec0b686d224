/**
 * What differs between two versions of an app, for people: elements that were added, removed, moved and changed, and
 * their fields with the words that differ.
 * @module
 */
import { h, named } from "../dom.js";
import { at, names } from "../json.js";
import { askLanguages } from "../model/languages.js";
import { compare, longestRise } from "../model/patch.js";
import { fieldAt, fieldOf } from "../model/schema.js";
import { titleOf } from "../model/names.js";
import { elementName } from "../model/timeline.js";
import { words } from "../model/words.js";
import { group } from "./person.js";
import { isText, kindOf, shown } from "./value.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../api.js").Operation} Operation */
/** @typedef {import("../api.js").App} App */
/** @typedef {import("../api.js").Element} Element */
/** @typedef {import("../dom.js").Child} Child */

/**
 * @typedef {{labels: string[], content: () => Child[]}} Row a field that differs, by its labels and those around it
 * @typedef {{kind: "changed" | "moved" | "added" | "removed", title?: string, rows: Row[]}} Part of an app that
 * differs. Each of its rows is one change; one that was added or removed has one row
 */

/**
 * What differs between two versions.
 * @param {import("../api.js").Api} api @param {string} id @param {string} from @param {string} to
 * @param {AbortSignal} [signal]
 */
export async function compared(api, id, from, to, signal) {
	const [before, after] = await Promise.all([
		api.app(id, from, signal),
		api.app(id, to, signal),
		askLanguages(api, signal),
	]);
	return { node: difference(partsOf(before, after)), changes: changesIn(before, after) };
}

/** How many changes are shown between two versions. @param {App} before @param {App} after */
export function changesIn(before, after) {
	return partsOf(before, after).reduce((n, { rows }) => n + rows.length, 0);
}

/** What differs between two versions, in the order in which it is shown. @param {App} before @param {App} after */
function partsOf(before, after) {
	// Versions of a store from before elements had keys have places instead.
	const keyed = [...before.elements, ...after.elements].every((e) => e.key.includes("."));
	/** @param {Element} e */
	const keyOf = (e) => (keyed ? e.key : e.id);
	const was = new Map(before.elements.map((e, i) => [keyOf(e), i]));
	const kept = after.elements.filter((e) => was.has(keyOf(e)));
	const still = new Set(longestRise(kept.map((e) => /** @type {number} */ (was.get(keyOf(e))))).map((i) => kept[i]));
	/** @type {Part[]} */
	const parts = [];
	/** @param {() => Child[]} content */
	const row = (content) => ({ labels: [], content });
	if (before.title !== after.title) {
		const rows = [row(() => text(before.title, after.title))];
		parts.push({ kind: "changed", title: "Title", rows });
	}
	const came = after.groups.filter((g) => !before.groups.includes(g));
	const left = before.groups.filter((g) => !after.groups.includes(g));
	if (left.length + came.length > 0) {
		const rows = [
			...came.map((g) => row(() => [h("ins", null, group(g))])),
			...left.map((g) => row(() => [h("del", null, group(g))])),
		];
		parts.push({ kind: "changed", title: "Groups", rows });
	}
	after.elements.forEach((e, i) => {
		const title = elementName(after.elements, i);
		const j = was.get(keyOf(e));
		if (j === undefined) {
			parts.push({ kind: "added", title, rows: [row(() => whole(e))] });
			return;
		}
		const rows = fieldsOf(before.elements[j], e);
		const place = `From place ${j + 1} to place ${i + 1}.`;
		if (!still.has(e)) rows.unshift(row(() => [h("span", { class: "detail" }, place)]));
		if (rows.length > 0) parts.push({ kind: still.has(e) ? "changed" : "moved", title, rows });
	});
	const there = new Set(after.elements.map(keyOf));
	before.elements.forEach((e, i) => {
		if (there.has(keyOf(e))) return;
		parts.push({ kind: "removed", title: elementName(before.elements, i), rows: [row(() => whole(e))] });
	});
	return parts;
}

/** @param {Part[]} parts */
function difference(parts) {
	const shown = parts.map(({ kind, title = "", rows }) =>
		h(
			"section",
			{ class: `part ${kind}` },
			h("h3", null, h("span", { class: "kind" }, kind), " ", named(title)),
			rows.map(({ labels, content }) =>
				h(
					"div",
					{ class: "change" },
					labels.length > 0 &&
						h(
							"span",
							{ class: "path" },
							labels.flatMap((label, i) => (i === 0 ? [named(label)] : [" › ", named(label)])),
						),
					content(),
				),
			),
		),
	);
	return h("div", { class: "difference" }, shown.length > 0 ? shown : h("p", { class: "empty" }, "Nothing differs."));
}

/** Everything that is in an element. @param {Element} e */
function whole(e) {
	const schema = e.component.configSchema;
	return shown(fieldOf(schema, schema, e.config), schema, e.config);
}

/** The fields that differ in an element. @param {Element} from @param {Element} to @returns {Row[]} */
function fieldsOf({ component: c, config: was }, { component: d, config: is }) {
	/** @type {Row[]} */
	const rows = [];
	/** @param {string[]} labels @param {() => Child[]} content */
	const row = (labels, content) => rows.push({ labels, content });
	if (c.name !== d.name) row(["Component"], () => pair([named(titleOf(c))], [named(titleOf(d))]));
	if (c.version !== d.version) row(["Version of the component"], () => pair([named(c.version)], [named(d.version)]));
	else if (c.main !== d.main) row(["Script of the component"], () => pair([named(c.main)], [named(d.main)]));
	/** @type {Operation[]} */
	const operations = [];
	compare(was, is, "", operations);
	/** @type {Set<string>} what is said of the kinds of choices already */
	const kinds = new Set();
	for (const o of operations) {
		const path = names(o.path);
		const [a, b] = [at(was, path), at(is, path)];
		const [old, now] = [fieldAt(c.configSchema, was, path), fieldAt(d.configSchema, is, path)];
		const { labels } = b === undefined ? old : now;
		// What a form of a choice always has is told by the name of the form.
		const always = old.field.kind === "const" || now.field.kind === "const";
		const [x, y] = always ? [kindAt(c, was, path), kindAt(d, is, path)] : [];
		if (x !== undefined && y !== undefined && x !== y) {
			const around = labels.slice(0, -1);
			if (!kinds.has(around.join("\0"))) row(["Kind", ...around], () => pair([named(x)], [named(y)]));
			kinds.add(around.join("\0"));
		} else if (typeof a === "string" && typeof b === "string" && isText(old.field) && isText(now.field))
			row(labels, () => text(a, b));
		else
			row(labels, () =>
				pair(
					a === undefined ? [] : shown(old.field, old.root, a),
					b === undefined ? [] : shown(now.field, now.root, b),
				),
			);
	}
	return rows;
}

/**
 * The name of the form of a choice that the value around a path has.
 * @param {import("../api.js").Manifest} component @param {Value} config @param {string[]} path
 */
function kindAt({ configSchema }, config, path) {
	const around = path.slice(0, -1);
	const { field, root } = fieldAt(configSchema, config, around);
	return kindOf(field, root, at(config, around));
}

/** The words of two texts, and which of them differ. @param {string} from @param {string} to @returns {Child[]} */
function text(from, to) {
	return [
		h(
			"span",
			{ dir: "auto" },
			words(from, to).map((w) =>
				w.kind === "same" ? w.text : h(w.kind === "added" ? "ins" : "del", null, w.text),
			),
		),
	];
}

/** What was there, and what is. @param {Child[]} from @param {Child[]} to @returns {Child[]} */
function pair(from, to) {
	return [
		from.length > 0 && h("del", null, from),
		from.length > 0 && to.length > 0 && " ",
		to.length > 0 && h("ins", null, to),
	];
}
