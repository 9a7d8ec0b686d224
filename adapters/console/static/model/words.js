/**
 * The difference of two texts by words.
 * @module
 */
import { longestRise } from "./patch.js";

/** @typedef {{kind: "same" | "added" | "removed", text: string}} Piece */

/** Texts of more words than this are shown whole. */
const most = 2000;

/** @param {string} from @param {string} to @returns {Piece[]} */
export function words(from, to) {
	const a = split(from);
	const b = split(to);
	let begin = 0;
	while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin++;
	let end = 0;
	while (end < a.length - begin && end < b.length - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
	const left = a.slice(begin, a.length - end);
	const right = b.slice(begin, b.length - end);
	/** @type {Piece[]} */
	const pieces = [];
	/** @param {Piece["kind"]} kind @param {string[]} list */
	const push = (kind, list) => {
		if (list.length === 0) return;
		const last = pieces.at(-1);
		if (last?.kind === kind) last.text += list.join("");
		else pieces.push({ kind, text: list.join("") });
	};
	push("same", a.slice(0, begin));
	let i = 0;
	let j = 0;
	for (const [x, y] of left.length + right.length > most ? [] : common(left, right)) {
		push("removed", left.slice(i, x));
		push("added", right.slice(j, y));
		push("same", [left[x]]);
		i = x + 1;
		j = y + 1;
	}
	push("removed", left.slice(i));
	push("added", right.slice(j));
	push("same", a.slice(a.length - end));
	return pieces;
}

/** Words, and what is between them. @param {string} text */
function split(text) {
	return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/**
 * The places of a longest common subsequence: each word's places on the right in falling order make it a longest rise.
 * @param {string[]} left @param {string[]} right @returns {[number, number][]}
 */
function common(left, right) {
	/** @type {Map<string, number[]>} */
	const places = new Map();
	right.forEach((w, j) => places.set(w, [j, ...(places.get(w) ?? [])]));
	/** @type {[number, number][]} */
	const pairs = left.flatMap((w, i) => (places.get(w) ?? []).map((j) => /** @type {[number, number]} */ ([i, j])));
	return longestRise(pairs.map(([, j]) => j)).map((k) => /** @type {[number, number]} */ (pairs[k]));
}
