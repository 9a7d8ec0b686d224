/**
 * Three-way merge of drafts: what I changed and what somebody else changed since the same version, by element and
 * field.
 * @module
 */
import { define, equal, escapePointer, isObject, own } from "../json.js";
import { sameItem } from "./patch.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("./patch.js").Draft} Draft */
/** @typedef {import("./patch.js").Item} Item */

/**
 * Two changes of one place. The path is "title", "groups", or the key of an element with a JSON pointer into it;
 * undefined stands for what was taken away.
 * @typedef {{path: string, key?: string, base: Value | undefined, mine: Value | undefined, theirs: Value | undefined}}
 * Conflict
 */

/**
 * Merges two drafts that began as base. Where both changed one place, mine stands in the result, and it is in the list
 * of conflicts.
 * @param {Draft} base
 * @param {Draft} mine
 * @param {Draft} theirs
 * @returns {{draft: Draft, conflicts: Conflict[]}}
 */
export function merge(base, mine, theirs) {
	/** @type {Conflict[]} */
	const conflicts = [];
	const title = /** @type {string} */ (
		value(base.title, mine.title, theirs.title, (c) => conflicts.push({ ...c, path: "title" }))
	);
	const groups = set(base.groups, mine.groups, theirs.groups);
	const elements = items(base.elements, mine.elements, theirs.elements, conflicts);
	return { draft: { title, groups, elements }, conflicts };
}

/**
 * What both sets have become: mine, with what the others added and without what they took away.
 * @param {string[]} base @param {string[]} mine @param {string[]} theirs
 */
function set(base, mine, theirs) {
	const was = new Set(base);
	const added = theirs.filter((x) => !was.has(x) && !mine.includes(x));
	const merged = [...mine.filter((x) => theirs.includes(x) || !was.has(x)), ...added];
	return merged.length > 0 ? merged : mine;
}

/**
 * @param {Item[]} base @param {Item[]} mine @param {Item[]} theirs @param {Conflict[]} conflicts
 * @returns {Item[]}
 */
function items(base, mine, theirs, conflicts) {
	const was = byKey(base);
	const myOwn = byKey(mine);
	const their = byKey(theirs);
	/** @type {Map<string, Item>} */
	const kept = new Map();
	for (const item of [...mine, ...theirs]) {
		const { key } = item;
		if (kept.has(key)) continue;
		const b = was.get(key);
		const m = myOwn.get(key);
		const t = their.get(key);
		if (!b)
			kept.set(key, item); // new on one side
		else if (m && t) kept.set(key, one(b, m, t, conflicts));
		else if (m && !sameItem(b, m)) {
			// they took away what I changed
			conflicts.push({ path: key, key, base: whole(b), mine: whole(m), theirs: undefined });
			kept.set(key, m);
		} else if (t && !sameItem(b, t)) {
			// I took away what they changed
			conflicts.push({ path: key, key, base: whole(b), mine: undefined, theirs: whole(t) });
		}
	}
	const moved = !equal(common(base, mine), common(mine, base));
	const [leading, following] = moved ? [mine, theirs] : [theirs, mine];
	return order(leading, following, kept);
}

/** The keys of those in list that are in other too. @param {Item[]} list @param {Item[]} other */
function common(list, other) {
	const keys = new Set(other.map((e) => e.key));
	return list.map((e) => e.key).filter((k) => keys.has(k));
}

/**
 * Puts the kept ones in the order of one side; those that only the other side has stand after the one that they stand
 * after there.
 * @param {Item[]} leading @param {Item[]} following @param {Map<string, Item>} kept
 */
function order(leading, following, kept) {
	const keys = leading.map((e) => e.key).filter((k) => kept.has(k));
	following.forEach((e, i) => {
		if (!kept.has(e.key) || keys.includes(e.key)) return;
		let after = -1;
		for (let j = i - 1; j >= 0 && after < 0; j--) after = keys.indexOf(following[j].key);
		keys.splice(after + 1, 0, e.key);
	});
	return keys.map((k) => /** @type {Item} */ (kept.get(k)));
}

/** @param {Item} b @param {Item} m @param {Item} t @param {Conflict[]} conflicts @returns {Item} */
function one(b, m, t, conflicts) {
	const { key } = b;
	const component = /** @type {any} */ (
		undivided(b.component, m.component, t.component, (c) => conflicts.push({ ...c, path: `${key}/component`, key }))
	);
	const config = value(b.config, m.config, t.config, (c, path) =>
		conflicts.push({ ...c, path: `${key}/config${path}`, key }),
	);
	return { key, component, config: /** @type {Value} */ (config) };
}

/** @param {Item} item @returns {Value} */
function whole(item) {
	return { component: { ...item.component }, config: item.config };
}

/** @typedef {(conflict: Omit<Conflict, "path">, path: string) => void} Report */

/**
 * A value that is merged as a whole.
 * @param {any} base @param {any} mine @param {any} theirs @param {Report} report @param {string} [path]
 */
function undivided(base, mine, theirs, report, path = "") {
	if (equal(mine, theirs) || equal(base, theirs)) return mine;
	if (equal(base, mine)) return theirs;
	report({ base, mine, theirs }, path);
	return mine;
}

/**
 * @param {Value | undefined} base @param {Value | undefined} mine @param {Value | undefined} theirs
 * @param {Report} report @param {string} [path]
 * @returns {Value | undefined}
 */
export function value(base, mine, theirs, report, path = "") {
	if (isObject(mine) && isObject(theirs) && (isObject(base) || base === undefined)) {
		/** @type {{[name: string]: Value}} */
		const merged = {};
		const was = base ?? {};
		for (const name of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
			const made = value(
				own(was, name),
				own(mine, name),
				own(theirs, name),
				report,
				`${path}/${escapePointer(name)}`,
			);
			if (made !== undefined) define(merged, name, made);
		}
		return merged;
	}
	if (
		Array.isArray(base) &&
		Array.isArray(mine) &&
		Array.isArray(theirs) &&
		base.length === mine.length &&
		base.length === theirs.length
	) {
		return mine.map((x, i) => /** @type {Value} */ (value(base[i], x, theirs[i], report, `${path}/${i}`)));
	}
	return undivided(base, mine, theirs, report, path);
}

/** @param {Item[]} list */
function byKey(list) {
	return new Map(list.map((e) => [e.key, e]));
}
