/**
 * The choice of files of a library: search, folders, and the files of one kind as pictures.
 * @module
 */
import { button, count, debounce, fill, focusIn, h, icon, newID, searchLine } from "../dom.js";
import { fileOf } from "../model/files.js";
import { typed } from "../views/assetfilters.js";
import { buttons, sentence, show } from "./dialog.js";

/** @typedef {import("../model/files.js").Picked} Picked */

const kept = "vitrine.chosen"; // in localStorage: the library that was looked at last

/**
 * Asks for files of the libraries that the person may see.
 * @param {import("../session.js").Session} session
 * @param {ReturnType<typeof import("../model/files.js").fileKind>} kind
 * @param {boolean} several
 * @returns {Promise<Picked[] | undefined>}
 */
export async function chooseFiles(session, kind, several) {
	const { networks } = session;
	const closed = new AbortController();
	const name = newID("files");
	/** @type {Map<string, Picked>} what is chosen, by its address */
	const picked = new Map();
	/** @type {{id: string, label: string} | undefined} */
	let folder;
	/** @type {string | undefined} */
	let older;
	let asked = 0;
	const where = h(
		"select",
		{ "aria-label": "Library", onchange: () => into(undefined) },
		networks.map((n) => h("option", { value: n }, n)),
	);
	const last = localStorage.getItem(kept) ?? "";
	where.value = networks.includes(last) ? last : (networks[0] ?? "");
	const search = searchLine("Search", "", { autocomplete: "off", oninput: debounce(150, () => void load(true)) });
	const named = h("span", null);
	const without = button("All folders", () => into(undefined), { class: "small bare" });
	const inFolder = button("Choose a folder", () => void pick(), { class: "small", icon: "folder" });
	const list = h("ul", { class: "shelf", "aria-label": `${kind.noun}s of the library` });
	const said = h("p", { class: "help", role: "status" });
	const more = button("Show more", () => void load(false), { class: "small", hidden: true });
	const send = h("button", { class: "main", disabled: true }, "Choose");

	async function pick() {
		const { pickFolder } = await import("../views/folders.js");
		const found = await pickFolder(library(), "Which folder?");
		if (found) into(found);
	}

	function library() {
		return session.api.library(where.value, where.value);
	}

	/** @param {{id: string, label: string} | undefined} next */
	function into(next) {
		folder = next;
		named.textContent = next?.label ?? "";
		without.hidden = !next;
		void load(true);
	}

	/** Loads files, anew or behind those that are shown. @param {boolean} anew */
	async function load(anew) {
		const mine = ++asked;
		localStorage.setItem(kept, where.value);
		more.disabled = true;
		try {
			const words = search.value.trim();
			const found = await library().assets(
				{
					generator: "files",
					type: kind.type,
					query: words ? typed(words, {}) : undefined,
					in: words ? "text,attachments" : undefined,
					folderTree: folder?.id,
					limit: "48",
					until: anew ? undefined : older,
				},
				closed.signal,
			);
			if (mine !== asked) return;
			older = found.paging.hasPrev ? found.paging.prev : undefined;
			const before = list.childElementCount;
			const files = found.assets.flatMap((asset) => fileOf(asset) ?? []);
			if (anew) fill(list, files.map(entry));
			else list.append(...files.map(entry));
			if (!anew) focusIn(list.children[before]);
			said.textContent =
				found.paging.total > 0
					? count(found.paging.total, kind.noun)
					: words || folder
						? `No ${kind.noun} fits. Search for something else, or in all folders.`
						: `There is no ${kind.noun} in this library yet. Upload one.`;
			more.hidden = older === undefined;
		} catch (e) {
			if (mine === asked && !closed.signal.aborted) fill(said, sentence(e));
		}
		more.disabled = false;
	}

	/** @param {NonNullable<ReturnType<typeof fileOf>>} file */
	function entry(file) {
		const box = h("input", {
			type: several ? "checkbox" : "radio",
			name,
			checked: picked.has(file.href),
			onchange: () => {
				if (!several) picked.clear();
				if (box.checked) picked.set(file.href, file);
				else picked.delete(file.href);
				send.disabled = picked.size === 0;
				send.textContent = several && picked.size > 0 ? `Choose ${picked.size}` : "Choose";
			},
		});
		const size =
			file.width !== undefined && file.height !== undefined
				? `${String(file.width)} × ${String(file.height)}`
				: bytes(file.size);
		return h(
			"li",
			{ ondblclick: () => form.requestSubmit() },
			h(
				"label",
				null,
				file.thumbnail
					? h("img", { src: file.thumbnail, alt: "", loading: "lazy" })
					: h("span", { class: "no-picture" }, icon("library")),
				h("span", { class: "row" }, box, h("bdi", { class: "file-name" }, file.name)),
				h("span", { class: "detail" }, size),
			),
		);
	}

	// Boxes, unlike radio buttons, do not go to one another by the arrow keys.
	list.addEventListener("keydown", (event) => {
		const at = [...list.children].findIndex((x) => x.contains(document.activeElement));
		const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns(), ArrowDown: columns() }[event.key];
		const next = by === undefined ? undefined : list.children[at + by];
		if (at < 0 || by === undefined) return;
		event.preventDefault();
		focusIn(next);
		const box = next?.querySelector("input");
		if (box && !several) box.click();
	});
	function columns() {
		const tops = [...list.children].map((x) => /** @type {HTMLElement} */ (x).offsetTop);
		return tops.filter((top) => top === tops[0]).length;
	}

	const form = h(
		"form",
		{ class: "choosing" },
		h("div", { class: "row" }, networks.length > 1 && where, search, inFolder, named, without),
		said,
		list,
		more,
		buttons(send),
	);
	into(undefined);
	const chosen = await show(several ? `Choose ${kind.noun}s` : `Choose a ${kind.noun}`, form, {
		wide: true,
		submit: () => (picked.size > 0 ? [...picked.values()] : undefined),
	});
	closed.abort();
	return chosen;
}

/** A number of bytes, to be read. @param {number} n */
export function bytes(n) {
	const units = ["bytes", "kB", "MB", "GB"];
	const i = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, n)) / 3)));
	return `${(n / 1000 ** i).toLocaleString(undefined, { maximumFractionDigits: i === 0 ? 0 : 1 })} ${units[i]}`;
}
