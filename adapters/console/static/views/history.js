/**
 * The history of an app: who changed what when, two versions side by side, and how to bring one back.
 * @module
 */
import { to } from "../address.js";
import { keys } from "../api.js";
import { button, count, debounce, detail, fill, flag, h, newID, reconcile } from "../dom.js";
import { appNav } from "../elements/apphead.js";
import { askWith, noteField, sentence, toast, trouble } from "../elements/dialog.js";
import { compared } from "../elements/diff.js";
import { Pages } from "../elements/pages.js";
import { author } from "../elements/person.js";
import { showVersion } from "../elements/preview.js";
import { Said } from "../elements/said.js";
import { time } from "../elements/time.js";
import { readNumber } from "../model/number.js";

/** @typedef {import("../api.js").Entry} Entry */

/** Saves of one person that follow each other within this time are one line, in milliseconds. */
const together = 10 * 60_000;

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, query, signal, live, shell }) {
	const id = params[0];
	const title = h("h1", null, "History");
	const timeline = h("div", { class: "timeline" });
	const comparison = h("section", { class: "compared", "aria-label": "Comparison" });
	let writable = false;
	/** @type {Pages<Entry>} */
	const list = new Pages(
		signal,
		"history",
		async (before, signal) => {
			if (list.items.length === 0) {
				const app = await api.app(id, undefined, signal);
				said.know(app);
				fill(title, app.title);
				shell.title(`History of ${app.title}`);
				writable = session.mayWrite(app);
			}
			return api.history(id, before, signal);
		},
		render,
	);

	/** The version before another one. @param {Entry} e */
	function previous(e) {
		return String(Number(e.version) - 1);
	}

	const said = new Said(api, id, signal);

	/** @type {Set<string>} versions of lines that are unfolded */
	const unfolded = new Set();
	/** @type {Map<string, {node: HTMLElement, show: (group: Entry[]) => void}>} the days and lines that are shown */
	const parts = new Map();

	function render() {
		said.read(list.items);
		let day = "";
		/** @type {{key: string, make: () => {node: HTMLElement, show: (group: Entry[]) => void}, group: Entry[]}[]} */
		const wanted = [];
		for (const group of folded(list.items)) {
			const date = new Date(group[0].updatedAt).toLocaleDateString(undefined, {
				weekday: "long",
				year: "numeric",
				month: "long",
				day: "numeric",
			});
			if (date !== day) wanted.push({ key: date, group, make: () => ({ node: h("h2", null, date), show() {} }) });
			day = date;
			const oldest = /** @type {Entry} */ (group.at(-1)).version;
			wanted.push(
				group.length === 1
					? { key: keyOf(group[0]), group, make: () => ({ node: line(group[0]), show() {} }) }
					: { key: `from ${oldest}`, group, make: () => fold(group) },
			);
		}
		reconcile(
			timeline,
			parts,
			wanted,
			(w) => w.key,
			(w) => w.make(),
			(part, w) => part.show(w.group),
		);
		return list.next === undefined ? "" : count(list.items.length, "loaded version");
	}

	/** Changes with everything that the line of a version shows. @param {Entry} e */
	function keyOf(e) {
		return `${e.version} ${e === list.items[0]} ${e.tags}`;
	}

	/** The line of several versions, which unfolds. @param {Entry[]} group */
	function fold(group) {
		const id = newID();
		const lines = h("div", { id });
		const toggle = h("button", { type: "button", "aria-controls": id, onclick: () => open(lines.hidden) });
		const tools = h("span", { class: "tools" });
		const node = h("div", { class: "fold" }, h("div", { class: "line" }, toggle, tools), lines);
		/** @param {boolean} yes */
		function open(yes) {
			lines.hidden = !yes;
			toggle.setAttribute("aria-expanded", String(yes));
			for (const e of group) unfolded.delete(e.version);
			if (yes) unfolded.add(group[0].version);
		}
		open(group.some((e) => unfolded.has(e.version)));
		/** @type {Map<string, {node: HTMLElement}>} */
		const parts = new Map();
		let shown = "";
		return {
			node,
			show(/** @type {Entry[]} */ now) {
				const key = now.map(keyOf).join();
				if (key === shown) return;
				shown = key;
				group = now;
				const [last, first] = [group[0], /** @type {Entry} */ (group.at(-1))];
				fill(toggle, what(last, first, group));
				fill(tools, changes(last, first));
				reconcile(lines, parts, group, keyOf, (e) => ({ node: line(e) }));
			},
		};
	}

	let refreshes = 0;

	/**
	 * Shows what has happened since: newer versions above those that are loaded, and all tags where they point now.
	 * Of refreshes that overlap, the one that began last counts.
	 * @returns {Promise<void>}
	 */
	async function refresh() {
		if (list.items.length === 0) return list.load(true);
		const mine = ++refreshes;
		try {
			const app = await api.app(id, undefined, signal);
			/** @type {Map<string, string[]>} */
			const tags = new Map();
			let next;
			do {
				const page = await api.tags(id, { after: next }, signal);
				for (const t of page.tags) tags.set(t.appVersion, [...(tags.get(t.appVersion) ?? []), t.name]);
				next = page.next;
			} while (next !== undefined);
			/** @type {Entry[]} */
			const newer = [];
			const isNew = (/** @type {Entry} */ e) => Number(e.version) > Number(list.items[0].version);
			do {
				const page = await api.history(id, next, signal);
				newer.push(...page.history);
				next = page.next;
			} while (next !== undefined && isNew(/** @type {Entry} */ (newer.at(-1))));
			if (mine !== refreshes) return;
			said.know(app);
			list.items = [...newer.filter(isNew), ...list.items].map((e) => ({
				...e,
				tags: tags.get(e.version) ?? [],
			}));
			list.show();
		} catch {
			return list.load(true); // says what is wrong
		}
	}

	/** The line of one version. @param {Entry} e */
	function line(e) {
		return h(
			"div",
			{ class: "line" },
			what(e, e),
			h(
				"span",
				{ class: "tools" },
				button("Show", () => void showVersion(api, id, e.version).catch(trouble), {
					class: "small",
					"aria-label": `Show version ${e.version}`,
				}),
				changes(e, e),
				writable &&
					e !== list.items[0] &&
					button("Restore", () => void restore(e.version), {
						class: "small",
						"aria-label": `Restore version ${e.version}`,
					}),
			),
		);
	}

	/** What a line says. @param {Entry} last @param {Entry} first @param {Entry[]} [all] if they are several */
	function what(last, first, all) {
		const group = all ?? [last];
		const tags = group.flatMap((e) => e.tags.map((t) => flag(t, `${t} points to version ${e.version}`)));
		return [
			h("span", { class: "number" }, all ? `${first.version}–${last.version}` : last.version),
			h(
				"span",
				{ class: "what" },
				author(last.updatedBy?.urn, last.agent),
				" ",
				said.words(group),
				" ",
				detail(time(last.updatedAt)),
				" ",
				tags,
				group.map((e) => e.note && h("q", { class: "detail" }, e.note)),
			),
		];
	}

	/** The button that compares versions with the one before them. @param {Entry} last @param {Entry} first */
	function changes(last, first) {
		return (
			first.version !== "0" &&
			button("Changes", () => void compare(previous(first), last.version), {
				class: "small",
				"aria-label":
					"Changes of version " + (first === last ? last.version : `${first.version} to ${last.version}`),
			})
		);
	}

	/** @param {string} from @param {string} until */
	async function compare(from, until) {
		history.replaceState(null, "", `${to("apps", id, "history")}?from=${from}&to=${until}`);
		const latest = Number(list.items[0]?.version ?? until);
		const wrong = h("p", { id: newID(), class: "wrong", role: "status" });
		/** @param {string} label @param {string} value */
		const choice = (label, value) => {
			const key = newID();
			const input = h("input", {
				id: key,
				inputmode: "numeric",
				autocomplete: "off",
				"aria-describedby": wrong.id,
				value,
				onchange: () => again(),
			});
			return { input, node: h("span", { class: "row" }, h("label", { for: key }, label), input) };
		};
		const [a, b] = [choice("From version", from), choice("to", until)];
		const again = () => {
			const read = [a, b].map(({ input }) => {
				const n = readNumber(input.value);
				const version = "value" in n ? Number(n.value) : -1;
				const good = Number.isInteger(version) && version >= 0 && version <= latest;
				input.setAttribute("aria-invalid", String(!good));
				return good ? String(version) : undefined;
			});
			const [from, until] = read;
			wrong.textContent = from && until ? "" : `Versions are 0 to ${latest}.`;
			if (from && until) void compare(from, until);
		};
		const body = h("div", { class: "loading", "aria-busy": "true" });
		fill(comparison, h("div", { class: "row" }, h("h2", null, "What changed"), a.node, b.node), wrong, body);
		try {
			const { node } = await compared(api, id, from, until, signal);
			if (!body.isConnected) return; // another comparison was begun meanwhile
			body.replaceWith(node);
			comparison.scrollIntoView({ block: "nearest" });
		} catch (e) {
			if (!signal.aborted && body.isConnected)
				fill(comparison, h("div", { class: "note bad", role: "alert" }, sentence(e)));
		}
	}

	/** @param {string} version */
	async function restore(version) {
		const latest = list.items[0].version;
		const { node } = await compared(api, id, latest, version, signal);
		const keyFor = keys();
		const note = noteField();
		const restored = await askWith(
			`Restore version ${version}?`,
			[
				h(
					"p",
					null,
					`This makes a new version, ${Number(latest) + 1}, with the content of version ${version}. Tags ` +
						"stay where they are. It changes:",
				),
				node,
				note.node,
			],
			"Restore",
			() => api.restore(id, version, note.value, keyFor(version + note.value)),
			{ wide: true },
		);
		if (!restored) return;
		toast(`Version ${restored.version} is what version ${version} was.`);
		fill(comparison);
		await refresh();
	}

	const follow = debounce(200, () => void refresh());
	live.each(signal, (c) => {
		if (!c) void list.load(true);
		else if (c.app === id) follow();
	});
	const [first, second] = [query.get("from"), query.get("to")];
	void list.load(true).then(() => {
		if (list.items.length > 0 && first !== null && second !== null) void compare(first, second);
	});
	return {
		node: h(
			"div",
			{ class: "page history" },
			appNav(id, "history"),
			h("div", { class: "head" }, title),
			comparison,
			timeline,
			list.foot,
		),
	};
}

/**
 * Entries in groups that are shown as one line: saves of one person within ten minutes, none of them restored or
 * tagged.
 * @param {Entry[]} entries
 */
export function folded(entries) {
	/** @type {Entry[][]} */
	const groups = [];
	for (const e of entries) {
		const group = groups.at(-1);
		const last = group?.at(-1);
		const alone = (/** @type {Entry} */ x) => x.restoredFrom !== null || x.tags.length > 0 || x.version === "0";
		if (
			group &&
			last &&
			!alone(last) &&
			!alone(e) &&
			last.updatedBy?.urn === e.updatedBy?.urn &&
			last.agent === e.agent &&
			last.updatedAt - e.updatedAt < together
		)
			group.push(e);
		else groups.push([e]);
	}
	return groups;
}
