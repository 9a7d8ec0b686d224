/**
 * Patches of apps: what a person has changed, as operations that the service takes.
 * @module
 */
import { equal, escapePointer, isObject } from "../json.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../api.js").Operation} Operation */
/** @typedef {import("../api.js").App} App */
/** @typedef {import("../api.js").Ref} Ref */

/**
 * What can be edited of an app. Elements have a key that stays while they are edited and moved: that of the service, or
 * one of this page for an element that is not stored yet.
 * @typedef {{key: string, component: Ref, config: Value}} Item
 * @typedef {{title: string, groups: string[], elements: Item[]}} Draft
 */

let keys = 0;
const page = crypto.getRandomValues(new Uint32Array(2)).join("-");

/** A key that no element has, of this page or of another one. */
export function newKey() {
	keys++;
	return `${page}-${keys}`;
}

/**
 * The draft of an app as it is stored.
 * @param {App} app @param {Map<string, string>} [keys] other keys than the service's, by these @returns {Draft}
 */
export function draftOf(app, keys) {
	return {
		title: app.title,
		groups: app.groups,
		elements: app.elements.map(({ key, component: { name, version }, config }) => ({
			key: keys?.get(key) ?? key,
			component: { name, version },
			config,
		})),
	};
}

/** Whether two drafts would be stored alike. @param {Draft} a @param {Draft} b */
export function same(a, b) {
	return (
		a.title === b.title &&
		equal(a.groups, b.groups) &&
		a.elements.length === b.elements.length &&
		a.elements.every((e, i) => sameItem(e, b.elements[i]))
	);
}

/** @param {Item} a @param {Item} b */
export function sameItem(a, b) {
	return (
		a === b ||
		(a.key === b.key &&
			a.component.name === b.component.name &&
			a.component.version === b.component.version &&
			equal(a.config, b.config))
	);
}

/** How many operations the service takes at once. With more than that to say, the elements are replaced as a whole. */
const most = 1000;

/**
 * The operations that make one draft of the other, beginning with the version test; nothing but the test if they are
 * alike. Each change is one operation at the place where it is.
 * @param {Draft} from as it is stored
 * @param {Draft} to
 * @param {string} version of the stored app
 * @returns {Operation[]}
 */
export function patchOf(from, to, version) {
	/** @type {Operation[]} */
	const operations = [{ op: "test", path: "/apps/0/version", value: version }];
	if (from.title !== to.title) operations.push({ op: "replace", path: "/apps/0/title", value: to.title });
	if (!equal(from.groups, to.groups)) operations.push({ op: "replace", path: "/apps/0/groups", value: to.groups });
	const about = operations.slice();
	const wanted = new Set(to.elements.map((e) => e.key));
	const now = from.elements.slice();
	for (let i = now.length - 1; i >= 0; i--) {
		if (wanted.has(now[i].key)) continue;
		operations.push({ op: "remove", path: `/apps/0/elements/${i}` });
		now.splice(i, 1);
	}
	arrange(now, to.elements, operations);
	const before = new Map(from.elements.map((e) => [e.key, e]));
	to.elements.forEach((e, i) => {
		const was = before.get(e.key);
		if (!was) return;
		const path = `/apps/0/elements/${i}`;
		if (was.component.name !== e.component.name)
			operations.push({ op: "replace", path: `${path}/component/name`, value: e.component.name });
		if (was.component.version !== e.component.version)
			operations.push({ op: "replace", path: `${path}/component/version`, value: e.component.version });
		compare(was.config, e.config, `${path}/config`, operations);
	});
	if (operations.length <= most) return operations;
	return [
		...about,
		{
			op: "replace",
			path: "/apps/0/elements",
			value: to.elements.map(({ component, config }) => ({ component: { ...component }, config })),
		},
	];
}

/**
 * Moves and adds elements until they stand as wanted. The longest sequence that is in order already stays; each of the
 * others goes behind the one that it shall stand behind.
 * @param {Item[]} now what stands where; it is changed
 * @param {Item[]} wanted
 * @param {Operation[]} operations
 */
function arrange(now, wanted, operations) {
	const place = new Map(wanted.map((e, i) => [e.key, i]));
	const stay = new Set(longestRise(now.map((e) => /** @type {number} */ (place.get(e.key)))).map((i) => now[i].key));
	let previous = "";
	for (const e of wanted) {
		if (!stay.has(e.key)) {
			const j = now.findIndex((x) => x.key === e.key);
			if (j >= 0) now.splice(j, 1);
			const i = now.findIndex((x) => x.key === previous) + 1;
			now.splice(i, 0, e);
			if (j < 0)
				operations.push({
					op: "add",
					path: `/apps/0/elements/${i}`,
					value: { component: { ...e.component }, config: e.config },
				});
			else if (i !== j)
				operations.push({ op: "move", from: `/apps/0/elements/${j}`, path: `/apps/0/elements/${i}` });
		}
		previous = e.key;
	}
}

/** The indices of a longest rising subsequence. @param {number[]} list @returns {number[]} */
export function longestRise(list) {
	/** @type {number[]} */
	const tails = [];
	/** @type {number[]} */
	const before = [];
	list.forEach((x, i) => {
		let low = 0;
		let high = tails.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (list[tails[middle]] < x) low = middle + 1;
			else high = middle;
		}
		before[i] = low > 0 ? tails[low - 1] : -1;
		tails[low] = i;
	});
	/** @type {number[]} */
	const rise = [];
	for (let i = tails.at(-1) ?? -1; i >= 0; i = before[i]) rise.push(i);
	return rise.reverse();
}

/**
 * Adds the operations that make one value of another: objects member by member, lists of the same length item by item,
 * all else as a whole.
 * @param {Value} from @param {Value} to @param {string} path @param {Operation[]} operations
 */
export function compare(from, to, path, operations) {
	if (equal(from, to)) return;
	if (isObject(from) && isObject(to)) {
		for (const name of Object.keys(from)) {
			if (!Object.hasOwn(to, name)) operations.push({ op: "remove", path: `${path}/${escapePointer(name)}` });
		}
		for (const name of Object.keys(to)) {
			const below = `${path}/${escapePointer(name)}`;
			const value = to[name];
			if (Object.hasOwn(from, name)) compare(from[name], value, below, operations);
			else operations.push({ op: "add", path: below, value });
		}
		return;
	}
	if (Array.isArray(from) && Array.isArray(to) && from.length === to.length && from.length > 0) {
		from.forEach((x, i) => compare(x, to[i], `${path}/${i}`, operations));
		return;
	}
	operations.push({ op: "replace", path, value: to });
}
