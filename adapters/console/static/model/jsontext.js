/**
 * JSON that a person has written: where its mistakes are, where its values stand, and the values of a file one after
 * the other.
 * @module
 */
import { escapePointer } from "../json.js";

/** @typedef {{at: number, message: string}} Mistake at is a place in the text, from 0 */
/**
 * @typedef {{text: string, at: number, line: number, column: number, mistake?: string}} Item a value of a file, and
 * where it begins: at in characters from 0, line and column from 1; mistake says why the file cannot be read on from
 * here
 */

const deepest = 64;
const word = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

/**
 * Finds the first mistake in the text of a value, and where the values in it begin.
 * @param {string} text
 * @returns {{places: Map<string, number>, mistake?: Mistake}} places by JSON pointer
 */
export function scan(text) {
	/** @type {Map<string, number>} */
	const places = new Map();
	let i = 0;
	/** @type {Mistake | undefined} */
	let mistake;

	/** @param {string} message @param {number} [at] @returns {never} */
	function fail(message, at = i) {
		mistake = i >= text.length ? { at: text.length, message: `It ends too early. ${message}` } : { at, message };
		throw mistake;
	}

	function space() {
		while (/[ \t\r\n]/.test(text[i] ?? "")) i++;
	}

	function string() {
		const begin = i;
		for (i++; text[i] !== '"'; i++) {
			const c = text[i] ?? "\n";
			if (c < " ") fail("The text that begins here has no closing quotation mark on its line.", begin);
			if (c !== "\\") continue;
			i++;
			if (text[i] === "u" && /^[0-9a-f]{4}$/i.test(text.slice(i + 1, i + 5))) i += 4;
			else if (!/["\\/bfnrt]/.test(text[i] ?? ""))
				fail(
					'A backslash stands before one of " \\ / b f n r t, or before u and four hexadecimal digits.',
					i - 1,
				);
		}
		i++;
		return /** @type {string} */ (JSON.parse(text.slice(begin, i)));
	}

	/** @param {string} end @param {() => void} one */
	function each(end, one) {
		i++;
		space();
		if (text[i] !== end) {
			for (;;) {
				one();
				space();
				if (text[i] === end) break;
				if (text[i] !== ",") fail(`Want a comma or ${end} here.`);
				const comma = i;
				i++;
				space();
				if (text[i] === end) fail(`Nothing follows this comma: want none before ${end}.`, comma);
			}
		}
		i++;
	}

	/** @param {string} pointer @param {number} depth */
	function value(pointer, depth) {
		space();
		places.set(pointer, i);
		if (depth > deepest) fail(`Lists and objects are nested more than ${deepest} deep.`);
		const c = text[i];
		if (c === "{") {
			const names = new Set();
			each("}", () => {
				const at = i;
				if (text[i] !== '"') fail("Want the name of a member in double quotation marks here.");
				const name = string();
				if (names.has(name)) fail(`The member ${JSON.stringify(name)} is there twice.`, at);
				names.add(name);
				space();
				if (text[i] !== ":") fail(`Want a colon after ${JSON.stringify(name)}.`);
				i++;
				value(`${pointer}/${escapePointer(name)}`, depth + 1);
			});
		} else if (c === "[") {
			let n = 0;
			each("]", () => value(`${pointer}/${n++}`, depth + 1));
		} else if (c === '"') string();
		else {
			word.lastIndex = i;
			const found = word.exec(text);
			if (!found)
				fail(
					c === "'"
						? "Texts stand in double quotation marks."
						: "Want a value here: a text in double quotation marks, a number, true, false, null, a list " +
								"or an object.",
				);
			i += found[0].length;
		}
	}

	try {
		value("", 0);
		space();
		if (i < text.length) fail("Nothing may follow the end of the value.");
	} catch (e) {
		if (e !== mistake) throw e;
	}
	return { places, mistake };
}

/** The line and the column of a place in an item. @param {Item} item @param {number} at */
export function placeOf(item, at) {
	const lines = item.text.slice(0, at).split("\n");
	const last = /** @type {string} */ (lines.at(-1));
	return {
		line: item.line + lines.length - 1,
		column: (lines.length === 1 ? item.column : 1) + [...last].length,
		at: item.at + at,
	};
}

/** No value that could be added is longer, in characters. */
const longest = 4 << 20;

/**
 * The values of a text: the items of a list, the lines of NDJSON, or values one after the other. Whether a value is
 * JSON is for scan to say.
 * @param {AsyncIterable<string> | Iterable<string>} pieces of the text
 * @returns {AsyncGenerator<Item>}
 */
export async function* items(pieces) {
	let buffer = "";
	let [at, line, column] = [0, 1, 1];
	/** @type {"" | "list" | "lines" | "values" | "done"} */
	let mode = "";
	// Where the search for the end of a value stands.
	let [seen, depth, quoted] = [0, 0, false];
	/** @type {boolean | undefined} whether a comma (false: an item) stands before, in a list */
	let comma;

	/** Takes so many characters from the buffer. @param {number} n */
	function take(n) {
		const taken = buffer.slice(0, n);
		const item = { text: taken, at, line, column };
		buffer = buffer.slice(n);
		at += n;
		const lines = taken.split("\n");
		line += lines.length - 1;
		column = (lines.length === 1 ? column : 1) + [.../** @type {string} */ (lines.at(-1))].length;
		[seen, depth, quoted] = [0, 0, false];
		return item;
	}

	/** The end of the value that the buffer begins with, or -1 if it is not there yet. */
	function end() {
		for (; seen < buffer.length; seen++) {
			const c = buffer.charCodeAt(seen);
			if (quoted) {
				if (c === 0x5c) seen++;
				else if (c === 0x22) quoted = false;
			} else if (c === 0x22) quoted = true;
			else if (c === 0x7b || c === 0x5b) depth++;
			else if (c === 0x7d || c === 0x5d) {
				depth--;
				if (depth <= 0) return depth < 0 && seen > 0 ? seen : seen + 1;
			} else if (depth === 0 && seen > 0 && (c === 0x2c || c <= 0x20)) return seen;
		}
		return -1;
	}

	/** @param {string} mistake */
	const broken = (mistake) => ({ text: "", at, line, column, mistake });

	/** The values that the buffer has whole. @param {boolean} last whether nothing follows */
	function* whole(last) {
		for (;;) {
			const spaces = buffer.length - buffer.replace(/^[\s\ufeff]+/, "").length;
			if (spaces > 0) take(spaces);
			if (buffer === "") break;
			if (mode === "") {
				const first = buffer.indexOf("\n");
				if (buffer[0] === "[") mode = "list";
				else if (first >= 0 || last || buffer.length > longest)
					mode = scan(first < 0 ? buffer : buffer.slice(0, first)).mistake ? "values" : "lines";
				else break;
				if (mode === "list") take(1);
				continue;
			}
			if (mode === "done") {
				yield broken("Nothing may follow the end of the list.");
				return true;
			}
			if (mode === "list" && comma !== true && buffer[0] === "]") {
				take(1);
				mode = "done";
				continue;
			}
			if (mode === "list" && comma === false && buffer[0] === ",") {
				take(1);
				comma = true;
				continue;
			}
			if (mode === "list" && (comma === false || buffer[0] === "]")) {
				yield broken(
					comma
						? "Want an item of the list here, or no comma before."
						: "Want a comma or ] here, between two items of the list.",
				);
				return true;
			}
			if (mode !== "list" && buffer[0] === ",") {
				yield broken("Want no comma here: between two assets there is one only where [ and ] are around them.");
				return true;
			}
			let n = mode === "lines" ? buffer.indexOf("\n") : end();
			if (n < 0 && last) n = buffer.length;
			if (n < 0 && buffer.length <= longest) break;
			if (n < 0 || n > longest) {
				yield {
					...broken(scan(buffer).mistake?.message ?? ""),
					mistake: "The value that begins here does not end, or is longer than 4 MiB.",
				};
				return true;
			}
			comma = false;
			const item = take(n);
			yield { ...item, text: item.text.trimEnd() };
		}
		if (last && mode === "list") yield broken("The list has no ] at its end.");
		return last;
	}

	for await (const piece of pieces) {
		buffer += piece;
		if (yield* whole(false)) return;
	}
	yield* whole(true);
}
