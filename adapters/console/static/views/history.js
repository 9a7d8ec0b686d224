/**
 * The history of an app: who changed what when, two versions side by side, and how to bring one back.
 * @module
 */
import { keys } from "../api.js";
import { button, count, fill, h, icon, newID } from "../dom.js";
import { appNav } from "../elements/apphead.js";
import { askWith, sentence, toast } from "../elements/dialog.js";
import { difference, summary } from "../elements/diff.js";
import { Pages } from "../elements/pages.js";
import { time } from "../elements/time.js";
import { to } from "../router.js";
import { shortURN } from "../session.js";

/** @typedef {import("../api.js").Entry} Entry */

/** Saves of one person that follow each other within this time are one line, in milliseconds. */
const together = 10 * 60_000;

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, query, signal, live, shell }) {
	const id = params[0];
	const title = h("h1", null, "History");
	const timeline = h("div", { class: "timeline" });
	const compared = h("section", { class: "compared", "aria-label": "Comparison" });
	let writable = false;
	/** @type {Set<string>} the oldest versions of the lines that are unfolded */
	const unfolded = new Set();
	/** @type {Pages<Entry>} */
	const list = new Pages(signal, "history", async (before, signal) => {
		if (list.items.length === 0) {
			const app = await api.app(id, undefined, signal);
			fill(title, app.title);
			shell.title(`History of ${app.title}`);
			writable = session.mayWrite(app);
		}
		return api.history(id, before, signal);
	}, render);

	function render() {
		let day = "";
		/** @type {Node[]} */
		const nodes = [];
		for (const group of folded(list.items)) {
			const first = group[0];
			const date = new Date(first.updatedAt).toLocaleDateString(undefined, { weekday: "long", year: "numeric", month: "long", day: "numeric" });
			if (date !== day) nodes.push(h("h2", null, date));
			day = date;
			const oldest = /** @type {Entry} */ (group.at(-1));
			nodes.push(group.length === 1 ? line(first, first) : h("details", { open: unfolded.has(oldest.version), ontoggle: (/** @type {Event} */ event) => {
				if (/** @type {HTMLDetailsElement} */ (event.target).open) unfolded.add(oldest.version);
				else unfolded.delete(oldest.version);
			} }, h("summary", null, line(first, oldest, group)), group.map((e) => line(e, e))));
		}
		fill(timeline, nodes);
		return list.next === undefined ? "" : count(list.items.length, "loaded version");
	}

	/** @param {Entry} last @param {Entry} first @param {Entry[]} [all] */
	function line(last, first, all) {
		const tags = (all ?? [last]).flatMap((e) => e.tags.map((t) => h("span", { class: "tag now", title: `points to version ${e.version}` }, icon("flag"), t)));
		const what = all ? summary(all.flatMap((e) => e.changes), all.some((e) => e.changesTruncated)) : last.restoredFrom !== null ? `restored version ${last.restoredFrom}` : last.version === "0" ? "created the app" : summary(last.changes, last.changesTruncated);
		const previous = Number(first.version) - 1;
		return h("div", { class: "line" }, h("span", { class: "number" }, all ? `${first.version}–${last.version}` : last.version),
			h("div", { class: "what" }, h("span", { class: "strong", title: last.updatedBy?.urn ?? "" }, shortURN(last.updatedBy?.urn ?? "somebody")), ` ${what} `, h("span", { class: "detail" }, time(last.updatedAt)), " ", tags),
			h("span", { class: "tools" }, previous >= 0 && button("Changes", (event) => {
				event.preventDefault();
				void compare(String(previous), last.version);
			}, { class: "small", "aria-label": `Changes of version ${all ? `${first.version} to ${last.version}` : last.version}` }),
			!all && writable && last !== list.items[0] && button("Restore", () => void restore(last.version), { class: "small", "aria-label": `Restore version ${last.version}` })));
	}

	/** @param {string} from @param {string} until */
	async function compare(from, until) {
		history.replaceState(null, "", `${to("apps", id, "history")}?from=${from}&to=${until}`);
		const latest = Number(list.items[0]?.version ?? until);
		/** @param {string} label @param {string} value */
		const choice = (label, value) => {
			const key = newID();
			const input = h("input", { id: key, type: "number", min: 0, max: latest, value });
			return { input, node: h("span", { class: "row" }, h("label", { for: key }, label), input) };
		};
		const [a, b] = [choice("From version", from), choice("to", until)];
		const again = () => {
			if (a.input.validity.valid && b.input.validity.valid && a.input.value !== "" && b.input.value !== "") void compare(a.input.value, b.input.value);
		};
		a.input.addEventListener("change", again);
		b.input.addEventListener("change", again);
		const body = h("div", { class: "loading", "aria-busy": "true" });
		fill(compared, h("div", { class: "row" }, h("h2", null, "What changed"), a.node, b.node), body);
		try {
			const [app, diff] = await Promise.all([api.app(id, from, signal), api.diff(id, from, until, signal)]);
			if (!body.isConnected) return;
			body.replaceWith(difference(app, diff));
			compared.scrollIntoView({ block: "nearest" });
		} catch (e) {
			if (!signal.aborted) fill(compared, h("p", { class: "note bad", role: "alert" }, sentence(e)));
		}
	}

	/** @param {string} version */
	async function restore(version) {
		const latest = list.items[0].version;
		const [app, diff] = await Promise.all([api.app(id, latest, signal), api.diff(id, latest, version, signal)]);
		const keyOf = keys();
		const made = await askWith(`Restore version ${version}?`, [h("p", null, `This makes a new version, ${Number(latest) + 1}, with the content of version ${version}. Tags stay where they are. It changes:`), difference(app, diff)],
			"Restore", () => api.restore(id, version, keyOf(version)), { wide: true });
		if (!made) return;
		toast(`Version ${made.version} is what version ${version} was.`);
		fill(compared);
		await list.load(true);
	}

	list.follow(live, (c) => c.app === id);
	const [first, second] = [query.get("from"), query.get("to")];
	void list.load(true).then(() => {
		if (list.items.length > 0 && first !== null && second !== null) void compare(first, second);
	});
	return { node: h("div", { class: "page history" }, appNav(id, "history"), h("div", { class: "head" }, title), compared, timeline, list.foot) };
}

/** Entries in groups that are shown as one line: saves of one person within ten minutes, none of them restored or tagged. @param {Entry[]} entries */
export function folded(entries) {
	/** @type {Entry[][]} */
	const groups = [];
	for (const e of entries) {
		const group = groups.at(-1);
		const last = group?.at(-1);
		const alone = (/** @type {Entry} */ x) => x.restoredFrom !== null || x.tags.length > 0 || x.version === "0";
		if (group && last && !alone(last) && !alone(e) && last.updatedBy?.urn === e.updatedBy?.urn && last.updatedAt - e.updatedAt < together) group.push(e);
		else groups.push([e]);
	}
	return groups;
}
