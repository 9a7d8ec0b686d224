/**
 * The files of a library: sending many at once, with their folders, and what can be changed about one.
 * @module
 */
import { button, count, debounce, fill, h, labelled, plain } from "../dom.js";
import { bytes } from "../elements/chooser.js";
import { confirm, sentence } from "../elements/dialog.js";
import { shownFile, takesFiles } from "../elements/filefield.js";
import { Uploads } from "../elements/uploads.js";
import { isNumber, stringify } from "../json.js";
import { fileOf, kinds } from "../model/files.js";
import { numberIn, objectIn } from "../model/keywords.js";
import { below } from "../model/rights.js";
import { pickFolder } from "./folders.js";

/** @typedef {import("../api.js").Asset} Asset */
/** @typedef {import("../api.js").Folder} Folder */
/** @typedef {import("../api.js").Library} Library */
/** @typedef {{file: File, path: string[]}} Sent a file with the names of the folders that it is in */

/**
 * Sends files into a library: they are picked, or dropped onto an element, and a folder among them makes a folder.
 * @param {Library} lib
 * @param {{folder: () => Folder | undefined, moderator: boolean, onsent: () => void}} options folder is where they go
 */
export function sending(lib, { folder, moderator, onsent }) {
	const uploads = new Uploads();
	const state = h("p", { class: "help", role: "status" });
	const soon = debounce(1000, onsent); // what has arrived is shown while others are on their way
	const node = h("section", { class: "sending", "aria-label": "Uploads", hidden: true }, uploads.node, state);
	/** @param {string} name @param {boolean} whole */
	const picker = (name, whole) => {
		const input = h("input", {
			type: "file",
			class: "unseen",
			multiple: true,
			webkitdirectory: whole,
			tabindex: "-1",
			"aria-label": name,
			onchange: () => {
				const list = [...(input.files ?? [])].map((file) => ({
					file,
					path: file.webkitRelativePath.split("/").slice(0, -1),
				}));
				input.value = ""; // so that the same files can be picked again
				void send(list);
			},
		});
		return h(
			"span",
			null,
			button(name, () => input.click(), whole ? { icon: "folder" } : { icon: "upload", class: "main" }),
			input,
		);
	};

	/** @param {Sent[]} list */
	async function send(list) {
		list = list.filter(({ file }) => !file.name.startsWith(".")); // what systems keep in their folders
		if (list.length === 0) return;
		let into = folder();
		if (!into && !moderator) {
			into = (await pickFolder(lib, "Into which folder?")) ?? undefined;
			if (!into) return;
		}
		node.hidden = false;
		node.dataset["unsaved"] = "yes";
		const top = into;
		/** @type {Map<string, Promise<Folder>>} */
		const made = new Map();
		/** @param {string[]} path @returns {Promise<Folder | undefined>} */
		const folderAt = async (path) => {
			if (path.length === 0) return top;
			const key = stringify(path);
			const found =
				made.get(key) ??
				folderAt(path.slice(0, -1)).then((parent) => folderCalled(lib, path.at(-1) ?? "", below(parent)));
			made.set(key, found);
			found.catch(() => made.delete(key)); // so that it can be tried again
			return found;
		};
		await Promise.all(
			list.map(({ file, path }) =>
				uploads
					.add(file, async (progress, stop) => {
						const where = await folderAt(path);
						return lib.upload(file, where ? [where.id] : [], progress, stop);
					})
					.then(soon),
			),
		);
		if (uploads.open > 0) return;
		delete node.dataset["unsaved"];
		onsent();
	}

	uploads.onchange = () =>
		(state.textContent =
			uploads.open > 0
				? `${uploads.done.toLocaleString()} sent, ${uploads.open.toLocaleString()} to go`
				: `${count(uploads.done, "file")} sent. Whoever has the address of a file can read it.`);

	const buttons = [picker("Upload files", false), picker("Upload a folder", true)];
	return {
		node,
		buttons,
		/** Lets files and folders be dropped and pasted onto an element. @param {HTMLElement} target */
		accept(target) {
			takesFiles(target, (files, dropped) => {
				// What is dropped is known only until the event is over.
				const entries = [...(dropped?.items ?? [])].flatMap((item) => item.webkitGetAsEntry() ?? []);
				if (entries.length === 0) return void send(files.map((file) => ({ file, path: [] })));
				void Promise.all(entries.map((e) => within(e, []))).then((lists) => send(lists.flat()));
			});
		},
		/** Asks whether files that are on their way may be stopped. */
		async leave() {
			if (uploads.open === 0) return true;
			const yes = await confirm(
				"Stop sending?",
				`${count(uploads.open, "file")} did not arrive yet. Those that are sent stay.`,
				"Stop and leave",
				{ danger: true },
			);
			if (yes) uploads.stop();
			return yes;
		},
	};
}

/**
 * The files in a folder of the disk and below it, or the file itself.
 * @param {FileSystemEntry} entry @param {string[]} path @returns {Promise<Sent[]>}
 */
async function within(entry, path) {
	if (entry.isFile) {
		const one = /** @type {FileSystemFileEntry} */ (entry);
		return [{ file: await new Promise((resolve, reject) => one.file(resolve, reject)), path }];
	}
	const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
	/** @type {Sent[]} */
	const found = [];
	for (;;) {
		/** @type {FileSystemEntry[]} */
		const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
		if (some.length === 0) return found;
		for (const e of some) found.push(...(await within(e, [...path, entry.name])));
	}
}

/**
 * The folder of this name in a place, which is made if there is none.
 * @param {Library} lib @param {string} label @param {string} path @returns {Promise<Folder>}
 */
async function folderCalled(lib, label, path) {
	const { folders } = await lib.folders({ path, limit: "500" });
	const there = folders.find((f) => f.label === label);
	return there ?? /** @type {Folder} */ ((await lib.changeFolders({ create: [{ label, path }] })).folders[0]);
}

/**
 * What can be seen and changed of an asset's file.
 * @param {Library} lib @param {Asset} asset
 * @param {() => void} onchanged
 */
export function filePanel(lib, asset, onchanged) {
	const node = h("div", { class: "filed" });
	let dirty = false;
	const may = lib.explain({ asset: asset.id }).then(
		({ edit }) => edit.allowed,
		() => true, // the service says it again
	);

	/** @param {Asset} now */
	function show(now) {
		const file = fileOf(now);
		if (!file) return;
		const said = h("div", { role: "status" });
		const title = h("input", { value: plain(String(now.content["content"] ?? "")), maxlength: 1000 });
		const alt = h("textarea", { rows: 2, value: file.alt, maxlength: 10_000 });
		const at = objectIn(file.focus);
		const focus = { x: numberIn(at["x"]) ?? 0.5, y: numberIn(at["y"]) ?? 0.5 };
		const picture = file.type === "photo";
		const uploads = new Uploads();
		const save = button("Save", () => void change(), { class: "main", disabled: true });
		const replace = button("Replace the file", () => picker.click(), { icon: "upload" });
		const denied = h("p", { class: "help", role: "status" });
		const touched = () => {
			dirty = true;
			save.disabled = false;
		};
		for (const input of [title, alt]) input.addEventListener("input", touched);

		/** @param {(etag: string) => Promise<Asset | undefined>} act */
		async function act(act) {
			try {
				const { etag } = await lib.assetNow(asset.id);
				if (etag !== known) throw new Error("Somebody has changed this file meanwhile. Open it again.");
				const next = await act(etag);
				if (!next) return;
				dirty = false;
				show(next);
				onchanged();
			} catch (e) {
				fill(said, h("div", { class: "note bad" }, sentence(e)));
			}
		}
		const change = () =>
			act((etag) =>
				lib.editFile(asset.id, etag, { title: title.value, ...(picture && { alt: alt.value, focus }) }),
			);
		let known = "";
		lib.assetNow(asset.id).then(
			({ etag }) => (known = etag),
			(e) => fill(said, sentence(e)),
		);
		const picker = h("input", {
			type: "file",
			class: "unseen",
			tabindex: "-1",
			accept: (Object.values(kinds).find((k) => k.type === file.type) ?? kinds["file"])?.media.join(),
			"aria-label": `Another file for ${file.name}`,
			onchange: () => {
				const [other] = picker.files ?? [];
				picker.value = "";
				if (other)
					void act((etag) =>
						uploads.add(other, (progress, stop) => lib.replaceFile(asset.id, etag, other, progress, stop)),
					);
			},
		});
		const shown = picture ? focal(file.href, focus, touched) : undefined;
		/** @param {boolean} may whether the person may change the file */
		const allow = (may) => {
			for (const x of [save, replace]) x.hidden = !may;
			for (const x of [title, alt]) x.readOnly = !may;
			shown?.allow(may);
		};
		allow(false);
		void may.then((may) => {
			allow(may);
			fill(denied, !may && "You may not change this file, as “Who may” says below.");
		});
		fill(
			node,
			shown ? shown.node : shownFile(kindOfType(file.type), file.href),
			h(
				"p",
				{ class: "detail" },
				[
					file.media,
					bytes(file.size),
					isNumber(file.width) && isNumber(file.height) && `${file.width} × ${file.height}`,
				]
					.filter(Boolean)
					.join(" · "),
			),
			labelled("Title", title),
			picture &&
				labelled(
					"Text for those who do not see it",
					alt,
					"What the picture shows. Leave it empty for decoration.",
				),
			h(
				"div",
				{ class: "row" },
				save,
				replace,
				h("a", { class: "button quiet", href: file.href, download: file.name }, "Download"),
				picker,
			),
			denied,
			uploads.node,
			said,
			h(
				"p",
				{ class: "help" },
				"Whoever has the address of the file can read it, whatever the folder's permissions are. ",
				"Pages that use it show the replaced file, too.",
			),
		);
	}
	show(asset);
	return {
		node,
		/** Shows the asset as it is now, unless something is typed. @param {Asset} now */
		set: (now) => dirty || show(now),
	};
}

/** @param {string} type of an attachment */
function kindOfType(type) {
	return Object.entries(kinds).find(([, k]) => k.type === type)?.[0] ?? "file";
}

/**
 * A picture with the point that stays visible when it is cropped. A click sets it, and the arrow keys move it.
 * @param {string} href @param {{x: number, y: number}} focus it is changed @param {() => void} onchange
 */
function focal(href, focus, onchange) {
	const url = new URL(href, location.href);
	url.searchParams.set("w", "640");
	const image = h("img", { src: url.href, alt: "" });
	const dot = h("span", { class: "dot" });
	const said = h("p", { class: "help", "aria-live": "polite" });
	const node = h("button", { type: "button", class: "focal", "aria-label": "Focus of the picture" }, image, dot);
	const tell = () => {
		const [x, y] = [focus.x, focus.y].map((n) => Math.round(100 * n));
		dot.style.left = `${x}%`;
		dot.style.top = `${y}%`;
		said.textContent =
			`Focus: ${x} % from the left, ${y} % from the top. It stays visible where the picture is cropped. ` +
			(node.disabled ? "" : "Click, or use the arrow keys, to move it.");
	};
	const later = debounce(200, tell);
	/** @param {number} x @param {number} y */
	function move(x, y) {
		focus.x = Math.round(1000 * Math.min(1, Math.max(0, x))) / 1000;
		focus.y = Math.round(1000 * Math.min(1, Math.max(0, y))) / 1000;
		dot.style.left = `${100 * focus.x}%`;
		dot.style.top = `${100 * focus.y}%`;
		later();
		onchange();
	}
	node.addEventListener("click", (event) => {
		if (event.detail === 0) return; // by the keyboard, which has no place
		const { left, top, width, height } = image.getBoundingClientRect();
		move((event.clientX - left) / width, (event.clientY - top) / height);
	});
	node.addEventListener("keydown", (event) => {
		const step = event.shiftKey ? 0.1 : 0.01;
		const [x, y] =
			{ ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key] ??
			[];
		if (x === undefined || y === undefined) return;
		event.preventDefault();
		move(focus.x + x, focus.y + y);
	});
	return {
		node: h("div", null, node, said),
		/** @param {boolean} may whether the person may move the point */
		allow(may) {
			node.disabled = !may;
			tell();
		},
	};
}

/** So many apps, and so many tagged versions that are not the latest ones, are looked through. */
const [mostApps, mostVersions] = [500, 100];

/**
 * The titles of the apps whose latest or tagged versions have the address of a file.
 * @param {import("../api.js").Api} api @param {string[]} ids of the files
 * @returns {Promise<{titles: string[], all: boolean}>} all is false if there are more apps than were looked through
 */
async function usedBy(api, ids) {
	/** @param {unknown} app */
	const has = (app) => {
		const text = stringify(app);
		return ids.some((id) => text.includes(`/x/file/${id}/`));
	};
	/** @type {Map<string, string>} */
	const found = new Map();
	let [apps, versions] = [0, 0];
	/** @type {string | undefined} */
	let after;
	do {
		const [whole, listed] = await Promise.all([
			api.page("apps", "apps", { after, limit: "100" }),
			api.apps({ after, limit: "100" }),
		]);
		for (const app of whole.apps) if (has(app)) found.set(app.id, app.title);
		for (const { id, title, version, tags } of listed.apps)
			for (const other of new Set(tags.map((t) => t.appVersion)))
				if (other !== version && !found.has(id) && versions++ < mostVersions && has(await api.app(id, other)))
					found.set(id, title);
		apps += listed.apps.length;
		after = listed.next;
	} while (after !== undefined && apps < mostApps);
	return { titles: [...found.values()], all: after === undefined && versions <= mostVersions };
}

/**
 * What becomes of pages when these assets are removed, or undefined if they have no files.
 * @param {import("../api.js").Api} api @param {Asset[]} assets
 */
export function usedNote(api, assets) {
	const ids = assets.filter(fileOf).map((a) => String(a.content["id"]));
	if (ids.length === 0) return undefined;
	const node = h("div", { role: "status" }, "Looking for apps that use the files…");
	usedBy(api, ids).then(
		({ titles, all }) =>
			fill(
				node,
				titles.length > 0
					? [
							h("p", null, "These apps use what you remove, and their pages lose it:"),
							h(
								"ul",
								null,
								titles.slice(0, 20).map((t) => h("li", null, h("bdi", null, t))),
							),
						]
					: h("p", null, "No app that you may see uses them in its latest or its tagged versions."),
				!all && h("p", null, "There are more apps than were looked through."),
			),
		(e) => fill(node, sentence(e)),
	);
	return node;
}
