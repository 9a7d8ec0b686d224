/**
 * JSON whose numbers keep their text. 1.10 and 9007199254740993 come in as values that JSON.stringify writes as they
 * were, so that what a person did not touch stays as it is.
 * @module
 */

/**
 * @typedef {{readonly rawJSON: string, readonly opaque?: () => void}} RawNumber a number whose text says more than a
 * JavaScript number can
 */
/** @typedef {null | boolean | number | string | RawNumber | ValueList | {[name: string]: Value}} Value */
/** @typedef {Value[]} ValueList */

const json = /** @type {any} */ (JSON);

/** @param {string} text @returns {Value} */
export function parse(text) {
	return json.parse(
		text,
		(/** @type {string} */ _, /** @type {any} */ value, /** @type {{source?: string}} */ context) =>
			typeof value === "number" && context?.source !== undefined && String(value) !== context.source
				? json.rawJSON(context.source)
				: value,
	);
}

/** @param {unknown} value @param {number} [indent] @returns {string} */
export function stringify(value, indent) {
	return JSON.stringify(value, null, indent);
}

/** What is said about a text that parse fails with. @param {unknown} e */
export function notJSON(e) {
	return `This is not JSON: ${/** @type {Error} */ (e).message}`;
}

/** @param {unknown} value @returns {value is RawNumber} */
function isRaw(value) {
	return json.isRawJSON(value);
}

/** @param {unknown} value @returns {value is {[name: string]: Value}} */
export function isObject(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value) && !isRaw(value);
}

/** @param {unknown} value @returns {value is number | RawNumber} */
export function isNumber(value) {
	return typeof value === "number" || isRaw(value);
}

/** The text of a number. @param {number | RawNumber} n */
export function numberText(n) {
	return isRaw(n) ? n.rawJSON : String(n);
}

/** A number of a text that is one in JSON, with its text. @param {string} text @returns {number | RawNumber} */
export function numberOf(text) {
	const n = Number(text);
	return String(n) === text ? n : json.rawJSON(text);
}

/**
 * The digits of a number and the power of ten that they are multiplied with. Equal numbers have the same: there is no
 * zero at the end.
 * @param {number | RawNumber} n
 * @returns {{digits: bigint, exponent: number}}
 */
export function decimal(n) {
	const [, whole = "", part = "", e = "0"] = /^(-?\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(numberText(n)) ?? [];
	const digits = `${whole}${part}`;
	const short = digits.replace(/0+$/, "");
	if (!/[1-9]/.test(short)) return { digits: 0n, exponent: 0 };
	return { digits: BigInt(short), exponent: Number(e) - part.length + digits.length - short.length };
}

/**
 * Reports whether two values are the same JSON. Numbers are compared by their text, the order of members does not
 * count.
 * @param {Value | undefined} a
 * @param {Value | undefined} b
 * @param {(a: number | RawNumber, b: number | RawNumber) => boolean} [numbers] compares numbers in another way
 * @returns {boolean}
 */
export function equal(a, b, numbers = (x, y) => numberText(x) === numberText(y)) {
	if (isNumber(a) && isNumber(b)) return numbers(a, b);
	if (a === b) return true;
	if (Array.isArray(a) && Array.isArray(b)) {
		return a.length === b.length && a.every((x, i) => equal(x, b[i], numbers));
	}
	if (!isObject(a) || !isObject(b)) return false;
	const names = Object.keys(a);
	return (
		names.length === Object.keys(b).length && names.every((n) => Object.hasOwn(b, n) && equal(a[n], b[n], numbers))
	);
}

/**
 * Reports whether two values are equal as JSON Schema has it: 1.0 is 1.
 * @param {Value | undefined} a @param {Value | undefined} b
 */
export function sameValue(a, b) {
	return equal(a, b, (x, y) => {
		const [m, n] = [decimal(x), decimal(y)];
		return m.digits === n.digits && m.exponent === n.exponent;
	});
}

/** @param {string} name */
export function escapePointer(name) {
	return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The names of a JSON pointer. @param {string} pointer */
export function names(pointer) {
	return pointer === ""
		? []
		: pointer
				.slice(1)
				.split("/")
				.map((n) => n.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * The value at a path, or undefined.
 * @param {Value | undefined} value
 * @param {readonly string[]} path
 * @returns {Value | undefined}
 */
export function at(value, path) {
	for (const name of path) {
		if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
		else if (isObject(value)) value = own(value, name);
		else return undefined;
	}
	return value;
}

/**
 * A copy of value with another one at a path; undefined takes the member away. What is not on the path is shared.
 * @param {Value | undefined} value
 * @param {readonly string[]} path
 * @param {Value | undefined} next
 * @returns {Value | undefined}
 */
export function withAt(value, path, next) {
	const [name, ...rest] = path;
	if (name === undefined) return next;
	if (Array.isArray(value)) {
		const list = value.slice();
		const made = withAt(list[Number(name)], rest, next);
		if (made === undefined) list.splice(Number(name), 1);
		else list[Number(name)] = made;
		return list;
	}
	/** @type {{[name: string]: Value}} */
	const copy = member(isObject(value) ? value : {});
	const made = withAt(own(copy, name), rest, next);
	if (made === undefined) delete copy[name];
	else define(copy, name, made);
	return copy;
}

/** A member of an object's own, or undefined. @param {{[name: string]: Value}} o @param {string} name */
export function own(o, name) {
	return Object.hasOwn(o, name) ? o[name] : undefined;
}

/** A copy of an object, whose members may have any name. @param {{[name: string]: Value}} o */
function member(o) {
	/** @type {{[name: string]: Value}} */
	const copy = {};
	for (const name of Object.keys(o)) define(copy, name, o[name]);
	return copy;
}

/**
 * Sets a member of its own, also one that is called __proto__.
 * @param {object} o @param {string} name @param {Value} value
 */
export function define(o, name, value) {
	Object.defineProperty(o, name, { value, writable: true, enumerable: true, configurable: true });
}
