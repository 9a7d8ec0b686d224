/**
 * Keeps views current: the feeds of changes, each of which one tab reads for all tabs of the same person.
 * @module
 */

/**
 * A change of an app, a tag or a component.
 * @typedef {{cursor: string, type: string, at: number, by?: {urn: string}, app?: string, version?: string,
 *   tag?: string, release?: string, state?: string, component?: {name: string, version: string}}} Change
 */

/**
 * What one request has changed in a library: ids of assets and of folders.
 * @typedef {{cursor: string, at: string, by: {urn: string}, added: string[], changed: string[], removed: string[],
 *   folders: string[]}} AssetChange
 */

/** How long until a lost connection is tried again, in milliseconds. */
const pause = 2000;

/**
 * Dispatches "change" events with a change as detail; without one something was missed, and everything may have
 * changed.
 * @template {{cursor: string}} [C=Change]
 */
export class Live extends EventTarget {
	#cursor = "now";
	#ended = new AbortController();
	/** Is called when the stream has ended, and says whether the caller is not who they were. */
	onstop = async () => false;

	/**
	 * @param {import("./api.js").Api} api @param {import("./api.js").Me} me
	 * @param {string} [path] the address of the feed
	 */
	constructor(api, me, path = "x/changes") {
		super();
		this.api = api;
		this.me = me;
		this.path = path;
		// Tabs with other rights see other changes, and have a stream of their own.
		const name = `vitrine ${path} ${JSON.stringify({ ...me, expires: null })}`;
		this.channel = new BroadcastChannel(name);
		this.channel.addEventListener("message", (event) => this.#tell(event.data));
		/** Is fulfilled when every change from then on will be told, or never any. */
		this.ready = this.#begin();
		void navigator.locks?.request(name, { signal: this.#ended.signal }, () => this.#read()).catch(() => {});
	}

	/**
	 * The feed of a library.
	 * @param {import("./api.js").Library} lib @param {AbortSignal} signal ends it @returns {Live<AssetChange>}
	 */
	of(lib, signal) {
		/** @type {Live<AssetChange>} */
		const feed = new Live(this.api, this.me, `${lib.base}/changes`);
		signal.addEventListener("abort", () => feed.end());
		return feed;
	}

	/** Finds out where the feed ends now. */
	async #begin() {
		try {
			this.#cursor = (
				await this.api.get(this.path, "next", { after: "now", limit: "1" }, this.#ended.signal)
			).next;
		} catch {
			// the stream begins with what comes, or says that there is none for this person
		}
	}

	/** @param {C | undefined} change */
	#tell(change) {
		if (change) this.#cursor = change.cursor;
		this.dispatchEvent(new CustomEvent("change", { detail: change }));
	}

	async #read() {
		const { signal } = this.#ended;
		await this.ready;
		while (!signal.aborted) {
			try {
				const response = await this.api.send("GET", this.path, {
					query: { after: this.#cursor },
					headers: { Accept: "text/event-stream" },
					signal,
				});
				// 410: the cursor is older than what the feed has. 400: it is of another store, which the server has
				// since then.
				if (response.status === 410 || (response.status === 400 && this.#cursor !== "now")) {
					this.#cursor = "now";
					// It begins before views load what there is, so that they miss nothing that comes after that.
					await this.#begin();
					this.#share(undefined);
				} else if (response.ok && response.body)
					await this.#stream(response.body.pipeThrough(new TextDecoderStream()));
				else if (response.status < 500 && response.status !== 429) return;
				// A stream ends when its caller has other rights, too.
				if (response.ok && (await this.onstop())) {
					this.#share(undefined);
					continue;
				}
			} catch {
				// the connection is lost; the cursor says where to go on
			}
			await new Promise((resolve) => setTimeout(resolve, pause));
		}
	}

	/** @param {C | undefined} change */
	#share(change) {
		this.channel.postMessage(change);
		this.#tell(change);
	}

	/** @param {ReadableStream<string>} stream */
	async #stream(stream) {
		let text = "";
		for await (const piece of /** @type {any} */ (stream)) {
			text += piece;
			const events = text.split("\n\n");
			text = events.pop() ?? "";
			for (const event of events) {
				const data = event
					.split("\n")
					.filter((line) => line.startsWith("data:"))
					.map((line) => line.slice(5))
					.join("\n");
				if (data !== "") this.#share(JSON.parse(data));
			}
		}
	}

	/**
	 * Calls f with each change until the signal is aborted.
	 * @param {AbortSignal} signal @param {(change: C | undefined) => void} f
	 */
	each(signal, f) {
		this.addEventListener("change", (event) => f(/** @type {CustomEvent<C | undefined>} */ (event).detail), {
			signal,
		});
	}

	end() {
		this.#ended.abort();
		this.channel.close();
	}
}
