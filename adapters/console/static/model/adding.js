/**
 * Adding many assets: in batches that the service takes, with an answer for each.
 * @module
 */
import { ApiError } from "../api.js";
import { isObject, parse, stringify } from "../json.js";
import { placeOf, scan } from "./jsontext.js";

/** @typedef {import("./jsontext.js").Item} Item */
/**
 * @typedef {{item: Item, line: number, column: number, at: number, id: string, message: string}} Refusal an asset that
 * is not in, and why
 */

/** A batch has at most so many assets and characters, each of which is at most three bytes. The service takes 4 MiB. */
const most = 100;
const characters = 1 << 20;
/** After so many refusals something is wrong with the whole file. */
const enough = 1000;

/**
 * What is wrong with an item before anything is sent, or undefined.
 * @param {Item} item @returns {Refusal | undefined}
 */
export function faultOf(item) {
	if (item.mistake !== undefined) return refusal(item, 0, item.mistake);
	const { mistake } = scan(item.text);
	if (mistake) return refusal(item, mistake.at, mistake.message);
	if (item.text[0] !== "{") return refusal(item, 0, "Want an object: an asset with id, generator and content.");
	if (item.text.length > characters) return refusal(item, 0, "This asset is longer than any that the service takes.");
	return undefined;
}

/** @param {Item} item @param {number} at @param {string} message @returns {Refusal} */
function refusal(item, at, message) {
	let id = "";
	try {
		const value = parse(item.text);
		if (isObject(value) && typeof value["id"] === "string") id = value["id"];
	} catch {
		// it has none that could be read
	}
	return { item, ...placeOf(item, at), id, message };
}

/** Adds the items of a file. Its members say how far it is; change is called when they have changed. */
export class Adding {
	added = 0;
	/** @type {Refusal[]} */
	refused = [];
	/** Why it waits, if it does. @type {Error | undefined} */
	waiting = undefined;
	/** The first item that was not sent, after a stop. @type {Item | undefined} */
	rest = undefined;
	#stop = new AbortController();

	/**
	 * @param {(add: string[]) => Promise<unknown>} send adds the assets with these texts, all or none
	 * @param {{folder?: string, change?: () => void, pause?: (seconds: number, signal: AbortSignal) => Promise<void>}}
	 * [options] folder is for assets that name none
	 */
	constructor(send, options = {}) {
		this.send = send;
		this.folder = options.folder;
		this.change = options.change ?? (() => {});
		this.pause = options.pause ?? pause;
	}

	/** Stops before the next batch. A batch that is under way is finished, so that it is known what is in. */
	stop() {
		this.#stop.abort();
	}

	get stopped() {
		return this.#stop.signal.aborted;
	}

	/**
	 * Adds all items, or those before a stop. It fails with the service's error if the rest would fail too.
	 * @param {AsyncIterable<Item>} items
	 */
	async run(items) {
		/** @type {Item[]} */
		let batch = [];
		let size = 0;
		const flush = async () => {
			const now = batch;
			[batch, size] = [[], 0];
			await this.#batch(now);
		};
		for await (const item of items) {
			const fault = faultOf(item);
			if (fault) {
				await flush();
				if (this.stopped) this.rest ??= item;
				else this.#refuse(fault);
			} else {
				if (batch.length === most || size + item.text.length > characters) await flush();
				batch.push(item);
				size += item.text.length;
				if (this.stopped) this.rest ??= item;
			}
			if (this.rest) return;
		}
		await flush();
	}

	/** @param {Refusal} r */
	#refuse(r) {
		this.refused.push(r);
		if (this.refused.length >= enough) {
			this.waiting = undefined;
			this.stop();
		}
		this.change();
	}

	/** @param {Item[]} batch */
	async #batch(batch) {
		let seconds = 1;
		while (batch.length > 0) {
			if (this.stopped) {
				this.rest ??= batch[0];
				return;
			}
			try {
				await this.send(batch.map((item) => this.#text(item)));
				this.added += batch.length;
				this.waiting = undefined;
				this.change();
				return;
			} catch (e) {
				if (!(e instanceof ApiError)) throw this.#left(batch, e);
				if (e.passing) {
					this.waiting = e;
					this.change();
					await this.pause(e.retryAfter ?? seconds, this.#stop.signal);
					seconds = Math.min(2 * seconds, 30);
					continue;
				}
				this.waiting = undefined;
				const [, n, pointer] = /^\/add\/(\d+)(.*)$/s.exec(e.pointer ?? "") ?? [];
				const wrong = n === undefined ? undefined : batch[Number(n)];
				if (wrong) {
					this.#refuse(this.#because(wrong, pointer ?? "", e));
					batch = batch.toSpliced(Number(n), 1);
				} else if (![400, 409, 413, 422].includes(e.status)) throw this.#left(batch, e);
				else if (batch.length === 1) {
					this.#refuse(refusal(batch[0], 0, e.message));
					return;
				} else {
					const half = batch.length >> 1;
					await this.#batch(batch.slice(0, half));
					batch = batch.slice(half);
				}
			}
		}
	}

	/** @param {Item[]} batch @param {unknown} e */
	#left(batch, e) {
		this.rest ??= batch[0];
		return e;
	}

	/** @param {Item} item */
	#text(item) {
		if (!this.folder) return item.text;
		const value = /** @type {{[name: string]: import("../json.js").Value}} */ (parse(item.text));
		const named = value["folders"];
		return named === undefined || (Array.isArray(named) && named.length === 0)
			? stringify({ ...value, folders: [this.folder] })
			: item.text;
	}

	/**
	 * What the service says of an asset, at its place in the file.
	 * @param {Item} item @param {string} pointer @param {ApiError} e
	 */
	#because(item, pointer, e) {
		const { places } = scan(item.text);
		const message = e.message.startsWith("/")
			? e.message.replace(/^\S+: /, pointer === "" ? "" : `${pointer.slice(1)}: `)
			: e.message;
		let at = pointer;
		while (!places.has(at)) at = at.slice(0, at.lastIndexOf("/"));
		return refusal(item, places.get(at) ?? 0, message);
	}
}

/** @param {number} seconds @param {AbortSignal} signal @returns {Promise<void>} */
function pause(seconds, signal) {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, 1000 * seconds);
		signal.addEventListener(
			"abort",
			() => {
				clearTimeout(timer);
				resolve();
			},
			{ once: true },
		);
	});
}
