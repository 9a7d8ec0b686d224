/**
 * The words of a JSON Schema as its draft has them. The form and the service read a schema by one table of keywords: a
 * test of the service compares this one with its own, and tries each keyword in each draft on both sides.
 * @module
 */
import { at, isNumber, isObject, names, numberText } from "../json.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {{[name: string]: Value}} Schema */

/**
 * The keywords that can reject a config, or that contain subschemas: the first draft that has each and, if it is not
 * the latest, the last one in which it is read. This is JSON, so that programs in other languages can read it.
 * @type {{[keyword: string]: number[]}}
 */
// prettier-ignore
export const keywords = {
	"$ref": [4], "type": [4], "enum": [4], "multipleOf": [4], "maximum": [4], "exclusiveMaximum": [4], "minimum": [4],
	"exclusiveMinimum": [4], "maxLength": [4], "minLength": [4], "pattern": [4], "maxItems": [4], "minItems": [4],
	"uniqueItems": [4], "maxProperties": [4], "minProperties": [4], "required": [4], "format": [4], "not": [4],
	"additionalProperties": [4], "additionalItems": [4, 2019], "allOf": [4], "anyOf": [4], "oneOf": [4], "items": [4],
	"definitions": [4], "properties": [4], "patternProperties": [4], "dependencies": [4], "const": [6],
	"propertyNames": [6], "contains": [6], "if": [7], "then": [7], "else": [7], "dependentRequired": [2019],
	"dependentSchemas": [2019], "minContains": [2019], "maxContains": [2019], "$recursiveRef": [2019], "$defs": [2019],
	"unevaluatedProperties": [2019], "unevaluatedItems": [2019], "contentSchema": [2019], "$dynamicRef": [2020],
	"prefixItems": [2020]
};

/** The draft of a schema, by the number or the year in its name. @param {Value} root the whole schema */
export function draftOf(root) {
	const address = isObject(root) && typeof root["$schema"] === "string" ? root["$schema"] : "";
	const [, early, late] =
		/^https?:\/\/json-schema\.org\/(?:draft-0([467])|draft\/(2019-09|2020-12))\/schema#?$/.exec(address) ?? [];
	return early ? Number(early) : late === "2019-09" ? 2019 : 2020;
}

/**
 * A part of a schema without the keywords that its draft ignores. Before 2019-09 those beside a $ref are ignored. What
 * only describes a value, such as title, counts in every draft.
 * @param {Schema} schema @param {Value} root
 * @returns {Schema}
 */
export function known(schema, root) {
	const draft = draftOf(root);
	const alone = draft < 2019 && typeof schema["$ref"] === "string";
	return Object.fromEntries(
		Object.entries(schema).filter(([name]) => {
			if (!Object.hasOwn(keywords, name)) return true;
			const [since = 0, until = 2020] = keywords[name] ?? [];
			return draft >= since && draft <= until && (!alone || name === "$ref");
		}),
	);
}

/** What a keyword has if it has a list, or an empty one. @param {Value | undefined} v @returns {Value[]} */
export function listIn(v) {
	return Array.isArray(v) ? v : [];
}

/** What a keyword has if it has an object, or an empty one. @param {Value | undefined} v @returns {Schema} */
export function objectIn(v) {
	return isObject(v) ? v : {};
}

/** @param {Value | undefined} v */
export function numberIn(v) {
	return isNumber(v) ? Number(numberText(v)) : undefined;
}

/** @param {Schema} s @returns {string[]} */
export function types(s) {
	return [s["type"]].flat().filter((t) => typeof t === "string");
}

/** The references of a part of a schema. @param {Schema} s @returns {string[]} */
export function references(s) {
	return [s["$ref"], s["$dynamicRef"], s["$recursiveRef"]].filter((ref) => typeof ref === "string");
}

/**
 * Whether a pattern finds something in a text; undefined if this browser does not know the pattern.
 * @param {Value | undefined} pattern @param {string} text
 */
export function finds(pattern, text) {
	try {
		return new RegExp(String(pattern), "u").test(text);
	} catch {
		return undefined;
	}
}

/**
 * The schemas of an object's member: those that properties and patternProperties have for its name.
 * @param {Schema} s @param {string} name @returns {Value[]}
 */
export function namedSchemas(s, name) {
	const properties = objectIn(s["properties"]);
	const patterns = Object.entries(objectIn(s["patternProperties"])).filter(([pattern]) => finds(pattern, name));
	return [...(Object.hasOwn(properties, name) ? [properties[name]] : []), ...patterns.map(([, schema]) => schema)];
}

/**
 * The schemas of a list's items: those of the first ones, and that of the others, if there is one.
 * @param {Schema} s @returns {{leading: Value[], items: Value | undefined}}
 */
export function itemSchemas(s) {
	if (Array.isArray(s["prefixItems"])) return { leading: s["prefixItems"], items: s["items"] };
	if (Array.isArray(s["items"])) return { leading: s["items"], items: s["additionalItems"] };
	return { leading: [], items: s["items"] };
}

/**
 * What the members that an object has ask for: that others are there, and that it is of further schemas. The rest is
 * what others would ask for if they were there, by keyword.
 * @param {Schema} s @param {Value | undefined} value
 */
export function dependents(s, value) {
	/** @type {Value[]} */
	const all = [];
	/** @type {Schema} */
	const rest = {};
	for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
		if (!isObject(s[keyword])) continue;
		/** @param {[string, Value]} entry */
		const asks = ([name]) => isObject(value) && Object.hasOwn(value, name);
		const entries = Object.entries(s[keyword]);
		all.push(...entries.filter(asks).map(([, asked]) => asked));
		rest[keyword] = Object.fromEntries(entries.filter((entry) => !asks(entry)));
	}
	return { required: all.filter(Array.isArray).flat(), schemas: all.filter((asked) => !Array.isArray(asked)), rest };
}

/**
 * What a reference leads to inside the schema: a pointer, an anchor or the $id of a part.
 * @param {string} ref @param {Value} root @returns {Value | undefined}
 */
export function resolve(ref, root) {
	const [address = "", fragment = ""] = ref.split("#");
	const part =
		address === "" || (isObject(root) && (root["$id"] ?? root["id"]) === address)
			? root
			: find(root, (o) => sameAddress(o["$id"] ?? o["id"], address));
	if (fragment === "") return part;
	if (part === undefined) return undefined;
	if (fragment.startsWith("/")) {
		try {
			return at(part, names(decodeURIComponent(fragment)));
		} catch {
			return undefined;
		}
	}
	return find(
		part,
		(o) =>
			o["$anchor"] === fragment ||
			o["$dynamicAnchor"] === fragment ||
			o["$id"] === `#${fragment}` ||
			o["id"] === `#${fragment}`,
	);
}

/** @param {Value | undefined} id @param {string} address */
function sameAddress(id, address) {
	return typeof id === "string" && (id === address || id.replace(/#$/, "").endsWith(`/${address}`));
}

/**
 * The first part of a schema for which good says yes.
 * @param {Value | undefined} v @param {(o: Schema) => boolean} good @returns {Value | undefined}
 */
function find(v, good) {
	if (isObject(v) && good(v)) return v;
	if (!isObject(v) && !Array.isArray(v)) return undefined;
	for (const below of Object.values(v)) {
		const found = find(below, good);
		if (found !== undefined) return found;
	}
	return undefined;
}
