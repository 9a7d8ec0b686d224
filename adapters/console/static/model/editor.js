/**
 * An app that is being edited: the draft, what is saved of it, and how the two come together. Changes are saved half a
 * second after the last one, as small patches with a version test, one at a time. An element that the service refuses
 * is left out, until it is another one.
 * @module
 */
import { ApiError } from "../api.js";
import { names, withAt } from "../json.js";
import { Refusals, changesOf, withChanges } from "./local.js";
import { merge } from "./merge.js";
import { draftOf, patchOf, same, sameItem } from "./patch.js";

/** @typedef {import("../api.js").App} App */
/** @typedef {import("./patch.js").Draft} Draft */
/** @typedef {import("./merge.js").Conflict} Conflict */
/**
 * @typedef {{kind: "saved" | "changed" | "saving"} | {kind: "offline", error: ApiError} | {kind: "conflict",
 *   conflicts: Conflict[], by: string, work: Work, merged: Draft}
 *   | {kind: "refused", error: ApiError} | {kind: "gone", error: ApiError} | {kind: "readonly"}} State
 */
/**
 * @typedef {{version: string, stored: Draft, draft: Draft}} Work a draft, and what is stored as the version that it
 * began as
 */
/** @typedef {Pick<import("../api.js").Api, "patch" | "app">} Service */

/** How long after the last change it is saved, in milliseconds. */
export const pause = 500;
/**
 * How long until a save is tried again that found no service, in milliseconds: this at first, then twice as long each
 * time.
 */
const again = 1000;
const longest = 30_000;
/** How many changes can be undone. */
const memory = 200;

/** @typedef {{before: Draft, after: Draft, group: string, at: number}} Step */
/** @typedef {{done: Step[], undone: Step[]}} Trail what can be undone and redone */

export class Editor extends EventTarget {
	/** @type {State} */
	state;
	/** @type {Step[]} */
	#done;
	/** @type {Step[]} */
	#undone;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	#timer;
	#wait = again;
	/** @type {Draft[]} what was sent since the version that is known, without an answer */
	#sent = [];
	/** @type {Promise<void> | undefined} */
	#saving;
	/**
	 * @type {Map<string, string>} the keys that elements had here before they were stored, by those that the service
	 * has given them
	 */
	#keys = new Map();
	refusals = new Refusals();

	/**
	 * @param {Service} service @param {App} app @param {boolean} [readonly] whether the app may not be changed
	 * @param {Trail} [trail] of the editor of the app before
	 */
	constructor(service, app, readonly = false, { done, undone } = { done: [], undone: [] }) {
		super();
		this.#done = [...done];
		this.#undone = [...undone];
		this.state = { kind: readonly ? "readonly" : "saved" };
		this.service = service;
		/** The app as it is stored, as far as it is known here. */
		this.app = app;
		/** Its draft. */
		this.saved = draftOf(app);
		/** What the person sees. */
		this.draft = this.saved;
	}

	/** @param {State} state */
	#become(state) {
		if (this.readonly) return;
		this.state = state;
		this.dispatchEvent(new Event("state"));
	}

	#show() {
		this.dispatchEvent(new Event("draft"));
	}

	/** Whether nothing can be changed here, now and later. */
	get readonly() {
		return this.state.kind === "readonly";
	}

	/** Whether there is something to save. What the service refuses is not. */
	get unsaved() {
		return !same(this.saved, this.refusals.savable(this.saved, this.draft));
	}

	/** The elements that the service refuses as they are. @returns {import("./patch.js").Item[]} */
	get refused() {
		return this.draft.elements.filter((e) => this.refusals.has(e));
	}

	/**
	 * The draft without what the person has not decided about: in a conflict it is that of before, with what was
	 * changed since.
	 * @returns {Work}
	 */
	get work() {
		if (this.state.kind !== "conflict") return { version: this.app.version, stored: this.saved, draft: this.draft };
		const { work, merged } = this.state;
		return { ...work, draft: merge(merged, this.draft, work.draft).draft };
	}

	/**
	 * What another editor needs to go on from here, or undefined if everything is saved.
	 * @returns {import("./local.js").Kept | undefined}
	 */
	get kept() {
		const { version, stored, draft } = this.work;
		if (this.#sent.length === 0 && same(stored, draft)) return undefined;
		return { version, sent: this.#sent.map((sent) => changesOf(stored, sent)), changes: changesOf(stored, draft) };
	}

	/** What can be undone and redone, for the next editor of the app: elements have the keys of the service. */
	get trail() {
		/** @param {Draft} draft */
		const keyed = (draft) => ({
			...draft,
			elements: draft.elements.map((e) => ({ ...e, key: this.keyOf(e.key) })),
		});
		/** @param {Step} step */
		const step = ({ before, after, at }) => ({ before: keyed(before), after: keyed(after), group: "", at });
		return { done: this.#done.map(step), undone: this.#undone.map(step) };
	}

	/** The key that the service has given to an element, as far as it has one. @param {string} key that it has here */
	keyOf(key) {
		for (const [given, here] of this.#keys) if (here === key) return given;
		return key;
	}

	/** The key that an element has here. @param {string} key that the service has given to it */
	keyHere(key) {
		return this.#keys.get(key) ?? key;
	}

	/**
	 * Changes the draft. Changes of one group that follow each other within two seconds are undone together.
	 * @param {Draft} draft
	 * @param {string} [group]
	 */
	change(draft, group = "") {
		if (this.readonly) return;
		const last = this.#done.at(-1);
		const now = Date.now();
		if (last && group !== "" && last.group === group && now - last.at < 2000) {
			last.after = draft;
			last.at = now;
		} else this.#done.push({ before: this.draft, after: draft, group, at: now });
		if (this.#done.length > memory) this.#done.shift();
		this.#undone = [];
		this.#set(draft);
	}

	/** Changes the elements alone. @param {import("./patch.js").Item[]} elements @param {string} [group] */
	arrange(elements, group) {
		this.change({ ...this.draft, elements }, group);
	}

	/** @param {Draft} draft */
	#set(draft) {
		this.draft = draft;
		this.#show();
		this.#schedule(pause);
	}

	get canUndo() {
		return this.#done.length > 0;
	}

	get canRedo() {
		return this.#undone.length > 0;
	}

	/** Takes the last change back, and leaves what others have changed since. */
	undo() {
		const step = this.#done.pop();
		if (!step) return;
		this.#undone.push(step);
		this.#set(merge(step.after, step.before, this.draft).draft);
	}

	redo() {
		const step = this.#undone.pop();
		if (!step) return;
		this.#done.push(step);
		this.#set(merge(step.before, step.after, this.draft).draft);
	}

	/** @param {number} milliseconds */
	#schedule(milliseconds) {
		if (this.state.kind === "conflict" || this.state.kind === "gone") return;
		if (!this.#saving) {
			if (!this.unsaved && this.#sent.length === 0) {
				clearTimeout(this.#timer);
				this.#settle();
				return;
			}
			if (this.state.kind !== "offline") this.#become({ kind: "changed" });
		}
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.save(), milliseconds);
	}

	/** Saves what is not saved. It resolves when nothing is under way any more. */
	save() {
		clearTimeout(this.#timer);
		this.#saving ??= this.#save().finally(() => {
			this.#saving = undefined;
			if (this.state.kind === "offline") {
				this.#timer = setTimeout(() => void this.save(), this.#wait);
				this.#wait = Math.min(2 * this.#wait, longest);
			} else if (this.unsaved && (this.state.kind === "saved" || this.state.kind === "changed"))
				this.#schedule(pause);
		});
		return this.#saving;
	}

	/** Saves once more what the service has refused, or has no app for. */
	retry() {
		this.refusals.again();
		if (this.state.kind === "gone") this.#become({ kind: "changed" });
		return this.save();
	}

	async #save() {
		while (!["conflict", "gone", "readonly"].includes(this.state.kind)) {
			// What was sent without an answer may be stored, though the person has taken it back since.
			if ((this.#sent.length > 0 && !(await this.catchUp())) || this.readonly) return;
			if (!this.unsaved) {
				this.#sent = [];
				this.#settle();
				return;
			}
			const whole = this.draft;
			const { version } = this.app;
			const draft = this.refusals.savable(this.saved, whole);
			if (!this.#sent.some((sent) => same(sent, draft))) this.#sent.push(draft);
			this.#become({ kind: "saving" });
			try {
				const app = await this.service.patch(this.app.id, patchOf(this.saved, draft, version));
				this.#wait = again;
				this.#stored(app, draft);
				this.refusals.settle(whole);
				this.#become({ kind: this.unsaved ? "changed" : "saved" });
				return;
			} catch (e) {
				if (!(e instanceof ApiError)) throw e;
				if (e.status >= 400 && !e.passing) this.#sent = this.#sent.filter((sent) => sent !== draft);
				if (this.#refuse(e, draft)) {
					if (this.draft === whole) continue;
					this.#become({ kind: "changed" }); // and the next is tried when the person pauses
					return;
				}
				if (!(await this.#refused(e))) return;
				// A conflict without a newer version is one of a component that was replaced, or of a rule of the
				// service, which may stay.
				if (this.app.version === version && this.unsaved) {
					this.#become({ kind: "offline", error: e });
					return;
				}
			}
		}
	}

	/** Everything is saved but what the service refuses. */
	#settle() {
		this.refusals.settle(this.draft);
		this.#become({ kind: "saved" });
	}

	/**
	 * Notes that the service refuses one element of what was sent.
	 * @param {ApiError} e @param {Draft} sent @returns {boolean} whether that is all that it refuses
	 */
	#refuse(e, sent) {
		const [apps, , elements, i] = names(e.pointer ?? "");
		const item =
			e.status === 422 && apps === "apps" && elements === "elements" ? sent.elements[Number(i)] : undefined;
		if (!item || this.saved.elements.some((s) => sameItem(s, item))) return false;
		this.refusals.add(item, e);
		return true;
	}

	/**
	 * Decides what follows a refusal.
	 * @param {ApiError} e
	 * @returns {Promise<boolean>} whether to try again at once
	 */
	async #refused(e) {
		if (e.code === "stale_version") return this.catchUp();
		// What is not known to be kept is looked for: the next try meets its own version if it was.
		if (e.passing || e.code === "unknown_outcome") {
			if (e.retryAfter) this.#wait = Math.max(this.#wait, e.retryAfter * 1000);
			this.#become({ kind: "offline", error: e });
			return false;
		}
		if (e.status === 404) this.#become({ kind: "gone", error: e });
		else this.#become({ kind: "refused", error: e });
		return false;
	}

	/**
	 * Brings in what others have stored. What both sides changed in different places is merged; otherwise the person
	 * chooses.
	 * @returns {Promise<boolean>} whether the draft can be saved now
	 */
	async catchUp() {
		try {
			const { version } = this.app;
			const app = await this.service.app(this.app.id);
			// A save may have been faster.
			if (Number(app.version) >= Number(this.app.version) && !(await this.#follow(app))) return false;
			if (this.app.version !== version && !this.unsaved) this.#settle();
			return true;
		} catch (e) {
			if (!(e instanceof ApiError)) throw e;
			return this.#refused(e);
		}
	}

	/**
	 * Brings in what others have stored up to a version.
	 * @param {App} app @returns {Promise<boolean>} whether nothing is to be decided
	 */
	async #follow(app) {
		if (app.version === this.app.version) return this.state.kind !== "conflict";
		const { version } = this.app;
		const mine = await this.#recognize();
		// A save, or another call, has been faster.
		if (this.app.version !== version) return this.state.kind !== "conflict";
		if (mine) this.#stored(mine.app, mine.draft);
		const { work } = this;
		this.#stored(app);
		return this.#merge(work, merge(work.stored, work.draft, this.saved));
	}

	/**
	 * Shows what a draft and what is stored have become together.
	 * @param {Work} work @param {ReturnType<typeof merge>} merged @returns {boolean} whether nothing is to be decided
	 */
	#merge(work, { draft, conflicts }) {
		this.draft = draft;
		this.#show();
		if (conflicts.length > 0)
			this.#become({ kind: "conflict", conflicts, by: this.app.updatedBy?.urn ?? "", work, merged: draft });
		return conflicts.length === 0;
	}

	/**
	 * Goes on from where another editor was, in one step that can be undone. It fails if the version of then cannot be
	 * read.
	 * @param {import("./local.js").Kept} kept @param {boolean} [trailed] whether the trail has the steps of that editor
	 * @returns {Promise<boolean>} whether it has; it does not in a conflict
	 */
	async bring({ version, sent, changes }, trailed = false) {
		const other = new Editor(this.service, await this.service.app(this.app.id, version));
		other.draft = withChanges(other.saved, changes);
		other.#sent = sent.map((s) => withChanges(other.saved, s));
		while (other.app.version !== this.app.version) await other.#follow(this.app);
		if (this.state.kind === "conflict") return false;
		// Its elements get the keys that they have here.
		const keys = new Map(other.saved.elements.map((e, i) => [e.key, this.saved.elements[i].key]));
		/** @param {Draft} draft */
		const keyed = (draft) => ({
			...draft,
			elements: draft.elements.map((e) => ({ ...e, key: keys.get(e.key) ?? e.key })),
		});
		const { work } = other;
		const before = this.draft;
		const mine = {
			version: work.version,
			stored: keyed(work.stored),
			draft: merge(this.saved, before, keyed(work.draft)).draft,
		};
		this.#sent.push(...other.#sent.map(keyed));
		const { draft } = merge(this.saved, keyed(other.draft), before);
		if (trailed) this.#set(draft);
		else this.change(draft);
		if (other.state.kind === "conflict") this.#merge(mine, merge(mine.stored, mine.draft, this.saved));
		return true;
	}

	/** Finds out whether the next version is one that was sent from here, and whose answer was lost. */
	async #recognize() {
		if (this.#sent.length === 0) return undefined;
		const app = await this.service.app(this.app.id, String(Number(this.app.version) + 1));
		const draft = this.#sent.find((sent) => same(unnamed(draftOf(app)), unnamed(sent)));
		return draft && { app, draft };
	}

	/**
	 * Takes a version as what is stored.
	 * @param {App} app @param {Draft} [sent] what it was made from here, whose elements keep their keys
	 */
	#stored(app, sent) {
		sent?.elements.forEach((e, i) => this.#keys.set(app.elements[i].key, e.key));
		this.app = app;
		this.saved = draftOf(app, this.#keys);
		this.#sent = [];
	}

	/**
	 * Ends a conflict.
	 * @param {(conflict: Conflict) => "mine" | "theirs"} choose
	 */
	resolve(choose) {
		if (this.state.kind !== "conflict") return;
		let draft = this.draft;
		for (const c of this.state.conflicts) if (choose(c) === "theirs") draft = taken(draft, c, this.saved);
		this.draft = draft;
		this.#become({ kind: "changed" });
		this.#show();
		this.#schedule(0);
	}

	/** Ends the editor; nothing is saved any more. */
	close() {
		clearTimeout(this.#timer);
		this.state = { kind: "readonly" };
	}
}

/** A draft whose elements all have the same key, to compare contents. @param {Draft} draft @returns {Draft} */
function unnamed(draft) {
	return { ...draft, elements: draft.elements.map((e) => ({ ...e, key: "" })) };
}

/**
 * The draft with their side of a conflict.
 * @param {Draft} draft @param {Conflict} c @param {Draft} theirs @returns {Draft}
 */
function taken(draft, c, theirs) {
	if (c.path === "title") return { ...draft, title: theirs.title };
	const their = theirs.elements.find((e) => e.key === c.key);
	const others = draft.elements.filter((e) => e.key !== c.key);
	if (!their) return { ...draft, elements: others };
	if (!draft.elements.some((e) => e.key === c.key)) {
		const i = theirs.elements.indexOf(their);
		return { ...draft, elements: others.toSpliced(Math.min(i, others.length), 0, their) };
	}
	return { ...draft, elements: draft.elements.map((e) => (e.key === c.key ? takenAt(e, c, their) : e)) };
}

/** @param {import("./patch.js").Item} mine @param {Conflict} c @param {import("./patch.js").Item} their */
function takenAt(mine, c, their) {
	const rest = c.path.slice(/** @type {string} */ (c.key).length);
	if (rest === "/component") return { ...mine, component: their.component };
	return {
		...mine,
		config: /** @type {import("../json.js").Value} */ (withAt(mine.config, names(rest).slice(1), c.theirs)),
	};
}
