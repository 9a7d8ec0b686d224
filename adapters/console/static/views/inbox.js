/**
 * What waits for the person: releases to approve, what has become of one's own, and comments with one's name.
 * @module
 */
import { to } from "../address.js";
import { detail, fill, h } from "../dom.js";
import { sentence } from "../elements/dialog.js";
import { person } from "../elements/person.js";
import { time } from "../elements/time.js";

/** @typedef {import("../api.js").InboxItem} Item */

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ api, signal, live, shell }) {
	shell.title("What waits for you");
	const list = h("ul", { class: "inbox" });
	const empty = h("div", { class: "empty", hidden: true }, h("p", null, "Nothing waits for you."));
	const trouble = h("div", { role: "alert" });

	/** @param {Item} item @param {string} title of the release or the app */
	function row(item, title) {
		const link = item.release
			? h("a", { href: to("releases", item.release), class: "name" }, title)
			: h("a", { href: `${to("apps", item.app ?? "")}?comments=1`, class: "name" }, title);
		const who = person(item.by?.urn);
		const said = {
			approve: ["You can approve this release of ", who],
			failed: ["Your release could not run"],
			approved: ["Your release was approved by ", who],
			mention: ["A comment mentions you, by ", who],
		}[item.kind];
		return h("li", null, link, h("p", null, said, " ", detail(time(item.at))));
	}

	async function load() {
		try {
			const { items } = await api.inbox(signal);
			const titles = await Promise.all(
				items.map((i) =>
					i.release
						? api.release(i.release, signal).then(
								(r) => r.name || "A release without a name",
								() => "A release",
							)
						: api.app(i.app ?? "", undefined, signal).then(
								(a) => a.title,
								() => "An app",
							),
				),
			);
			fill(
				list,
				items.map((item, i) => row(item, titles[i] ?? "")),
			);
			empty.hidden = items.length > 0;
			fill(trouble);
			const until = Math.max(0, ...items.map((i) => i.at));
			if (until > 0) await api.seen(until);
			dispatchEvent(new Event("vitrine-seen"));
		} catch (e) {
			if (!signal.aborted) fill(trouble, sentence(e));
		}
	}

	live.each(signal, (c) => {
		if (!c || ["release", "app.commented"].includes(c.type)) void load();
	});
	void load();
	return {
		node: h(
			"div",
			{ class: "page" },
			h("div", { class: "head" }, h("h1", null, "What waits for you")),
			trouble,
			list,
			empty,
		),
	};
}
