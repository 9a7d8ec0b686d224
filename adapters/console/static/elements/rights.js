/**
 * The rights of a person or a key: as words, and as a form.
 * @module
 */
import { h } from "../dom.js";
import { groupName } from "../model/names.js";
import { contains } from "../session.js";
import { chooseGroups, group } from "./person.js";
import { choose } from "./pick.js";

/** @typedef {import("../api.js").Rights} Rights */
/** @typedef {import("../dom.js").Child} Child */

/** No rights at all. @returns {Rights} */
export function none() {
	return { admin: false, moderates: [], reads: [], roles: [], groups: [], components: false };
}

/** What rights come to, in words. @param {Partial<Rights>} r @returns {Child[]} */
export function rightsOf(r) {
	/** @param {string} verb @param {string[]} [urns] */
	const line = (verb, urns = []) => urns.length > 0 && h("div", { class: "chips" }, verb, urns.map(group));
	/** @param {string} noun @param {string[]} [names] */
	const named = (noun, names = []) =>
		names.length > 0 &&
		h(
			"div",
			{ class: "chips" },
			noun,
			names.map((x) => h("span", { class: "chip" }, x)),
		);
	return [
		r.admin && h("div", null, "is an administrator"),
		line("moderates", r.moderates),
		line("may read", r.reads),
		named(r.roles?.length === 1 ? "has the role" : "has the roles", r.roles),
		line("is in", r.groups),
		r.components && h("div", null, "may create and delete components"),
	];
}

/**
 * A form for rights. Who may not give a right finds it shown and cannot change it.
 * @param {import("../session.js").Session} session @param {Rights} has
 * @param {{admin: boolean}} options whether the right of administrators is one of them
 * @returns {{node: HTMLElement, value: () => Rights}}
 */
export function rightsForm(session, has, { admin }) {
	const me = /** @type {import("../api.js").Me} */ (session.me);
	const all = session.account?.person.admin ?? false;
	const kinds = /** @type {const} */ (["moderates", "reads", "roles", "groups"]);
	const picked = Object.fromEntries(kinds.map((kind) => [kind, new Set(has[kind])]));
	/** @param {string} label @param {boolean} checked @param {boolean} disabled */
	const box = (label, checked, disabled) => {
		const input = h("input", { type: "checkbox", checked, disabled });
		return { input, node: h("div", { class: "boxes" }, h("label", null, input, label)) };
	};
	const administrator = box(
		"Administrator: may do everything with people and keys of all networks, moderates their own network, and " +
			"may create and delete components",
		has.admin,
		!all,
	);
	const components = box("May create and delete components", has.components, !all && !me.components);
	/** Why a right cannot be given. @param {"moderates" | "reads" | "roles" | "groups"} kind */
	const refuse = (kind) => (/** @type {string} */ text) => {
		const lack = lacks(session, { [kind]: [text] });
		return lack && `You do not have the right ${lack} yourself.`;
	};
	/**
	 * The field of a kind. There is none if the person has nothing of it to give or to take.
	 * @param {typeof kinds[number]} kind @param {string} name @param {string[]} own @param {string} help
	 */
	const offered = (kind, name, own, help) => {
		const suggested = [...own, ...has[kind]];
		const set = /** @type {Set<string>} */ (picked[kind]);
		const options = { help, refuse: refuse(kind) };
		return (
			(all || suggested.length > 0) &&
			(kind === "roles"
				? choose(name, suggested, set, options)
				: chooseGroups(name, suggested, set, session, options))
		);
	};
	return {
		node: h(
			"div",
			{ class: "rights" },
			admin && (all || has.admin) && administrator.node,
			offered("moderates", "Moderates", me.moderates, "May do everything with these networks and sites."),
			offered("reads", "May read", [...me.moderates, ...me.reads], "May see their apps, and change nothing."),
			offered("roles", "Roles", me.roles, "For permissions on folders of assets."),
			offered("groups", "Groups", me.groups, "For permissions on folders that are given to a group."),
			(all || me.components || has.components) && components.node,
		),
		value: () => ({
			.../** @type {Rights} */ (
				/** @type {unknown} */ (Object.fromEntries(kinds.map((kind) => [kind, [...picked[kind]]])))
			),
			admin: administrator.input.checked,
			components: components.input.checked,
		}),
	};
}

/**
 * A right among some that the caller does not have, in words; "" if there is none. Nobody gives what they do not have,
 * and nobody changes somebody who has a right that they lack.
 * @param {import("../session.js").Session} session @param {Partial<Rights>} r
 */
export function lacks(session, r) {
	if (session.account?.person.admin) return "";
	const me = /** @type {import("../api.js").Me} */ (session.me);
	const beyond = (/** @type {string[]} */ has, /** @type {string[]} */ wanted = []) =>
		wanted.find((g) => !has.some((m) => contains(m, g)));
	const moderates = beyond(me.moderates, r.moderates);
	const reads = beyond([...me.moderates, ...me.reads], r.reads);
	const role = (r.roles ?? []).find((x) => !me.roles.includes(x));
	const inside = (r.groups ?? []).find((x) => !me.groups.includes(x));
	if (r.admin) return "to administrate";
	if (r.components && !me.components) return "to create and delete components";
	if (moderates !== undefined) return `to moderate ${groupName(moderates)}`;
	if (reads !== undefined) return `to read ${groupName(reads)}`;
	if (role !== undefined) return `of the role ${role}`;
	return inside === undefined ? "" : `of the group ${groupName(inside)}`;
}

/**
 * The groups that the caller moderates, of some.
 * @param {import("../session.js").Session} session @param {string[]} groups
 */
export function moderated(session, groups) {
	return session.account?.person.admin
		? groups
		: groups.filter((g) => session.me?.moderates.some((m) => contains(m, g)));
}
