/**
 * The folders of a library beside its assets: their tree, and what can be done with a folder.
 * @module
 */
import { button, count, fill, h, icon } from "../dom.js";
import { ask, askWith, buttons, confirm, sentence, show, toast, trouble } from "../elements/dialog.js";
import { Tree } from "../elements/tree.js";
import { askFor } from "../model/names.js";
import { below, differences, effective, holders, moved } from "../model/rights.js";

/** @typedef {import("../api.js").Folder} Folder */

/**
 * @typedef {object} Options
 * @property {string} users what the URNs of the network's users begin with
 * @property {import("../session.js").Session} session
 * @property {boolean} moderator of the network
 * @property {(folder: string) => void} onpick called with the folder whose assets are to be shown
 * @property {() => void} onknown called when folders were loaded
 * @property {() => void} onchanged called when other assets may be found than before
 * @property {(assets: string[], folder: string) => void} onassets called when assets are dropped on a folder
 * @property {(folder: string) => Promise<number>} total counts the assets of a folder
 */

export class Folders {
	/** What is counted now. */
	#counted = "";
	/** @type {Folder | undefined} the folder that is to be pasted somewhere else */
	#cut;

	/** @param {import("../api.js").Library} lib @param {AbortSignal} signal @param {Options} options */
	constructor(lib, signal, options) {
		this.lib = lib;
		this.signal = signal;
		this.options = options;
		const { onknown, total } = options;
		this.tree = new Tree(lib, signal, "Folders", {
			onknown,
			total,
			onpick: (f) => options.onpick(f.id),
			onkey: (event, f) => this.#key(event, f),
			onmore: (f) => void this.more(f),
			ondrop: ({ folder, assets }, f) =>
				folder ? void this.move(folder, f) : f && options.onassets(assets ?? [], f.id),
		});
		this.note = h("div", { class: "note bad", role: "alert", hidden: true });
		const head = h(
			"div",
			{ class: "row top-level" },
			h("h2", null, "Folders"),
			options.moderator && button("New folder", () => void this.create(), { icon: "add", bare: true }),
		);
		this.tree.target(head);
		this.node = h(
			"section",
			null,
			head,
			this.note,
			this.tree.node,
			button("Deleted folders", () => void this.deleted(), { class: "bare small" }),
		);
	}

	/** The name of a folder, or its id while that is not known. @param {string} id */
	label(id) {
		return this.tree.known.get(id)?.label ?? id;
	}

	/** Loads the folders anew, and shows the one whose assets are shown. @param {string} [folder] */
	async load(folder) {
		await this.tree.load();
		if (!folder) return;
		await this.tree.reveal(folder).catch(() => {}); // the search says that there is none
		this.options.onknown();
	}

	/** Marks the folder whose assets are shown. @param {string} folder */
	choose(folder) {
		this.tree.choose(folder);
	}

	/**
	 * Counts the assets of the folders in view.
	 * @param {string} what is counted; nothing is counted anew while it is the same
	 */
	count(what) {
		if (what === this.#counted) return;
		this.#counted = what;
		this.tree.count();
	}

	/**
	 * Changes folders, and says at the tree what the service says against it.
	 * @param {{create?: object[], update?: object[], delete?: string[], purge?: string[]}} change
	 * @param {(changed: Folder) => void} [then] called when the tree shows it
	 */
	async #change(change, then) {
		this.note.hidden = true;
		try {
			const { folders } = await this.lib.changeFolders(change);
			await this.tree.load();
			for (const f of folders) this.tree.known.set(f.id, { ...this.tree.known.get(f.id), ...f });
			if (folders[0]) then?.(folders[0]);
			this.options.onchanged();
		} catch (e) {
			fill(
				this.note,
				sentence(e),
				button("Close", () => (this.note.hidden = true), { icon: "close", bare: true }),
			);
			this.note.hidden = false;
		}
	}

	/** Asks for the name of a new folder. @param {Folder} [parent] where it goes */
	async create(parent) {
		let id = "";
		await ask(parent ? `New folder in ${parent.label}` : "New folder", "Name", "Create", async (label) => {
			id = (await this.lib.changeFolders({ create: [{ label, path: below(parent) }] })).folders[0]?.id ?? "";
			await this.tree.load();
		});
		if (id) await this.tree.reveal(id, true);
	}

	/** @param {Folder} f */
	rename(f) {
		return ask(
			`Rename ${f.label}`,
			"Name",
			"Rename",
			async (label) => {
				await this.lib.changeFolders({ update: [{ id: f.id, label }] });
				await this.tree.load();
				this.options.onchanged();
			},
			{ value: f.label },
		);
	}

	/**
	 * Moves a folder. Who may do something else then is told before, and that it keeps the permissions of a closed
	 * folder that it leaves. A moderator may have it open instead.
	 * @param {Folder} f @param {Folder} [parent] undefined for the top level
	 */
	async move(f, parent) {
		this.#mark(undefined);
		const from = f.path;
		const path = below(parent);
		if (path === from) return;
		const { users, moderator } = this.options;
		try {
			const was = await this.chain(f);
			const there = parent ? await this.chain(parent) : [];
			await askFor(holders([...was, ...there], users));
			const { chain, kept } = moved(was, there);
			const place = parent?.label ?? "the top level";
			const opens = h("input", { type: "checkbox", onchange: () => tell() });
			const told = h("span", { class: "lines", role: "status" });
			const tell = () => {
				const will = opens.checked ? [was[0] ?? f, ...there] : chain;
				const changes = differences(effective(was, users), effective(will, users));
				fill(
					told,
					changes.map((c) => h("span", null, c)),
				);
				return changes.length > 0;
			};
			const text = !kept
				? "It inherits other permissions there."
				: effective(chain, users).hidden
					? "If a folder that it leaves has permissions, it keeps these as its own, and inherits no others."
					: "It keeps the permissions that it inherits now, as its own, and inherits no others.";
			const question = [
				h("p", null, text, told),
				kept && moderator && h("label", { class: "row" }, opens, `Inherit from ${place} instead`),
			];
			const title = `Move ${f.label} to ${place}?`;
			if ((tell() || kept) && !(await askWith(title, question, "Move", () => true, { focus: true }))) return;
			const open = opens.checked;
			const undo = moderator || (!kept && !moved(chain, was.slice(1)).kept);
			/** Moves it back, without the permissions that it has kept. @param {Folder} now */
			const back = async (now) => {
				const own = was[0]?.permissions ?? [];
				const remove = (now.permissions ?? []).filter((p) => !own.some(({ id }) => id === p.id));
				if (kept && !open && remove.length > 0)
					await this.lib.changePermissions(f.id, { remove: remove.map(({ id }) => ({ id })) }).catch(trouble);
				const again = moderator && { open: true, inherit: was[0]?.inherit };
				await this.#change(
					{ update: [{ id: f.id, path: from, ...again }] },
					() => void this.tree.reveal(f.id, true),
				);
			};
			await this.#change({ update: [{ id: f.id, path, ...(open && { open }) }] }, (now) => {
				void this.tree.open(parent?.id ?? "").then(() => this.tree.reveal(f.id, true));
				toast(`${f.label} is in ${place} now.`, undo ? { action: "Undo", onaction: () => back(now) } : {});
			});
		} catch (e) {
			trouble(e);
		}
	}

	/** Asks where a folder is to go. @param {Folder} f */
	async moveTo(f) {
		const to = await this.pick(`Move ${f.label} to`, { top: this.options.moderator });
		if (to !== undefined) await this.move(f, to ?? undefined);
	}

	/** @param {Folder} f */
	async remove(f) {
		if (
			!(await confirm(
				`Delete ${f.label}?`,
				"The folder and those below it are out of sight, and with them the assets that are in no other " +
					"folder. A person who may manage it can bring it back.",
				"Delete",
				{ danger: true },
			))
		)
			return false;
		await this.#change({ delete: [f.id] }, () => {
			if (this.tree.chosen === f.id) this.options.onpick("");
			toast(`${f.label} is deleted.`, {
				action: "Bring it back",
				onaction: () => void this.#change({ update: [{ id: f.id, deleted: false }] }),
			});
		});
		return true;
	}

	/** @param {Folder | undefined} f is to be pasted somewhere else */
	#mark(f) {
		this.#cut = f;
		this.tree.cut(f?.id ?? "");
	}

	/** Shows the folders that were deleted, to bring one back or to remove them for good. */
	async deleted() {
		/** @param {string[]} ids @param {string} what @returns {Promise<boolean>} whether they are gone */
		const purge = async (ids, what) => {
			if (
				!(await confirm(
					`Remove ${what} for good?`,
					"The folders, those below them and the assets that are in no other folder are erased. Nobody " +
						"can bring them back.",
					"Remove for good",
					{ danger: true },
				))
			)
				return false;
			const { purged } = await this.lib.changeFolders({ purge: ids });
			toast(
				`Removed for good: ${count(purged?.folders ?? 0, "folder")}, ${count(purged?.assets ?? 0, "asset")}.`,
			);
			return true;
		};
		const list = h("ul", { class: "plain" });
		const said = h("div", { class: "help", role: "status" }, "…");
		/** @type {string | undefined} */
		let last;
		const more = button("Show more", () => void load(), { hidden: true });
		const load = async () => {
			try {
				const { folders } = await this.lib.folders({ deleted: "true", limit: "51", since: last }, this.signal);
				more.hidden = folders.length < 51;
				list.append(
					...folders.slice(0, 50).map((f) => {
						const wrong = h("div", { class: "wrong" });
						const back = button(
							"Bring it back",
							() =>
								void this.lib.changeFolders({ update: [{ id: f.id, deleted: false }] }).then(
									async () => {
										fill(node, icon("ok"), `${f.label} is back.`);
										await this.load(f.id);
										this.options.onchanged();
									},
									(e) => fill(wrong, sentence(e)),
								),
							{ class: "small", "aria-label": `Bring ${f.label} back` },
						);
						const gone =
							this.options.moderator &&
							button(
								"Remove for good",
								() =>
									void purge([f.id], f.label).then(
										(done) => done && fill(node, icon("ok"), `${f.label} is gone.`),
										(e) => fill(wrong, sentence(e)),
									),
								{ class: "small", "aria-label": `Remove ${f.label} for good` },
							);
						const node = h(
							"li",
							{ "data-folder": f.id },
							h(
								"div",
								{ class: "row" },
								icon("folder"),
								h("span", { class: "called" }, f.label),
								back,
								gone,
							),
							wrong,
						);
						return node;
					}),
				);
				last = folders[49]?.id;
				all.hidden = !this.options.moderator || list.childElementCount < 2;
				said.textContent =
					list.childElementCount > 0
						? "A folder comes back with its assets and the folders below it."
						: "There are no deleted folders that you may bring back.";
			} catch (e) {
				fill(said, sentence(e));
			}
		};
		const all = button(
			"Empty the bin",
			async () => {
				try {
					const { folders } = await this.lib.folders({ deleted: "true", limit: "500" }, this.signal);
					if (
						!(await purge(
							folders.map((f) => f.id),
							folders.length < 500 ? "all deleted folders" : "the first 500 deleted folders",
						))
					)
						return;
					fill(list);
					last = undefined;
					await load();
				} catch (e) {
					fill(said, sentence(e));
				}
			},
			{ hidden: true, class: "danger" },
		);
		void load();
		await show("Deleted folders", h("div", null, said, list, more, all));
	}

	/** Shows everything about a folder. @param {Folder} f */
	async more(f) {
		const { panel } = await import("./folder.js");
		await panel(this, f);
	}

	/** Asks for a folder. @param {string} title @param {{top?: boolean}} [options] */
	async pick(title, options) {
		const f = await pickFolder(this.lib, title, options);
		if (f) this.tree.known.set(f.id, f);
		return f;
	}

	/**
	 * A folder and those above it, the nearest first, as they are now. Of those that the person may not see only the
	 * ids are known.
	 * @param {Folder} f @returns {Promise<Folder[]>}
	 */
	async chain(f) {
		const ids = [...f.path.split("/").filter(Boolean), f.id].reverse();
		const { folders } = await this.lib.folders({ id: ids, limit: "100" }, this.signal);
		for (const x of folders) this.tree.known.set(x.id, x);
		return ids.map(
			(id) =>
				folders.find((x) => x.id === id) ?? {
					id,
					path: "",
					label: "a folder that you may not see",
					children: [],
					inherit: true,
					deleted: false,
				},
		);
	}

	/** @param {KeyboardEvent} event @param {Folder} f */
	#key(event, f) {
		const control = event.ctrlKey || event.metaKey;
		const cut = this.#cut;
		if (event.key === "F2") void this.rename(f);
		else if (event.key === "Delete") void this.remove(f);
		else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) void this.more(f);
		else if (control && event.key === "x") {
			this.#mark(f);
			toast(`Go to another folder and press Ctrl V: ${f.label} moves into it. Escape leaves it where it is.`);
		} else if (cut && event.key === "Escape") {
			this.#mark(undefined);
			toast(`${cut.label} stays where it is.`);
		} else if (control && event.key === "v" && cut && cut.id !== f.id) void this.move(cut, f);
		else return;
		event.preventDefault();
	}
}

/**
 * Asks for a folder of a library.
 * @param {import("../api.js").Library} lib @param {string} title
 * @param {{top?: boolean}} [options] top allows for the top level, which is null
 * @returns {Promise<Folder | null | undefined>}
 */
export async function pickFolder(lib, title, { top } = {}) {
	/** @type {{f?: Folder | null}} */
	const taken = {};
	const take = (/** @type {Folder | null} */ f) => {
		taken.f = f;
		form.requestSubmit();
	};
	const closed = new AbortController();
	const tree = new Tree(lib, closed.signal, title, { onpick: take });
	const form = h(
		"form",
		{ class: "pick" },
		top && button("Top level", () => take(null), { icon: "folder" }),
		tree.node,
		h("button", { class: "unseen", tabindex: -1 }, "Choose"),
		buttons(),
	);
	void tree.load();
	const chosen = await show(title, form, {
		submit: () => {
			const f = taken.f === undefined && tree.search.value.trim() ? tree.root.folders[0] : taken.f;
			return f === undefined ? undefined : { f };
		},
	});
	closed.abort();
	return chosen?.f;
}

/**
 * The folder that things go into, with buttons for another one and for none.
 * @param {() => import("../api.js").Library} library that has the folder
 * @param {{id: string, label: string}} [known] the folder at first
 */
export function folderLine(library, known, onchange = () => {}) {
	let folder = known;
	let begun = false;
	const named = h("span", null);
	const without = button("No folder", () => into(undefined), { class: "small bare" });
	/** @param {{id: string, label: string} | undefined} next */
	function into(next) {
		folder = next && { id: next.id, label: next.label };
		fill(named, next ? [icon("folder"), " ", next.label] : "none");
		without.hidden = !next;
		if (begun) onchange();
		begun = true;
	}
	into(known);
	const choose = button(
		"Choose a folder",
		async () => {
			const found = await pickFolder(library(), "Which folder?");
			if (found) into(found);
		},
		{ class: "small" },
	);
	const node = h("div", { class: "row" }, h("span", { class: "name" }, "Folder"), named, choose, without);
	return { node, into, folder: () => folder };
}
