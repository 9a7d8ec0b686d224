import assert from "node:assert/strict";
import { test } from "node:test";
import { numberText, parse } from "../static/json.js";
import { label, readNumber, shownNumber } from "../static/model/number.js";

/** What a text is read as, in JSON, or what it is not. */
const read = (text, language) => {
	const n = readNumber(text, language);
	return "value" in n ? numberText(n.value) : n.wrong;
};

test("a number is read by the rules of a language", () => {
	for (const [text, german, english] of [
		["19,99", "19.99", "19.99"],
		["19.99", "19.99", "19.99"],
		["1999", "1999", "1999"],
		["1.5", "1.5", "1.5"],
		["-1,5", "-1.5", "-1.5"],
		["+7", "7", "7"],
		["1.234", "a clear number", "1.234"],
		["1,234", "1.234", "a clear number"],
		["-12.345", "a clear number", "-12.345"],
		["1,234e2", "1.234e2", "a clear number"],
		["0.123", "0.123", "0.123"],
		["0,123", "0.123", "0.123"],
		["1234.567", "1234.567", "1234.567"],
		[",125", "0.125", "0.125"],
		[".125", "0.125", "0.125"],
		["1.234,5", "1234.5", "1234.5"],
		["1,234.5", "1234.5", "1234.5"],
		["1.234.567", "1234567", "1234567"],
		["1,234,567", "1234567", "1234567"],
		["1.234.567,891", "1234567.891", "1234567.891"],
		["1,234,567.891", "1234567.891", "1234567.891"],
		["1,234.567", "1234.567", "1234.567"],
		["1 234", "1234", "1234"],
		["1\u202f234,5", "1234.5", "1234.5"],
		["1\u00a0234\u00a0567.25", "1234567.25", "1234567.25"],
		["1'234.50", "1234.50", "1234.50"],
		["1’234", "1234", "1234"],
		["\u22125", "-5", "-5"],
		[" 7 ", "7", "7"],
		["007", "7", "7"],
		["7,", "7", "7"],
		["1e3", "1e3", "1e3"],
		["2,5E-3", "2.5E-3", "2.5E-3"],
		...[
			"",
			" ",
			"x",
			"1x",
			"1,2,3",
			"1.2.3",
			"12,34,567",
			"1.23,4",
			"1 23",
			"12 3456",
			"1  234",
			"1.234,",
			"1,234.",
			"1.234 567",
			"1 234.567.8",
			"1,234.567,8",
			"1'234 567",
			"--1",
			"1-2",
			"1e",
			"e3",
			",",
			".",
			"-",
			"1e2,5",
			"0x10",
			"Infinity",
			"NaN",
			"1_000",
			"€5",
			"5%",
			"1/2",
			"½",
			"²",
			"1.234.56",
			"0.123.456,",
			"1,.5",
		].map((wrong) => [wrong, "a number", "a number"]),
	]) {
		assert.equal(read(text, "de"), german, `${text} in German`);
		assert.equal(read(text, "en"), english, `${text} in English`);
	}
	assert.match(readNumber("1.234", "de").message, /1234 or 1,234\./);
	assert.match(readNumber("-1,234", "en").message, /-1234 or -1\.234\./);
	assert.match(readNumber("x", "de").message, /comma.*1234,5/);
	assert.match(readNumber("x", "en").message, /point.*1234\.5/);
});

// A sample of what CLDR has: other decimal signs, groups, minus signs and digits.
const languages = [
	"en",
	"en-IN",
	"en-ZA",
	"de",
	"de-AT",
	"de-CH",
	"fr",
	"fr-CH",
	"it",
	"it-CH",
	"es",
	"es-MX",
	"pt-BR",
	"pt-PT",
	"sv",
	"nb",
	"da",
	"fi",
	"pl",
	"cs",
	"ru",
	"uk",
	"lv",
	"hu",
	"tr",
	"el",
	"he",
	"ar",
	"ar-EG",
	"fa",
	"ur",
	"hi",
	"mr",
	"ne",
	"bn",
	"my",
	"dz",
	"th",
	"th-u-nu-thai",
	"zh",
	"zh-u-nu-hanidec",
	"ja",
	"ko",
	"ff-Adlm",
	"ks",
];

/** Numbers as JSON has them, by chance: short and long, with zeros at the end, with exponents. */
function* numbers(n) {
	let state = 1;
	const random = (below) => {
		state = (Math.imul(state, 1103515245) + 12345) >>> 0;
		return (state >>> 8) % below;
	};
	const digits = (length) => Array.from({ length }, () => random(10)).join("");
	yield* [
		"0",
		"-0",
		"1.10",
		"1.234",
		"12.345",
		"123.456",
		"1234",
		"1234.5",
		"1234567",
		"0.001",
		"-1.234",
		"1e21",
		"9007199254740993",
		"1.5E+10",
		"1234567.891",
	];
	for (let i = 0; i < n; i++) {
		const whole = random(3) === 0 ? "0" : `${1 + random(9)}${digits(random(9))}`;
		const decimals = random(2) === 0 ? `.${digits(1 + random(5))}` : "";
		const exponent = random(9) === 0 ? `e${random(20) - 9}` : "";
		yield `${random(3) === 0 ? "-" : ""}${whole}${decimals}${exponent}`;
	}
}

test("what a language shows is read back as the same number, in each language", () => {
	for (const language of languages) {
		for (const text of numbers(300)) {
			assert.equal(read(shownNumber(parse(text), language), language), text, `${text} in ${language}`);
		}
	}
});

test("what a language writes in its own way is never read as another number", () => {
	for (const language of languages) {
		let understood = 0;
		const formats = [true, false].map(
			(useGrouping) => new Intl.NumberFormat(language, { useGrouping, maximumFractionDigits: 20 }),
		);
		for (const text of numbers(300)) {
			const n = Number(text);
			for (const format of formats) {
				const written = format.format(n);
				const got = readNumber(written, language);
				if (!("value" in got)) continue;
				understood++;
				assert.equal(Number(numberText(got.value)), n, `${written} in ${language}`);
			}
		}
		// Digits that are no decimal digits, and grouping by other numbers, are refused.
		if (!/hanidec|Adlm/.test(language))
			assert.ok(understood > 300, `of what ${language} writes ${understood} numbers are understood`);
	}
});

test("all that is typed is the number that every reading of it gives, or refused", () => {
	const signs = ["", "1", "0", ".", ",", " ", "'"];
	const wholes = /^\d{1,3}(?<group>[., '])\d{3}(\k<group>\d{3})*$/;
	/** Each number that a text can be: groups in threes before a decimal sign, whatever the language. */
	const readings = (text) => {
		const found = new Set();
		for (let at = 0; at <= text.length; at++) {
			if (at < text.length && !".,".includes(text[at])) continue;
			const [whole, part] = [text.slice(0, at), text.slice(at + 1)];
			const group = wholes.exec(whole)?.groups.group;
			if (
				!/^\d*$/.test(part) ||
				(!/^\d*$/.test(whole) && (group === undefined || group === text[at])) ||
				!/\d/.test(text)
			)
				continue;
			// 0,111 has no group.
			if (group && whole.startsWith("0") && at === text.length && ".,".includes(group)) continue;
			found.add(Number(`${whole.replace(/\D/g, "") || "0"}.${part || "0"}`));
		}
		return found;
	};
	for (let i = 0; i < 7 ** 6; i++) {
		let text = "";
		for (let n = i, k = 0; k < 6; k++, n = Math.floor(n / 7)) text += signs[n % 7];
		const all = readings(text.trim());
		for (const language of ["de", "en"]) {
			const got = readNumber(text, language);
			const sign = language === "de" ? "," : ".";
			const n = "value" in got ? Number(numberText(got.value)) : undefined;
			if (n !== undefined) assert.ok(all.has(n), `${text} in ${language} is read as ${n}`);
			if (all.size > 1 && !(text.split(sign).length === 2))
				assert.equal(n, undefined, `${text} in ${language} can be ${[...all]}, and is read as ${n}`);
		}
	}
});

test("values in a line", () => {
	assert.deepEqual([label("x"), label(true), label(null), label([1.5])], ["x", "true", "null", "[1.5]"]);
	assert.equal(label(parse("1.10")), shownNumber(parse("1.10")));
});

test("what would be two numbers in two languages of a person is refused", (t) => {
	const { navigator } = globalThis;
	t.after(() => Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true }));
	for (const [language, text, want] of [
		["en", "1.234", "1.234"],
		["de", "1.234", "a clear number"],
		["de", "1,234", "a clear number"],
		["de", "19,99", "19.99"],
		["de", "1.234,5", "1234.5"],
		[undefined, "1.234", "1.234"],
	]) {
		Object.defineProperty(globalThis, "navigator", { value: language && { language }, configurable: true });
		assert.equal(read(text), want, `${text}, with ${language} beside the English of this computer`);
	}
});
