/**
 * Moves of tags on their way into a release.
 * @module
 */
import { ApiError, keys } from "../api.js";
import { button, count, detail, fill, flag, h, help, labelled, newID } from "../dom.js";
import { controlTime } from "../model/moment.js";
import { planned, pointsAt } from "../model/plan.js";
import { askWith, sentence } from "./dialog.js";
import { compared } from "./diff.js";
import { chooseVersion, versions } from "./versions.js";

/** @typedef {import("../api.js").Api} Api */
/** @typedef {import("../api.js").NewMove} NewMove */
/**
 * @typedef {{app: string, title: string, tag: string, from: string | null, to: string | null}} Offer a move that can be
 * chosen
 */

/** Where a move leads, in words. @param {string | null | undefined} from @param {string | null} to */
export function leads(from, to) {
	return `${from ? `version ${from}` : "no version"} → ${to === null ? "taken away" : `version ${to}`}`;
}

/**
 * A button to choose where a move leads.
 * @param {string} title @param {string} tag @param {() => Promise<void>} choose
 */
export const another = (title, tag, choose) =>
	button("Another version", () => void choose(), {
		class: "small",
		"aria-label": `Another version of ${title} for ${tag}`,
	});

/**
 * Asks where a move shall lead, and returns what is chosen, or what it was.
 * @param {Api} api @param {string} title of the app @param {{app: string, tag: string, from: string | null}} move
 * @param {string | null} was @param {AbortSignal} signal
 */
export async function aim(api, title, { app, tag, from }, was, signal) {
	const chosen = await chooseVersion(
		`Where shall ${tag} of ${title} point?`,
		versions(api, app, signal, was, { away: from !== null }),
	);
	return chosen && chosen.to !== "" ? chosen.to : was;
}

/**
 * What a move changes for those who see the tag, counted and with all details once it is opened.
 * @param {Api} api @param {{app: string, from: string | null, to: string | null}} move
 * @param {boolean} [open] whether it is opened at once @param {AbortSignal} [signal]
 */
export function whatChanges(api, { app, from, to }, open = false, signal) {
	if (to === null) return help("The tag is taken away. Pages that show the app by it find nothing any more.");
	if (from === null)
		return help("The app does not have this tag yet. Pages that ask for it show the app from then on.");
	if (from === to) return help("Nothing changes.");
	const body = help("Loading…");
	const summary = h("summary", null, "What changes");
	const node = h("details", { open }, summary, body);
	let asked = false;
	const load = async () => {
		if (asked || !node.open) return;
		asked = true;
		try {
			const { node: all, changes } = await compared(api, app, from, to, signal);
			summary.textContent = count(changes, "change");
			body.replaceWith(all);
		} catch (e) {
			body.replaceWith(h("p", { class: "wrong" }, sentence(e)));
		}
	};
	node.addEventListener("toggle", load);
	void load();
	return node;
}

/**
 * Controls for when a release runs and when it ends.
 * @param {number | null} [at] @param {number | null} [until] @param {boolean} [required] whether it must have a time
 */
export function times(at = null, until = null, required = false) {
	const day = 86_400_000;
	/** @param {number | null} value @param {number} most days */
	const control = (value, most, required = false) =>
		h("input", {
			type: "datetime-local",
			required,
			min: controlTime(new Date()),
			max: controlTime(new Date(Date.now() + most * day)),
			value: value === null ? "" : controlTime(new Date(value)),
		});
	const [begin, end] = [control(at, 89, required), control(until, 178)];
	/** @param {HTMLInputElement} input */
	const read = ({ value }) => (value === "" ? null : new Date(value).getTime());
	const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
	const empty = required ? "" : " Left empty, somebody runs it.";
	return {
		node: h(
			"div",
			null,
			labelled("Runs at", begin, `In the time of this computer (${zone}), within 90 days.${empty}`),
			labelled("Ends at", end, "All its moves are undone then. Left empty, it stays."),
		),
		/** When it runs and ends. It fails if these are no such times. */
		get value() {
			const [at, until] = [read(begin), read(end)];
			if (until !== null && at === null) throw new Error("A release that ends runs at a time: fill in both.");
			if (until !== null && until <= Number(at)) throw new Error("It ends before it runs. Choose a later end.");
			if (until !== null && until > Number(at) + 90 * day) throw new Error("It ends within 90 days of its time.");
			return { at, until };
		},
		/** When it runs, as far as it is filled in. */
		get at() {
			return read(begin);
		},
		/** @param {() => void} f */
		onchange: (f) => begin.addEventListener("change", f),
	};
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
	// Apps that do not have the tag yet are mostly not meant, so they are chosen one by one.
	const apart = offers.map((o) => !checked && o.from === null && offers.some((other) => other.from !== null));
	const all = h("input", { type: "checkbox", checked });
	all.addEventListener("change", () =>
		boxes.forEach((box, i) => (box.checked = apart[i] ? box.checked : all.checked)),
	);
	const when = times();
	const leaving = new AbortController();
	/** @type {import("../api.js").Release[]} those that are scheduled, once they count */
	let others = [];
	/** Where each tag points when the release runs. @param {Offer} o */
	const before = (o) => (when.at === null ? { version: o.from } : pointsAt(others, o.app, o.tag, o.from, when.at));
	const wanted = offers.map((o) => o.to);
	/** @param {number} i */
	const now = (i) => {
		const o = /** @type {Offer} */ (offers[i]);
		return { app: o.app, tag: o.tag, from: before(o).version, to: wanted[i] ?? null };
	};
	const shown = offers.map(() => h("div"));
	/** @param {number} i */
	function draw(i) {
		const o = /** @type {Offer} */ (offers[i]);
		const { by } = before(o);
		const move = now(i);
		const words = [o.title, " ", flag(o.tag), " ", detail(leads(move.from, move.to))];
		const other = another(o.title, o.tag, () => choose(i));
		fill(
			/** @type {HTMLElement} */ (shown[i]),
			h("div", { class: "row" }, h("label", null, boxes[i], h("span", null, words)), other),
			by &&
				help(
					`By then it points to ${move.from ?? "no version"}, by the release ` +
						`“${by.name || "without a name"}”.`,
				),
			whatChanges(api, move, one),
		);
	}
	/** @param {number} i */
	async function choose(i) {
		const o = /** @type {Offer} */ (offers[i]);
		wanted[i] = await aim(api, o.title, o, wanted[i] ?? null, leaving.signal);
		draw(i);
	}
	when.onchange(async () => {
		others = await planned(api);
		offers.forEach((_, i) => draw(i));
	});
	offers.forEach((_, i) => draw(i));
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
				shown.filter((_, i) => !apart[i]),
				apart.includes(true) &&
					h(
						"details",
						null,
						h("summary", null, "Apps that do not have the tag yet"),
						shown.filter((_, i) => apart[i]),
					),
			),
			h("details", null, h("summary", null, "At a time"), when.node),
		],
		"Make the release",
		async () => {
			const { at, until } = when.value;
			if (at !== null) others = await planned(api);
			const moves = offers.map((_, i) => now(i)).filter((_, i) => boxes[i]?.checked);
			if (moves.length === 0 || moves.length > 200)
				throw new Error(`A release has 1 to 200 moves; ${moves.length} are chosen.`);
			const stays = moves.find((m) => m.from === m.to);
			if (stays) {
				const { title } = /** @type {Offer} */ (offers.find((o) => o.app === stays.app && o.tag === stays.tag));
				throw new Error(
					`${stays.tag} of ${title} would stay where it is. Choose another version, or leave it out.`,
				);
			}
			const release = { name: name.value, note: note.value, moves, at, until };
			return api.createRelease(release, keyOf(JSON.stringify(release))).catch(mayNot);
		},
		{ wide: true },
	);
	leaving.abort();
	if (made) location.hash = `#/releases/${encodeURIComponent(made.id)}`;
	return made;
}

/**
 * Asks which apps shall go live together: those whose tag of a name is behind their latest version, or is not there
 * yet.
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
			.filter((o) => o.from !== o.to)
			.sort((a, b) => Number(a.from === null) - Number(b.from === null));
	function tell() {
		const all = offers();
		const late = all.filter((o) => o.from !== null).length;
		const never =
			all.length === late
				? ""
				: `, and ${all.length - late} that ${all.length - late === 1 ? "does" : "do"} not have it yet`;
		fill(found, `${count(late, "app")} with changes that are not live by this tag${never}.`);
	}
	tag.addEventListener("input", tell);
	tell();
	const chosen = await askWith(
		"What shall go live?",
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
