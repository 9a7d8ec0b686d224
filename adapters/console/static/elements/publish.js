/**
 * What of an app is not live, and one button for it: a move of its tags, or a release where somebody has to approve.
 * @module
 */
import { keys, newKey } from "../api.js";
import { button, count, fill, flag, h } from "../dom.js";
import { askWith, noteField, toast, trouble } from "./dialog.js";
import { changesIn } from "./diff.js";
import { propose, whatChanges } from "./release.js";

/** @typedef {import("../api.js").Tag} Tag */
/** @typedef {import("../api.js").TagRule} TagRule */
/** @typedef {import("./release.js").Offer} Offer */

/**
 * The first of some kinds of tags that there are: those that need approval, protected ones, those of a usual name.
 * @template {{name: string, protected?: boolean, approvals?: number}} T
 * @param {T[]} tags
 */
function foremost(tags) {
	/** @type {((t: T) => boolean)[]} */
	const kinds = [(t) => !!t.approvals, (t) => !!t.protected, (t) => /^(production|live)$/.test(t.name)];
	return kinds.map((is) => tags.filter(is)).find((some) => some.length > 0);
}

/**
 * The tag by which an app without any goes live: one for which there is a rule, else production.
 * @param {TagRule[]} rules @returns {TagRule}
 */
function firstTag(rules) {
	const some = foremost(rules) ?? [];
	const usual = { name: "production", protected: false, approvals: 0 };
	return some.find((r) => r.name === usual.name) ?? some[0] ?? usual;
}

/**
 * @param {import("../api.js").Api} api @param {import("../session.js").Session} session
 * @param {string} id @param {AbortSignal} signal
 * @param {() => Promise<import("../dom.js").Child[]>} unsaved saves what can be saved, and names what is in no version
 * @returns {{node: HTMLElement, update: (app: import("../api.js").App) => void, reload: () => void}}
 */
export function publisher(api, session, id, signal, unsaved) {
	const text = h("span", { class: "detail" });
	const publish = button("Publish", () => void go().catch(trouble), { class: "small main" });
	const node = h("span", { class: "row publish", hidden: true }, text, publish);
	/** @type {import("../api.js").App | undefined} */
	let app;
	/** @type {Tag[] | undefined} */
	let tags;
	/** @type {TagRule} */
	let first = firstTag([]);
	/**
	 * @type {Map<string, import("../api.js").App | undefined>} versions that tags point to; undefined while they load
	 */
	const live = new Map();
	let counted = { of: "", changes: [0] };

	/**
	 * How many changes the dialog lists for each of some moves, or undefined until the versions are loaded that their
	 * tags point to.
	 * @param {ReturnType<typeof offers>} moves
	 */
	function changes(moves) {
		const from = [...new Set(moves.map((m) => String(m.from)))];
		for (const version of from) {
			if (live.has(version)) continue;
			live.set(version, undefined);
			api.app(id, version, signal).then(
				(then) => {
					live.set(version, then);
					show();
				},
				() => live.delete(version),
			);
		}
		const of = `${from.join()} ${app?.version}`;
		const before = from.map((version) => live.get(version));
		if (!app || before.some((then) => !then)) return undefined;
		const now = app;
		if (counted.of !== of) counted = { of, changes: before.map((then) => (then ? changesIn(then, now) : 0)) };
		return counted.changes;
	}

	/** The moves that bring the latest version to those who see the app. */
	function offers() {
		if (!app || !tags) return [];
		const { title, version } = app;
		const may = (/** @type {{protected?: boolean}} */ tag) => app !== undefined && session.mayMove(app, tag);
		/** @param {{name: string, approvals?: number}} tag @param {string | null} from */
		const offer = ({ name, approvals = 0 }, from) => ({ app: id, title, tag: name, from, to: version, approvals });
		if (tags.length === 0) return app.elements.length > 0 && may(first) ? [offer(first, null)] : [];
		const late = (foremost(tags) ?? tags).filter((t) => Number(t.appVersion) < Number(version));
		return late.filter(may).map((t) => offer(t, t.appVersion));
	}

	function show() {
		const moves = offers();
		const proposed = moves.some((m) => m.approvals > 0);
		const fresh = tags?.length === 0;
		const all = fresh || moves.length === 0 ? [] : changes(moves);
		const least = Math.min(...(all ?? []));
		const most = Math.max(...(all ?? []));
		// Nothing is to be published where versions differ in nothing that is shown.
		node.hidden = moves.length === 0 || !all || (!fresh && most === 0);
		const several = least === most ? "" : `${least} to `;
		fill(
			text,
			fresh ? "It is not live yet" : `${several}${count(most, "change")} ${most === 1 ? "is" : "are"} not live`,
		);
		fill(publish, proposed ? "Propose" : "Publish");
		const what = proposed ? "Makes a release that somebody else approves" : "Moves";
		publish.title = `${what}: ${moves.map((m) => m.tag).join(", ")}`;
	}

	function reload() {
		api.tags(id, {}, signal).then(
			(page) => {
				tags = page.tags;
				first = firstTag(page.rules ?? []);
				show();
			},
			() => {},
		);
	}

	async function go() {
		const left = await unsaved();
		const moves = offers(); // of what is saved by now
		if (!app || moves.length === 0) return;
		const { title, version } = app;
		if (
			left.length > 0 &&
			!(await askWith(
				"Not everything is saved",
				[
					h("p", null, `This is in no version yet, so those who see ${title} will not get it:`),
					h(
						"ul",
						null,
						left.map((what) => h("li", null, what)),
					),
					h("p", null, `Version ${version} is without it.`),
				],
				`Go on with version ${version}`,
				() => true,
			))
		)
			return;
		if (moves.some((m) => m.approvals > 0)) await propose(api, moves, { name: title.slice(0, 128) });
		else await move(title, moves);
		reload();
	}

	/** Moves tags. @param {string} title @param {(Offer & {to: string})[]} moves */
	async function move(title, moves) {
		const note = noteField();
		const several = moves.length > 1;
		const parts = moves.map((m) => {
			const box = h("input", { type: "checkbox", checked: true });
			const words =
				m.from !== null ? `Those who see ${m.tag} will see this:` : `Version ${m.to} gets the tag ${m.tag}.`;
			const choice = h("label", null, box, h("span", null, "Those who see ", flag(m.tag), " will see this"));
			const node = h(
				"div",
				null,
				several ? h("div", { class: "boxes" }, choice) : h("p", null, words),
				whatChanges(api, m, !several, signal),
			);
			return { ...m, box, node, keyOf: keys() };
		});
		const asked = several || moves[0]?.from !== null ? "Publish these changes?" : `Publish ${title}?`;
		await askWith(
			asked,
			[...parts.map((p) => p.node), note.node],
			"Publish",
			async () => {
				const chosen = parts.filter(({ box }) => box.checked);
				if (chosen.length === 0) throw new Error("Choose one tag at least.");
				for (const { tag, from, to, keyOf } of chosen) {
					await api.putTag(id, tag, { appVersion: to, from, note: note.value }, keyOf(to + note.value));
				}
				const names = chosen.map(({ tag }) => tag).join(", ");
				toast(`${names} ${chosen.length === 1 ? "points" : "point"} to version ${moves[0]?.to} now.`, {
					action: "Undo",
					onaction: () => void takeBack(chosen).catch(trouble),
					seconds: 10,
				});
				return true;
			},
			{ wide: true },
		);
	}

	/** Rolls back what was published. @param {(Offer & {to: string})[]} moves */
	async function takeBack(moves) {
		for (const { tag, to } of moves) await api.rollBack(id, tag, { from: to, note: "" }, newKey());
		toast(`${moves.map(({ tag }) => tag).join(", ")}: published no more, all is as it was before.`);
		reload();
	}

	reload();
	return {
		node,
		reload,
		update(now) {
			app = now;
			show();
		},
	};
}
