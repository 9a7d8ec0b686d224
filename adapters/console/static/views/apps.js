/**
 * The list of apps.
 * @module
 */
import { keys } from "../api.js";
import { button, count, debounce, fill, flag, h, icon, labelled, newID, reconcile, searchLine, table, whenSeen } from "../dom.js";
import { askWith } from "../elements/dialog.js";
import { Pages } from "../elements/pages.js";
import { chooseGroups, group as groupChip, person } from "../elements/person.js";
import { time } from "../elements/time.js";
import { groupName } from "../model/names.js";
import { titleOf } from "../model/timeline.js";
import { to } from "../router.js";

/** @typedef {import("../api.js").App} App */

const sorts = [["-updatedAt", "Changed last"], ["-createdAt", "Newest first"], ["createdAt", "Oldest first"], ["updatedAt", "Changed first"]];

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, query, signal, live, shell }) {
	shell.title("Apps");
	const text = searchLine("Filter by title", query.get("title") ?? "");
	const group = searchLine("Filter by group", query.get("group") ?? "", { list: newID("groups") });
	const groups = h("datalist", { id: group.getAttribute("list") });
	const wanted = query.get("component");
	const component = h("select", { "aria-label": "Component" }, h("option", { value: "" }, "Any component"), wanted && h("option", { value: wanted, selected: true }, wanted));
	const sort = h("select", { "aria-label": "Order" }, sorts.map(([value, name]) => h("option", { value }, name)));
	sort.value = query.get("sort") ?? "-updatedAt";
	const body = h("tbody");
	const shownApps = table(["App", "Groups", "Components", "Tags", "Changed"], body, { class: "rows" });
	const empty = h("div", { class: "empty", hidden: true });
	const seen = whenSeen(signal);
	/** @type {Map<string, {node: HTMLElement}>} */
	const rows = new Map();

	/** @type {Pages<App>} */
	const list = new Pages(signal, "apps", (after, signal) => api.apps({ sort: sort.value, usingComponent: component.value || undefined, after }, signal), render);

	function render() {
		const { items: apps, next } = list;
		const words = text.value.trim().toLowerCase();
		const urn = group.value.trim().toLowerCase();
		const shown = apps.filter((a) => a.title.toLowerCase().includes(words) && (urn === "" || a.groups.some((g) => `${g} ${groupName(g)}`.toLowerCase().includes(urn))));
		reconcile(body, rows, shown, (a) => `${a.id} ${a.version}`, (app) => ({ node: row(app) }));
		fill(groups, [...new Set(apps.flatMap((a) => a.groups))].sort().map((g) => h("option", { value: groupName(g) })));
		shownApps.hidden = apps.length === 0;
		empty.hidden = shown.length > 0;
		const all = component.value === "" && words === "" && urn === "";
		fill(empty, h("p", null, apps.length === 0 && all ? `There are no apps ${creates() ? "yet" : "that you may see"}. An app is made of elements, and each change of it is kept as a version.` : next !== undefined ? "None of the apps that are loaded fits. Show more, or change the filters." : "No app fits. Change the filters."),
			apps.length === 0 && all && creates() && button("New app", create, { icon: "add", class: "main" }));
		const loaded = count(apps.length, next === undefined ? "app" : "loaded app");
		return apps.length === 0 ? "" : shown.length === apps.length ? loaded : `${shown.length} of ${loaded}`;
	}

	/** Whether the caller may create an app: a moderator of something may. */
	function creates() {
		return session.me !== undefined && session.me.moderates.length > 0;
	}

	/** Shows what an app has become: with other tags, in its place of the order, new, or gone. @param {string} id */
	async function refresh(id) {
		const app = await api.app(id, undefined, signal).catch(() => undefined);
		if (signal.aborted) return;
		const fits = app && (component.value === "" || app.elements.some((e) => e.component.name === component.value));
		const known = list.items.some((a) => a.id === id);
		const key = /** @type {"createdAt" | "updatedAt"} */ (sort.value.replace("-", ""));
		const sign = sort.value.startsWith("-") ? -1 : 1;
		list.items = list.items.filter((a) => a.id !== id);
		if (fits) list.items = [...list.items, app].sort((a, b) => sign * (a[key] - b[key]) || (a.id < b.id ? -1 : 1));
		if (fits && list.next !== undefined && !known && list.items.at(-1) === app) list.items.pop(); // it belongs to a later page
		const part = app && rows.get(`${id} ${app.version}`);
		if (part) tagsOf(part.node, app);
		list.show();
	}

	/** @param {App} app */
	function row(app) {
		const titles = new Map(app.elements.map((e) => [e.component.name, titleOf(e.component)]));
		const node = h("tr", null,
			h("th", { scope: "row" }, h("a", { href: to("apps", app.id), class: "name" }, app.title), h("span", { class: "detail" }, `version ${app.version} · ${count(app.elements.length, "element")}`)),
			h("td", null, chips(app.groups.map((g) => [groupName(g), groupChip(g)]), 3)),
			h("td", null, chips([...titles].map(([name, title]) => [title, h("span", { class: "chip", title: name }, title)]), 3)),
			h("td", { class: "tags" }),
			h("td", { class: "when" }, time(app.updatedAt), app.updatedBy && h("span", { class: "detail" }, "by ", person(app.updatedBy.urn))));
		tagsOf(node, app);
		return node;
	}

	/** Asks for the tags of an app when its row is in view. @param {HTMLElement} node @param {App} app */
	function tagsOf(node, app) {
		seen(node, async () => {
			try {
				const { tags } = await api.tags(app.id, {}, signal);
				const cell = node.querySelector(".tags");
				if (cell) fill(cell, tags.slice(0, 4).map((t) => [flag(t.name, `${t.name} points to version ${t.appVersion}`), t.appVersion !== app.version && h("span", { class: "detail" }, `${Number(app.version) - Number(t.appVersion)} behind`)]).flat(), tags.length > 4 && h("span", { class: "detail" }, `and ${tags.length - 4} more`));
			} catch {
				// the list is of use without them
			}
		});
	}

	async function create() {
		const title = h("input", { required: true, maxlength: 1024, autocomplete: "off" });
		const suggested = [...new Set([...session.me?.moderates ?? [], ...list.items.flatMap((a) => a.groups).filter((g) => session.moderates(g))])];
		const picked = new Set(suggested.length === 1 ? suggested : []);
		const groups = chooseGroups("Groups", suggested, picked, session, { help: "Their moderators may use the app. A network stands for all of its sites." });
		const keyOf = keys();
		const made = await askWith("New app", [labelled("Title", title), groups], "Create", async () => {
			if (picked.size === 0) throw new Error("An app has at least one group.");
			const app = { title: title.value, groups: [...picked], elements: [] };
			return api.createApp(app, keyOf(JSON.stringify(app)));
		});
		if (made) location.hash = to("apps", made.id);
	}

	function remember() {
		const kept = new URLSearchParams(Object.entries({ title: text.value, group: group.value, component: component.value, sort: sort.value === "-updatedAt" ? "" : sort.value }).filter(([, v]) => v !== ""));
		history.replaceState(null, "", `${to("apps")}${kept.size > 0 ? `?${kept}` : ""}`);
	}

	const filtered = debounce(150, () => {
		remember();
		list.show();
	});
	text.addEventListener("input", filtered);
	group.addEventListener("input", filtered);
	for (const input of [component, sort]) {
		input.addEventListener("change", () => {
			remember();
			void list.load(true);
		});
	}
	live.each(signal, (c) => {
		if (!c) void list.load(true);
		else if (c.app) void refresh(c.app);
	});
	void allComponents();
	void list.load(true);

	async function allComponents() {
		try {
			const { components } = await api.components(undefined, signal);
			component.append(...components.filter((c) => c.name !== wanted).map((c) => h("option", { value: c.name, title: c.name }, titleOf(c))));
		} catch {
			// the list is of use without this filter
		}
	}

	return { node: h("div", { class: "page" },
		h("div", { class: "head" }, h("h1", null, "Apps"), creates() && button("New app", () => void create(), { icon: "add", class: "main" })),
		h("div", { class: "filters", role: "search" }, h("span", { class: "searching" }, icon("search"), text), group, groups, component, sort),
		h("div", { class: "scroll" }, shownApps), empty, list.foot) };
}

/** So many things with their names, and how many more there are. @param {[string, HTMLElement][]} list @param {number} most */
export function chips(list, most) {
	const rest = list.slice(most);
	return h("span", { class: "chips" }, list.slice(0, most).map(([, node]) => node), rest.length > 0 && h("span", { class: "detail", title: rest.map(([name]) => name).join("\n") }, `+${rest.length}`));
}
