/**
 * Files of the person's disk: a place to drop one or to pick it, its text, and files to save.
 * @module
 */
import { button, fill, h, icon, newID } from "../dom.js";

/**
 * A place to drop a file on, with a button to pick one.
 * @param {string} name what the file is, such as "File of reviews"
 * @param {string} text
 * @param {(file: File) => void} take
 */
export function dropZone(name, text, take) {
	const picker = h("input", {
		type: "file",
		class: "unseen",
		id: newID("file"),
		"aria-label": name,
		tabindex: "-1",
		onchange: () => {
			const file = picker.files?.[0];
			if (file) take(file);
			picker.value = ""; // so that the same file can be picked again
		},
	});
	const drop = h(
		"div",
		{ class: "drop" },
		icon("upload"),
		h("p", null, text),
		button("Choose a file", () => picker.click(), { class: "main" }),
		picker,
	);
	drop.addEventListener("dragover", (event) => {
		event.preventDefault();
		drop.classList.add("over");
	});
	drop.addEventListener("dragleave", () => drop.classList.remove("over"));
	drop.addEventListener("drop", (event) => {
		event.preventDefault();
		drop.classList.remove("over");
		const file = event.dataTransfer?.files[0];
		if (file) take(file);
	});
	return drop;
}

/**
 * Shows how far a work is that reads so many bytes. The function that it returns is told how many are read.
 * @param {HTMLElement} outcome @param {import("../dom.js").Child} text @param {number} size @param {() => void} stop
 */
export function progress(outcome, text, size, stop) {
	const bar = h("progress", { max: size, value: 0, "aria-label": "Progress" });
	fill(outcome, h("p", { class: "detail" }, text), h("div", { class: "row" }, bar, button("Stop", stop)));
	return (/** @type {number} */ read) => void (bar.value = read);
}

/** How many there are of several things. @param {[string, number][]} list */
export function counts(list) {
	return h(
		"dl",
		{ class: "counts" },
		list.map(([what, n]) => h("div", null, h("dt", null, what), h("dd", null, n.toLocaleString()))),
	);
}

/** Whether a file is compressed. @param {Blob} file */
export async function isGzip(file) {
	return String(new Uint8Array(await file.slice(0, 2).arrayBuffer())) === "31,139";
}

/**
 * The content of a file without compression, as it is read from the disk.
 * @param {Blob} file @param {(bytes: number) => void} [progress] is told how much of the file is read
 * @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>>>}
 */
export async function contentOf(file, progress) {
	let read = 0;
	const stream = file.stream().pipeThrough(
		new TransformStream({
			transform(/** @type {Uint8Array<ArrayBuffer>} */ piece, controller) {
				read += piece.byteLength;
				progress?.(read);
				controller.enqueue(piece);
			},
		}),
	);
	return (await isGzip(file)) ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
}

/** The beginning of the content of a file. @param {Blob} file @param {number} size */
export async function headOf(file, size) {
	const reader = (await contentOf(file)).getReader();
	/** @type {Uint8Array<ArrayBuffer>[]} */
	const parts = [];
	for (let n = 0; n < size;) {
		const { value, done } = await reader.read();
		if (done) break;
		parts.push(value);
		n += value.length;
	}
	void reader.cancel();
	return new Blob(parts).slice(0, size);
}

/** Saves a text as a file. @param {BlobPart[]} parts @param {string} name @param {string} [type] */
export function save(parts, name, type = "application/x-ndjson") {
	const url = URL.createObjectURL(new Blob(parts, { type }));
	h("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The name of a file for what is left of another one. @param {string} name @param {string} [kind] */
export function rejectsOf(name, kind = "ndjson") {
	return `${name.replace(/\.gz$/, "").replace(/\.[^.]*$/, "")}-rejects.${kind}`;
}
