/**
 * What the elements of an app are called, and what its history says of them: by the titles of their components and the
 * labels of their fields. A history has operations without values, so it is read from a version that is known to those
 * around it.
 * @module
 */
import { names } from "../json.js";
import { titleOf } from "./names.js";
import { fieldAt } from "./schema.js";

/** @typedef {import("../api.js").Manifest} Manifest */
/** @typedef {{component: Manifest, config?: import("../json.js").Value}} Known */
/** @typedef {(Known | undefined)[] | undefined} Elements of a version, as far as they are known */
/** @typedef {{op: string, path: string, from?: string}} Change */
/**
 * @typedef {{parts: (string | {name: string})[], known: boolean}} Phrase words and names; known says whether the
 * element of it is
 */

/**
 * What an element is called: by its component, and by its number if several are called so.
 * @param {(Known | undefined)[]} elements @param {number} i
 */
export function elementName(elements, i) {
	const titles = elements.map((e) => e && titleOf(e.component));
	const title = titles[i];
	if (title === undefined || titles.indexOf(title) === titles.lastIndexOf(title)) return title;
	return `${title} ${titles.slice(0, i + 1).filter((t) => t === title).length}`;
}

const verbs = /** @type {Record<string, string>} */ ({
	add: "added",
	copy: "added",
	remove: "removed",
	replace: "changed",
	move: "moved",
});

/**
 * What an entry of a history says.
 * @param {Change[]} changes
 * @param {Elements} before
 * @param {Elements} after
 * @returns {{said: Phrase[], before: Elements}} with the elements before, as far as those after tell
 */
export function read(changes, before, after) {
	const back = [after];
	for (const c of changes.toReversed()) back.unshift(step(back[0], inverse(c)));
	const forth = [before];
	for (const c of changes) forth.push(step(forth.at(-1), c));
	const said = changes.map((c, k) => {
		const path = names(c.path).slice(2);
		const at = c.op === "remove" && path.length === 2 ? k : k + 1;
		return phrase(c.op, path, back[at]?.map((e, i) => e ?? forth[at]?.[i]) ?? forth[at] ?? []);
	});
	return { said, before: back[0] };
}

/**
 * What each of the entries of a history says.
 * @param {import("../api.js").Entry[]} entries the newest first
 * @param {Map<string, Elements>} known the elements of some versions
 */
export function readAll(entries, known) {
	/** @type {Map<string, Phrase[]>} */
	const all = new Map();
	/** @type {Elements} */
	let after;
	for (const e of entries) {
		after = known.get(e.version) ?? after;
		const { said, before } = read(
			e.changes,
			known.get(String(Number(e.version) - 1)),
			e.changesTruncated ? undefined : after,
		);
		all.set(e.version, said);
		after = before;
	}
	return all;
}

/** @param {string} op @param {string[]} path @param {(Known | undefined)[]} elements @returns {Phrase} */
function phrase(op, [member = "", index, part, ...path], elements) {
	const verb = verbs[op] ?? op;
	if (index === undefined || member !== "elements") return { parts: [`changed the ${member}`], known: true };
	const element = elements[Number(index)];
	const name = elementName(elements, Number(index));
	const known = name !== undefined;
	const whose = known ? { name } : "an element";
	if (part === undefined) return { parts: [`${verb} `, whose], known };
	if (part !== "config" || path.length === 0)
		return {
			parts: [
				part === "config"
					? "changed the content of "
					: path[0] === "version"
						? "changed the version of "
						: "changed the component of ",
				whose,
			],
			known,
		};
	const labels = element ? fieldAt(element.component.configSchema, element.config, path).labels : path;
	return {
		parts: [
			`${verb} `,
			...labels.flatMap((label, i) => (i === 0 ? [{ name: label }] : [" › ", { name: label }])),
			" of ",
			whose,
		],
		known,
	};
}

/**
 * The elements after a change, of which a new value is not known.
 * @param {Elements} elements @param {Change} c @returns {Elements}
 */
function step(elements, { op, path, from = "" }) {
	const [, , member, index, part] = names(path);
	if (!elements || member !== "elements") return elements;
	if (index === undefined) return undefined;
	const i = Number(index);
	if (part !== undefined) return part === "component" ? elements.map((e, j) => (j === i ? undefined : e)) : elements;
	if (op === "replace") return elements.map((e, j) => (j === i ? undefined : e));
	if (op === "remove") return elements.toSpliced(i, 1);
	if (op !== "move") return elements.toSpliced(i, 0, undefined);
	const j = Number(names(from)[3]);
	return elements.toSpliced(j, 1).toSpliced(i, 0, elements[j]);
}

/** @param {Change} c @returns {Change} */
function inverse({ op, path, from }) {
	if (op === "move") return { op, path: from ?? path, from: path };
	return { op: op === "remove" ? "add" : op === "replace" ? op : "remove", path };
}
