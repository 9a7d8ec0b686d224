/**
 * A field for files of the library: a preview, and buttons to choose one, to send one, and to take it away. Files may
 * be dropped and pasted onto it, too.
 * @module
 */
import { button, detail, fill, h, labelled } from "../dom.js";
import { fileOf, nameIn } from "../model/files.js";
import { sentence, toast } from "./dialog.js";
import { target, Uploads } from "./uploads.js";

/** @typedef {import("../model/files.js").Picked} Picked */
/**
 * @typedef {object} Options
 * @property {ReturnType<typeof import("../model/files.js").fileKind>} kind
 * @property {string} name of the field
 * @property {import("../session.js").Session} [session] without it no file can be chosen
 * @property {(picked: Picked[]) => void} take takes the files that are chosen
 * @property {boolean} [several] whether take takes several
 * @property {boolean} [readOnly]
 * @property {(href: string) => void} [onchange] takes an address that is typed; without it the field only adds files
 */

const meta = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="vitrine-api"]'));
/** What the addresses of own files begin with. */
const ownFiles = `${new URL(meta.content.replace(/\/?$/, "/"), location.href).pathname}x/file/`;

/**
 * A file, as far as it can be shown: a picture, video or sound of this server, or the name of the file. A picture of
 * another server is shown once the person wants to see it.
 * @param {string} kind of the field @param {string} href
 */
export function shownFile(kind, href) {
	const name = h("bdi", { class: "file-name" }, nameIn(href) || href);
	const own = href.startsWith(ownFiles) && new URL(href, location.href);
	if (own) {
		const props = { src: own.href, controls: true, preload: "metadata" };
		if (kind === "video") return h("div", { class: "shown-file" }, h("video", props), name);
		if (kind === "sound") return h("div", { class: "shown-file" }, h("audio", props), name);
		if (kind === "file") return h("div", { class: "shown-file" }, h("a", { href: own.href, download: "" }, name));
		own.searchParams.set("w", "320");
		return h("div", { class: "shown-file" }, image(own.href), name);
	}
	const foreign = URL.canParse(href) ? new URL(href) : undefined;
	if (kind !== "picture" || foreign?.protocol !== "https:") return h("div", { class: "shown-file" }, name);
	const node = h("div", { class: "shown-file" });
	const show = () => fill(node, image(foreign.href), name);
	if (sessionStorage.getItem("vitrine.images") === "yes") show();
	else fill(node, button(`Show the picture of ${foreign.host}`, show, { class: "small" }), name);
	return node;
}

/** @param {string} src */
function image(src) {
	const node = h("img", { src, alt: "", loading: "lazy", referrerpolicy: "no-referrer" });
	node.addEventListener("error", () =>
		node.replaceWith(detail("There is no picture at this address, or it was removed.")),
	);
	return node;
}

/**
 * Lets files be dropped and pasted onto an element.
 * @param {HTMLElement} node @param {(list: File[], dropped: DataTransfer | null) => void} take
 */
export function takesFiles(node, take) {
	/** @param {DragEvent} event */
	const has = (event) => event.dataTransfer?.types.includes("Files") ?? false;
	node.addEventListener("dragover", (event) => {
		if (!has(event)) return;
		event.preventDefault();
		event.stopPropagation();
		node.classList.add("over");
	});
	node.addEventListener("dragleave", () => node.classList.remove("over"));
	node.addEventListener("drop", (event) => {
		node.classList.remove("over");
		if (!has(event)) return;
		event.preventDefault();
		event.stopPropagation();
		take([...(event.dataTransfer?.files ?? [])], event.dataTransfer);
	});
	node.addEventListener("paste", (event) => {
		const list = [...(event.clipboardData?.files ?? [])];
		if (list.length === 0) return;
		event.preventDefault();
		event.stopPropagation();
		take(list, null);
	});
}

/**
 * The field. It takes one file, or adds several where there is no onchange.
 * @param {Options} options
 */
export function filefield({ kind, name, session, take, several = false, readOnly, onchange }) {
	const { noun, media } = kind;
	const adds = !onchange;
	const may = session && !readOnly && !session.me?.absent?.includes("assets");
	const preview = h("div", null);
	const uploads = new Uploads();
	const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
	const picker = h("input", {
		type: "file",
		class: "unseen",
		accept: media.join(),
		multiple: several,
		tabindex: "-1",
		"aria-label": `Upload a ${noun} for ${name}`,
		onchange: () => {
			const list = [...(picker.files ?? [])];
			picker.value = ""; // so that the same file can be picked again
			void send(list);
		},
	});
	const input = h("input", {
		autocomplete: "off",
		spellcheck: "false",
		oninput: () => {
			show(input.value);
			onchange?.(input.value);
		},
	});
	const away = button(
		"Take away",
		() => {
			show("");
			onchange?.("");
			choose.focus();
		},
		{ icon: "remove", class: "small bare" },
	);
	const choose = button(adds ? `Choose several ${noun}s` : "Choose", () => void pick(), {
		icon: "library",
		class: "small",
	});
	const upload = button(adds ? `Upload several ${noun}s` : "Upload", () => picker.click(), {
		icon: "upload",
		class: "small",
	});
	const elsewhere = button("Folder for uploads", () => session && void target(session, true), {
		class: "small bare",
	});
	const address = labelled("Address", input);
	const node = h(
		"div",
		{ class: adds ? "filed adds" : "filed" },
		!adds && preview,
		may && h("div", { class: "row" }, choose, upload, !adds && away, picker),
		may && uploads.node,
		wrong,
		!adds && !readOnly && (may ? h("details", null, h("summary", null, "Address"), address, elsewhere) : address),
	);
	if (may) takesFiles(node, (list) => void send(list));

	/** @param {string} href */
	function show(href) {
		away.hidden = href === "";
		fill(
			preview,
			href !== ""
				? shownFile(kind.name, href)
				: may
					? h("p", { class: "help" }, `Drop or paste a ${noun} here, or choose one.`)
					: detail("none"),
		);
	}

	/** @param {unknown} e */
	function tell(e) {
		fill(wrong, typeof e === "string" ? e : sentence(e));
		wrong.hidden = e === "";
	}

	/** @param {Picked[]} picked */
	function give(picked) {
		if (picked.length === 0) return;
		if (node.isConnected) take(picked);
		else toast(`The upload for ${name} is in the library. The field that it was for is no longer shown.`);
	}

	async function pick() {
		if (!session) return;
		tell("");
		const { chooseFiles } = await import("./chooser.js");
		give((await chooseFiles(session, kind, several)) ?? []);
	}

	/** @param {File[]} list */
	async function send(list) {
		if (!session || list.length === 0) return;
		const others = list.filter((f) => kind.name !== "file" && f.type !== "" && !f.type.startsWith(general(media)));
		list = list.filter((f) => !others.includes(f));
		if (list.length > 1 && !several) return tell(`This field takes one ${noun}.`);
		tell(others.map((f) => `${f.name} is not a ${noun} and was left out.`).join(" "));
		if (list.length === 0) return;
		try {
			const where = await target(session);
			if (!where) return;
			const lib = session.api.library(where.network, where.network);
			const folder = where.folder ? [where.folder.id] : [];
			const parts = list.map((file) => {
				/** @type {Promise<import("../api.js").Asset | undefined>} */
				let whole = Promise.resolve(undefined);
				/** @type {Promise<undefined>} */
				const failed = new Promise((resolve) => {
					whole = uploads.add(
						file,
						(progress, stop) => lib.upload(file, folder, progress, stop),
						() => resolve(undefined),
					);
				});
				return { whole, first: adds ? Promise.race([whole, failed]) : whole };
			});
			const picked = (/** @type {(import("../api.js").Asset | undefined)[]} */ assets) =>
				assets.flatMap((asset) => (asset && fileOf(asset)) || []);
			// Those that are sent do not wait for one that has failed: it comes after them if it is sent later.
			const sent = await Promise.all(parts.map((part) => part.first));
			give(picked(sent));
			parts.forEach(({ whole }, i) => adds && !sent[i] && whole.then((asset) => give(picked([asset])), tell));
		} catch (e) {
			tell(e);
		}
	}

	show("");
	return {
		node,
		/** @param {string} href */
		set(href) {
			if (input.value === href && preview.hasChildNodes() && href !== "") return;
			input.value = href;
			show(href);
		},
	};
}

/** What all media types of a kind begin with. @param {string[]} media */
function general([first = ""]) {
	return first.slice(0, first.indexOf("/") + 1);
}
