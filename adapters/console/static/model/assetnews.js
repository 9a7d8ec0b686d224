/**
 * What others do in a library, gathered for a while, so that a view is brought up to date once and not for each change.
 * @module
 */

/** @typedef {import("../live.js").AssetChange} AssetChange */
/**
 * What has changed since the last time.
 * @typedef {object} News
 * @property {Set<string>} changed ids of assets
 * @property {Map<string, string>} removed who removed which asset
 * @property {Set<string>} folders ids of folders
 * @property {boolean} all whether something was missed, so that everything may have changed
 */

export class Gathering {
	/** @type {News} */
	#news = empty();
	#waits = false;
	#works = false;
	/** Whether a change came while take works. */
	#again = false;

	/**
	 * @param {(news: News) => Promise<void>} take is called with what was gathered, one call after the other
	 * @param {number} [milliseconds] how long changes are gathered
	 */
	constructor(take, milliseconds = 200) {
		this.take = take;
		this.milliseconds = milliseconds;
	}

	/** @param {AssetChange | undefined} change */
	add(change) {
		const { changed, removed, folders } = this.#news;
		if (change) {
			for (const id of change.changed) changed.add(id);
			for (const id of change.removed) {
				changed.delete(id);
				removed.set(id, change.by.urn);
			}
			for (const id of change.folders) folders.add(id);
		} else this.#news.all = true;
		this.#later();
	}

	#later() {
		this.#again = this.#works;
		if (this.#waits || this.#works) return;
		this.#waits = true;
		setTimeout(() => void this.#now(), this.milliseconds);
	}

	async #now() {
		this.#waits = false;
		this.#works = true;
		const news = this.#news;
		this.#news = empty();
		try {
			await this.take(news);
		} finally {
			this.#works = false;
			if (this.#again) this.#later();
		}
	}
}

/** @returns {News} */
function empty() {
	return { changed: new Set(), removed: new Map(), folders: new Set(), all: false };
}
