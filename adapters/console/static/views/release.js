/**
 * A release: what it will change, who has approved it, and what went wrong.
 * @module
 */
import { to } from "../address.js";
import { ApiError } from "../api.js";
import { button, count, detail, fill, flag, h, icon, labelled, reconcile } from "../dom.js";
import { askWith, confirm, sentence, toast } from "../elements/dialog.js";
import { author, group, person } from "../elements/person.js";
import { pick } from "../elements/pick.js";
import { showVersion } from "../elements/preview.js";
import { aim, another, leads, times, whatChanges } from "../elements/release.js";
import { moment, time } from "../elements/time.js";
import { ending, planned, pointsAt } from "../model/plan.js";

/** @typedef {import("../api.js").Release} Release */

/** The state of a release, as a chip. @param {Release} r */
export function stateOf(r) {
	const undone = r.state === "cancelled" && r.ranAt !== null;
	const bad = r.conflicts.length > 0;
	const words = r.state === "done" ? "could not end" : "could not run";
	const past = undone && r.until !== null ? "ended" : undone ? "undone" : r.state;
	return h(
		"span",
		{ class: bad ? "chip bad" : "chip" },
		icon(bad ? "warn" : r.state === "done" ? "ok" : r.state === "cancelled" ? "undo" : "flag"),
		bad ? words : past,
	);
}

/**
 * What is in the way of a release, in words.
 * @param {import("../api.js").ReleaseConflict} c @param {string} title of the app
 */
function inTheWay(c, title) {
	const what = c.app ? `${title}, ${c.tag}: ` : "";
	switch (c.error) {
		case "moved":
			return (
				`${what}the tag points to ${c.pointsTo === null ? "no version" : `version ${c.pointsTo}`} now, ` +
				"since somebody has moved it. Choose the move anew, or leave it out."
			);
		case "not_found":
			return `${what}the app is not there any more. Leave it out, or have it brought back.`;
		case "missed":
			return (
				"Its time had passed by more than a day, or its end had come, when the service was up again. " +
				"Give it another time, or do it now."
			);
		case "needs_approval":
			return "Too few people had approved it at its time. Ask somebody to approve it, and give it another time.";
		case "forbidden":
			return `${what}who set the time had no right to this any more. Somebody who has it can set the time anew.`;
		default:
			return `${what}${c.reason}`;
	}
}

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, signal, live, shell }) {
	const id = /** @type {string} */ (params[0]);
	const heading = h("h1", null, "Release");
	const state = h("span");
	const facts = h("div", { class: "facts-of-release" });
	const trouble = h("div", { role: "alert" });
	const actions = h("div", { class: "row" });
	const board = h("div", { class: "board" });
	const moved = h("h2", { hidden: true }, "What it moves");
	/** @type {Map<string, {node: HTMLElement}>} */
	const parts = new Map();
	/**
	 * The apps that it moves; undefined for one that is gone.
	 * @type {Map<string, import("../api.js").App | undefined>}
	 */
	const apps = new Map();
	/** @param {string} app */
	const titleOf = (app) => apps.get(app)?.title ?? "An app that is gone";
	const groups = () => [...new Set([...apps.values()].flatMap((a) => a?.groups ?? []))];
	/** @type {Release | undefined} */
	let release;

	async function load() {
		try {
			const found = await api.release(id, signal);
			await Promise.all(
				found.moves.map(async ({ app }) => {
					if (!apps.has(app)) apps.set(app, await api.app(app, undefined, signal).catch(() => undefined));
				}),
			);
			show(found);
		} catch (e) {
			if (!signal.aborted) fill(trouble, sentence(e), " ", h("a", { href: to("releases") }, "All releases"));
		}
	}

	/** @param {Release} r */
	function show(r) {
		release = r;
		const name = r.name || "Without a name";
		heading.textContent = name;
		shell.title(name);
		fill(state, stateOf(r));
		const open = r.state === "open" || r.state === "scheduled";
		const missing = r.needs - r.approvals.length;
		const may = [...apps.values()].every((a) => !a || session.mayWrite(a));
		fill(
			facts,
			r.note && h("p", null, r.note),
			h("p", { class: "detail" }, "Made by ", author(r.by.urn, r.agent), " ", time(r.createdAt), "."),
			r.at !== null && r.state === "scheduled" && h("p", null, "It runs at ", moment(r.at), "."),
			r.ranAt !== null && h("p", null, "Its tags were moved ", time(r.ranAt), "."),
			r.until !== null &&
				h(
					"p",
					null,
					r.state === "cancelled"
						? "It has ended at "
						: r.conflicts.length > 0
							? "It was to end at "
							: "It ends, and its moves are undone, at ",
					moment(r.until),
					".",
				),
			r.approvals.length > 0 &&
				h(
					"p",
					null,
					icon("ok"),
					" Approved by ",
					r.approvals.flatMap((a, i) => [i > 0 && ", ", person(a.by.urn), " ", time(a.at)]),
					".",
				),
			open && missing > 0 && needed(r, missing),
			open &&
				!may &&
				h("p", { class: "detail" }, "Those who may change all of its apps can schedule, edit and run it."),
		);
		fill(
			trouble,
			r.conflicts.length > 0 &&
				h(
					"div",
					{ class: "note bad" },
					h(
						"p",
						{ class: "strong" },
						open
							? "It could not run, and nothing was moved:"
							: "It could not end, and nothing was moved back. Undo it, or move its tags one by one:",
					),
					h(
						"ul",
						null,
						r.conflicts.map((c) => h("li", null, inTheWay(c, titleOf(c.app ?? "")))),
					),
				),
		);
		fill(
			actions,
			open &&
				may && [
					r.mayApprove &&
						button("Approve", () => void act("approve", "You have approved it."), {
							class: "main",
							icon: "ok",
						}),
					missing <= 0 && button("Run now", () => void run(), { class: "main" }),
					button(r.at === null ? "Schedule" : "Change the time", () => void schedule()),
					r.at !== null && button("Take the time back", () => void update({ at: null, until: null })),
					button("Edit", () => void edit()),
					button("Cancel the release", () => void cancel(), { class: "danger", icon: "remove" }),
				],
			r.state === "done" && may && button("Undo", () => void undo(), { icon: "undo", class: "danger" }),
			ending(r) &&
				may &&
				button("Call the end off", () => void act("cancel", "It stays as it is: its end is called off.")),
		);
		moved.hidden = false;
		reconcile(
			board,
			parts,
			r.moves,
			(m) => `${m.app} ${m.tag} ${m.from} ${m.to} ${r.state}`,
			(m) => ({ node: card(r, m) }),
		);
	}

	/** Who can approve the release. @param {Release} r @param {number} missing how many approvals it lacks */
	function needed(r, missing) {
		const all =
			groups().length > 0 ? h("span", { class: "chips" }, groups().map(group)) : "every group of its apps";
		return h(
			"div",
			{ class: "note" },
			h(
				"p",
				null,
				icon("lock"),
				` ${count(missing, "approval")} of somebody else ${missing === 1 ? "is" : "are"} needed.`,
			),
			h(
				"p",
				null,
				"It can be given by anybody who moderates ",
				all,
				", except those who have made or changed the release, and those who have their rights from them, " +
					"directly or through others.",
				r.independent && " Those who gave them their rights cannot give it either.",
				r.independent && r.needs > 1 && " Of people who gave each other rights, one counts.",
			),
			!r.mayApprove && h("p", null, cannot(r)),
			[...apps.values()].every((a) => !a || session.mayWrite(a)) && asking(r),
		);
	}

	/** Who is asked, and somebody to ask; or that nobody could approve it, and what helps. @param {Release} r */
	function asking(r) {
		const ask = r.ask ?? [];
		const asked =
			ask.length > 0 &&
			h(
				"p",
				null,
				"Asked: ",
				ask.flatMap((urn) => [person(urn), " "]),
			);
		const line = h("div", null, asked);
		void api
			.approvers(id, signal)
			.then((people) => {
				const others = people.filter((p) => !ask.includes(p.urn));
				if (others.length > 0)
					line.append(
						button("Ask somebody", () => void askOne(r, others), { class: "small", icon: "person" }),
					);
				else if (people.length === 0 && !r.mayApprove)
					line.append(
						h(
							"p",
							{ class: "strong" },
							"Nobody of your network can approve it now: everybody with the right has made or changed " +
								"it, or has the rights from somebody who did. Ask an administrator to give somebody " +
								"else the rights, or to make the release.",
						),
					);
			})
			.catch(() => {});
		return line;
	}

	/** @param {Release} r @param {import("../api.js").Named[]} people */
	async function askOne(r, people) {
		const found = await pick("Whom do you ask to approve it?", people, (p) => ({ name: p.name, detail: "" }), "");
		if (found) await update({ ask: [...(r.ask ?? []), found.urn] });
	}

	/** Why the person cannot approve the release, as far as the page knows. @param {Release} r */
	function cannot(r) {
		const me = session.me?.urn;
		if (r.by.urn === me && r.agent) return "An agent has made it with your key, so somebody else approves it.";
		if (r.by.urn === me) return "You have made it, so somebody else approves it.";
		if (r.approvals.some((a) => a.by.urn === me)) return "You have approved it.";
		if (!groups().every((g) => session.moderates(g))) return "You do not moderate all of these.";
		const given =
			"You cannot give it: you have changed the release, or have your rights from somebody who has made or " +
			"changed it";
		return `${given}${r.independent ? ", or they have theirs from you" : ""}.`;
	}

	/** @param {Release} r @param {Release["moves"][number]} m */
	function card(r, m) {
		const title = titleOf(m.app);
		const app = apps.get(m.app);
		const to_ = m.to;
		const pending = r.state === "open" || r.state === "scheduled";
		return h(
			"article",
			{ class: "deployment", "aria-label": `${title}, ${m.tag}` },
			h("h2", null, h("a", { href: to("apps", m.app) }, title)),
			h("p", null, flag(m.tag), " ", leads(m.from, m.to)),
			to_ !== null &&
				h(
					"div",
					{ class: "row" },
					button(
						pending ? "Show it as it will be" : "Show it",
						() =>
							void showVersion(
								api,
								m.app,
								to_,
								pending
									? (signal) =>
											api.tagged(m.app, m.tag, id, signal).catch((e) => {
												if (e instanceof ApiError && e.code === "conflicts")
													return api.app(m.app, to_, signal);
												throw e;
											})
									: undefined,
							).catch((e) => toast(sentence(e), { bad: true })),
					),
					pending &&
						app &&
						session.mayShow(app) &&
						button("Link to show", async () => {
							const { linksOf } = await import("../elements/link.js");
							await linksOf(api, { id: m.app, title, version: to_ }, id);
						}),
				),
			m.from !== null && m.to !== null && m.from !== m.to && whatChanges(api, m, false, signal),
		);
	}

	/**
	 * Does something to the release as it is shown. What went wrong is told, and the release is read anew.
	 * @param {(r: Release) => Promise<Release>} what @param {string} done
	 */
	async function change(what, done) {
		if (!release) return;
		try {
			await what(release);
			toast(done);
			await load(); // which says whether the person may approve it as it is now
		} catch (e) {
			if (e instanceof ApiError && e.code === "forbidden") {
				e.words =
					"You may not do this to the release. It takes the right to move each of its tags. Those who " +
					"have made or changed it do not approve it, and neither do those who have their rights from them.";
			}
			toast(sentence(e), { bad: true });
			await load();
		}
	}

	/** @param {"approve" | "run" | "cancel" | "undo"} action @param {string} done */
	const act = (action, done) => change((r) => api.actOnRelease(id, action, r.version), done);

	/** @param {Partial<Release>} with_ */
	const update = (with_) =>
		change(
			({ version, name, note, moves, at, until, ask }) =>
				api.updateRelease(id, { version, name, note, moves, at, until, ask: ask ?? [], ...with_ }),
			"The release is changed.",
		);

	async function run() {
		if (
			await confirm(
				"Run the release now?",
				`${count(release?.moves.length ?? 0, "tag")} will move at one moment. Pages that show these apps ` +
					"change.",
				"Run now",
			)
		)
			await act("run", "The tags are moved.");
	}

	async function undo() {
		if (
			await confirm(
				"Undo the release?",
				"All its tags go back to where they pointed before, at one moment. This needs no approval.",
				"Undo",
				{ danger: true },
			)
		)
			await act("undo", "The tags point to where they did before.");
	}

	async function cancel() {
		if (
			await confirm(
				"Cancel the release?",
				"It is not run any more. It stays in the list.",
				"Cancel the release",
				{ danger: true },
			)
		)
			await act("cancel", "The release is cancelled.");
	}

	async function schedule() {
		if (!release) return;
		const { at, until, moves, approvals } = release;
		const when = times(at ?? Date.now() + 3_600_000, until, true);
		const chosen = await askWith("When shall it run?", when.node, "Schedule", async () => {
			const value = when.value;
			const others = await planned(api, id);
			const at = Number(value.at);
			const then = moves.map((m) => ({ ...m, from: pointsAt(others, m.app, m.tag, m.from, at).version }));
			return { ...value, moves: then };
		});
		if (!chosen) return;
		const others = chosen.moves.filter((m, i) => m.from !== moves[i]?.from);
		const words = others.map((m) => h("li", null, titleOf(m.app), " ", flag(m.tag), " ", leads(m.from, m.to)));
		const taken = approvals.length > 0 && " This takes the approvals away.";
		const asks = h(
			"div",
			null,
			"Other releases move them before. It will begin there:",
			h("ul", null, words),
			taken,
		);
		if (others.length === 0 || (await confirm("These tags point elsewhere by then", asks, "Schedule")))
			await update(others.length === 0 ? { at: chosen.at, until: chosen.until } : chosen);
	}

	async function edit() {
		if (!release) return;
		const { name, note, moves } = release;
		const names = h("input", { value: name, maxlength: 128, autocomplete: "off" });
		const notes = h("textarea", { rows: 3, maxlength: 4096, value: note });
		const boxes = moves.map((m) =>
			h("input", { type: "checkbox", checked: true, "aria-label": `${titleOf(m.app)}, ${m.tag}` }),
		);
		const wanted = moves.map((m) => m.to);
		const shown = moves.map(() => h("span"));
		/** @param {number} i */
		const draw = (i) => {
			const { app, tag, from } = /** @type {Release["moves"][number]} */ (moves[i]);
			const to = detail(leads(from, wanted[i] ?? null));
			fill(/** @type {HTMLElement} */ (shown[i]), titleOf(app), " ", flag(tag), " ", to);
		};
		moves.forEach((_, i) => draw(i));
		const fresh = h("input", { type: "checkbox" });
		const changed = await askWith(
			"Edit the release",
			[
				labelled("Name", names),
				labelled("Note", notes),
				h(
					"fieldset",
					{ class: "field boxes" },
					h("legend", null, "What it moves"),
					moves.map((m, i) =>
						h(
							"div",
							{ class: "row" },
							h("label", null, boxes[i], shown[i]),
							another(titleOf(m.app), m.tag, async () => {
								wanted[i] = await aim(api, titleOf(m.app), m, wanted[i] ?? null, signal);
								draw(i);
							}),
						),
					),
				),
				h(
					"div",
					{ class: "boxes" },
					h("label", null, fresh, h("span", null, "Take the moves from where the tags point now")),
				),
				release.approvals.length > 0 &&
					h("p", { class: "note" }, "A change of what it moves takes the approvals away."),
			],
			"Save",
			() => {
				const kept = moves.map((m, i) => ({ ...m, to: wanted[i] ?? null })).filter((_, i) => boxes[i]?.checked);
				if (kept.length === 0)
					throw new Error("A release moves one tag at least. Cancel it if it shall move none.");
				return kept;
			},
		);
		if (changed)
			await update({
				name: names.value,
				note: notes.value,
				moves: fresh.checked
					? /** @type {any} */ (changed.map(({ app, tag, to }) => ({ app, tag, to })))
					: changed,
			});
	}

	live.each(signal, (c) => {
		if (!c || (c.release === id && c.type === "release")) void load();
	});
	void load();
	return {
		node: h(
			"div",
			{ class: "page release" },
			h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: to("releases") }, "Releases")),
			h("div", { class: "head" }, heading, state),
			facts,
			trouble,
			actions,
			moved,
			board,
		),
	};
}
