/**
 * What components, people and groups are called: people by the names that the service knows, groups by the part of
 * their URNs that tells them apart. Names are asked for once, many together.
 * @module
 */

/** @typedef {import("../api.js").Api} Api */
/** @typedef {import("../api.js").Person} Person */

/** What a text has that can be seen: not only spaces, marks and characters that direct the text. */
export const seen = /[^\p{C}\p{M}\p{Z}]/u;

/** What a component is called. @param {{name: string, title?: unknown}} component */
export function titleOf(component) {
	const { title } = component;
	return typeof title === "string" && seen.test(title) ? title : component.name;
}

/** Dispatches "change" when something is called otherwise than before. */
export const changes = new EventTarget();

/** @type {Map<string, string>} what the service calls people, by URN; "" if it knows no name */
const people = new Map();

/** @type {Map<string, Promise<void>>} names that are asked for */
const asked = new Map();

/** @type {Map<string, Set<string>>} groups that were shown, by their shortest names */
const groups = new Map();

/** @type {Api | undefined} */
let api;

/** So many names are asked for at once. */
const most = 100;

/** Says where names are asked for from now on. @param {Api} from */
export function begin(from) {
	api = from;
	people.clear();
	asked.clear();
}

/** The last part of a URN. @param {string} urn */
function shortURN(urn) {
	const parts = urn.split(":");
	const last = parts.at(-1) ?? urn;
	return parts.length > 3 ? last.replace(/^(user|site)=/, "") : last;
}

/** What somebody is called, as far as it is known by now. @param {string} urn */
export function nameOf(urn) {
	return people.get(urn) || shortURN(urn);
}

/** The first letters of a name. @param {string} name */
export function initials(name) {
	const words = name.match(/[\p{L}\p{N}]+/gu) ?? ["?"];
	return [words[0], words.length > 1 ? words.at(-1) : ""]
		.map((word) => [...(word ?? "")][0] ?? "")
		.join("")
		.toUpperCase();
}

/** Takes names that are known now. @param {Pick<Person, "urn" | "name">[]} list */
export function learn(list) {
	let changed = false;
	for (const { urn, name } of list) {
		changed ||= (people.get(urn) ?? "") !== name;
		people.set(urn, name);
	}
	if (changed) changes.dispatchEvent(new Event("change"));
}

/** @type {Promise<void> | undefined} the next request for names */
let next;

/**
 * Asks for the names that are not known yet. It never fails: who has no name is called by their URN.
 * @param {string[]} urns @returns {Promise<unknown>}
 */
export function askFor(urns) {
	for (const urn of urns) {
		if (!api || people.has(urn) || asked.has(urn) || !/^urn:[^:]+:[^:]+:user=./.test(urn)) continue;
		next ??= new Promise((resolve) => setTimeout(resolve, 10)).then(send);
		asked.set(urn, next);
	}
	return Promise.all(urns.map((urn) => asked.get(urn)));
}

async function send() {
	next = undefined;
	const wanted = [...asked.keys()].filter((urn) => !people.has(urn));
	for (const urn of wanted) people.set(urn, "");
	for (let i = 0; i < wanted.length; i += most) {
		try {
			learn(await /** @type {Api} */ (api).names(wanted.slice(i, i + most)));
		} catch (e) {
			// Without accounts there are no names, and nothing is asked again; a failure that passes is tried again
			// later.
			const { passing, status } = /** @type {import("../api.js").ApiError} */ (e);
			if (passing || status === 401) {
				for (const urn of wanted.slice(i)) (people.delete(urn), asked.delete(urn));
			}
			return;
		}
	}
}

/** The shortest name of a group that no other group has that is shown. @param {string} urn */
export function groupName(urn) {
	const short = shortURN(urn);
	const alike = groups.get(short) ?? new Set();
	groups.set(short, alike);
	if (!alike.has(urn)) {
		alike.add(urn);
		if (alike.size === 2) setTimeout(() => changes.dispatchEvent(new Event("change")));
	}
	if (alike.size === 1) return short;
	const longer = (/** @type {string} */ text) => `${short} (${text.split(":").at(-2)})`;
	return [...alike].filter((other) => longer(other) === longer(urn)).length === 1 ? longer(urn) : urn;
}

/** @type {{at: number, list: Promise<Person[]>} | undefined} */
let all;

/**
 * Everybody whom the caller may list, for choosing; nobody where there are no accounts.
 * @returns {Promise<Person[]>}
 */
export function everybody() {
	if (!all || Date.now() - all.at > 30_000) all = { at: Date.now(), list: load().catch(() => []) };
	return all.list;
}

/** Forgets who there is, after it was changed. */
export function forget() {
	all = undefined;
}

async function load() {
	/** @type {Person[]} */
	const list = [];
	/** @type {string | undefined} */
	let after;
	do {
		/** @type {{people: Person[], next: string | undefined} | undefined} */
		const page = await api?.people({ after });
		list.push(...(page?.people ?? []));
		after = page?.next;
	} while (after !== undefined && list.length < 5000);
	learn(list);
	return list;
}
