/**
 * Numbers as people write them. A number is shown with the decimal sign of the person's language and without groups. In
 * what is typed both comma and point can be the decimal sign, and the other one, blanks or apostrophes may group the
 * digits before it in threes.
 *
 * A text that could be two numbers is refused, so that no number becomes another one. That is a single comma or point
 * before exactly three digits, unless it is the decimal sign of the language or zero stands before it: 1.234 in German,
 * and 1,234 in English. If the browser speaks one language and asks for pages in another one, it must be the decimal
 * sign of both.
 * @module
 */
import { isNumber, numberOf, numberText } from "../json.js";

/** @typedef {import("../json.js").RawNumber} RawNumber */

/**
 * @typedef {{wrong: "a number" | "a clear number", message: string}} Unread what a text is not, and what would be right
 */

/** @type {Map<string | undefined, {sign: "," | ".", digits: string[]}>} */
const known = new Map();

/**
 * The decimal sign of a language, a comma or a point, and its digits.
 * @param {string} [language] by default that of the browser
 */
function signsOf(language) {
	const parts = () => new Intl.NumberFormat(language, { numberingSystem: "latn" }).formatToParts(1.5);
	const signs = known.get(language) ?? {
		sign: parts().find((part) => part.type === "decimal")?.value === "," ? "," : ".",
		digits: [...new Intl.NumberFormat(language, { useGrouping: false }).format(9876543210n)].reverse(),
	};
	known.set(language, signs);
	return signs;
}

/**
 * A number in a language. Its digits are those of its text.
 * @param {number | RawNumber} n @param {string} [language]
 */
export function shownNumber(n, language) {
	return numberText(n).replace(".", signsOf(language).sign);
}

/**
 * A value in a line: a number in the person's language, a text as it is, and anything else as JSON.
 * @param {import("../json.js").Value} v
 */
export function label(v) {
	return isNumber(v) ? shownNumber(v) : typeof v === "string" ? v : JSON.stringify(v);
}

/**
 * A text with the digits, signs and blanks that readNumber knows, for those of a language.
 * @param {string} text @param {string} [language]
 */
function plain(text, language) {
	const { digits } = signsOf(language);
	return [...text.trim()]
		.map((c) => (digits.includes(c) ? String(digits.indexOf(c)) : c))
		.join("")
		.replace(/[\u200e\u200f\u061c]/g, "")
		.replace(/[\u2212\uff0d]/g, "-")
		.replace(/[\u2019\u02bc]/g, "'")
		.replace(/[\u00a0\u2007\u2009\u202f]/g, " ");
}

/**
 * The number that a text is, with the digits that were typed.
 * @param {string} text @param {string} [language]
 * @returns {{value: number | RawNumber} | Unread}
 */
export function readNumber(text, language) {
	const [, minus = "", mantissa = "", exponent = ""] =
		/^([-+]?)([\d.,' \u066b\u066c]+)(e[-+]?\d+)?$/i.exec(plain(text, language)) ?? [];
	const separators = mantissa.replace(/\d/g, "");
	const last = separators.at(-1) ?? "";
	// The last separator is the decimal sign if it can be one and is there once. All others are of one kind.
	const decimal = /[.,\u066b]/.test(last) && separators.indexOf(last) === separators.length - 1;
	const at = decimal ? mantissa.lastIndexOf(last) : mantissa.length;
	const [whole, part] = [mantissa.slice(0, at), mantissa.slice(at + 1)];
	const grouped = /^\d{1,3}([.,' \u066c])\d{3}(?:\1\d{3})*$/.test(whole);
	const { sign } = signsOf(language);
	if (!/\d/.test(mantissa) || (!/^\d*$/.test(whole) && !grouped) || (grouped && decimal && part === "")) {
		return {
			wrong: "a number",
			message:
				`This is not a number. Write digits alone, or with one ${sign === "," ? "comma" : "point"} ` +
				`before the decimals, such as 1234${sign}5.`,
		};
	}
	const digits = whole.replace(/\D/g, "").replace(/^0+(?=\d)/, "") || "0";
	const signs = language === undefined ? [sign, signsOf(globalThis.navigator?.language).sign] : [sign];
	const groups = part.length === 3 && /^[1-9]\d{0,2}$/.test(whole); // or decimals
	if (separators === last && /[.,]/.test(last) && signs.some((s) => s !== last) && groups) {
		const [one, other] = [`${digits}${part}${exponent}`, `${digits}${sign}${part}${exponent}`].map((n) =>
			minus === "-" ? `-${n}` : n,
		);
		return {
			wrong: "a clear number",
			message: `This can mean ${one} or ${other}. Write the one that you mean in this way.`,
		};
	}
	return { value: numberOf(`${minus === "-" ? "-" : ""}${digits}${part && `.${part}`}${exponent}`) };
}
