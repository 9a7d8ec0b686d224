/**
 * The list of releases: moves of tags that are made together.
 * @module
 */
import { to } from "../address.js";
import { button, count, fill, h, head, rowTable } from "../dom.js";
import { trouble } from "../elements/dialog.js";
import { Pages } from "../elements/pages.js";
import { author } from "../elements/person.js";
import { choose } from "../elements/release.js";
import { time } from "../elements/time.js";
import { stateOf } from "./release.js";

const states = [
	["", "Any state"],
	["open", "Open"],
	["scheduled", "Scheduled"],
	["done", "Done"],
	["cancelled", "Cancelled"],
];

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, query, signal, live, shell }) {
	shell.title("Releases");
	const body = h("tbody");
	const state = h(
		"select",
		{ "aria-label": "State" },
		states.map(([value, name]) => h("option", { value }, name)),
	);
	state.value = query.get("state") ?? "";
	const empty = h(
		"div",
		{ class: "empty", hidden: true },
		h(
			"p",
			null,
			"No releases. A release publishes several apps at one moment: now, or at a time that you choose. " +
				"Its tags may need the approval of somebody else first.",
		),
	);
	/** @type {Pages<import("../api.js").Release>} */
	const list = new Pages(
		signal,
		"releases",
		(after, signal) => api.releases({ state: state.value || undefined, after }, signal),
		() => {
			empty.hidden = list.items.length > 0;
			fill(
				body,
				list.items.map((r) =>
					h(
						"tr",
						null,
						h(
							"th",
							{ scope: "row" },
							h("a", { class: "name", href: to("releases", r.id) }, r.name || "Without a name"),
						),
						h("td", null, stateOf(r)),
						h("td", null, count(r.moves.length, "move")),
						h("td", null, author(r.by.urn, r.agent)),
						h(
							"td",
							null,
							r.ranAt !== null
								? ["ran ", time(r.ranAt)]
								: r.at !== null
									? ["runs ", time(r.at)]
									: ["changed ", time(r.updatedAt)],
						),
					),
				),
			);
			return list.items.length === 0
				? ""
				: count(list.items.length, list.next === undefined ? "release" : "loaded release");
		},
	);
	state.addEventListener("change", () => {
		history.replaceState(null, "", `${to("releases")}${state.value ? `?state=${state.value}` : ""}`);
		void list.load(true);
	});
	list.follow(live, (c) => c.type === "release");
	void list.load(true);
	const may = (session.me?.moderates.length ?? 0) > 0;
	return {
		node: h(
			"div",
			{ class: "page" },
			head(
				"Releases",
				may &&
					button("New release", () => void choose(api, session, signal).catch(trouble), {
						icon: "add",
						class: "main",
					}),
			),
			h("div", { class: "filters" }, state),
			rowTable(["Release", "State", "Moves", "By", "When"], body),
			empty,
			list.foot,
		),
	};
}
