/**
 * One folder: its place, its permissions with those that it inherits, and why somebody may do something or not.
 * @module
 */
import { ApiError } from "../api.js";
import { button, fill, h, help, labelled } from "../dom.js";
import { buttons, confirm, sentence, show, toast, trouble } from "../elements/dialog.js";
import { chooseGroups, group, groupsNamed, peopleNamed, person } from "../elements/person.js";
import { choose, nameLine } from "../elements/pick.js";
import { askFor, everybody, groupName, nameOf } from "../model/names.js";
import {
	below,
	differences,
	effective,
	holder,
	holders,
	may,
	operations,
	sentences,
	userURN,
} from "../model/rights.js";
import { contains } from "../session.js";

/** @typedef {import("../api.js").Folder} Folder */
/** @typedef {import("./folders.js").Folders} Folders */
/** @typedef {"user" | "role" | "group"} Kind */
/**
 * @typedef {{id?: string, was?: string, kind: Kind, who: string, operation: string, gone: boolean, node: HTMLElement,
 *   wrong: HTMLElement, input?: HTMLInputElement}} Draft a permission of the folder as it is to be
 */

const kinds = /** @type {[Kind, string, string][]} */ ([
	["user", "Person", "Name, id or URN"],
	["role", "Role", "Id of a role"],
	["group", "Group", "Name or URN"],
]);

/** Shows what can be done with a folder. @param {Folders} folders @param {Folder} f */
export async function panel(folders, f) {
	const where = h("dd", null, "…");
	const who = h("dd", null, "…");
	const mine = h("dd", null, "…");
	const dialog = () => node.closest("dialog");
	/** Closes the panel, and goes on. @param {() => unknown} next */
	const then = (next) => () => {
		dialog()?.close();
		void next();
	};
	const actions = h("div", { class: "buttons" });
	const pages = h("div", null);
	const node = h(
		"div",
		null,
		h("dl", null, h("dt", null, "In"), where, h("dt", null, "Who may"), who, h("dt", null, "You"), mine),
		pages,
		actions,
	);
	const look = async () => {
		try {
			const [chain, rights] = await Promise.all([
				folders.chain(f),
				folders.lib.explain({ folder: f.id }, folders.signal),
			]);
			const now = /** @type {Folder} */ (chain[0]);
			await askFor(holders(chain, folders.options.users));
			fill(
				where,
				chain
					.slice(1)
					.reverse()
					.map((x) => x.label)
					.join(" › ") || "the top level",
			);
			fill(
				mine,
				sentences(rights, undefined, named(chain), "folder", folders.options.users).map((s) =>
					h("div", null, s),
				),
			);
			const all = effective(chain, folders.options.users);
			fill(
				who,
				all.open
					? "Every member of the network may view it."
					: all.rights.size === 0
						? "Moderators of the " +
							`network${all.hidden ? ", and whom permissions allow that you may not see" : " alone"}.`
						: [...all.rights.values()].map((r) => h("div", null, `${r.who} may ${may(r.operation)}`)),
			);
			const { edit, manage } = rights;
			if (manage?.allowed && folders.options.session.place) await shownOn(folders.lib, f, pages);
			fill(
				actions,
				button("Why?", () => void why(folders, { folder: f.id }, f.label)),
				edit.allowed &&
					button(
						"New folder in it",
						then(() => folders.create(now)),
					),
				manage?.allowed && [
					button(
						"Permissions",
						() => void permissions(folders, chain).then((changed) => (changed ? look() : undefined)),
					),
					button(
						"Rename",
						then(() => folders.rename(now)),
					),
					button(
						"Move",
						then(() => folders.moveTo(now)),
					),
					button(
						"Delete",
						then(() => folders.remove(now)),
						{ class: "danger" },
					),
				],
			);
		} catch (e) {
			fill(node, sentence(e));
		}
	};
	void look();
	await show(f.label, node);
}

/**
 * Shows the keys with which pages show the folder to everybody, and takes it out of them.
 * @param {import("../api.js").Library} lib @param {Folder} f @param {HTMLElement} node
 */
async function shownOn(lib, f, node) {
	const folder = `${lib.path}${f.id}`;
	const keys = await lib.api.folderKeys(folder);
	fill(
		node,
		keys.length > 0 && [
			h("h3", null, "On pages"),
			help("Pages with these keys show it to everybody, whatever permissions it gets."),
			h(
				"ul",
				null,
				keys.map((k) =>
					h(
						"li",
						null,
						h("bdi", null, k.name),
						" ",
						button(
							"Take the folder out",
							async () => {
								const text = `Pages that use the key ${k.name} do not show the folder any more.`;
								if (!(await confirm(`Take ${f.label} out of the key?`, text, "Take it out"))) return;
								const path = `keys/${k.id}?folder=${encodeURIComponent(folder)}`;
								await lib.api.account("DELETE", path).catch(trouble);
								await shownOn(lib, f, node).catch(trouble);
							},
							{ class: "small", "aria-label": `Take the folder out of the key ${k.name}` },
						),
					),
				),
			),
		],
	);
}

/** @param {Folder[]} chain @returns {(id: string) => string} */
function named(chain) {
	return (id) => chain.find((f) => f.id === id)?.label ?? id;
}

/**
 * Changes the permissions of a folder. What that does is told before it is done.
 * @param {Folders} folders @param {Folder[]} chain the folder, and those above it
 * @returns {Promise<boolean>} whether they were changed
 */
export async function permissions(folders, chain) {
	const [f, ...above] = /** @type {[Folder, ...Folder[]]} */ (chain);
	const { users } = folders.options;
	await askFor(holders(chain, users));
	const before = effective(chain, users);
	const given = chain.flatMap((x) => x.permissions ?? []);
	const people = await peopleNamed(users);
	/** @type {Record<Kind, [string, string][]>} */
	const known = {
		user: people,
		role: [...new Set(given.flatMap((p) => p.role?.id ?? []))].map((id) => [id, id]),
		group: groupsNamed([...given.flatMap((p) => p.group ?? []), ...folders.options.session.groups]),
	};
	const rows = h("tbody");
	const inherited = h("tbody");
	const preview = h("div", { class: "preview", role: "status" });
	const inherit = h("input", { type: "checkbox", checked: f.inherit, onchange: () => render() });
	/** @type {Draft[]} */
	let drafts = [];
	/** @param {string} operation @param {string} label @param {(operation: string) => void} change */
	const select = (operation, label, change) => {
		const s = h(
			"select",
			{ "aria-label": label },
			operations.map((o) => h("option", { value: o }, may(o))),
		);
		s.value = operation;
		s.addEventListener("change", () => {
			change(s.value);
			render();
		});
		return s;
	};

	/** @param {Partial<Draft>} has */
	function add(has) {
		const d = /** @type {Draft} */ ({
			kind: "user",
			who: "",
			operation: "view",
			gone: false,
			wrong: h("div", { class: "wrong" }),
			...has,
		});
		const given = { [d.kind]: d.kind === "group" ? d.who : { id: d.who } };
		/** @type {import("../dom.js").Child[]} */
		let what =
			d.kind === "role"
				? [holder(given, users)]
				: d.kind === "user"
					? ["person ", person(userURN(d.who, users))]
					: ["group ", group(d.who)];
		if (!d.id) {
			const line = nameLine({
				required: true,
				placeholder: kinds[0]?.[2],
				"aria-label": kinds[0]?.[2],
				oninput: () => {
					d.who = line.value();
					render();
				},
			});
			const input = (d.input = line.input);
			line.offer(known.user);
			const kind = h(
				"select",
				{
					"aria-label": "Who",
					onchange: () => {
						d.kind = /** @type {Kind} */ (kind.value);
						const text = kinds.find(([k]) => k === d.kind)?.[2] ?? "";
						for (const attribute of ["placeholder", "aria-label"]) input.setAttribute(attribute, text);
						line.offer(known[d.kind]);
						d.who = line.value();
						render();
					},
				},
				kinds.map(([value, text]) => h("option", { value }, text)),
			);
			what = [h("span", { class: "holder" }, kind, input, line.list)];
		}
		const drop = button(
			"Remove",
			() => {
				d.gone = !d.gone;
				if (!d.id) {
					drafts = drafts.filter((x) => x !== d);
					d.node.remove();
					adding.focus();
				}
				drop.textContent = d.gone ? "Keep" : "Remove";
				render();
			},
			{ class: "small", "aria-label": d.id ? `Remove ${holder(given, users)}` : "Remove the new permission" },
		);
		d.node = h(
			"tr",
			null,
			h("td", null, what, d.wrong),
			h(
				"td",
				null,
				select(
					d.operation,
					`What ${d.id ? holder(given, users) : "the new one"} may`,
					(o) => (d.operation = o),
				),
			),
			h("td", null, "This folder"),
			h("td", null, drop),
		);
		drafts.push(d);
		rows.append(d.node);
		return d;
	}

	/** The folder as it would be. @returns {Folder} */
	function changed() {
		const kept = drafts.filter((d) => !d.gone && d.who !== "");
		return {
			...f,
			inherit: inherit.checked,
			permissions: kept.map((d) => ({
				id: "",
				operation: d.operation,
				[d.kind]: d.kind === "group" ? d.who : { id: d.who },
			})),
		};
	}

	function render() {
		for (const d of drafts) d.node.classList.toggle("gone", d.gone);
		const from = inherit.checked ? effective(above, users) : undefined;
		const after = effective([changed(), ...above], users);
		fill(
			inherited,
			[...(from?.rights.values() ?? [])].map((r) =>
				h(
					"tr",
					null,
					h("td", null, r.who),
					h("td", null, may(r.operation)),
					h("td", null, r.from.label),
					h("td"),
				),
			),
			from?.hidden &&
				h("tr", null, h("td", { colspan: 4 }, "There may be others, on folders above that you may not see.")),
			after.open &&
				h(
					"tr",
					null,
					h("td", null, "every member of the network"),
					h("td", null, may("view")),
					h("td", null, "Nobody has a permission"),
					h("td"),
				),
			after.rights.size === 0 &&
				!after.open &&
				h("tr", null, h("td", { colspan: 4 }, "Nobody but moderators of the network.")),
		);
		const lines = differences(before, after);
		fill(
			preview,
			h("h3", null, "What changes"),
			lines.length === 0
				? help("Nothing yet.")
				: h(
						"ul",
						null,
						lines.map((l) => h("li", null, l)),
					),
		);
	}

	function reset() {
		drafts = [];
		fill(rows);
		for (const p of f.permissions ?? [])
			add({
				id: p.id,
				was: p.operation,
				operation: p.operation,
				kind: p.user ? "user" : p.role ? "role" : "group",
				who: p.user?.id ?? p.role?.id ?? p.group ?? "",
			});
		render();
	}

	async function save() {
		const made = drafts.filter((d) => !d.gone && d.operation !== d.was);
		const gone = drafts.filter((d) => d.id && (d.gone || d.operation !== d.was));
		for (const d of drafts) {
			fill(d.wrong);
			d.input?.removeAttribute("aria-invalid");
		}
		try {
			if (made.length + gone.length > 0) {
				f.permissions = await folders.lib.changePermissions(f.id, {
					create: made.map((d) => ({
						operation: d.operation,
						[d.kind]: d.kind === "group" ? d.who : { id: d.who },
					})),
					remove: gone.map(({ id }) => ({ id })),
				});
				// The service does so too, so that revoking publishes nothing.
				if (f.permissions.length === 0) f.inherit = false;
				reset();
			}
			if (f.inherit !== inherit.checked)
				await folders.lib.changeFolders({ update: [{ id: f.id, inherit: inherit.checked }] });
		} catch (e) {
			const d =
				e instanceof ApiError ? made[Number(/^\/create\/(\d+)/.exec(e.pointer ?? "")?.[1] ?? NaN)] : undefined;
			if (!d) throw e;
			fill(d.wrong, sentence(e));
			d.input?.setAttribute("aria-invalid", "true");
			d.input?.focus();
			return undefined;
		}
		toast("The permissions are saved.");
		folders.options.onchanged();
		void folders.load();
		return true;
	}

	const adding = button(
		"Give a permission",
		() => {
			add({}).input?.focus();
			render();
		},
		{ icon: "add", class: "small" },
	);
	const form = h(
		"form",
		null,
		help("Moderators of the network may do everything."),
		h(
			"div",
			{ class: "scroll" },
			h(
				"table",
				{ class: "grants" },
				h(
					"thead",
					null,
					h(
						"tr",
						null,
						["Who", "May", "From"].map((t) => h("th", { scope: "col" }, t)),
						h("th", { scope: "col" }, h("span", { class: "unseen" }, "Change")),
					),
				),
				inherited,
				rows,
			),
		),
		h(
			"div",
			{ class: "row" },
			adding,
			h(
				"label",
				{ class: "row" },
				inherit,
				f.path === "/"
					? "Open to every member while it has no permissions"
					: "The permissions of the folders above count too",
			),
		),
		preview,
		buttons(h("button", { class: "main" }, "Save")),
	);
	reset();
	return (await show(`Permissions of ${f.label}`, form, { wide: true, submit: save })) ?? false;
}

/**
 * Explains what somebody may do with a folder or an asset, and why.
 * @param {Folders} folders @param {{folder: string} | {asset: string}} what @param {string} label
 */
export async function why(folders, what, label) {
	const { lib, signal, options } = folders;
	const answer = h("div", { role: "status" });
	const somebody = nameLine({});
	void peopleNamed(options.users).then(somebody.offer);
	/** @type {Set<string>} */
	const roles = new Set();
	/** @type {Set<string>} */
	const groups = new Set();
	/** @param {boolean} other whether it is about somebody else */
	async function explain(other) {
		const user = somebody.value();
		const account = other ? (await everybody()).find((p) => p.urn === userURN(user, options.users)) : undefined;
		const about = other
			? {
					user,
					role: [...new Set([...roles, ...(account?.roles ?? [])])],
					group: [...new Set([...groups, ...(account?.groups ?? [])])],
				}
			: {};
		const whom = other
			? [
					user && nameOf(userURN(user, options.users)),
					...[...roles].map((r) => `role ${r}`),
					...[...groups].map((g) => `group ${groupName(g)}`),
				]
					.filter(Boolean)
					.join(", ") || "a member without roles and groups"
			: undefined;
		const moderates = account?.moderates.some((m) => contains(m, options.users.replace(/:user=$/, "")));
		const all = { allowed: true, rule: "moderator" };
		const e = /** @type {import("../api.js").Explanation} */ (
			moderates ? { view: all, edit: all, manage: all } : await lib.explain({ ...what, ...about }, signal)
		);
		const inside = e.folders?.map((x) => x.id) ?? [];
		const label = await names(folders, [
			...inside,
			...[e, ...(e.folders ?? [])].flatMap((x) =>
				[x.view, x.edit, "manage" in x ? x.manage : undefined].map((v) => v?.folder ?? ""),
			),
		]);
		const several = inside.length > 1 || e.view.rule === "moderator";
		fill(
			answer,
			h(
				"ul",
				null,
				sentences(
					e,
					whom,
					label,
					"folder" in what ? "folder" : inside.length === 0 ? "unfiled" : "asset",
					options.users,
				).map((s) => h("li", null, s)),
			),
			several &&
				(e.folders ?? [])
					.map((x) => [
						h("h3", null, `In ${label(x.id)}`),
						h(
							"ul",
							null,
							sentences({ view: x.view, edit: x.edit }, whom, label, "folder", options.users).map((s) =>
								h("li", null, s),
							),
						),
					])
					.flat(),
		);
		return undefined;
	}
	const form = h(
		"form",
		null,
		answer,
		options.moderator && [
			h("h3", null, "Somebody else"),
			labelled(
				"Person",
				somebody.input,
				"Name, id or URN. Of somebody without an account here, say the roles and groups that count.",
			),
			somebody.list,
			choose("Roles", [], roles),
			chooseGroups("Groups", options.session.groups, groups, options.session),
			h("div", { class: "buttons" }, h("button", { class: "main" }, "Explain")),
		],
	);
	explain(false).catch((e) => fill(answer, sentence(e)));
	await show(`Who may what: ${label}`, form, { submit: () => explain(true) });
}

/**
 * The names of folders, also of deleted ones.
 * @param {Folders} folders @param {string[]} ids @returns {Promise<(id: string) => string>}
 */
async function names(folders, ids) {
	const { known } = folders.tree;
	await Promise.all(
		[...new Set(ids)]
			.filter((id) => id !== "" && !known.has(id))
			.map((id) =>
				folders.lib.folder(id, folders.signal).then(
					(f) => known.set(id, f),
					() => {},
				),
			),
	);
	return (id) => folders.label(id);
}
