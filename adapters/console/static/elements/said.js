/**
 * What is said of the versions of an app: what was done in each, in a few words.
 * @module
 */
import { fill, h, named, whenSeen } from "../dom.js";
import { readAll } from "../model/timeline.js";

/** @typedef {import("../api.js").Entry} Entry */
/** @typedef {import("../dom.js").Child} Child */

/** So many changes are told of a version. */
const most = 3;

/** Tells what was done in the versions of an app. A version is loaded once words that need it come into view. */
export class Said {
	/** @param {import("../api.js").Api} api @param {string} id of the app @param {AbortSignal} signal */
	constructor(api, id, signal) {
		this.api = api;
		this.id = id;
		this.signal = signal;
		/** @type {Entry[]} */
		this.entries = [];
		/**
		 * @type {Map<string, import("../api.js").Element[] | undefined>} the elements of versions that were asked for
		 */
		this.elements = new Map();
		/** What each version has changed. */
		this.said = readAll([], this.elements);
		this.seen = whenSeen(signal);
	}

	/** Takes the elements of a version that is loaded already. @param {import("../api.js").App} app */
	know(app) {
		this.elements.set(app.version, app.elements);
	}

	/** @param {Entry[]} entries all that are shown, the newest first */
	read(entries) {
		this.entries = entries;
		this.said = readAll(entries, this.elements);
	}

	/** What was done in versions that follow each other. @param {Entry[]} group the newest first */
	words(group) {
		const [last] = group;
		if (last.restoredFrom !== null) return h("span", null, `restored version ${last.restoredFrom}`);
		if (last.version === "0") return h("span", null, "created the app");
		const node = h("span", null);
		/** Says what is known, and which version has to be loaded to say it all. */
		const tell = () => {
			const phrases = [
				...new Map(
					group.flatMap((e) =>
						(this.said.get(e.version) ?? []).map((s) => [JSON.stringify(s.parts), { ...s, e }]),
					),
				).values(),
			];
			fill(
				node,
				summary(
					phrases,
					group.some((e) => e.changesTruncated),
				),
			);
			return phrases
				.slice(0, most)
				.flatMap(({ known, e }) => (known ? [] : [String(Number(e.version) - 1), e.version]))
				.find((v) => !this.elements.has(v));
		};
		if (tell() !== undefined) {
			this.seen(node, async () => {
				for (let version = tell(); version !== undefined && !this.signal.aborted; version = tell()) {
					this.elements.set(
						version,
						(await this.api.app(this.id, version, this.signal).catch(() => undefined))?.elements,
					);
					this.read(this.entries);
				}
			});
		}
		return node;
	}
}

/** @param {import("../model/timeline.js").Phrase[]} said @param {boolean} truncated @returns {Child[]} */
function summary(said, truncated) {
	if (said.length === 0) return truncated ? ["many changes"] : [];
	const shown = said
		.slice(0, most)
		.flatMap(({ parts }, i) => [i > 0 && ", ", ...parts.map((p) => (typeof p === "string" ? p : named(p.name)))]);
	return [...shown, (said.length > most || truncated) && " and more"];
}
