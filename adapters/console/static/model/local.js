/**
 * What of a draft is saved, and what stays in this browser. The service judges each element. One that it refuses is
 * left as it is stored, so that all others can be saved. Whatever is not saved, for this or another reason, is kept in
 * localStorage by person and app, and comes back when the app is opened again.
 * @module
 */
import { ApiError } from "../api.js";
import { equal, parse, stringify } from "../json.js";
import { newKey, same, sameItem } from "./patch.js";

/** @typedef {import("./patch.js").Draft} Draft */
/** @typedef {import("./patch.js").Item} Item */
/**
 * How a draft differs from a stored version. Elements are named by their index in that version: one that is unchanged
 * is this number alone. One that is new has a key.
 * @typedef {{title?: string, groups?: string[], elements?: (number | {was?: number, key?: string,
 *   component: Item["component"], config: Item["config"]})[]}} Changes
 * @typedef {{version: string, changes: Changes, sent: Changes[]}} Kept what is not saved of a draft that began as a
 * version, and what was sent of it without an answer
 */

/** The elements that the service has refused. */
export class Refusals {
	/**
	 * @type {Map<string, {item: Item | undefined, error: ApiError}>} by the key of the element; without an item it is
	 * tried again
	 */
	#all = new Map();

	/** @param {Item} item @param {ApiError} error */
	add(item, error) {
		this.#all.set(item.key, { item, error });
	}

	/** Why an element was refused, as it is now or as it was a moment ago. @param {string} key */
	of(key) {
		return this.#all.get(key)?.error;
	}

	/** Whether the service has refused exactly this. @param {Item} item */
	has(item) {
		const refused = this.#all.get(item.key)?.item;
		return refused !== undefined && sameItem(refused, item);
	}

	/**
	 * The draft without what was refused: such an element is as it is stored, and is left out if it is new.
	 * @param {Draft} stored @param {Draft} draft @returns {Draft}
	 */
	savable(stored, draft) {
		if (this.#all.size === 0) return draft;
		return {
			...draft,
			elements: draft.elements.flatMap((e) =>
				this.has(e) ? (stored.elements.find((s) => s.key === e.key) ?? []) : e,
			),
		};
	}

	/**
	 * Forgets refusals of what is not in a draft any more, after everything else of the draft was stored.
	 * @param {Draft} draft
	 */
	settle(draft) {
		const refused = new Set(draft.elements.filter((e) => this.has(e)).map((e) => e.key));
		for (const key of this.#all.keys()) if (!refused.has(key)) this.#all.delete(key);
	}

	/** Has everything tried again with the next save. */
	again() {
		for (const refusal of this.#all.values()) refusal.item = undefined;
	}
}

/** How a draft differs from what is stored. @param {Draft} stored @param {Draft} draft @returns {Changes} */
export function changesOf(stored, draft) {
	/** @type {Changes} */
	const changes = {};
	if (stored.title !== draft.title) changes.title = draft.title;
	if (!equal(stored.groups, draft.groups)) changes.groups = draft.groups;
	if (!same({ ...draft, elements: stored.elements }, draft)) {
		const places = new Map(stored.elements.map((e, i) => [e.key, i]));
		changes.elements = draft.elements.map((e) => {
			const was = places.get(e.key);
			if (was === undefined) return { key: e.key, component: e.component, config: e.config };
			return sameItem(stored.elements[was], e) ? was : { was, component: e.component, config: e.config };
		});
	}
	return changes;
}

/** A stored draft with the changes of another one. @param {Draft} stored @param {Changes} changes @returns {Draft} */
export function withChanges(stored, { title = stored.title, groups = stored.groups, elements }) {
	return {
		title,
		groups,
		elements:
			elements?.flatMap((e) => {
				if (typeof e === "number") return stored.elements[e] ?? [];
				const { name, version } = e.component;
				return {
					key: stored.elements[e.was ?? -1]?.key ?? e.key ?? newKey(),
					component: { name, version },
					config: e.config,
				};
			}) ?? stored.elements,
	};
}

/** How long changes wait until they are written, in milliseconds. */
const pause = 500;
/** How long a tab that is being closed or reloaded may take to give up its lock on a busy machine, in milliseconds. */
const patience = 5000;

/** The browser's storage, if it may be used. */
function browserStorage() {
	try {
		return localStorage;
	} catch {
		return undefined;
	}
}

/**
 * The beginning of the names under which changes are kept.
 * @param {string[]} whose the address of the API, the person's URN, and the app's id if it is about one
 */
function nameOf(whose) {
	return `${["vitrine.draft", ...whose].map(encodeURIComponent).join(" ")} `;
}

/**
 * The names of all that is kept here for a person, or for one of their apps.
 * @param {string[]} whose as in nameOf @param {Storage} [storage]
 */
export function kept(whose, storage = browserStorage()) {
	return Object.keys(storage ?? {})
		.filter((name) => name.startsWith(nameOf(whose)))
		.sort();
}

/** Forgets all that is kept here for a person. @param {string[]} whose as in nameOf @param {Storage} [storage] */
export function forget(whose, storage = browserStorage()) {
	for (const name of kept(whose, storage)) storage?.removeItem(name);
}

/**
 * What an editor has not saved, in localStorage. Each open designer writes under a name of its own and holds the lock
 * of this name, so two tabs never write over each other. When an app is opened, what is there without a lock comes
 * back: a tab that was closed or reloaded has left it.
 */
export class LocalDraft {
	/** Whether the storage has taken the last that it was given. */
	works = true;
	#written = "";
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	#timer;

	/**
	 * @param {string[]} whose the address of the API, the person's URN, and the app's id
	 * @param {import("./editor.js").Editor} editor
	 * @param {AbortSignal} signal ends it
	 * @param {{storage?: Storage, locks?: LockManager}} [browser]
	 * @param {string} [trailed] the name of the draft whose steps the editor can undo
	 */
	constructor(whose, editor, signal, { storage = browserStorage(), locks = navigator.locks } = {}, trailed = "") {
		this.trailed = trailed;
		this.whose = whose;
		this.editor = editor;
		this.signal = signal;
		this.storage = storage;
		this.locks = locks;
		this.name = `${nameOf(whose)}${Date.now()} ${crypto.getRandomValues(new Uint32Array(1))[0]}`;
		editor.addEventListener("draft", () => (this.#timer ??= setTimeout(() => this.write(), pause)), { signal });
		editor.addEventListener(
			"state",
			() => {
				if (editor.state.kind !== "changed") this.write();
			},
			{ signal },
		);
		signal.addEventListener("abort", () => this.write());
		globalThis.addEventListener?.("pagehide", () => this.write(), { signal });
	}

	/** Writes what is not saved, or that nothing is. */
	write() {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const { kept } = this.editor;
		const text = kept ? stringify(/** @type {import("../json.js").Value} */ (/** @type {unknown} */ (kept))) : "";
		if (text === this.#written && this.works) return;
		const { works } = this;
		try {
			if (text === "") this.storage?.removeItem(this.name);
			else if (this.storage) this.storage.setItem(this.name, text);
			else throw new Error("there is no storage");
			this.#written = text;
			this.works = true;
		} catch {
			this.works = false;
		}
		if (works !== this.works) this.editor.dispatchEvent(new Event("state"));
	}

	/**
	 * Brings back what other tabs have left, the newest last. What cannot be brought back now stays where it is, and
	 * what never can is dropped.
	 */
	async restore() {
		const left = kept(this.whose, this.storage).map((name) => ({ name, mine: this.#hold(name) }));
		void this.#hold(this.name);
		for (const { name, mine } of left) {
			if (!(await mine) || this.editor.state.kind === "conflict") continue;
			const text = this.storage?.getItem(name);
			if (!text) continue;
			try {
				const left = /** @type {Kept} */ (/** @type {unknown} */ (parse(text)));
				if (!(await this.editor.bring(left, name === this.trailed))) continue;
			} catch (e) {
				// The version may be one of another store, and the text be broken or of another program.
				if (e instanceof ApiError && e.code !== "not_found") throw e;
				this.storage?.removeItem(name);
				continue;
			}
			this.storage?.removeItem(name); // first, since there may be no room for both
			this.write();
			if (!this.works) this.storage?.setItem(name, text);
		}
	}

	/** Takes a lock until this ends. @param {string} name @returns {Promise<boolean>} whether no other tab has it */
	#hold(name) {
		const { locks, signal } = this;
		if (!locks) return Promise.resolve(true);
		return new Promise((resolve) => {
			const waiting = new AbortController();
			setTimeout(() => waiting.abort(), patience);
			locks
				.request(name, { signal: waiting.signal }, () => {
					resolve(!signal.aborted);
					return signal.aborted ? undefined : new Promise((end) => signal.addEventListener("abort", end));
				})
				.catch(() => resolve(false));
		});
	}
}
