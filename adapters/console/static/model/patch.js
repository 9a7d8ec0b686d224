/**
 * Patches of apps: what a person has changed, as operations that the service takes.
 * @module
 */
import { at, equal, escapePointer, isObject, names, withAt } from "../json.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../api.js").Operation} Operation */
/** @typedef {import("../api.js").App} App */
/** @typedef {import("../api.js").Ref} Ref */

/**
 * What can be edited of an app. Elements have a key that stays while they move; the service only knows their index.
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

/** The draft of an app as it is stored. @param {App} app @returns {Draft} */
export function draftOf(app) {
	return { title: app.title, groups: app.groups, elements: app.elements.map((e) => ({ key: newKey(), component: refOf(e.component), config: e.config })) };
}

/** The draft of an app whose elements are those of another draft in order, as after saving it. @param {App} app @param {Draft} saved @returns {Draft} */
export function draftLike(app, saved) {
	const draft = draftOf(app);
	return { ...draft, elements: draft.elements.map((e, i) => ({ ...e, key: saved.elements[i]?.key ?? e.key })) };
}

/** @param {Ref} component @returns {Ref} */
function refOf(component) {
	return { name: component.name, version: component.version };
}

/** Whether two drafts would be stored alike. @param {Draft} a @param {Draft} b */
export function same(a, b) {
	return a.title === b.title && equal(a.groups, b.groups) && a.elements.length === b.elements.length &&
		a.elements.every((e, i) => sameItem(e, b.elements[i]));
}

/** @param {Item} a @param {Item} b */
export function sameItem(a, b) {
	return a === b || a.key === b.key && a.component.name === b.component.name && a.component.version === b.component.version && equal(a.config, b.config);
}

/** How many operations the service takes at once. With more than that to say, the elements are replaced as a whole. */
const most = 1000;

/**
 * The operations that make one draft of the other, beginning with the version test; nothing but the test if they are alike.
 * Each change is one operation at the place where it is.
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
		if (was.component.name !== e.component.name) operations.push({ op: "replace", path: `${path}/component/name`, value: e.component.name });
		if (was.component.version !== e.component.version) operations.push({ op: "replace", path: `${path}/component/version`, value: e.component.version });
		compare(was.config, e.config, `${path}/config`, operations);
	});
	if (operations.length <= most) return operations;
	return [...about, { op: "replace", path: "/apps/0/elements", value: to.elements.map(({ component, config }) => ({ component: { ...component }, config })) }];
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
			if (j < 0) operations.push({ op: "add", path: `/apps/0/elements/${i}`, value: { component: { ...e.component }, config: e.config } });
			else if (i !== j) operations.push({ op: "move", from: `/apps/0/elements/${j}`, path: `/apps/0/elements/${i}` });
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

/**
 * A draft after the operations that the service names between two versions. Elements keep their keys.
 * @param {Draft} draft
 * @param {Operation[]} operations
 * @returns {Draft}
 */
export function follow(draft, operations) {
	/** @type {any} */
	let now = draft;
	for (const o of operations) {
		if (o.op === "test") continue;
		const path = names(o.path).slice(2);
		/** @type {Item[]} */
		const before = now.elements;
		now = edit(now, path, o);
		if (path[0] !== "elements" || path.length > 2) continue;
		if (o.op === "copy") now = withAt(now, [...path, "key"], newKey());
		// An element that came with the operation is the one whose place it takes, if it has the same component.
		now = { ...now, elements: keyed(now.elements, (e, i) => path.length === 1 ? draft.elements[Number(e.id ?? -1)]
			: o.op === "replace" && before[i]?.component.name === e.component.name ? before[i] : undefined) };
	}
	const { title, groups, elements } = now;
	return { title, groups, elements };
}

/**
 * Elements with a key each.
 * @param {any[]} list
 * @param {(element: any, index: number) => Item | undefined} same the element that one without a key is
 * @returns {Item[]}
 */
function keyed(list, same) {
	return list.map((e, i) => ({ key: e.key ?? same(e, i)?.key ?? newKey(), component: refOf(e.component), config: e.config }));
}

/** @param {{[name: string]: Value}} value @param {string[]} path @param {Operation} o @returns {{[name: string]: Value}} */
function edit(value, path, o) {
	const parent = path.slice(0, -1);
	if (o.op === "remove") return /** @type {any} */ (withAt(value, path, undefined));
	const from = "from" in o ? names(o.from).slice(names(o.path).length - path.length) : [];
	const given = /** @type {Value} */ ("value" in o ? o.value : at(value, from));
	if (o.op === "move") value = /** @type {any} */ (withAt(value, from, undefined));
	const list = at(value, parent);
	if (o.op === "replace" || !Array.isArray(list)) return /** @type {any} */ (withAt(value, path, given));
	const index = /** @type {string} */ (path.at(-1));
	return /** @type {any} */ (withAt(value, parent, list.toSpliced(index === "-" ? list.length : Number(index), 0, given)));
}
