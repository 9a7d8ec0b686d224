/**
 * Values to be read, as the form shows them: with the labels of its fields and of its choices. JSON is behind a button.
 * @module
 */
import { detail, h, named } from "../dom.js";
import { at, isObject, sameValue, stringify } from "../json.js";
import { fileKind } from "../model/files.js";
import { isTexts, nameOf } from "../model/languages.js";
import { localTime } from "../model/moment.js";
import { label } from "../model/number.js";
import { chosen, fieldOf, itemAt, labelOf, schemaOf, within } from "../model/schema.js";
import { shownFile } from "./filefield.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../model/schema.js").Field} Field */
/** @typedef {import("../dom.js").Child} Child */

/** So many members or items of one value are shown, and so many levels of it. The rest is in its JSON. */
const most = 50;
const deepest = 8;

/**
 * A value with its JSON, if it has members or items.
 * @param {Field} field @param {Value} root @param {Value} value @returns {Child[]}
 */
export function shown(field, root, value) {
	if (!isObject(value) && !Array.isArray(value)) return [leaf(field, root, value)];
	return [
		nested(field, root, value, 0),
		h("details", { class: "json" }, h("summary", null, "JSON"), h("pre", null, stringify(value, 2))),
	];
}

/**
 * The name of the form that a choice has for a value.
 * @param {Field} field @param {Value} root @param {Value | undefined} value
 */
export function kindOf(field, root, value) {
	return field.kind === "choice" ? field.options?.[chosen(field, root, value)]?.label : undefined;
}

/**
 * Whether words of a text can be compared, which is not so where the form shows it in another way.
 * @param {Field} field
 */
export function isText(field) {
	return ["text", "long", "json"].includes(field.kind) && !["date", "color"].includes(String(field.schema["format"]));
}

/** @param {Field} field @param {Value} root @param {Value} value @returns {Child} */
function leaf(field, root, value) {
	const inner = within(field, root, value);
	const kind = kindOf(field, root, value);
	if (kind !== undefined && (inner.kind === "null" || inner.kind === "const")) return named(kind);
	const option = inner.options?.find((o) => sameValue(o.value, value));
	if (option) return named(option.label);
	if (typeof value !== "string") return label(value);
	if (value === "") return detail("empty");
	const format = String(inner.schema["format"]);
	if (format === "date" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))) {
		return h(
			"time",
			{ datetime: value, title: value },
			new Date(value).toLocaleDateString(undefined, { dateStyle: "medium", timeZone: "UTC" }),
		);
	}
	if (format === "date-time" && localTime(value, "datetime-local")?.[1]) {
		return h(
			"time",
			{ datetime: value, title: value },
			new Date(value).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }),
		);
	}
	if (format === "color" && /^#[0-9a-f]{6}$/i.test(value)) {
		const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
		swatch.style.backgroundColor = value;
		return h("span", null, swatch, value);
	}
	if (inner.kind === "file") return shownFile(fileKind(inner).name, value);
	return h("span", { dir: "auto" }, value);
}

/** @param {Field} field @param {Value} root @param {Value} value @param {number} depth @returns {Child} */
function nested(field, root, value, depth) {
	if (!isObject(value) && !Array.isArray(value)) return leaf(field, root, value);
	const inner = within(field, root, value);
	const kind = isTexts(value) ? undefined : kindOf(field, root, value);
	/** @type {[string, Field, Value][]} */
	const parts = isTexts(value)
		? Object.entries(value).map(([name, text]) => [nameOf(name), field, text])
		: Array.isArray(value)
			? value.slice(0, most).map((v, i) => ["", fieldOf(itemAt(inner, i), root, v), v])
			: namesOf(inner, value)
					.slice(0, most)
					.map((name) => {
						const v = /** @type {Value} */ (at(value, [name]));
						const f = fieldOf(schemaOf(inner.schema, name), root, v);
						return [labelOf(f, name), f, v];
					});
	const rest = (Array.isArray(value) ? value.length : Object.keys(value).length) - parts.length;
	// What a form of a choice always has is what tells it from the others, which its name does already.
	const rows = parts.filter(([, f]) => kind === undefined || f.kind !== "const");
	return h(
		"div",
		null,
		kind !== undefined && detail(named(kind)),
		parts.length === 0
			? detail("empty")
			: depth > deepest
				? detail("…")
				: h(
						Array.isArray(value) ? "ol" : "ul",
						{ class: "values" },
						rows.map(([name, f, v]) =>
							h(
								"li",
								null,
								name !== "" && h("span", { class: "path" }, named(name)),
								nested(f, root, v, depth + 1),
							),
						),
						rest > 0 && h("li", { class: "detail" }, `and ${rest.toLocaleString()} more`),
					),
	);
}

/**
 * The names of an object's members, in the order of the form.
 * @param {Field} field @param {{[name: string]: Value}} value
 */
function namesOf(field, value) {
	const listed = (field.members ?? []).map((m) => m.name).filter((name) => Object.hasOwn(value, name));
	return listed.length > 0 ? listed : Object.keys(value);
}
