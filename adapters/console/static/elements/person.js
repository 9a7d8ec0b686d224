/**
 * How people and groups are shown: by their names, with initials, and with the URN on hover. A name that is not known
 * yet comes in its place when the service has told it.
 * @module
 */
import { h } from "../dom.js";
import { choose } from "./pick.js";
import { askFor, changes, everybody, groupName, initials, nameOf } from "../model/names.js";

/**
 * Somebody. The initials are made by the style sheet: they are no text.
 * @param {string | undefined} urn undefined for somebody who is not known
 */
export function person(urn) {
	const node = h("span", { class: "person", "data-person": urn ?? "", title: urn ?? "" }, h("bdi"));
	node.style.setProperty(
		"--hue",
		String([...(urn ?? "")].reduce((sum, c) => (sum * 31 + (c.codePointAt(0) ?? 0)) % 360, 7)),
	);
	tell(node);
	if (urn) void askFor([urn]);
	return node;
}

/**
 * Who has written something: somebody, or the key of an agent in the name of somebody.
 * @param {string | undefined} urn @param {string} [agent] the name of the key
 */
export function author(urn, agent) {
	return agent ? [h("span", { class: "tag" }, "agent ", h("bdi", null, agent)), " for ", person(urn)] : person(urn);
}

/** @param {HTMLElement} node */
function tell(node) {
	const urn = node.dataset["person"] ?? "";
	const name = urn === "" ? "somebody" : nameOf(urn);
	/** @type {Element} */ (node.firstChild).textContent = name;
	node.dataset["initials"] = initials(name);
}

/** A group. @param {string} urn */
export function group(urn) {
	return h("span", { class: "chip", "data-group": urn, title: urn }, groupName(urn));
}

changes.addEventListener("change", () => {
	for (const node of document.querySelectorAll("[data-person]")) tell(/** @type {HTMLElement} */ (node));
	for (const node of document.querySelectorAll("[data-group]"))
		node.textContent = groupName(/** @type {HTMLElement} */ (node).dataset["group"] ?? "");
});

/**
 * A field for groups, by their names. What is typed is a URN, or the site of a network that the person moderates.
 * @param {string} name @param {string[]} suggested @param {Set<string>} picked it is changed
 * @param {import("../session.js").Session} session @param {Parameters<typeof choose>[3]} [options]
 */
export function chooseGroups(name, suggested, picked, session, options) {
	const network = (session.me?.moderates[0] ?? session.me?.urn ?? "").split(":").slice(0, 3).join(":");
	return choose(name, suggested, picked, {
		placeholder: "Name of a site, or a URN",
		label: groupName,
		read: (typed) =>
			typed === "" || typed.startsWith("urn:")
				? typed
				: network.endsWith(`:${typed}`)
					? network
					: `${network}:site=${typed}`,
		...options,
	});
}

/**
 * People to choose from, in a network or in all: names with URNs.
 * @param {string} [users] what the URNs of the network's users begin with
 */
export async function peopleNamed(users = "") {
	return (await everybody())
		.filter((p) => p.urn.startsWith(users))
		.map(({ name, urn }) => /** @type {[string, string]} */ ([name, urn]));
}

/** Groups to choose from: names with URNs. @param {string[]} urns @returns {[string, string][]} */
export function groupsNamed(urns) {
	return [...new Set(urns)].map((urn) => [groupName(urn), urn]);
}
