/**
 * The list of components.
 * @module
 */
import { to } from "../address.js";
import { button, count, debounce, detail, fill, h, head, help, icon, rowTable, searchLine } from "../dom.js";
import { Pages } from "../elements/pages.js";
import { titleOf } from "../model/names.js";
import { edit } from "./component.js";

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, query, signal, live, shell }) {
	shell.title("Components");
	const body = h("tbody");
	const search = searchLine("Filter by name", query.get("name") ?? "");
	const empty = h("div", { class: "empty", hidden: true });
	const create = () =>
		void edit(api, undefined).then((made) => {
			if (made) location.hash = to("components", made.name);
		});
	/** @type {Pages<{name: string, version: string, main: string, title?: string}>} */
	const list = new Pages(signal, "components", (after, signal) => api.components(after, signal), render);

	function render() {
		const { items: components, next } = list;
		const words = search.value.trim().toLowerCase();
		const shown = components.filter((c) => `${c.name} ${titleOf(c)}`.toLowerCase().includes(words));
		fill(
			body,
			shown.map((c) =>
				h(
					"tr",
					null,
					h(
						"th",
						{ scope: "row" },
						h("a", { class: "name", href: to("components", c.name) }, titleOf(c)),
						titleOf(c) !== c.name && detail(c.name),
					),
					h("td", null, c.version),
					h("td", { class: "main-url" }, h("code", null, c.main)),
				),
			),
		);
		empty.hidden = shown.length > 0;
		fill(
			empty,
			h(
				"p",
				null,
				components.length === 0
					? "There are no components yet. A component powers elements of apps: it has a script, and a " +
							"JSON Schema for the configs of its elements."
					: next === undefined
						? "No component fits."
						: "None of the components that are loaded fits. Show more, or change the filter.",
			),
			components.length === 0 && !session.me?.components && help("You have no right to create components."),
		);
		return components.length === 0
			? ""
			: count(components.length, next === undefined ? "component" : "loaded component");
	}

	search.addEventListener(
		"input",
		debounce(100, () => list.show()),
	);
	list.follow(live, (c) => c.component);
	void list.load(true);
	return {
		node: h(
			"div",
			{ class: "page" },
			head(
				"Components",
				session.me?.components && button("New component", create, { icon: "add", class: "main" }),
			),
			h("div", { class: "filters", role: "search" }, h("span", { class: "searching" }, icon("search"), search)),
			rowTable(["Component", "Latest version", "Script"], body),
			empty,
			list.foot,
		),
	};
}
