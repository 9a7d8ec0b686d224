/**
 * Who may do what with a folder, as its permissions and those of the folders above say, and why, in sentences.
 * @module
 */

import { groupName, nameOf } from "./names.js";

/** @typedef {import("../api.js").Folder} Folder */
/** @typedef {import("../api.js").Permission} Permission */
/** @typedef {import("../api.js").Verdict} Verdict */
/**
 * @typedef {{open: boolean, hidden: boolean, rights: Map<string, {who: string, operation: string, from: Folder}>}}
 * Effective open: every member may view; hidden: some permissions are not known
 */

/** What can be granted; each includes those before it. */
export const operations = ["view", "edit", "manage"];

/** An operation and those it includes, in words. @param {string} [operation] */
export function may(operation) {
	return { view: "view", edit: "view and edit", manage: "view, edit and manage" }[operation ?? ""] ?? "nothing";
}

/**
 * The URN of a person of a network.
 * @param {string} id an id, or a URN already @param {string} users what the URNs of the network's users begin with
 */
export function userURN(id, users) {
	return id.startsWith("urn:") ? id : users + id;
}

/** The people to whom permissions of folders are given, as URNs. @param {Folder[]} chain @param {string} users */
export function holders(chain, users) {
	return chain.flatMap((f) => (f.permissions ?? []).flatMap(({ user }) => (user ? [userURN(user.id, users)] : [])));
}

/**
 * Whom a permission is given to, in words.
 * @param {Partial<Permission>} p @param {string} users what the URNs of the network's users begin with
 */
export function holder({ user, role, group }, users) {
	if (user) return `person ${nameOf(userURN(user.id, users))}`;
	if (!role) return `group ${groupName(group ?? "")}`;
	return `role ${role.name && role.name !== role.id ? `${role.name} (${role.id})` : role.id}`;
}

/** @param {Partial<Permission>} p @param {string} users what the URNs of the network's users begin with */
function key({ user, role, group }, users) {
	return JSON.stringify(
		user
			? ["user", user.id.startsWith(users) ? user.id.slice(users.length) : user.id]
			: role
				? ["role", role.id]
				: ["group", group],
	);
}

/**
 * The place below a folder, as the paths of other folders name it.
 * @param {{path: string, id: string} | undefined} f undefined for the top level
 */
export function below(f) {
	return f ? `${f.path === "/" ? "" : f.path}/${f.id}` : "/";
}

/**
 * What the permissions of a folder come to, with those that it inherits.
 * @param {Folder[]} chain the folder, and those above it, the nearest first
 * @param {string} users what the URNs of the network's users begin with
 * @returns {Effective}
 */
export function effective(chain, users) {
	const out = /** @type {Effective} */ ({ open: true, hidden: false, rights: new Map() });
	for (const f of chain) {
		if (!f.permissions) out.hidden = true;
		for (const p of f.permissions ?? []) {
			out.open = false;
			const k = key(p, users);
			const has = out.rights.get(k);
			if (!has || operations.indexOf(p.operation) > operations.indexOf(has.operation))
				out.rights.set(k, { who: holder(p, users), operation: p.operation, from: f });
		}
		if (!f.inherit) {
			out.open = false;
			break;
		}
	}
	if (out.hidden) out.open = false; // there may be permissions that close it
	return out;
}

/** The folders of a chain that close those below them, as far as that is known. @param {Folder[]} chain */
function closing(chain) {
	const end = chain.findIndex((f) => !f.inherit);
	return (end < 0 ? chain : chain.slice(0, end + 1)).filter((f) => !f.inherit || f.permissions?.length !== 0);
}

/**
 * A folder and those whose permissions it has after a move. If it moves out of a folder that closes it, it keeps the
 * permissions that it inherits, and inherits no more.
 * @param {Folder[]} was the folder, and those above it @param {Folder[]} there its new parent, and those above that
 * @returns {{chain: Folder[], kept: boolean}}
 */
export function moved(was, there) {
	const [f, ...above] = /** @type {[Folder, ...Folder[]]} */ (was);
	const closed = closing(above);
	const stays = closing(there);
	const last = closed.at(-1);
	if (!last || !f.inherit || closed.every((x) => stays.some(({ id }) => id === x.id)))
		return { chain: [f, ...there], kept: false };
	return { chain: [f, ...closed.slice(0, -1), { ...last, inherit: false }], kept: true };
}

/**
 * What a change does, a sentence for each whom it concerns.
 * @param {Effective} before @param {Effective} after
 */
export function differences(before, after) {
	const out = [];
	const all = new Map([...before.rights, ...after.rights]);
	if (before.open && !after.open) out.push("Not every member of the network may view it any more.");
	if (!before.open && after.open) out.push("Every member of the network may view it.");
	for (const [k, { who }] of all) {
		const [was, is] = [before, after].map((e) => may(e.rights.get(k)?.operation ?? (e.open ? "view" : "")));
		if (was !== is)
			out.push(upper(`${who} may ${is === "nothing" ? "not view it any more" : `${is} it`}; before: ${was}.`));
	}
	if (out.length > 0 && !after.open && !after.hidden && after.rights.size === 0)
		out.push("Only moderators of the network see it.");
	return out;
}

/**
 * An answer of explain in sentences, verdicts with the same reason in one.
 * @param {Partial<Record<"view" | "edit" | "manage", Verdict>>} verdicts
 * @param {string | undefined} who undefined for the person who asks
 * @param {(folder: string) => string} label
 * @param {"folder" | "asset" | "unfiled"} what it is about; unfiled is an asset in no folder
 * @param {string} users what the URNs of the network's users begin with
 */
export function sentences(verdicts, who, label, what, users) {
	/** @type {Map<string, {allowed: boolean, list: string[]}>} */
	const reasons = new Map();
	for (const operation of /** @type {const} */ (["view", "edit", "manage"])) {
		const v = verdicts[operation];
		if (!v) continue;
		const why = reason(v, who, label, what, users);
		const known = reasons.get(why) ?? { allowed: v.allowed, list: [] };
		known.list.push(operation);
		reasons.set(why, known);
	}
	return [...reasons].map(([why, { allowed, list }]) => {
		const can =
			list.length < 3
				? list.join(allowed ? " and " : " or ")
				: `${list[0]}, ${list[1]} ${allowed ? "and" : "or"} ${list[2]}`;
		return upper(`${who ?? "you"} may ${allowed ? "" : "not "}${can} it: ${why}.`);
	});
}

/** A sentence with a capital letter. @param {string} text */
function upper(text) {
	return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Why something is not allowed that no rule allows. */
const nothing = {
	folder: "no permission of it, or of a folder that it inherits from, allows that",
	asset: "no permission of its folders, or of those that they inherit from, allows that",
	unfiled: "it is in no folder, and only moderators change such assets",
};

/**
 * @param {Verdict} v @param {string | undefined} who @param {(folder: string) => string} label
 * @param {keyof typeof nothing} what @param {string} users
 */
function reason({ rule, folder, grant }, who, label, what, users) {
	switch (rule) {
		case "moderator":
			return `${who === undefined ? "you moderate" : `${who} moderates`} the network`;
		case "grant":
			return grant
				? `the folder “${label(folder ?? "")}” has a permission to ${grant.operation} for ` +
						`${holder(grant, users)}`
				: "a permission allows it";
		case "open":
			return "the folder is open to every member, since neither it nor a folder above has permissions";
		case "unfiled":
			return "it is in no folder, so every member may view it";
		case "deleted":
			return (
				`${folder ? `the folder “${label(folder)}”` : "a folder"} is deleted, and nobody sees what is in ` +
				"it until it is brought back"
			);
	}
	return nothing[what];
}
