/**
 * The list of apps.
 * @module
 */
import { to } from "../address.js";
import { keys } from "../api.js";
import {
	button,
	count,
	debounce,
	detail,
	fill,
	flag,
	h,
	head,
	icon,
	labelled,
	newID,
	reconcile,
	rowTable,
	searchLine,
} from "../dom.js";
import { askWith, confirm, toast, trouble } from "../elements/dialog.js";
import { Pages } from "../elements/pages.js";
import { chooseGroups, group as groupChip, person } from "../elements/person.js";
import { time } from "../elements/time.js";
import { groupName, titleOf } from "../model/names.js";

/** @typedef {import("../openapi").components["schemas"]["AppSummary"]} App */

const sorts = [
	["-updatedAt", "Changed last"],
	["-createdAt", "Newest first"],
	["createdAt", "Oldest first"],
	["updatedAt", "Changed first"],
];

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, query, signal, live, shell }) {
	shell.title(query.has("bin") ? "Deleted apps" : "Apps");
	const text = searchLine("Find", query.get("q") ?? "");
	const where = h(
		"select",
		{ "aria-label": "Where" },
		h("option", { value: "" }, "In titles"),
		h("option", { value: "title,content" }, "In titles and contents"),
	);
	where.value = query.has("in") ? "title,content" : "";
	const group = searchLine("Filter by group", query.get("group") ?? "", { list: newID("groups") });
	const groups = h("datalist", { id: group.getAttribute("list") });
	const wanted = query.get("component");
	const component = h(
		"select",
		{ "aria-label": "Component" },
		h("option", { value: "" }, "Any component"),
		wanted && h("option", { value: wanted, selected: true }, wanted),
	);
	const sort = h(
		"select",
		{ "aria-label": "Order" },
		sorts.map(([value, name]) => h("option", { value }, name)),
	);
	sort.value = query.get("sort") ?? "-updatedAt";
	const bin = query.has("bin");
	/** @type {Map<string, string>} titles of components by their names */
	const titles = new Map();
	const body = h("tbody");
	const empty = h("div", { class: "empty", hidden: true });
	/** @type {Map<string, {node: HTMLElement}>} */
	const rows = new Map();

	/** @type {Pages<App>} */
	const list = new Pages(
		signal,
		"apps",
		(after, signal) =>
			api.apps(
				{
					q: text.value.trim() || undefined,
					...(searches() ? { in: where.value } : { sort: sort.value }),
					usingComponent: component.value || undefined,
					deleted: bin ? "true" : undefined,
					after,
				},
				signal,
			),
		render,
	);

	/** Whether contents are searched. */
	function searches() {
		return where.value !== "" && text.value.trim() !== "";
	}

	function render() {
		const { items: apps, next } = list;
		sort.disabled = searches();
		const urn = group.value.trim().toLowerCase();
		const shown = apps.filter(
			(a) => urn === "" || a.groups.some((g) => `${g} ${groupName(g)}`.toLowerCase().includes(urn)),
		);
		reconcile(
			body,
			rows,
			shown,
			(a) =>
				`${a.id} ${a.version} ${a.openComments} ${a.tags.map((t) => [t.name, t.appVersion])} ${titles.size} ` +
				`${JSON.stringify(a.found)}`,
			(app) => ({ node: row(app) }),
		);
		fill(
			groups,
			[...new Set(apps.flatMap((a) => a.groups))].sort().map((g) => h("option", { value: groupName(g) })),
		);
		empty.hidden = shown.length > 0;
		const all = component.value === "" && text.value.trim() === "" && urn === "";
		fill(
			empty,
			h(
				"p",
				null,
				apps.length === 0 && all
					? bin
						? "No app was deleted."
						: `There are no apps ${creates() ? "yet" : "that you may see"}. An app is made of elements, ` +
							"and each change of it is kept as a version."
					: next !== undefined
						? "None of the apps that are loaded fits. Show more, or change the filters."
						: "No app fits. Change the filters.",
			),
			apps.length === 0 && all && !bin && creates() && button("New app", create, { icon: "add", class: "main" }),
		);
		const loaded = count(apps.length, next === undefined ? "app" : "loaded app");
		return apps.length === 0 ? "" : shown.length === apps.length ? loaded : `${shown.length} of ${loaded}`;
	}

	/** Whether the caller may create an app: a moderator of something may. */
	function creates() {
		return session.me !== undefined && session.me.moderates.length > 0;
	}

	/** Shows what an app has become: with other tags, in its place of the order, new, or gone. @param {string} id */
	async function refresh(id) {
		const [app, tagged] = await Promise.all([api.app(id, undefined, signal), api.tags(id, {}, signal)]).catch(
			() => [],
		);
		if (signal.aborted) return;
		const components = [...new Set(app?.elements.map((e) => e.component.name))].sort();
		const fits = app && (component.value === "" || components.includes(component.value));
		const known = list.items.some((a) => a.id === id);
		const key = /** @type {"createdAt" | "updatedAt"} */ (sort.value.replace("-", ""));
		const sign = sort.value.startsWith("-") ? -1 : 1;
		list.items = list.items.filter((a) => a.id !== id);
		if (fits) {
			const { elements: _, ...rest } = app;
			list.items = [...list.items, /** @type {App} */ ({ ...rest, components, tags: tagged?.tags ?? [] })].sort(
				(a, b) => sign * (a[key] - b[key]) || (a.id < b.id ? -1 : 1),
			);
			// It belongs to a later page.
			if (list.next !== undefined && !known && list.items.at(-1)?.id === id) list.items.pop();
		}
		list.show();
	}

	/** @param {App} app */
	function row(app) {
		const may = session.mayWrite(app);
		return h(
			"tr",
			null,
			h(
				"th",
				{ scope: "row" },
				bin
					? h("span", { class: "name" }, app.title)
					: h("a", { href: to("apps", app.id), class: "name" }, app.title),
				detail(`version ${app.version}`),
				app.openComments && detail(icon("comment"), " ", count(app.openComments, "open comment")),
				app.found
					?.filter((f) => !f.text.startsWith("/x/file/")) // a name in an address is no text
					.map((f) =>
						h(
							"a",
							{
								class: "found detail",
								href: `${to("apps", app.id)}?at=${f.element}&field=${encodeURIComponent(f.pointer)}`,
							},
							f.text,
						),
					),
			),
			h(
				"td",
				null,
				chips(
					app.groups.map((g) => [groupName(g), groupChip(g)]),
					3,
				),
			),
			h(
				"td",
				null,
				chips(
					app.components.map((name) => [
						titles.get(name) ?? name,
						h("span", { class: "chip", title: name }, titles.get(name) ?? name),
					]),
					3,
				),
			),
			h(
				"td",
				{ class: "tags" },
				app.tags
					.slice(0, 4)
					.flatMap((t) => [
						flag(t.name, `${t.name} points to version ${t.appVersion}`),
						t.appVersion !== app.version &&
							detail(count(Number(app.version) - Number(t.appVersion), "version"), " behind"),
					]),
				app.tags.length > 4 && detail(`and ${app.tags.length - 4} more`),
			),
			bin
				? h(
						"td",
						{ class: "when" },
						time(app.deletedAt ?? 0),
						app.deletedBy && detail("by ", person(app.deletedBy.urn)),
						detail(left(app)),
					)
				: h(
						"td",
						{ class: "when" },
						time(app.updatedAt),
						app.updatedBy && detail("by ", person(app.updatedBy.urn)),
					),
			h(
				"td",
				{ class: "tools" },
				bin
					? [
							button("Bring back", () => void change(app, "undelete"), {
								class: "small",
								"aria-label": `Bring back ${app.title}`,
							}),
							app.groups.every((g) => session.moderates(g)) &&
								button("Erase", () => void change(app, "erase"), {
									class: "small danger",
									"aria-label": `Erase ${app.title}`,
								}),
						]
					: may &&
							button("Delete", () => void change(app, ""), {
								class: "small",
								"aria-label": `Delete ${app.title}`,
							}),
			),
		);
	}

	/** How long a deleted app can still be brought back. @param {App} app */
	function left(app) {
		return app.erasesAt === undefined
			? ""
			: `${count(Math.max(Math.ceil((app.erasesAt - Date.now()) / 86_400_000), 0), "day")} left`;
	}

	/** Deletes an app, brings it back, or erases it. @param {App} app @param {"" | "undelete" | "erase"} what */
	async function change(app, what) {
		const ask =
			what === ""
				? "It is absent then for everybody, on pages too. Its owner and the moderators of its groups find " +
					"it in the bin."
				: "It is removed for good, with all its versions and tags.";
		try {
			if (
				what !== "undelete" &&
				!(await confirm(`${what ? "Erase" : "Delete"} “${app.title}”?`, ask, what ? "Erase" : "Delete", {
					danger: true,
				}))
			)
				return;
			await api.bin(app.id, what);
			list.items = list.items.filter((a) => a.id !== app.id);
			list.show();
			toast(`“${app.title}” is ${what === "" ? "in the bin" : what === "erase" ? "erased" : "back"}.`);
		} catch (e) {
			trouble(e);
		}
	}

	async function replace() {
		const { replaceText } = await import("../elements/upgrade.js");
		const options = [...component.options].map((o) => /** @type {[string, string]} */ ([o.value, o.text]));
		await replaceText(api, {
			text: searches() ? text.value.trim() : "",
			components: { all: options, chosen: component.value },
			groups: { all: session.groups, chosen: group.value.trim() },
		});
	}

	async function create() {
		const title = h("input", { required: true, maxlength: 1024, autocomplete: "off" });
		const suggested = [
			...new Set([
				...(session.me?.moderates ?? []),
				...list.items.flatMap((a) => a.groups).filter((g) => session.moderates(g)),
			]),
		];
		const picked = new Set(suggested.length === 1 ? suggested : []);
		const groups = chooseGroups("Groups", suggested, picked, session, {
			help: "Their moderators may use the app. A network stands for all of its sites.",
		});
		const keyOf = keys();
		const made = await askWith("New app", [labelled("Title", title), groups], "Create", async () => {
			if (picked.size === 0) throw new Error("An app has at least one group.");
			const app = { title: title.value, groups: [...picked], elements: [] };
			return api.createApp(app, keyOf(JSON.stringify(app)));
		});
		if (made) location.hash = to("apps", made.id);
	}

	function remember() {
		const kept = new URLSearchParams(
			Object.entries({
				bin: bin ? "1" : "",
				q: text.value.trim(),
				in: where.value && "content",
				group: group.value,
				component: component.value,
				sort: sort.value === "-updatedAt" ? "" : sort.value,
			}).filter(([, v]) => v !== ""),
		);
		history.replaceState(null, "", `${to("apps")}${kept.size > 0 ? `?${kept}` : ""}`);
	}

	const again = () => {
		remember();
		void list.load(true);
	};
	text.addEventListener(
		"input",
		debounce(150, () => !searches() && again()),
	);
	text.addEventListener(
		"input",
		debounce(500, () => searches() && again()),
	);
	group.addEventListener(
		"input",
		debounce(150, () => {
			remember();
			list.show();
		}),
	);
	for (const input of [component, sort, where]) input.addEventListener("change", again);
	live.each(signal, (c) => {
		if (!c || (c.app && (bin || text.value.trim() !== ""))) void list.load(true);
		else if (c.app) void refresh(c.app);
	});
	void allComponents();
	void list.load(true);

	async function allComponents() {
		try {
			const { components } = await api.components(undefined, signal);
			for (const c of components) titles.set(c.name, titleOf(c));
			list.show();
			component.append(
				...components
					.filter((c) => c.name !== wanted)
					.map((c) => h("option", { value: c.name, title: c.name }, titleOf(c))),
			);
		} catch {
			// the list is of use without this filter
		}
	}

	return {
		node: h(
			"div",
			{ class: "page" },
			head(
				bin ? "Deleted apps" : "Apps",
				h(
					"div",
					{ class: "row" },
					h("a", { href: `${to("apps")}${bin ? "" : "?bin=1"}` }, bin ? "Back to the apps" : "Bin"),
					!bin && creates() && button("Replace a text", () => void replace().catch(trouble)),
					!bin && creates() && button("New app", () => void create(), { icon: "add", class: "main" }),
				),
			),
			h(
				"div",
				{ class: "filters", role: "search" },
				h("span", { class: "searching" }, icon("search"), text),
				where,
				group,
				groups,
				component,
				sort,
			),
			rowTable(["App", "Groups", "Components", "Tags", bin ? "Deleted" : "Changed", "Tools"], body),
			empty,
			list.foot,
		),
	};
}

/**
 * So many things with their names, and how many more there are.
 * @param {[string, HTMLElement][]} list @param {number} most
 */
export function chips(list, most) {
	const rest = list.slice(most);
	return h(
		"span",
		{ class: "chips" },
		list.slice(0, most).map(([, node]) => node),
		rest.length > 0 &&
			h("span", { class: "detail", title: rest.map(([name]) => name).join("\n") }, `+${rest.length}`),
	);
}
