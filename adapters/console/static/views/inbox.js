/**
 * What waits for the person: releases to approve, what has become of one's own, and comments with one's name.
 * @module
 */
import { to } from "../address.js";
import { detail, fill, h } from "../dom.js";
import { waits } from "../elements/bell.js";
import { Pages } from "../elements/pages.js";
import { person } from "../elements/person.js";
import { time } from "../elements/time.js";

/** @typedef {import("../api.js").InboxItem} Item */

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ api, signal, live, shell }) {
	shell.title("What waits for you");
	const list = h("ul", { class: "inbox" });
	const empty = h("div", { class: "empty", hidden: true }, h("p", null, "Nothing waits for you."));
	/** @type {Map<string, Promise<{title: string, done: boolean}>>} of releases and apps, by their ids */
	const titles = new Map();
	/** Until when the person has seen it. */
	let seen = 0;

	/** @type {Pages<Item & {title: string, done: boolean}>} */
	const pages = new Pages(
		signal,
		"items",
		async (after, signal) => {
			const page = await api.inbox(after, signal);
			seen = Math.max(seen, page.until);
			if (after === undefined) titles.clear();
			const items = page.items.map(async (item) => ({ ...item, ...(await about(item)) }));
			return { ...page, items: await Promise.all(items) };
		},
		() => {
			const { items, next } = pages;
			fill(list, items.map(row));
			empty.hidden = items.length > 0;
			if (next === undefined && items[0]) void see(items[0].at);
			return "";
		},
	);

	/** What its release or its app is called, and whether the release has run. @param {Item} item */
	function about({ release, app }) {
		const id = release ?? app ?? "";
		const title =
			titles.get(id) ??
			(release
				? api.release(id, signal).then(
						(r) => ({ title: r.name || "A release without a name", done: r.state === "done" }),
						() => ({ title: "A release", done: false }),
					)
				: api.app(id, undefined, signal).then(
						(a) => ({ title: a.title, done: false }),
						() => ({ title: "An app", done: false }),
					));
		titles.set(id, title);
		return title;
	}

	/** Notes that the person has seen all of it, if there is news. @param {number} until */
	async function see(until) {
		if (until <= seen) return;
		seen = until;
		await api.seen(until);
		dispatchEvent(new Event("vitrine-seen"));
	}

	/** @param {Item & {title: string, done: boolean}} item */
	function row(item) {
		const href = item.release ? to("releases", item.release) : `${to("apps", item.app ?? "")}?comments=1`;
		const link = h("a", { href, class: "name" }, item.title);
		const who = person(item.by?.urn);
		const said = {
			approve: ["You can approve this release of ", who],
			failed: [item.done ? "The end of your release could not be: its moves stay" : "Your release could not run"],
			approved: ["Your release was approved by ", who],
			mention: ["A comment mentions you, by ", who],
		}[item.kind];
		return h("li", null, link, h("p", null, said, " ", detail(time(item.at))));
	}

	pages.follow(live, waits);
	void pages.load();
	return {
		node: h(
			"div",
			{ class: "page" },
			h("div", { class: "head" }, h("h1", null, "What waits for you")),
			list,
			empty,
			pages.foot,
		),
	};
}
