/**
 * An app that is being edited: the draft, what is saved of it, and how the two come together. Changes are saved half a second
 * after the last one, as small patches with a version test, one at a time.
 * @module
 */
import { ApiError } from "../api.js";
import { names, withAt } from "../json.js";
import { merge } from "./merge.js";
import { draftLike, draftOf, follow, patchOf, same } from "./patch.js";

/** @typedef {import("../api.js").App} App */
/** @typedef {import("./patch.js").Draft} Draft */
/** @typedef {import("./merge.js").Conflict} Conflict */
/**
 * @typedef {{kind: "saved" | "changed" | "saving"} | {kind: "offline", error: ApiError} | {kind: "conflict", conflicts: Conflict[], by: string}
 *   | {kind: "refused", error: ApiError, draft: Draft} | {kind: "gone", error: ApiError} | {kind: "readonly"}} State
 */
/** @typedef {{patch: import("../api.js").Api["patch"], app: import("../api.js").Api["app"], diff: (id: string, from: string, to: string) => Promise<import("../api.js").Operation[]>}} Service */

/** How long after the last change it is saved, in milliseconds. */
export const pause = 500;
/** How long until a save is tried again that found no service, in milliseconds: this at first, then twice as long each time. */
const again = 1000;
const longest = 30_000;
/** How many changes can be undone. */
const memory = 200;

export class Editor extends EventTarget {
	/** @type {State} */
	state = { kind: "saved" };
	/** @type {{before: Draft, after: Draft, group: string, at: number}[]} */
	#done = [];
	/** @type {{before: Draft, after: Draft, group: string, at: number}[]} */
	#undone = [];
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	#timer;
	#wait = again;
	/** @type {Draft[]} what was sent since the version that is known, without an answer */
	#sent = [];
	/** @type {Promise<void> | undefined} */
	#saving;

	/** @param {Service} service @param {App} app */
	constructor(service, app) {
		super();
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
		this.state = state;
		this.dispatchEvent(new Event("state"));
	}

	#show() {
		this.dispatchEvent(new Event("draft"));
	}

	get unsaved() {
		return !same(this.saved, this.draft);
	}

	/**
	 * Changes the draft. Changes of one group that follow each other within two seconds are undone together.
	 * @param {Draft} draft
	 * @param {string} [group]
	 */
	change(draft, group = "") {
		if (this.state.kind === "readonly") return;
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
				this.#become({ kind: "saved" });
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
			} else if (this.unsaved && (this.state.kind === "saved" || this.state.kind === "changed")) this.#schedule(pause);
		});
		return this.#saving;
	}

	/** Tries again what the service has no app for. */
	retry() {
		this.#become({ kind: "changed" });
		return this.save();
	}

	async #save() {
		while (!["conflict", "gone", "readonly"].includes(this.state.kind)) {
			if (!this.unsaved) {
				// What was sent without an answer may be stored, though the person has taken it back since.
				if (this.#sent.length > 0 && !await this.catchUp()) return;
				if (this.unsaved) continue;
				this.#sent = [];
				this.#become({ kind: "saved" });
				return;
			}
			const draft = this.draft;
			this.#become({ kind: "saving" });
			this.#sent.push(draft);
			try {
				const app = await this.service.patch(this.app.id, patchOf(this.saved, draft, this.app.version));
				this.#wait = again;
				this.#stored(app, draftLike(app, draft));
				this.#become({ kind: this.unsaved ? "changed" : "saved" });
				return;
			} catch (e) {
				if (!(e instanceof ApiError)) throw e;
				if (!await this.#refused(e, draft)) return;
			}
		}
	}

	/**
	 * Decides what follows a refusal.
	 * @param {ApiError} e
	 * @param {Draft} draft what was to be saved
	 * @returns {Promise<boolean>} whether to try again at once
	 */
	async #refused(e, draft) {
		if (e.code === "stale_version") return this.catchUp();
		// What is not known to be kept is looked for: the next try meets its own version if it was.
		if (e.passing || e.code === "unknown_outcome") {
			if (e.retryAfter) this.#wait = Math.max(this.#wait, e.retryAfter * 1000);
			this.#become({ kind: "offline", error: e });
			return false;
		}
		if (e.status === 404) this.#become({ kind: "gone", error: e });
		else this.#become({ kind: "refused", error: e, draft });
		return false;
	}

	/**
	 * Brings in what others have stored. What both sides changed in different places is merged; otherwise the person chooses.
	 * @returns {Promise<boolean>} whether the draft can be saved now
	 */
	async catchUp() {
		try {
			const app = await this.service.app(this.app.id);
			if (app.version === this.app.version) return true;
			await this.#recognize();
			const theirs = draftLike(app, follow(this.saved, await this.service.diff(app.id, this.app.version, app.version)));
			const { draft, conflicts } = merge(this.saved, this.draft, theirs);
			this.#stored(app, theirs);
			this.draft = draft;
			this.#show();
			if (conflicts.length > 0) {
				this.#become({ kind: "conflict", conflicts, by: app.updatedBy?.urn ?? "" });
				return false;
			}
			if (!this.unsaved) this.#become({ kind: "saved" });
			return true;
		} catch (e) {
			if (!(e instanceof ApiError)) throw e;
			return this.#refused(e, this.draft);
		}
	}

	/** Finds out whether the next version is one that was sent from here, and whose answer was lost. */
	async #recognize() {
		if (this.#sent.length === 0) return;
		const next = await this.service.app(this.app.id, String(Number(this.app.version) + 1));
		const mine = this.#sent.find((draft) => same(unnamed(draftOf(next)), unnamed(draft)));
		if (mine) this.#stored(next, draftLike(next, mine));
	}

	/** @param {App} app @param {Draft} saved */
	#stored(app, saved) {
		this.app = app;
		this.saved = saved;
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

	/** Makes the app one that may not be changed. */
	readOnly() {
		this.#become({ kind: "readonly" });
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

/** The draft with their side of a conflict. @param {Draft} draft @param {Conflict} c @param {Draft} theirs @returns {Draft} */
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
	return { ...mine, config: /** @type {import("../json.js").Value} */ (withAt(mine.config, names(rest).slice(1), c.theirs)) };
}
