/**
 * From a JSON Schema to a form: which field shows a value. What a form cannot show is shown as JSON; whether a value is
 * good is for the service to say.
 * @module
 */
import { at, define, isNumber, isObject, sameValue } from "../json.js";
import { fits } from "./fits.js";
import {
	dependents,
	itemSchemas,
	known,
	listIn,
	namedSchemas,
	numberIn,
	objectIn,
	references,
	resolve,
	types,
} from "./keywords.js";
import { isTexts, nameOf } from "./languages.js";
import { seen } from "./names.js";
import { label } from "./number.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("./keywords.js").Schema} Schema */
/**
 * One field of a form.
 * @typedef {object} Field
 * @property {"object" | "list" | "text" | "long" | "time" | "file" | "number" | "integer" | "boolean" | "options" |
 *   "const" | "choice" | "null" | "json"} kind
 * @property {Schema} schema the schema with its references followed, as it applies to the value
 * @property {string} [title]
 * @property {string} [description]
 * @property {Value} [initial] the default
 * @property {Option[]} [options] of "options" and "boolean": the values; of "choice": the schemas
 * @property {Member[]} [members] of "object"
 * @property {Value | undefined} [more] of "object": the schema of members that are not named; false if there may be
 * none
 * @property {Value[]} [leading] of "list": the schemas of the first items
 * @property {Value} [items] of "list": the schema of the others; false if there may be none
 */
/** @typedef {{label: string, value: Value}} Option */
/** @typedef {{name: string, schema: Value, required: boolean}} Member */

const deepest = 12;

/** The formats of texts that are addresses of files. */
const forFiles = /^vitrine-(picture|video|sound|file)$/;

const yesNo = [
	{ label: "Yes", value: true },
	{ label: "No", value: false },
];

/**
 * The field that shows a value.
 * @param {Value} schema
 * @param {Value} root the whole schema, in which references are looked up
 * @param {Value | undefined} value
 * @returns {Field}
 */
export function fieldOf(schema, root, value) {
	const s = effective(schema, root, value);
	if (!s) return { kind: "json", schema: {} };
	const about = { schema: s, title: text(s["title"]), description: text(s["description"]), initial: s["default"] };
	if (Object.hasOwn(s, "const")) return { ...about, kind: "const" };
	if (Array.isArray(s["enum"])) return { ...about, kind: "options", options: enumOf(s, s["enum"], root) };
	const choices = choicesOf(s, root);
	if (choices) return { ...about, ...choices };
	switch (typeOf(s)) {
		case "object":
			return { ...about, kind: "object", ...membersOf(s, value) };
		case "array":
			return { ...about, kind: "list", ...itemsOf(s) };
		case "string":
			return {
				...about,
				kind: forFiles.test(String(s["format"]))
					? "file"
					: isLong(s, value)
						? "long"
						: ["date-time", "time"].includes(String(s["format"]))
							? "time"
							: "text",
			};
		case "number":
			return { ...about, kind: "number" };
		case "integer":
			return { ...about, kind: "integer" };
		case "boolean":
			return { ...about, kind: "boolean", options: yesNo };
		case "null":
			return { ...about, kind: "null" };
		default:
			return { ...about, kind: "json" };
	}
}

/** Whether a field of this kind can show the value at all. @param {Field} field @param {Value | undefined} value */
export function shows(field, value) {
	if (value === undefined) return true;
	switch (field.kind) {
		case "object":
			return isObject(value);
		case "list":
			return Array.isArray(value);
		case "text":
		case "long":
		case "time":
		case "file":
			return typeof value === "string" && !value.includes("\r"); // a control would take carriage returns away
		case "number":
		case "integer":
			return isNumber(value);
		case "boolean":
			return typeof value === "boolean";
		case "null":
			return value === null;
		case "const":
			return sameValue(value, field.schema["const"]);
		case "options":
			return (field.options ?? []).some((o) => sameValue(o.value, value));
		default:
			return true;
	}
}

/**
 * What a field is called.
 * @param {Field} field
 * @param {string} name of the member that it shows, or of the list
 * @param {number} [index] of the item that it shows
 */
export function labelOf(field, name, index) {
	const called = field.title ?? name;
	return index === undefined ? called : `${called} ${index + 1}`;
}

/**
 * The field at a path of a value, and what it and the fields around it are called, as in the form. An item has the name
 * of its list in its own, so the list is left out.
 * @param {Value} schema @param {Value | undefined} value @param {string[]} path
 * @returns {{field: Field, root: Value, labels: string[]}}
 */
export function fieldAt(schema, value, path) {
	const root = schema;
	/** @type {string[]} */
	const labels = [];
	let field = fieldOf(schema, root, value);
	for (const name of path) {
		if (isTexts(value)) {
			labels.push(nameOf(name));
			return { field, root, labels };
		}
		field = within(field, root, value, name);
		const index = field.kind === "list" || Array.isArray(value) ? Number(name) : undefined;
		schema = index === undefined ? schemaOf(field.schema, name) : itemAt(field, index);
		value = at(value, [name]);
		field = fieldOf(schema, root, value);
		labels.push(index === undefined ? labelOf(field, name) : labelOf(field, labels.pop() ?? "Item", index));
	}
	return { field, root, labels };
}

/**
 * The form of a choice that a value has, or one that knows a member, where that of the value does not.
 * @param {Field} field @param {Value} root @param {Value | undefined} value @param {string} [name] of the member
 * @returns {Field}
 */
export function within(field, root, value, name) {
	for (let depth = 0; field.kind === "choice" && depth < deepest; depth++) {
		const forms = (field.options ?? []).map((o) => fieldOf(o.value, root, value));
		const now = forms[chosen(field, root, value)];
		/** @param {Field} f */
		const knows = (f) =>
			f.kind === "choice" || (name !== undefined && Object.hasOwn(objectIn(f.schema["properties"]), name));
		const form = now && (now.kind !== "object" || knows(now)) ? now : (forms.find(knows) ?? now);
		if (!form) break;
		field = form;
	}
	return field;
}

/** The schema of an item of a list. @param {Field} field @param {number} index @returns {Value} */
export function itemAt(field, index) {
	return field.leading?.[index] ?? (field.items === true || field.items === undefined ? {} : field.items);
}

/** @param {Value | undefined} v */
function text(v) {
	return typeof v === "string" && seen.test(v) ? v : undefined;
}

/**
 * The schema with references followed, allOf joined, the branch of if that the value takes, and what depends on the
 * members that it has. undefined if it says nothing that a form could show.
 * @param {Value | undefined} schema @param {Value} root @param {Value | undefined} value @param {number} [depth]
 * @returns {Schema | undefined}
 */
export function effective(schema, root, value, depth = 0) {
	if (!isObject(schema) || depth > deepest) return undefined;
	let { $ref, $dynamicRef, $recursiveRef, allOf, if: condition, then: yes, else: no, ...s } = known(schema, root);
	/** @param {Value | undefined} other */
	const join = (other) => {
		const more = effective(other, root, value, depth + 1);
		if (more) s = combine(more, s);
	};
	const found = references({ $ref, $dynamicRef, $recursiveRef }).map((ref) => resolve(ref, root));
	if (found.includes(undefined)) return undefined;
	found.forEach(join);
	listIn(allOf).forEach(join);
	// What the value asks for comes last, so that nothing moves away from under the person who types.
	const { required, schemas, rest } = dependents(s, value);
	s = { ...s, ...rest };
	for (const asked of condition === undefined
		? schemas
		: [value !== undefined && fits(condition, root, value) ? yes : no, ...schemas]) {
		const { title, description, ...more } = effective(asked, root, value, depth + 1) ?? {};
		s = combine(s, more);
	}
	return required.length === 0 ? s : { ...s, required: [...new Set([...listIn(s["required"]), ...required])] };
}

/**
 * One schema that asks for what two ask for, as far as a form is concerned. Where both have a word, b counts.
 * @param {Schema} a @param {Schema} b @returns {Schema}
 */
function combine(a, b) {
	/** @type {Schema} */
	const joined = { ...a, ...b };
	for (const name of ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]) {
		const [x, y] = [a[name], b[name]];
		if (!isObject(x) || !isObject(y)) continue;
		const both = Object.keys(y).filter((member) => isObject(x[member]) && isObject(y[member]));
		joined[name] = {
			...x,
			...y,
			...Object.fromEntries(both.map((member) => [member, { allOf: [x[member], y[member]] }])),
		};
	}
	if (a["required"] && b["required"])
		joined["required"] = [...new Set([...listIn(a["required"]), ...listIn(b["required"])])];
	if (a["type"] !== undefined && b["type"] !== undefined) {
		joined["type"] = types(b).filter(
			(t) => types(a).includes(t) || (t === "integer" && types(a).includes("number")),
		);
	}
	if (a["enum"] && b["enum"])
		joined["enum"] = listIn(b["enum"]).filter((v) => listIn(a["enum"]).some((w) => sameValue(v, w)));
	return joined;
}

/** The one type that values of the schema have, as it says or as its words tell. @param {Schema} s */
function typeOf(s) {
	const named = types(s);
	if (named.length > 0) return named.length === 1 ? named[0] : undefined;
	if (isObject(s["properties"]) || isObject(s["patternProperties"]) || isObject(s["additionalProperties"]))
		return "object";
	if (s["items"] !== undefined || s["prefixItems"] !== undefined) return "array";
	if (s["pattern"] !== undefined || s["minLength"] !== undefined || s["maxLength"] !== undefined) return "string";
	if (s["minimum"] !== undefined || s["maximum"] !== undefined) return "number";
	return undefined;
}

/**
 * The choice that oneOf, anyOf or several types leave.
 * @param {Schema} s @param {Value} root
 * @returns {{kind: "choice" | "options", options: Option[]} | undefined}
 */
function choicesOf(s, root) {
	const list = listIn(s["oneOf"] ?? s["anyOf"]);
	if (list.length > 0) {
		const { oneOf, anyOf, title, description, default: initial, ...common } = s;
		const parts = list.map((part) => effective(part, root, undefined) ?? {});
		const values = parts.map(onlyOf).filter((v) => v !== undefined);
		if (values.length === parts.length) return { kind: "options", options: enumOf(s, values, root) };
		// Parts that only say what must be there, such as {"required": ["a"]}, are no choice between forms.
		if (parts.every((p) => Object.keys(p).every((k) => ["required", "not", "title", "description"].includes(k))))
			return undefined;
		const bare = Object.keys(common).length === 0;
		return {
			kind: "choice",
			options: parts.map((p, i) => ({
				label: text(p["title"]) ?? sign(p, root) ?? `Form ${i + 1}`,
				value: bare ? list[i] : { allOf: [common, list[i]] },
			})),
		};
	}
	const several = types(s);
	if (several.length < 2) return undefined;
	const { title, description, default: initial, ...rest } = s;
	return { kind: "choice", options: several.map((t) => ({ label: typeName(t), value: { ...rest, type: t } })) };
}

/**
 * The values of enum. They are called as the parts of a oneOf beside it call them, or as enumNames does.
 * @param {Schema} s @param {Value[]} values @param {Value} root
 * @returns {Option[]}
 */
function enumOf(s, values, root) {
	const parts = listIn(s["oneOf"] ?? s["anyOf"]).map((part) => effective(part, root, undefined) ?? {});
	const names = listIn(s["enumNames"]);
	return values.map((value, i) => {
		const part = parts.find((p) => sameValue(onlyOf(p), value));
		return {
			label:
				text(part?.["title"]) ?? (names.length === values.length ? text(names[i]) : undefined) ?? label(value),
			value,
		};
	});
}

/** The one value that a schema allows, by const or by an enum of one. @param {Schema} s */
function onlyOf(s) {
	return Object.hasOwn(s, "const")
		? s["const"]
		: Array.isArray(s["enum"]) && s["enum"].length === 1
			? s["enum"][0]
			: undefined;
}

/**
 * What tells one part of a choice from the others, in a word.
 * @param {Schema} p @param {Value} root @returns {string | undefined}
 */
function sign(p, root) {
	const properties = objectIn(p["properties"]);
	for (const schema of Object.values(properties)) {
		const only = onlyOf(effective(schema, root, undefined) ?? {});
		if (only !== undefined) return label(only);
	}
	const t = typeOf(p);
	return (t === "object" && Object.keys(properties).slice(0, 3).join(", ")) || (t && typeName(t));
}

/** @param {string} type */
function typeName(type) {
	return (
		{
			string: "Text",
			number: "Number",
			integer: "Whole number",
			boolean: "Yes or no",
			null: "Nothing (null)",
			array: "List",
			object: "Group of fields",
		}[type] ?? type
	);
}

/** @param {Schema} s @param {Value | undefined} value @returns {{members: Member[], more: Value}} */
function membersOf(s, value) {
	const required = listIn(s["required"]).filter((name) => typeof name === "string");
	const known = new Set([...Object.keys(objectIn(s["properties"])), ...required, ...Object.keys(objectIn(value))]);
	const members = [...known].map((name) => ({ name, schema: schemaOf(s, name), required: required.includes(name) }));
	const patterns = Object.values(objectIn(s["patternProperties"]));
	const more = s["additionalProperties"] ?? s["unevaluatedProperties"] ?? true;
	return { members, more: more === false && patterns.length > 0 ? patterns[0] : more };
}

/** The schema of a member. @param {Schema} s @param {string} name @returns {Value} */
export function schemaOf(s, name) {
	const [first, ...others] = namedSchemas(s, name);
	if (first === undefined) return objectIn(s["additionalProperties"] ?? s["unevaluatedProperties"]);
	return others.length > 0 && isObject(first) ? { allOf: [first, ...others] } : first;
}

/** @param {Schema} s @returns {{leading: Value[], items: Value}} */
function itemsOf(s) {
	const { leading, items } = itemSchemas(s);
	return { leading, items: items ?? s["unevaluatedItems"] ?? {} };
}

/** Whether a text needs several lines. @param {Schema} s @param {Value | undefined} value */
function isLong(s, value) {
	if (typeof value === "string" && value.includes("\n")) return true;
	if (s["contentMediaType"] === "text/html") return true;
	if (["textarea", "markdown", "html", "multiline"].includes(String(s["format"]))) return true;
	return (numberIn(s["maxLength"]) ?? 0) > 200;
}

/**
 * The option of a choice that a value belongs to, or -1.
 * @param {Field} field @param {Value} root @param {Value | undefined} value
 */
export function chosen(field, root, value) {
	if (value === undefined) return -1;
	const options = field.options ?? [];
	const exact = [true, false]
		.map((deciding) => options.findIndex((o) => fits(o.value, root, value, deciding)))
		.find((i) => i >= 0);
	return exact ?? options.findIndex((o) => shows(fieldOf(o.value, root, value), value));
}

/**
 * A config with the defaults of its schema, as a component gets it: members that are absent get the default of their
 * schema, or are made up from the defaults inside it.
 * @param {Value} schema @param {Value} root @param {Value} value @param {number} [depth]
 * @returns {Value}
 */
export function complete(schema, root, value, depth = 0) {
	const here = schemasOf(schema, root);
	if (depth > deepest) return value;
	if (Array.isArray(value)) {
		return value.map((item, i) =>
			here.reduce((/** @type {Value} */ done, s) => {
				const { leading, items } = itemsOf(s);
				return complete(leading[i] ?? items, root, done, depth + 1);
			}, item),
		);
	}
	if (!isObject(value)) return value;
	/** @type {Schema} */
	const made = { ...value };
	for (const name of new Set(here.flatMap((s) => Object.keys(objectIn(s["properties"]))))) {
		const schemas = here.flatMap((s) => schemasOf(objectIn(s["properties"])[name], root));
		const all = { allOf: schemas };
		if (Object.hasOwn(made, name)) {
			define(made, name, complete(all, root, /** @type {Value} */ (made[name]), depth + 1));
			continue;
		}
		const given = schemas.find((s) => Object.hasOwn(s, "default"));
		if (given) {
			if (fits(given, root, given["default"]))
				define(made, name, complete(all, root, given["default"], depth + 1));
		} else if (schemas.some((s) => s["type"] === "object")) {
			const object = complete(all, root, {}, depth + 1);
			if (Object.keys(objectIn(object)).length > 0 && fits(all, root, object)) define(made, name, object);
		}
	}
	return made;
}

/**
 * A schema, and those that its $ref and allOf lead to.
 * @param {Value | undefined} schema @param {Value} root @param {number} [depth] @returns {Schema[]}
 */
function schemasOf(schema, root, depth = 0) {
	if (!isObject(schema) || depth > deepest) return [];
	const ref = schema["$ref"];
	return [
		schema,
		...(typeof ref === "string" ? schemasOf(resolve(ref, root), root, depth + 1) : []),
		...listIn(schema["allOf"]).flatMap((s) => schemasOf(s, root, depth + 1)),
	];
}

/**
 * What a new value begins as. Required members that can have one value alone, or have a default, are there; the others
 * are for the person to fill in.
 * @param {Value} schema @param {Value} root @param {number} [depth]
 * @returns {Value | undefined} undefined if it is for the person to say
 */
export function begin(schema, root, depth = 0) {
	const field = fieldOf(schema, root, undefined);
	if (field.initial !== undefined) return field.initial;
	if (depth > deepest) return undefined;
	switch (field.kind) {
		case "const":
			return field.schema["const"];
		case "options":
			return field.options?.length === 1 ? field.options[0]?.value : undefined;
		case "null":
			return null;
		case "choice":
			return undefined;
		case "list": {
			const least = numberIn(field.schema["minItems"]) ?? 0;
			const list = [];
			for (let i = 0; i < Math.min(least, 20); i++) {
				const item = begin(field.leading?.[i] ?? field.items ?? {}, root, depth + 1);
				if (item === undefined) break;
				list.push(item);
			}
			return list;
		}
		case "object": {
			/** @type {Schema} */
			const made = {};
			for (const m of field.members ?? []) {
				const value = m.required ? begin(m.schema, root, depth + 1) : undefined;
				if (value !== undefined) made[m.name] = value;
			}
			return made;
		}
		default:
			return undefined;
	}
}

/**
 * What a person adds begins as this, whatever the schema is.
 * @param {Value} schema @param {Value} root @returns {Value}
 */
export function addition(schema, root) {
	const made = begin(schema, root);
	if (made !== undefined) return made;
	const field = fieldOf(schema, root, undefined);
	switch (field.kind) {
		case "number":
		case "integer":
			return isNumber(field.schema["minimum"]) ? field.schema["minimum"] : 0;
		case "boolean":
			return false;
		case "text":
		case "long":
		case "time":
		case "file":
			return "";
		case "options":
			return field.options?.[0]?.value ?? null;
		case "choice":
			return field.options?.[0] ? addition(field.options[0].value, root) : null;
		default:
			return field.kind === "json" ? "" : {};
	}
}
