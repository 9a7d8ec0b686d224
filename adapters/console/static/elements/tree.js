/**
 * The tree of a library's folders. It loads and shows what is open, page by page, and takes the keys of a tree.
 * @module
 */
import { button, debounce, fill, h, icon, newID, reconcile } from "../dom.js";
import { below } from "../model/rights.js";
import { sentence } from "./dialog.js";

/** @typedef {import("../api.js").Folder} Folder */
/** @typedef {{folder?: Folder, assets?: string[]}} Load what is dragged: a folder, or assets */
/**
 * @typedef {{path: string, node: HTMLElement, parts: Map<string, Item>, folders: Folder[], more: boolean}} Branch the
 * folders in a place
 */
/**
 * @typedef {{node: HTMLElement, name: HTMLElement, count: HTMLElement, place: HTMLElement, twisty: HTMLElement,
 *   branch?: Branch}} Item
 */

/**
 * @typedef {object} Options
 * @property {(f: Folder) => void} onpick
 * @property {() => void} [onknown] called when folders were loaded
 * @property {(event: KeyboardEvent, f: Folder) => void} [onkey] takes the keys that do not move through the tree
 * @property {(f: Folder) => void} [onmore] shows what can be done with a folder
 * @property {(load: Load, f: Folder | undefined) => void} [ondrop] lets folders be dragged; undefined is the top level
 * @property {(folder: string) => Promise<number>} [total] counts the assets of a folder
 */

/** How many folders of one place are loaded at once. */
const page = 200;

/** What is known of a folder that the person may not see, and that is on the way to one that she may. */
const hidden = { label: "a folder that you may not see", children: [""], inherit: true, deleted: false, unseen: true };

/** @type {Load | undefined} */
let dragged;

/** Begins to drag. @param {DragEvent} event @param {Load} load @param {string} text */
export function drag(event, load, text) {
	dragged = load;
	event.dataTransfer?.setData("text/plain", text);
	addEventListener("dragend", () => (dragged = undefined), { once: true });
}

/** Whether something may be dropped on a folder. @param {Load} load @param {Folder | undefined} f */
function fits({ folder }, f) {
	if (f?.unseen) return false;
	return folder ? folder.path !== below(f) && !`${below(f)}/`.includes(`/${folder.id}/`) : f !== undefined;
}

export class Tree {
	/** @type {Map<string, Folder>} the folders that were loaded */
	known = new Map();
	/** The folder that is marked as chosen, or "". */
	chosen = "";
	/** @type {Map<string, Item>} what is shown, by folder */
	#items = new Map();
	/** @type {Map<string, number>} */
	#counts = new Map();
	/** @type {Set<string>} the folders that are in view */
	#seen = new Set();
	#counting = false;
	#typed = { text: "", at: 0 };
	#words = "";
	#cut = "";

	/**
	 * @param {import("../api.js").Library} lib @param {AbortSignal} signal @param {string} label
	 * @param {Options} options
	 */
	constructor(lib, signal, label, options) {
		this.lib = lib;
		this.signal = signal;
		this.options = options;
		this.state = h("div", { class: "detail", role: "status" });
		this.search = h("input", {
			type: "search",
			placeholder: "Find a folder",
			"aria-label": "Find a folder",
			autocomplete: "off",
			oninput: debounce(150, () => void this.find(this.search.value.trim())),
			onkeydown: (/** @type {KeyboardEvent} */ event) => {
				if (event.key !== "ArrowDown") return;
				event.preventDefault();
				this.#focus(this.tree.firstElementChild);
			},
		});
		this.tree = h("ul", { class: "folders", role: "tree", "aria-label": label, hidden: true });
		this.node = h("div", null, this.search, this.tree, this.state);
		/** @type {Branch} */
		this.root = { path: "/", node: this.tree, parts: new Map(), folders: [], more: false };
		this.tree.addEventListener("click", (event) => this.#click(event));
		this.tree.addEventListener("keydown", (event) => this.#key(event));
		this.tree.addEventListener("focusin", (event) => this.#current(this.#itemOf(event)));
		if (options.ondrop) {
			this.tree.addEventListener("dragstart", (event) => {
				const f = this.#folderOf(event);
				if (f) drag(event, { folder: f }, f.label);
			});
			this.target(this.tree);
		}
		this.observer = new IntersectionObserver((entries) => {
			for (const { target, isIntersecting } of entries) {
				const id = target.closest("li")?.dataset["folder"] ?? "";
				if (isIntersecting) this.#seen.add(id);
				else this.#seen.delete(id);
			}
			this.#later();
		});
	}

	/** @param {Event} event @returns {HTMLElement | null} */
	#itemOf(event) {
		const node = /** @type {Node} */ (event.target);
		return (node instanceof Element ? node : node.parentElement)?.closest('[role="treeitem"]') ?? null;
	}

	/** @param {Event} event */
	#folderOf(event) {
		return this.known.get(this.#itemOf(event)?.dataset["folder"] ?? "");
	}

	/**
	 * Lets things be dropped on the folders in an element, or on the element as the top level.
	 * @param {HTMLElement} node
	 */
	target(node) {
		/** @type {Element | undefined} */
		let over;
		/** @type {ReturnType<typeof setTimeout> | undefined} */
		let opening;
		const leave = () => {
			clearTimeout(opening);
			over?.classList.remove("over");
			over = undefined;
		};
		node.addEventListener("dragover", (event) => {
			const item = this.#itemOf(event);
			const f = this.#folderOf(event);
			if (!dragged || (node === this.tree && !f) || !fits(dragged, f)) return leave();
			event.preventDefault();
			const row = item?.firstElementChild ?? node;
			if (row === over) return;
			leave();
			over = row;
			row.classList.add("over");
			if (f) opening = setTimeout(() => void this.open(f.id), 700);
		});
		node.addEventListener("dragleave", (event) => {
			if (!node.contains(/** @type {Node | null} */ (event.relatedTarget))) leave();
		});
		node.addEventListener("drop", (event) => {
			const load = dragged;
			if (!load || !over) return;
			event.preventDefault();
			leave();
			this.options.ondrop?.(load, this.#folderOf(event));
		});
	}

	/** Loads what is shown anew. */
	async load() {
		await this.#load(this.root, [], this.root.folders.length);
		await Promise.all(
			[...this.#items.values()].map(({ branch }) => branch && this.#load(branch, [], branch.folders.length)),
		);
	}

	/** Shows the folders whose labels contain a text, or with "" the tree. @param {string} words */
	find(words) {
		if (words === this.#words) return;
		this.#words = words;
		this.#forget(this.root);
		Object.assign(this.root, { folders: [], more: false });
		return this.load();
	}

	/**
	 * Loads folders of a place behind those that are loaded.
	 * @param {Branch} branch @param {Folder[]} list
	 * @param {number} least how many there are to be then, if there are so many
	 */
	async #load(branch, list, least) {
		const words = this.#words;
		try {
			do {
				const { folders, ancestors = [] } = await this.lib.folders(
					{
						...(words && branch === this.root ? { label: words } : { path: branch.path }),
						limit: String(page + 1),
						since: list.findLast((f) => !f.unseen)?.id,
					},
					this.signal,
				);
				branch.more = folders.length > page;
				const unseen = ancestors.map((f) => ({ ...f, ...hidden }));
				for (const f of unseen) this.known.set(f.id, f);
				list = [...list, ...folders.slice(0, page), ...unseen.filter((f) => !words && f.path === branch.path)];
			} while (branch.more && list.length < least);
			if (words) await this.#places(list);
			if (words !== this.#words) return;
			branch.folders = list;
			for (const f of list) this.known.set(f.id, f);
			this.#show(branch);
			this.search.hidden = !!this.options.ondrop && words === "" && this.known.size < 10;
			if (branch === this.root) {
				this.tree.hidden = list.length === 0;
				this.state.textContent =
					list.length > 0 ? "" : words ? "No folder is called so." : "There are no folders.";
			}
			this.options.onknown?.();
		} catch (e) {
			if (!this.signal.aborted)
				fill(
					this.state,
					sentence(e),
					" ",
					button("Try again", () => void this.load(), { class: "small" }),
				);
		}
	}

	/** Loads the folders above those that were found, to say where they are. @param {Folder[]} list */
	async #places(list) {
		const ids = [...new Set(list.flatMap((f) => f.path.split("/").filter(Boolean)))].filter(
			(id) => !this.known.has(id),
		);
		if (ids.length > 0)
			for (const f of (await this.lib.folders({ id: ids.slice(0, 100), limit: "100" }, this.signal)).folders)
				this.known.set(f.id, f);
	}

	/** Where a folder is, in words. @param {Folder} f */
	place(f) {
		return f.path
			.split("/")
			.filter(Boolean)
			.map((id) => this.known.get(id)?.label ?? "…")
			.join(" › ");
	}

	/** @param {Branch} branch */
	#show(branch) {
		const more = /** @type {Folder} */ ({ id: `more ${branch.path}` });
		const ids = new Set(branch.folders.map((f) => f.id));
		const focused = this.tree.contains(document.activeElement);
		for (const id of branch.parts.keys()) if (!ids.has(id)) this.#drop(id);
		reconcile(
			branch.node,
			branch.parts,
			branch.more ? [...branch.folders, more] : branch.folders,
			(f) => f.id,
			(f) => this.#make(f, branch),
			(item, f) => f !== more && this.#update(item, f),
		);
		if (!this.tree.querySelector('[tabindex="0"]')) this.#current(this.tree.querySelector("li"));
		if (focused && !this.tree.contains(document.activeElement))
			this.#focus(this.tree.querySelector('[tabindex="0"]'));
		this.#later();
	}

	/** @param {Folder} f @param {Branch} branch @returns {Item} */
	#make(f, branch) {
		const id = newID("folder");
		const last = f.label === undefined;
		const [name, count, place, twisty] = [
			h("span", { id, class: "called" }, last && "Show more folders"),
			h("span", { id: `${id}-n`, class: "detail" }),
			h("span", { id: `${id}-p`, class: "detail" }),
			h("span", { class: "twisty", "aria-hidden": "true" }),
		];
		const { onmore, ondrop } = this.options;
		const row = h(
			"span",
			{ class: "row", draggable: ondrop && !last && !f.unseen && "true" },
			twisty,
			!last && icon("folder"),
			h("span", { class: "called" }, name, place),
			count,
			onmore &&
				!last &&
				!f.unseen &&
				button("", () => onmore(/** @type {Folder} */ (this.known.get(f.id))), {
					icon: "more",
					class: "bare small",
					tabindex: -1,
				}),
		);
		const node = h(
			"li",
			{
				role: "treeitem",
				tabindex: -1,
				"aria-labelledby": `${id} ${id}-n ${id}-p`,
				...(last ? { "data-more": branch.path } : { "data-folder": f.id }),
			},
			row,
		);
		const item = { node, name, count, place, twisty };
		if (last)
			node.addEventListener("click", async () => {
				const n = branch.folders.length;
				await this.#load(branch, branch.folders, n + 1);
				this.#focus(branch.node.children[n]);
			});
		else {
			this.#items.set(f.id, item);
			if (!f.unseen) this.observer.observe(row); // else there is nothing to count
		}
		return item;
	}

	/** @param {Item} item @param {Folder} f */
	#update(item, f) {
		const { node, name, count, place } = item;
		name.textContent = f.label;
		place.textContent = [this.#words && this.place(f), f.id === this.#cut && "cut, to be moved"]
			.filter(Boolean)
			.join(" · ");
		const more = node.querySelector(":scope > .row > button");
		for (const attribute of ["aria-label", "title"]) more?.setAttribute(attribute, `Change the folder ${f.label}`);
		node.setAttribute("aria-selected", String(f.id === this.chosen));
		if (f.children.length === 0) {
			this.#close(item);
			node.removeAttribute("aria-expanded");
		} else node.setAttribute("aria-expanded", String(!!item.branch));
		const n = this.#counts.get(f.id);
		count.textContent = n === undefined ? "" : n.toLocaleString();
	}

	/** Shows what is in a folder. @param {string} id */
	async open(id) {
		const item = this.#items.get(id);
		const f = this.known.get(id);
		if (!item || !f || item.branch || f.children.length === 0) return;
		const node = h("ul", { role: "group" });
		item.branch = { path: below(f), node, parts: new Map(), folders: [], more: false };
		item.node.append(node);
		item.node.setAttribute("aria-expanded", "true");
		await this.#load(item.branch, [], 0);
	}

	/** @param {Item} item */
	#close(item) {
		if (!item.branch) return;
		if (item.branch.node.contains(document.activeElement)) this.#focus(item.node);
		this.#forget(item.branch);
		item.branch.node.remove();
		item.branch = undefined;
		item.node.setAttribute("aria-expanded", "false");
	}

	/** @param {Branch} branch */
	#forget(branch) {
		for (const id of branch.parts.keys()) this.#drop(id);
		branch.parts.clear();
		fill(branch.node);
	}

	/** @param {string} id of a folder that is shown no more */
	#drop(id) {
		const item = this.#items.get(id);
		if (item?.branch) this.#forget(item.branch);
		this.#items.delete(id);
		this.#seen.delete(id);
	}

	/**
	 * Opens the folders above a folder, and puts the focus on it if asked to.
	 * @param {string} id @param {boolean} [focus]
	 */
	async reveal(id, focus) {
		if (!this.known.has(id))
			for (const f of (await this.lib.folders({ id }, this.signal)).folders) this.known.set(f.id, f);
		for (const above of this.known.get(id)?.path.split("/").filter(Boolean) ?? []) await this.open(above);
		if (focus) this.#focus(this.#items.get(id)?.node);
	}

	/** Marks a folder as chosen. @param {string} id */
	choose(id) {
		this.chosen = id;
		for (const [other, { node }] of this.#items) node.setAttribute("aria-selected", String(other === id));
	}

	/** Marks a folder as cut, or with "" none. @param {string} id */
	cut(id) {
		const before = this.#cut;
		this.#cut = id;
		for (const x of [before, id]) this.#again(x);
	}

	/** Shows a folder as it is now, if it is shown. @param {string} id */
	#again(id) {
		const item = this.#items.get(id);
		const f = this.known.get(id);
		if (item && f) this.#update(item, f);
	}

	/** Forgets the counts. Those of the folders in view are asked for again. */
	count() {
		this.#counts = new Map();
		for (const id of this.#items.keys()) this.#again(id);
		this.#later();
	}

	#later = debounce(200, () => void this.#fill());

	async #fill() {
		const { total } = this.options;
		if (!total || this.#counting) return;
		this.#counting = true;
		for (;;) {
			const counts = this.#counts;
			const id = [...this.#seen].find((x) => !counts.has(x));
			if (id === undefined || this.signal.aborted) break;
			try {
				counts.set(id, await total(id));
			} catch {
				break; // the search says what is wrong
			}
			this.#again(id);
		}
		this.#counting = false;
	}

	/** @param {MouseEvent} event */
	#click(event) {
		const target = /** @type {Element} */ (event.target);
		const f = this.#folderOf(event);
		const item = f && this.#items.get(f.id);
		if (!item || target.closest("button")) return;
		if (f.unseen || (item.twisty === target && f.children.length > 0))
			void (item.branch ? this.#close(item) : this.open(f.id));
		else if (target.closest(".row")) {
			this.#focus(item.node);
			this.options.onpick(f);
		}
	}

	/** Makes an item the one that Tab comes to, with its button. @param {Element | null} [node] */
	#current(node) {
		if (!node || node.getAttribute("tabindex") === "0") return;
		for (const x of this.tree.querySelectorAll('[tabindex="0"]')) x.setAttribute("tabindex", "-1");
		node.setAttribute("tabindex", "0");
		node.querySelector(":scope > .row > button")?.setAttribute("tabindex", "0");
	}

	/** @param {Element | null} [node] */
	#focus(node) {
		if (!(node instanceof HTMLElement)) return;
		this.#current(node);
		node.focus();
		node.firstElementChild?.scrollIntoView({ block: "nearest" });
	}

	/** @param {KeyboardEvent} event */
	#key(event) {
		const node = /** @type {HTMLElement} */ (event.target);
		if (node.role !== "treeitem") return; // a button of the row
		const all = /** @type {HTMLElement[]} */ ([...this.tree.querySelectorAll('[role="treeitem"]')]);
		const i = all.indexOf(node);
		const f = this.#folderOf(event);
		const item = f && this.#items.get(f.id);
		/** @type {Record<string, () => unknown>} */
		const keys = {
			ArrowDown: () => this.#focus(all[i + 1]),
			ArrowUp: () => this.#focus(all[i - 1]),
			Home: () => this.#focus(all[0]),
			End: () => this.#focus(all.at(-1)),
			ArrowRight: () =>
				item?.branch ? this.#focus(item.branch.node.firstElementChild) : f && void this.open(f.id),
			ArrowLeft: () =>
				item?.branch ? this.#close(item) : this.#focus(node.parentElement?.closest('[role="treeitem"]')),
			Enter: () => (f && !f.unseen ? this.options.onpick(f) : node.click()),
			" ": () => (f && !f.unseen ? this.options.onpick(f) : node.click()),
		};
		const { ctrlKey, metaKey, altKey, key } = event;
		if (!ctrlKey && !metaKey && !altKey && keys[key]) {
			event.preventDefault();
			keys[key]();
		} else if (!ctrlKey && !metaKey && !altKey && key.length === 1 && !"/?*".includes(key)) {
			this.#typed = {
				text: event.timeStamp - this.#typed.at < 700 ? this.#typed.text + key.toLowerCase() : key.toLowerCase(),
				at: event.timeStamp,
			};
			// The same letter again is for the next folder that begins with it.
			const text = this.#typed.text.replace(/^(.)\1+$/, "$1");
			const from = text.length > 1 ? i : i + 1;
			this.#focus(
				[...all.slice(from), ...all.slice(0, from)].find((x) =>
					this.known
						.get(x.dataset["folder"] ?? "")
						?.label.toLowerCase()
						.startsWith(text),
				),
			);
		} else {
			if (f && !f.unseen) this.options.onkey?.(event, f);
			return;
		}
		event.stopPropagation(); // no key of the tree is a shortcut of the page too
	}
}
