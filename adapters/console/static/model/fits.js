/**
 * Whether a value is of a schema, as far as a form has to know it: which of several forms a value has, and whether a
 * condition holds. What is stored is for the service to judge.
 * @module
 */
import { decimal, isNumber, isObject, numberText, sameValue } from "../json.js";
import {
	dependents,
	finds,
	itemSchemas,
	known,
	listIn,
	namedSchemas,
	numberIn,
	references,
	resolve,
	types,
} from "./keywords.js";
import { isTexts } from "./languages.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("./keywords.js").Schema} Schema */

/** So many levels of a schema are looked at, and so many items of a list. */
const deepest = 12;
const most = 200;

/**
 * Texts of formats, as far as they tell the alternatives of a oneOf apart.
 * @type {{[format: string]: {test: (text: string) => boolean}}}
 */
const formats = {
	date: /^\d{4}-\d\d-\d\d$/,
	"date-time": /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(\.\d+)?(z|[-+]\d\d:\d\d)$/i,
	time: /^\d\d:\d\d:\d\d(\.\d+)?(z|[-+]\d\d:\d\d)$/i,
	email: /^[^@\s]+@[^@\s]+$/,
	ipv4: /^\d{1,3}(\.\d{1,3}){3}$/,
	ipv6: /^[0-9a-f.]*:[0-9a-f:.]*$/i,
	uri: /^[a-z][a-z0-9+.-]*:[!-~]*$/i,
	iri: /^[a-z][a-z0-9+.-]*:\S*$/i,
	"uri-reference": /^[^\s\\<>"{}|^`\u0080-\uffff]*$/,
	"iri-reference": /^[^\s\\<>"{}|^`]*$/,
	"uri-template": /^([^\s\\<>"{}|^`]|\{[^\s{}]+\})*$/,
	"json-pointer": /^(\/|$)/,
	"relative-json-pointer": /^(0|[1-9]\d*)(#|\/|$)/,
	uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
	duration: /^P(\d+[YMWD])*(T(\d+[HMS])+)?$/,
	hostname: /^[a-z0-9-]+(\.[a-z0-9-]+)*\.?$/i,
	regex: { test: (text) => finds(text, "") !== undefined },
};

/**
 * @param {Value | undefined} schema @param {Value} root the whole schema @param {Value} value
 * @param {boolean} [deciding] whether formats count
 * @param {number} [depth]
 * @returns {boolean}
 */
export function fits(schema, root, value, deciding = false, depth = 0) {
	if (schema === false) return false;
	if (!isObject(schema) || depth > deepest) return true;
	if (isTexts(value)) return Object.values(value).every((text) => fits(schema, root, text, deciding, depth + 1));
	const s = known(schema, root);
	/** @param {Value | undefined} other @param {Value} [v] @param {boolean} [formats] */
	const also = (other, v = value, formats = deciding) => fits(other, root, v, formats, depth + 1);
	return (
		alone(s, value, deciding) &&
		combined(s, root, value, also) &&
		(isObject(value) ? ofMembers(s, root, value, also) : !Array.isArray(value) || ofItems(s, root, value, also))
	);
}

/**
 * @typedef {(schema: Value | undefined, value?: Value, formats?: boolean) => boolean} Also whether something is of a
 * schema too
 */

/** The keywords about a value by itself. @param {Schema} s @param {Value} value @param {boolean} deciding */
function alone(s, value, deciding) {
	if (Object.hasOwn(s, "const") && !sameValue(s["const"], value)) return false;
	if (Array.isArray(s["enum"]) && !s["enum"].some((v) => sameValue(v, value))) return false;
	const allowed = types(s);
	if (allowed.length > 0 && !allowed.some((t) => isOf(t, value))) return false;
	if (typeof value === "string") {
		const format = formats[String(s["format"])];
		return (
			within([...value].length, s["minLength"], s["maxLength"]) &&
			(s["pattern"] === undefined || finds(s["pattern"], value) !== false) &&
			(!deciding || !format || format.test(value))
		);
	}
	if (!isNumber(value)) return true;
	const n = Number(numberText(value));
	// In draft-04 exclusiveMinimum is true or false, and says how minimum is meant.
	const [above, below] = ["Minimum", "Maximum"].map((bound) =>
		s[`exclusive${bound}`] === true ? s[bound.toLowerCase()] : s[`exclusive${bound}`],
	);
	return (
		within(n, s["minimum"], s["maximum"]) &&
		n > (numberIn(above) ?? -Infinity) &&
		n < (numberIn(below) ?? Infinity) &&
		isMultiple(value, s["multipleOf"])
	);
}

/** @param {number} n @param {Value | undefined} least @param {Value | undefined} most */
function within(n, least, most) {
	return n >= (numberIn(least) ?? -Infinity) && n <= (numberIn(most) ?? Infinity);
}

/**
 * Whether a number is a multiple of another one, by their digits.
 * @param {number | import("../json.js").RawNumber} n @param {Value | undefined} of
 */
function isMultiple(n, of) {
	if (!isNumber(of)) return true;
	const [a, b] = [decimal(n), decimal(of)];
	if (Math.abs(a.exponent - b.exponent) > 400) return true;
	const least = Math.min(a.exponent, b.exponent);
	const [x = 0n, y = 0n] = [a, b].map(({ digits, exponent }) => digits * 10n ** BigInt(exponent - least));
	return y === 0n || x % y === 0n;
}

/**
 * The keywords that lead to further schemas of the same value.
 * @param {Schema} s @param {Value} root @param {Value} value @param {Also} also
 */
function combined(s, root, value, also) {
	if (!references(s).every((ref) => also(resolve(ref, root)))) return false;
	if (!listIn(s["allOf"]).every((x) => also(x))) return false;
	if (Array.isArray(s["anyOf"]) && !s["anyOf"].some((x) => also(x))) return false;
	if (Array.isArray(s["oneOf"])) {
		let fitting = s["oneOf"].filter((x) => also(x));
		// Where two fit, their formats decide.
		if (fitting.length > 1) fitting = fitting.filter((x) => also(x, value, true));
		if (fitting.length !== 1) return false;
	}
	if (s["not"] !== undefined && also(s["not"])) return false;
	if (s["if"] !== undefined && !also(also(s["if"]) ? s["then"] : s["else"])) return false;
	const { required, schemas } = dependents(s, value);
	return (
		schemas.every((x) => also(x)) && required.every((name) => isObject(value) && Object.hasOwn(value, String(name)))
	);
}

/** @param {Schema} s @param {Value} root @param {{[name: string]: Value}} value @param {Also} also */
function ofMembers(s, root, value, also) {
	const all = Object.entries(value);
	if (!listIn(s["required"]).every((name) => typeof name !== "string" || Object.hasOwn(value, name))) return false;
	if (!within(all.length, s["minProperties"], s["maxProperties"])) return false;
	if (!all.every(([name]) => also(s["propertyNames"], name))) return false;
	if (
		!all.every(([name, v]) => {
			const schemas = namedSchemas(s, name);
			return schemas.length > 0 ? schemas.every((x) => also(x, v)) : also(s["additionalProperties"], v);
		})
	)
		return false;
	const { unevaluatedProperties: rest, ...others } = s;
	if (rest === undefined) return true;
	const seen = covered(others, root, value, also);
	return all.every(([name, v]) => seen.has(name) || also(rest, v));
}

/** @param {Schema} s @param {Value} root @param {Value[]} value @param {Also} also */
function ofItems(s, root, value, also) {
	if (!within(value.length, s["minItems"], s["maxItems"])) return false;
	const looked = value.slice(0, most);
	if (s["uniqueItems"] === true && looked.some((v, i) => looked.slice(0, i).some((w) => sameValue(v, w))))
		return false;
	const { leading, items } = itemSchemas(s);
	if (!looked.every((v, i) => also(i < leading.length ? leading[i] : items, v))) return false;
	if (
		s["contains"] !== undefined &&
		!within(looked.filter((v) => also(s["contains"], v)).length, s["minContains"] ?? 1, s["maxContains"])
	)
		return false;
	const { unevaluatedItems: rest, ...others } = s;
	if (rest === undefined) return true;
	const seen = covered(others, root, value, also);
	return looked.every((v, i) => seen.has(String(i)) || also(rest, v));
}

/**
 * The names of members, or the places of items, that a schema says something about, also by the schemas that it leads
 * to.
 * @param {Schema} s @param {Value} root @param {{[name: string]: Value} | Value[]} value @param {Also} also
 * @param {number} [depth]
 * @returns {Set<string>}
 */
function covered(s, root, value, also, depth = 0) {
	const { leading, items } = itemSchemas(s);
	const rest = Array.isArray(value)
		? (items ?? s["unevaluatedItems"])
		: (s["additionalProperties"] ?? s["unevaluatedProperties"]);
	const seen = new Set(
		Object.entries(value)
			.filter(
				([name, v]) =>
					rest !== undefined ||
					(Array.isArray(value)
						? Number(name) < leading.length ||
							(Object.hasOwn(s, "prefixItems") && also(s["contains"] ?? false, v))
						: namedSchemas(s, name).length > 0),
			)
			.map(([name]) => name),
	);
	if (depth > deepest) return seen;
	const condition = s["if"] === undefined ? [] : also(s["if"]) ? [s["if"], s["then"]] : [s["else"]];
	const further = [
		...references(s).map((ref) => resolve(ref, root)),
		...listIn(s["allOf"]),
		...listIn(s["anyOf"]),
		...listIn(s["oneOf"]),
		...condition,
		...dependents(s, value).schemas,
	];
	for (const x of further)
		if (isObject(x) && also(x))
			for (const name of covered(known(x, root), root, value, also, depth + 1)) seen.add(name);
	return seen;
}

/** @param {string} type @param {Value} value */
function isOf(type, value) {
	switch (type) {
		case "object":
			return isObject(value);
		case "array":
			return Array.isArray(value);
		case "string":
			return typeof value === "string";
		case "number":
			return isNumber(value);
		case "integer":
			return isNumber(value) && Number.isInteger(Number(numberText(value)));
		case "boolean":
			return typeof value === "boolean";
		case "null":
			return value === null;
		default:
			return true;
	}
}
