/**
 * A list that comes page by page.
 * @module
 */
import { button, debounce, fill, h } from "../dom.js";
import { sentence } from "./dialog.js";

/**
 * What is loaded of a list. Its foot says how much that is, or what went wrong, and has the button for more.
 * @template T
 */
export class Pages {
	/** @type {T[]} */
	items = [];
	/** @type {string | undefined} the cursor of the next page, if there is one */
	next;
	#loading = new AbortController();
	#busy = false;

	/**
	 * @param {AbortSignal} signal ends it
	 * @param {string} member what the service calls the items
	 * @param {(cursor: string | undefined, signal: AbortSignal) => Promise<any>} ask
	 * @param {() => string} render shows the items, and says how many they are
	 */
	constructor(signal, member, ask, render) {
		this.signal = signal;
		this.member = member;
		this.ask = ask;
		this.render = render;
		this.state = h("div", { class: "state", role: "status" });
		this.more = button("Show more", () => void this.load(), { hidden: true });
		this.foot = h("div", { class: "foot" }, this.state, this.more);
	}

	/** Loads the next page, or the first one again instead of what is being loaded. @param {boolean} [anew] */
	async load(anew = false) {
		if (this.#busy && !anew) return;
		this.#busy = true;
		this.#loading.abort();
		this.#loading = new AbortController();
		const signal = AbortSignal.any([this.signal, this.#loading.signal]);
		this.state.textContent = "Loading…";
		try {
			let page = await this.ask(anew ? undefined : this.next, signal);
			// A page may show nothing of what the service has looked at.
			while (!signal.aborted && page[this.member].length === 0 && page.next !== undefined)
				page = await this.ask(page.next, signal);
			if (signal.aborted) return;
			this.items = anew ? page[this.member] : [...this.items, ...page[this.member]];
			this.next = page.next;
			this.show();
		} catch (e) {
			if (!signal.aborted)
				fill(
					this.state,
					sentence(e),
					" ",
					button("Try again", () => void this.load(anew), { class: "small" }),
				);
		} finally {
			if (!signal.aborted) this.#busy = false;
		}
	}

	/**
	 * Loads anew what others have changed.
	 * @param {import("../live.js").Live} live
	 * @param {(change: import("../live.js").Change) => unknown} wanted whether a change is one of the list
	 */
	follow(live, wanted) {
		const later = debounce(200, () => void this.load(true));
		live.each(this.signal, (change) => {
			if (!change || wanted(change)) later();
		});
	}

	/** Shows what is loaded. */
	show() {
		this.more.hidden = this.next === undefined;
		this.state.textContent = this.render();
	}
}
