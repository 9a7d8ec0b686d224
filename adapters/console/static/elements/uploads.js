/**
 * Files on their way into a library: how far each is, a way to stop it, and what went wrong with it.
 * @module
 */
import { ApiError } from "../api.js";
import { button, fill, h, labelled } from "../dom.js";
import { inFull } from "../model/told.js";
import { askWith, sentence } from "./dialog.js";

/** @typedef {import("../api.js").Asset} Asset */
/** @typedef {import("../api.js").Library} Library */
/** @typedef {{network: string, folder?: {id: string, label: string}}} Target where files go */
/**
 * @callback Send
 * @param {(bytes: number) => void} progress
 * @param {AbortSignal} signal
 * @returns {Promise<Asset>}
 */

/** So many files are sent at once. */
const most = 3;
let busy = 0;
/** @type {(() => void)[]} */
const waiting = [];

export class Uploads {
	/** How many were sent. */
	done = 0;
	/** How many are on their way, or wait for the person to try them again. */
	open = 0;
	onchange = () => {};
	#all = new AbortController();

	constructor() {
		this.said = h("p", { class: "help", role: "status" });
		this.list = h("ul", { class: "uploads" });
		this.node = h("div", { class: "uploading" }, this.list, this.said);
	}

	/** Stops all files that are on their way. */
	stop() {
		this.#all.abort();
	}

	/**
	 * Sends a file. A person may stop it, or try again what has failed.
	 * @param {File} file @param {Send} send
	 * @param {() => void} [failed] is called when it has failed, before the person says more
	 * @returns {Promise<Asset | undefined>} undefined if it was stopped or left out
	 */
	async add(file, send, failed) {
		const bar = h("progress", { max: Math.max(1, file.size), value: 0, "aria-label": `${file.name}: sent` });
		const what = h("div", { class: "row" });
		const row = h("li", null, h("strong", null, h("bdi", null, file.name)), what);
		this.list.append(row);
		this.open++;
		/** @type {Asset | undefined} */
		let asset;
		for (let again = true; again && !asset;) {
			const stopped = new AbortController();
			const stop = button(`Stop ${file.name}`, () => stopped.abort(), { icon: "close", bare: true });
			const { signal } = stopped;
			this.#all.signal.addEventListener("abort", () => stopped.abort(), { signal });
			fill(what, bar, stop);
			this.onchange();
			try {
				await turn();
				try {
					signal.throwIfAborted();
					asset = await send((bytes) => (bar.value = bytes), signal);
				} finally {
					busy--;
					waiting.shift()?.();
				}
			} catch (e) {
				const why = signal.aborted ? new Error("It was stopped.") : explained(e);
				failed?.();
				again = !this.#all.signal.aborted && (await this.#ask(file, what, why));
			}
		}
		row.remove();
		this.open--;
		if (asset) this.done++;
		this.said.textContent = asset ? `${file.name} is in the library.` : `${file.name} was left out.`;
		this.onchange();
		return asset;
	}

	/**
	 * Says what went wrong, and asks whether to try again.
	 * @param {File} file @param {HTMLElement} what @param {unknown} e @returns {Promise<boolean>}
	 */
	#ask(file, what, e) {
		this.said.textContent = `${file.name} was not sent.`;
		return new Promise((resolve) => {
			fill(
				what,
				h("div", { class: "wrong" }, sentence(e)),
				button("Try again", () => resolve(true), { class: "small", "aria-label": `Try again: ${file.name}` }),
				button("Leave it out", () => resolve(false), {
					class: "small bare",
					"aria-label": `Leave it out: ${file.name}`,
				}),
			);
		});
	}
}

/** Waits until another file may be sent. */
async function turn() {
	if (busy >= most) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
	busy++;
}

/** Only the service knows which files it takes, and why it does not take one. @param {unknown} e */
function explained(e) {
	if (e instanceof ApiError && ["media_type", "not_applicable", "too_large", "limit", "invalid"].includes(e.code))
		e.words = inFull(e);
	else if (e instanceof ApiError && e.code === "forbidden")
		e.words = "You may not add files there. Choose a folder that you may edit.";
	return e;
}

const kept = "vitrine.uploads"; // in localStorage: where the last file went

/**
 * Where files are sent: where the last one went, or where the person says.
 * @param {import("../session.js").Session} session @param {boolean} [anew] asks in any case
 * @returns {Promise<Target | undefined>}
 */
export async function target(session, anew = false) {
	const { networks, me } = session;
	/** @type {(Target & {by: string | undefined}) | null} */
	const last = JSON.parse(localStorage.getItem(kept) ?? "null");
	const known = last && last.by === me?.urn && networks.includes(last.network) ? last : undefined;
	if (known && !anew) return known;
	const [only] = networks;
	if (!anew && only && networks.length === 1 && session.moderates(session.networkURN(only))) return { network: only };
	const found = await ask(session, known);
	if (found) localStorage.setItem(kept, JSON.stringify({ by: me?.urn, ...found }));
	return found;
}

/** @param {import("../session.js").Session} session @param {Target} [known] */
async function ask(session, known) {
	const where = h(
		"select",
		{ onchange: () => into.into(undefined) },
		session.networks.map((n) => h("option", { value: n }, n)),
	);
	where.value = known?.network ?? session.networks[0] ?? "";
	const { folderLine } = await import("../views/folders.js");
	const into = folderLine(() => session.api.library(where.value, where.value), known?.folder);
	return askWith(
		"Where do the files go?",
		[
			labelled("Library", where),
			into.node,
			h("p", { class: "help" }, "Only moderators of a network add files to no folder."),
		],
		"Continue",
		() => ({ network: where.value, folder: into.folder() }),
	);
}
