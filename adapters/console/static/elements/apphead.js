/**
 * What stands above the views of one app.
 * @module
 */
import { to } from "../address.js";
import { h } from "../dom.js";

const views = [
	["", "Designer"],
	["history", "History"],
	["deployments", "Deployments"],
];

/** @param {string} id @param {string} current */
export function appNav(id, current) {
	return [
		h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: to("apps") }, "Apps")),
		h(
			"nav",
			{ class: "tabs", "aria-label": "Views of the app" },
			views.map(([part = "", name]) =>
				h(
					"a",
					{
						href: part === "" ? to("apps", id) : to("apps", id, part),
						"aria-current": part === current && "page",
					},
					name,
				),
			),
		),
	];
}
