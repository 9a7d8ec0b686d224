/**
 * The bell in the corner: how much waits for the person, kept current.
 * @module
 */
import { to } from "../address.js";
import { debounce, fill, h, icon } from "../dom.js";

/** Whether a change may be of what waits for somebody. @param {import("../live.js").Change} change */
export const waits = ({ type }) => type === "release" || type === "app.commented";

/**
 * @param {import("../session.js").Session} session @param {import("../live.js").Live} live
 * @returns {HTMLElement} hidden for those who have no inbox, such as keys
 */
export function bell({ api }, live) {
	const node = h("a", { href: to("inbox"), class: "bell", hidden: true });
	async function load() {
		try {
			const { items, next } = await api.inbox();
			const n = `${items.length}${next === undefined ? "" : "+"}`;
			node.hidden = false;
			node.setAttribute("aria-label", items.length === 0 ? "Nothing waits for you" : `${n} wait for you`);
			fill(node, icon("bell"), items.length > 0 && h("span", { class: "chip" }, n));
		} catch {
			node.hidden = true;
		}
	}
	const soon = debounce(300, load);
	live.addEventListener("change", (event) => {
		const change = /** @type {CustomEvent} */ (event).detail;
		if (!change || waits(change)) soon();
	});
	addEventListener("vitrine-seen", soon);
	void load();
	return node;
}
