/**
 * The comments on an app: a panel beside the form, and a mark at each field and element that has one. Texts are shown
 * as text.
 * @module
 */
import { button, count, debounce, detail, fill, h, icon, labelled } from "../dom.js";
import { names } from "../json.js";
import { fieldAt } from "../model/schema.js";
import { elementName } from "../model/timeline.js";
import { confirm, toast, trouble } from "./dialog.js";
import { author, person } from "./person.js";
import { pick } from "./pick.js";
import { partAt, pointerOf } from "./place.js";
import { time } from "./time.js";

/** @typedef {import("../api.js").Comment} Comment */
/** @typedef {{element?: string, pointer?: string}} Place what a comment is about; without an element the app */

/** What a comment is about. @param {Comment} c @returns {Place} */
const placeOf = ({ element, pointer }) => ({ element: element ?? undefined, pointer: pointer ?? undefined });

/**
 * @param {object} on
 * @param {import("../api.js").Api} on.api
 * @param {import("../session.js").Session} on.session
 * @param {import("../model/editor.js").Editor} on.editor
 * @param {import("./card.js").Components["known"]} on.known
 * @param {Map<string, import("./card.js").Card>} on.cards
 * @param {HTMLElement} on.list what has the cards
 * @param {import("../live.js").Live} on.live
 * @param {AbortSignal} on.signal
 * @param {boolean} on.shown whether the panel is open at first
 */
export function comments({ api, session, editor, known, cards, list, live, signal, shown }) {
	const { id } = editor.app;
	/** @type {Comment[]} */
	let all = [];
	/** @type {Place} the field that had the focus last */
	let last = {};
	const open = h("div", { class: "list" });
	const toggle = button("Comments", () => show(panel.hidden), { class: "small", "aria-expanded": String(shown) });
	const about = h("select", { required: true });
	const text = h("textarea", { rows: 3, maxlength: 4096, required: true });
	/** @type {Set<string>} */
	const mentioned = new Set();
	const named = h("span", { class: "chips" });
	const mention = button("Mention somebody", () => void choose().catch(trouble), { class: "small bare" });
	const send = h("button", { class: "small main" }, "Comment");
	const form = h(
		"form",
		{ onsubmit: (/** @type {Event} */ event) => void submit(event) },
		labelled("About", about),
		labelled("Comment", text),
		h("div", { class: "row" }, send, session.mayWrite(editor.app) && mention, named),
	);
	const panel = h(
		"aside",
		{
			class: "comments",
			"aria-label": "Comments",
			hidden: !shown,
			onkeydown: (/** @type {KeyboardEvent} */ event) => {
				if (event.key !== "Enter" || (!event.ctrlKey && !event.metaKey)) return;
				const { form } = /** @type {HTMLTextAreaElement} */ (event.target);
				/** @type {HTMLElement | null | undefined} */ (form?.querySelector("button:not([type])"))?.click();
			},
		},
		h(
			"div",
			{ class: "head" },
			h("h2", null, "Comments"),
			button("Close the comments", () => show(false), { icon: "close", bare: true }),
		),
		open,
		form,
	);

	/** @param {boolean} yes @param {Place} [at] what a new comment is about */
	function show(yes, at) {
		panel.hidden = !yes;
		toggle.setAttribute("aria-expanded", String(yes));
		if (!yes) return toggle.focus();
		places(at ?? last);
		if (at) panel.scrollIntoView({ block: "nearest" });
		else text.focus();
	}

	/** What a place is called. @param {Place} place */
	function called({ element, pointer = "" }) {
		if (element === undefined) return "The app";
		const { elements } = editor.saved;
		const i = elements.findIndex((e) => editor.keyOf(e.key) === element);
		if (i < 0) return "An element that is gone";
		const name = `Element ${i + 1}, ${elementName(elements.map(known), i)}`;
		if (pointer === "") return name;
		const { component, config } = known(/** @type {any} */ (elements[i]));
		return `${name} › ${fieldAt(component.configSchema, config, names(pointer)).labels.join(" › ")}`;
	}

	/** Fills the choice of what a comment is about. @param {Place} chosen */
	function places(chosen) {
		/** @type {Place[]} */
		const options = [{}, ...editor.saved.elements.map((e) => ({ element: editor.keyOf(e.key) }))];
		if (chosen.pointer && options.some((o) => o.element === chosen.element)) options.push(chosen);
		fill(
			about,
			options.map((o) => h("option", { value: JSON.stringify(o) }, called(o))),
		);
		about.value = JSON.stringify(
			options.at(-1) === chosen ? chosen : chosen.element ? { element: chosen.element } : {},
		);
		if (about.selectedIndex < 0) about.selectedIndex = 0;
	}

	async function choose() {
		const people = (await api.readers(id)).filter((p) => p.urn !== session.me?.urn);
		const found = await pick(
			"Whom do you mention?",
			people,
			(p) => ({ name: p.name, detail: "" }),
			"Nobody else of your network may read this app.",
		);
		if (!found) return;
		mentioned.add(found.urn);
		fill(named, [...mentioned].map(person));
	}

	/** @param {Event} event */
	async function submit(event) {
		event.preventDefault();
		send.disabled = true;
		try {
			/** @type {Place} */
			const place = JSON.parse(about.value);
			await api.comment(id, { ...place, text: text.value, mentions: [...mentioned] });
			text.value = "";
			mentioned.clear();
			fill(named);
			await load();
		} catch (e) {
			trouble(e);
		} finally {
			send.disabled = false;
		}
	}

	/** Does something to a comment, and shows what has become of it. @param {() => Promise<unknown>} what */
	async function act(what) {
		try {
			await what();
		} catch (e) {
			trouble(e);
		}
		await load();
	}

	/** @param {Comment} c */
	function card(c) {
		const mine = c.by.urn === session.me?.urn;
		const answer = h("textarea", { rows: 1, maxlength: 4096, required: true, "aria-label": "Reply" });
		const reply = h("button", { class: "small" }, "Reply");
		return h(
			"article",
			{ class: "comment", "data-comment": c.id },
			h(
				"p",
				{ class: "detail" },
				author(c.by.urn, c.agent),
				" ",
				time(c.createdAt),
				c.editedAt !== null && ", changed",
			),
			h("p", { class: "detail" }, c.gone ? "An element that is gone" : called(placeOf(c))),
			h("p", { class: "text" }, c.text),
			c.mentions.length > 0 &&
				h(
					"p",
					{ class: "detail" },
					"Mentions ",
					c.mentions.flatMap((m) => [person(m), " "]),
				),
			c.replies.map((r) =>
				h(
					"div",
					{ class: "reply" },
					h("p", { class: "detail" }, author(r.by.urn, r.agent), " ", time(r.createdAt)),
					h("p", { class: "text" }, r.text),
				),
			),
			h(
				"form",
				{
					class: "row",
					onsubmit: (/** @type {Event} */ event) => {
						event.preventDefault();
						reply.disabled = true;
						void act(async () => {
							await api.reply(id, c.id, { text: answer.value });
							answer.value = "";
							answer.blur();
						}).finally(() => (reply.disabled = false));
					},
				},
				answer,
				reply,
			),
			h(
				"div",
				{ class: "row" },
				(mine || session.mayWrite(editor.app)) &&
					button("Resolve", () => void act(() => api.resolve(id, c.id)), { class: "small", icon: "ok" }),
				mine &&
					button(
						"Delete",
						async () => {
							if (
								await confirm("Delete the comment?", "Its replies are deleted, too.", "Delete", {
									danger: true,
								})
							)
								await act(() => api.removeComment(id, c.id));
						},
						{ class: "small bare" },
					),
			),
		);
	}

	async function load() {
		try {
			all = await api.comments(id, signal);
		} catch (e) {
			if (!signal.aborted) toast("The comments cannot be shown now.", { bad: true });
			return;
		}
		const typing = open.querySelector("textarea:focus, textarea:valid"); // one with a text is valid
		if (!typing || all.length === 0)
			fill(open, all.length === 0 ? detail("There are no open comments.") : all.map(card));
		toggle.textContent = all.length === 0 ? "Comments" : count(all.length, "comment");
		mark();
	}

	/** Marks the fields and elements that have comments. */
	const mark = debounce(100, () => {
		for (const old of list.querySelectorAll(".commented")) old.remove();
		/** @type {Map<Element, Comment[]>} */
		const marks = new Map();
		for (const c of all) {
			const card = cards.get(editor.keyHere(c.element ?? ""));
			if (!card) continue;
			const part = partAt(card.body, names(c.pointer ?? ""));
			const field = part === card.body ? card.title : part;
			const at = (field.tagName === "LI" ? field : field.querySelector(".label")) ?? field;
			marks.set(at, [...(marks.get(at) ?? []), c]);
		}
		for (const [at, [first, ...more]] of marks) {
			if (!first) continue;
			const n = 1 + more.length;
			const flag = h(
				"button",
				{
					type: "button",
					class: "commented bare small",
					"aria-label": `Show ${count(n, "comment")}`,
					onclick: () => {
						show(true, placeOf(first));
						/** @type {HTMLElement | null} */ (
							open.querySelector(`[data-comment="${first.id}"] textarea`)
						)?.focus();
					},
				},
				icon("comment"),
				String(n),
			);
			if (at.classList.contains("label") || at.tagName === "LI") at.append(flag);
			else at.after(flag);
		}
	});

	list.addEventListener("focusin", (event) => {
		const target = /** @type {Element} */ (event.target);
		const at = [...cards].find(([, card]) => card.body.contains(target));
		if (!at) return;
		last = { element: editor.keyOf(at[0]), pointer: pointerOf(at[1].body, target) };
		if (!panel.hidden && text.value === "") places(last);
	});
	for (const type of ["draft", "state"]) editor.addEventListener(type, mark);
	list.addEventListener("built", mark);
	live.each(signal, (c) => {
		if (!c || (c.type === "app.commented" && c.app === id)) void load();
	});
	places({});
	void load();
	return { panel, toggle };
}
