/**
 * Moves of tags on their way into a release.
 * @module
 */
import { ApiError, keys } from "../api.js";
import { count, detail, fill, flag, h, help, labelled, newID } from "../dom.js";
import { askWith, sentence } from "./dialog.js";
import { compared } from "./diff.js";

/** @typedef {import("../api.js").Api} Api */
/** @typedef {import("../api.js").NewMove} NewMove */
/**
 * @typedef {{app: string, title: string, tag: string, from: string | null, to: string}} Offer a move that can be chosen
 */

/** Where a move leads, in words. @param {string | null | undefined} from @param {string | null} to */
export function leads(from, to) {
	return `${from ? `version ${from}` : "no version"} → ${to === null ? "taken away" : `version ${to}`}`;
}

/**
 * What a move changes for those who see the tag, with all details once it is opened.
 * @param {Api} api @param {{app: string, from: string | null, to: string | null}} move
 * @param {boolean} [open] whether it is opened at once @param {AbortSignal} [signal]
 */
export function whatChanges(api, { app, from, to }, open = false, signal) {
	if (to === null) return help("The tag is taken away. Pages that show the app by it find nothing any more.");
	if (from === null) return help("There is no such tag yet. Pages can then show the app by it.");
	if (from === to) return help("Nothing changes.");
	const body = help("Loading…");
	const node = h("details", { open }, h("summary", null, "What changes"), body);
	let asked = false;
	const load = async () => {
		if (asked || !node.open) return;
		asked = true;
		const changes = await compared(api, app, from, to, signal).catch((e) =>
			h("p", { class: "wrong" }, sentence(e)),
		);
		body.replaceWith(changes);
	};
	node.addEventListener("toggle", load);
	void load();
	return node;
}

/** What the service says of a move that the person may not make. @param {unknown} e @returns {never} */
function mayNot(e) {
	if (e instanceof ApiError && e.code === "forbidden")
		e.words =
			"You may not move one of these tags. A protected tag is moved by moderators of every group of its app.";
	throw e;
}

/**
 * Asks for a name, and which of some moves shall go into one release. It leads to the release that is made. Of several
 * moves none is chosen at first, unless the person has chosen them already.
 * @param {Api} api @param {Offer[]} offers @param {{name?: string, note?: string, chosen?: boolean}} [options]
 */
export async function propose(api, offers, options = {}) {
	const name = h("input", { value: options.name ?? "", maxlength: 128, required: true, autocomplete: "off" });
	const note = h("textarea", { rows: 2, maxlength: 4096 });
	const one = offers.length === 1;
	const checked = one || options.chosen;
	const boxes = offers.map((o) => h("input", { type: "checkbox", checked, "aria-label": `${o.title}, ${o.tag}` }));
	const all = h("input", { type: "checkbox", checked });
	all.addEventListener("change", () => boxes.forEach((box) => (box.checked = all.checked)));
	/** @param {Offer} o @param {number} i */
	const choice = (o, i) =>
		h("label", null, boxes[i], h("span", null, o.title, " ", flag(o.tag), " ", detail(leads(o.from, o.to))));
	const keyOf = keys();
	const made = await askWith(
		"New release",
		[
			labelled("Name", name, "What those who approve it will read."),
			labelled("Note", note),
			h(
				"fieldset",
				{ class: "field boxes" },
				h("legend", null, "What it moves"),
				!one && h("label", null, all, h("span", { class: "strong" }, "All of these")),
				offers.flatMap((o, i) => [choice(o, i), whatChanges(api, o, one)]),
			),
		],
		"Make the release",
		() => {
			const moves = offers
				.filter((_, i) => boxes[i]?.checked)
				.map(({ app, tag, from, to }) => ({ app, tag, from, to }));
			if (moves.length === 0 || moves.length > 200)
				throw new Error(`A release has 1 to 200 moves; ${moves.length} are chosen.`);
			const release = { name: name.value, note: note.value, moves };
			return api.createRelease(release, keyOf(JSON.stringify(release))).catch(mayNot);
		},
		{ wide: true },
	);
	if (made) location.hash = `#/releases/${encodeURIComponent(made.id)}`;
	return made;
}

/**
 * Asks which apps shall go live together: those whose tag of a name is behind their latest version.
 * @param {Api} api @param {import("../session.js").Session} session @param {AbortSignal} signal
 */
export async function choose(api, session, signal) {
	/** @type {(import("../api.js").App & {tags: {name: string, appVersion: string}[]})[]} */
	const apps = [];
	let after;
	do {
		const page = await api.apps({ view: "summary", sort: "-updatedAt", limit: "500", after }, signal);
		apps.push(.../** @type {any[]} */ (page.apps));
		after = page.next;
	} while (after !== undefined && apps.length < 5000);
	const mine = apps.filter((a) => session.mayWrite(a));
	const names = [...new Set(mine.flatMap((a) => a.tags.map((t) => t.name)))].sort();
	const list = newID("tags");
	const tag = h("input", {
		list,
		required: true,
		autocomplete: "off",
		pattern: "[A-Za-z0-9_][A-Za-z0-9._\\-]{0,127}",
		value: names.includes("production") ? "production" : (names[0] ?? ""),
	});
	const found = h("p", { class: "help", role: "status" });
	const offers = () =>
		mine
			.map((a) => ({
				app: a.id,
				title: a.title,
				tag: tag.value,
				from: a.tags.find((t) => t.name === tag.value)?.appVersion ?? null,
				to: a.version,
			}))
			.filter((o) => o.from !== null && o.from !== o.to);
	const tell = () => fill(found, `${count(offers().length, "app")} with changes that are not live by this tag.`);
	tag.addEventListener("input", tell);
	tell();
	const chosen = await askWith(
		"Which tag shall move?",
		[
			labelled("Tag", tag),
			h(
				"datalist",
				{ id: list },
				names.map((value) => h("option", { value })),
			),
			found,
		],
		"Choose apps",
		() => {
			if (offers().length === 0) throw new Error("No app has changes that are not live by this tag.");
			return offers();
		},
	);
	if (chosen) await propose(api, chosen.slice(0, 200));
}
