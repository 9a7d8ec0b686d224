/**
 * Texts in several languages, such as {"lang:en": "Tea", "lang:de": "Tee"}, which a config has in place of a string
 * where the service has languages.
 * @module
 */
import { define, isObject } from "../json.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {{[name: string]: Value}} Texts */

const member = "lang:";
const languageTag = /^lang:[a-z]{2,8}(-[a-z0-9]{1,8})*$/i;

/**
 * The languages of the service, the base first, and the one that the person edits beside it. There are none in a
 * service without languages, and then no value is a text in several.
 */
export const spoken = { all: /** @type {string[]} */ ([]), now: "" };

/** Asks the service for its languages. @param {import("../api.js").Api} api @param {AbortSignal} [signal] */
export async function askLanguages(api, signal) {
	spoken.all = (await api.languages(signal)).languages;
	if (!spoken.all.includes(spoken.now)) spoken.now = spoken.all[0] ?? "";
}

/** The member of a text that has a language. @param {string} language */
export const memberOf = (language) => member + language;

/** What a language is called, or a member that has it. @param {string} language */
export function nameOf(language) {
	const tag = language.replace(member, "");
	return new Intl.DisplayNames(undefined, { type: "language" }).of(tag) ?? tag;
}

/** @param {Value | undefined} value @returns {value is Texts} */
export function isTexts(value) {
	if (spoken.all.length === 0 || !isObject(value)) return false;
	const members = Object.entries(value);
	return members.length > 0 && members.every(([name, text]) => languageTag.test(name) && typeof text === "string");
}

/**
 * The language in which a text is shown to who asks for one: that language, a more general one, the base, or the first
 * other one that it has.
 * @param {Texts} texts @param {string} language
 */
export function answered(texts, language) {
	const parts = language.split("-");
	const wanted = parts.map((_, i) => parts.slice(0, parts.length - i).join("-"));
	const all = Object.keys(texts).map((name) => name.slice(member.length));
	return [...wanted, ...spoken.all, ...all].find((tag) => all.includes(tag)) ?? "";
}

/**
 * A config as it is shown to who asks for a language.
 * @param {Value} value @param {string} language @returns {Value}
 */
export function inLanguage(value, language) {
	if (Array.isArray(value)) return value.map((item) => inLanguage(item, language));
	if (!isObject(value)) return value;
	if (isTexts(value)) return value[memberOf(answered(value, language))] ?? null;
	/** @type {Texts} */
	const made = {};
	for (const [name, part] of Object.entries(value)) define(made, name, inLanguage(part, language));
	return made;
}

/**
 * How many texts are shown in another language to who asks for one.
 * @param {Value} value @param {string} language @returns {number}
 */
export function missingIn(value, language) {
	if (isTexts(value)) return answered(value, language) === language ? 0 : 1;
	/** @type {Value[]} */
	const parts = Array.isArray(value) || isObject(value) ? Object.values(/** @type {Texts} */ (value)) : [];
	return parts.map((part) => missingIn(part, language)).reduce((a, b) => a + b, 0);
}

/**
 * A text with another string in a language; undefined is none. What has none in any language is undefined.
 * @param {Value | undefined} value a text, or the string that stands for all languages
 * @param {string} language @param {Value | undefined} text @returns {Value | undefined}
 */
export function translated(value, language, text) {
	const [base = ""] = spoken.all;
	const before = isTexts(value) ? value : value === undefined ? {} : { [memberOf(base)]: value };
	const made = { ...before, [memberOf(language)]: text };
	const tags = [...spoken.all.map(memberOf), ...Object.keys(made)];
	const given = [...new Set(tags)].filter((name) => made[name] !== undefined);
	return given.length === 0 ? undefined : Object.fromEntries(given.map((name) => [name, made[name] ?? ""]));
}
