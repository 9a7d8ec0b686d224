/**
 * The designer of an app: its elements as cards with a form each, saved while one works. Each part of the page follows
 * the events of the editor by itself: "draft" when what the person sees has changed, "state" for what is saved of it.
 * @module
 */
import { to } from "../address.js";
import { button, count, fill, h, help, icon, newID, reconcile, unfold } from "../dom.js";
import { appNav } from "../elements/apphead.js";
import { comments } from "../elements/comments.js";
import { Card, componentsOf } from "../elements/card.js";
import { askWith, confirm, details, sentence, trouble as tell } from "../elements/dialog.js";
import { languageSwitch } from "../elements/languages.js";
import { chooseGroups, group, person } from "../elements/person.js";
import { pick } from "../elements/pick.js";
import { Preview } from "../elements/preview.js";
import { publisher } from "../elements/publish.js";
import { rawJSON } from "../elements/rawjson.js";
import { tabbed } from "../elements/tabs.js";
import { names, stringify } from "../json.js";
import { Editor } from "../model/editor.js";
import { askLanguages } from "../model/languages.js";
import { LocalDraft } from "../model/local.js";
import { newKey, sameItem } from "../model/patch.js";
import { begin, fieldAt } from "../model/schema.js";
import { titleOf } from "../model/names.js";
import { elementName } from "../model/timeline.js";

/** @typedef {import("../elements/card.js").Components} Components */
/** @typedef {import("../model/patch.js").Item} Item */
/** @typedef {import("../model/merge.js").Conflict} Conflict */
/** @typedef {import("../router.js").Context} Context */
/** @typedef {import("../session.js").Session} Session */

/**
 * What can be undone in the apps that were open in this tab, and the names of their drafts, the last one last.
 * @type {Map<string, {trail: import("../model/editor.js").Trail, name: string}>}
 */
const trails = new Map();
/** For so many apps it is kept. */
const apps = 20;

/** @param {Context} context @returns {import("../router.js").View} */
export function view(context) {
	const { session, api, params, signal } = context;
	const page = h("div", { class: "page designer" }, h("div", { class: "loading", "aria-busy": "true" }));
	/** @type {LocalDraft | undefined} */
	let local;

	async function load() {
		try {
			const [app] = await Promise.all([api.app(params[0], undefined, signal), askLanguages(api, signal)]);
			const whose = [api.base.href, session.me?.urn ?? "", app.id];
			const before = trails.get(whose.join(" "));
			const editor = new Editor(api, app, !session.mayWrite(app), before?.trail);
			const { name } = (local = new LocalDraft(whose, editor, signal, {}, before?.name));
			signal.addEventListener("abort", () => {
				trails.delete(whose.join(" "));
				trails.set(whose.join(" "), { trail: editor.trail, name });
				for (const oldest of [...trails.keys()].slice(0, -apps)) trails.delete(oldest);
			});
			build(page, local, context);
			if (!editor.readonly) void local.restore().catch(tell);
		} catch (e) {
			if (signal.aborted) return;
			const home = h("a", { href: to("apps") }, "All apps");
			fill(page, h("div", { class: "empty" }, sentence(e), button("Try again", load), " ", home));
		}
	}

	void load();
	return { node: page, leave: async () => !local || mayLeave(page, local) };
}

/** Shows an app in the page. @param {HTMLElement} page @param {LocalDraft} local @param {Context} context */
function build(page, local, { session, api, query, signal, live, shell }) {
	const { editor } = local;
	const { id } = editor.app;
	const components = componentsOf(editor.app, api, signal);
	const list = cardList(editor, components, session);
	const { cards } = list;
	const raw = rawJSON(editor);
	const preview = new Preview({
		base: api.base,
		signal,
		onclick(key) {
			tabs.open(0);
			void cards.get(key)?.focus();
		},
		onerror: (key, message) => cards.get(key)?.fail(message),
	});
	previewDraft(preview, editor, components, list);
	const language = languageSwitch(editor, () => {
		for (const card of cards.values()) if (card.form) void card.build();
		editor.dispatchEvent(new Event("draft")); // which the preview follows
	});
	const talk = comments({
		api,
		session,
		editor,
		known: components.known,
		cards,
		list: list.node,
		live,
		signal,
		shown: query.has("comments"),
	});
	const design = h("div", null, language, h("div", { class: "beside" }, list.node, preview.node, talk.panel));
	const tabs = tabbed(
		[
			["Design", design],
			["JSON", raw.node],
		],
		query.get("tab") === "json" ? 1 : 0,
		(i) => {
			if (i === 1) raw.show();
			history.replaceState(null, "", `${to("apps", id)}${i === 1 ? "?tab=json" : ""}`);
		},
	);

	/** Shows everything that is wrong, and leads to the first of it. */
	function reveal() {
		const typed = unread(page);
		const refused = typed ? [] : editor.refused.map((e) => cards.get(e.key));
		tabs.open(raw.node.contains(typed) ? 1 : 0);
		for (const card of refused) card?.judge(true);
		if (typed) {
			unfold(typed);
			typed.focus();
		} else void refused[0]?.reveal();
	}

	const publish = publisher(api, session, id, signal, async () => {
		if (editor.unsaved) await editor.save();
		return notSaved(editor, components.known, unread(page));
	});
	const trouble = h("div", { role: "alert" });
	const share = async () => (await import("../elements/share.js")).share(session, { ...editor.draft, id });
	const links = async () => {
		if (editor.unsaved) await editor.save();
		const { linksOf } = await import("../elements/link.js");
		await linksOf(api, { id, title: editor.draft.title, version: editor.app.version });
	};
	const status = statusLine(page, editor, publish, reveal, [
		button("Share", share, { class: "small" }),
		session.mayShow(editor.app) && button("Link to show", links, { class: "small" }),
		talk.toggle,
		preview.dock,
	]);
	const news = newsOf(page, editor, live, signal, publish.reload);
	fill(
		page,
		appNav(id, ""),
		h("div", { class: "head" }, h("h1", { class: "unseen" }, "Designer"), titleField(editor), status),
		groupLine(editor, session),
		tabs.node,
		h("div", { class: "notices" }, news, trouble), // last, so that they move nothing that is about to be clicked
	);
	editor.addEventListener("draft", () => shell.title(editor.draft.title));
	editor.addEventListener("state", () => {
		const { kind } = editor.state;
		page.dataset["unsaved"] = editor.unsaved || losing(page, local) ? "yes" : "";
		trouble.className = `trouble ${kind}`;
		fill(trouble, troubleOf(local, components.known));
		trouble.hidden = !trouble.hasChildNodes();
		if (kind === "saved" && editor.refused.length > 0 && query.get("show") === "refused") {
			query.delete("show");
			reveal();
		}
	});
	const [key, path] = [query.get("at"), names(query.get("field") ?? "")];
	if (key !== null) lead(() => cards.get(key)?.lead(path) ?? true, signal);
	page.addEventListener("keydown", shortcuts(editor, reveal));
	noteUnread(page, editor);
	const online = () => editor.state.kind === "offline" && editor.save();
	addEventListener("online", online, { signal });
	signal.addEventListener("abort", () => editor.close());
	for (const type of ["draft", "state"]) editor.dispatchEvent(new Event(type));
}

/**
 * Leads to what was asked for in the address, as soon as it is built.
 * @param {() => boolean} go @param {AbortSignal} signal
 */
function lead(go, signal) {
	let left = 100;
	const timer = setInterval(() => (go() || --left === 0) && clearInterval(timer), 50);
	signal.addEventListener("abort", () => clearInterval(timer));
}

/** The control whose text is no value, if there is one. @param {HTMLElement} page @returns {HTMLElement | null} */
function unread(page) {
	return page.querySelector("[data-unread]");
}

/** Whether something would be lost if the page was left now. @param {HTMLElement} page @param {LocalDraft} local */
function losing(page, { editor, works }) {
	return unread(page) || ((editor.unsaved || editor.refused.length > 0) && !works);
}

/** Saves what can be saved, and asks about the rest. @param {HTMLElement} page @param {LocalDraft} local */
async function mayLeave(page, local) {
	const { editor } = local;
	if (editor.unsaved) await editor.save();
	local.write();
	if (!editor.unsaved && !losing(page, local)) return true;
	const typed = unread(page)?.dataset["unread"];
	return confirm(
		"Leave without saving?",
		typed
			? `What you have typed is not ${typed}. It is lost when you leave.`
			: local.works
				? "Some of your changes are not saved. They are kept in this browser until you open this app here " +
					"again."
				: "Some of your changes are not saved. They are lost when you leave.",
		"Leave",
		{ danger: true },
	);
}

/** The title, in one line. @param {Editor} editor */
function titleField(editor) {
	const title = h("textarea", {
		class: "title",
		"aria-label": "Title",
		rows: 1,
		maxlength: 1024,
		readonly: editor.readonly,
		spellcheck: "false",
		onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && event.preventDefault(),
		oninput: () => {
			// A text that is pasted may have line breaks.
			if (/[\r\n]/.test(title.value)) title.value = title.value.replace(/[\r\n]+/g, " ");
			if (title.value.trim() !== "") editor.change({ ...editor.draft, title: title.value }, "title");
		},
	});
	editor.addEventListener("draft", () => {
		const { draft } = editor;
		if (title.value !== draft.title && !(document.activeElement === title && title.value.trim() === ""))
			title.value = draft.title;
	});
	return title;
}

/**
 * What is live and what is saved, at a glance, and what can be done about it.
 * @param {HTMLElement} page @param {Editor} editor @param {ReturnType<typeof publisher>} publish
 * @param {() => void} reveal shows what is wrong @param {import("../dom.js").Child[]} share and what else there is
 */
function statusLine(page, editor, publish, reveal, share) {
	const state = h("span", { role: "status" });
	const where = button("Show where", reveal, { class: "small" });
	const undo = button("Undo", () => editor.undo(), { icon: "undo", bare: true });
	const redo = button("Redo", () => editor.redo(), { icon: "redo", bare: true });
	editor.addEventListener("draft", () => {
		undo.disabled = !editor.canUndo;
		redo.disabled = !editor.canRedo;
	});
	editor.addEventListener("state", () => {
		const { kind } = editor.state;
		const refused = editor.refused.length > 0;
		const typed = unread(page)?.dataset["unread"];
		state.className = `saving ${typed ? "refused" : kind === "saved" && refused ? "local" : kind}`;
		fill(state, saying(editor, typed));
		where.hidden = !typed && !refused;
		publish.update(editor.app);
	});
	const tools = !editor.readonly && [where, undo, redo];
	return h("div", { class: "status" }, publish.node, state, tools, share);
}

/**
 * What is said about a state, at a glance.
 * @param {Editor} editor @param {string | undefined} unread what a typed text is not
 */
function saying({ state: s, app, refused: { length } }, unread) {
	if (unread && ["saved", "changed", "saving"].includes(s.kind))
		return [icon("warn"), `Not saved: what you typed is not ${unread}`];
	const version = `version ${app.version}`;
	switch (s.kind) {
		case "saved":
			return [
				icon("ok"),
				length === 0
					? `Saved as ${version}`
					: `Saved as ${version}, ${count(length, "element")} ${length === 1 ? "is" : "are"} not saved yet`,
			];
		case "changed":
		case "saving":
			return ["Saving…"];
		case "offline":
			return [s.error.status === 0 ? "Offline" : "Waiting", `, will go on · ${version}`];
		case "conflict":
			return [icon("warn"), "Conflict"];
		case "refused":
			return [icon("warn"), `Not saved · ${version} is`];
		case "gone":
			return [icon("warn"), "Gone"];
		case "readonly":
			return [`Read only · ${version}`];
	}
}

/** The groups of the app. @param {Editor} editor @param {Session} session */
function groupLine(editor, session) {
	const line = h("div", { class: "groups chips" });
	const change = editor.readonly
		? help("You may read this app and comment on it. Those who moderate its groups change it.")
		: button("Change the groups", () => changeGroups(editor, session), { class: "small bare" });
	editor.addEventListener("draft", () => fill(line, editor.draft.groups.map(group), change));
	return line;
}

/** @param {Editor} editor @param {Session} session */
async function changeGroups(editor, session) {
	const { draft } = editor;
	const picked = new Set(draft.groups);
	const suggested = [...draft.groups, ...(session.me?.moderates ?? [])];
	const groups = chooseGroups("Groups", suggested, picked, session, { help: "Their moderators may use the app." });
	await askWith("Groups of the app", groups, "Change", () => {
		if (picked.size === 0) throw new Error("An app has at least one group.");
		editor.change({ ...editor.draft, groups: [...picked] });
		return true;
	});
}

/**
 * The elements as cards, what stands there without any, and where one was moved to.
 * @param {Editor} editor @param {Components} components @param {Session} session
 */
function cardList(editor, components, session) {
	const text =
		"This app has no elements yet. An element is one part of it: " +
		"you choose the component that shows it, and fill in what it shows.";
	const none = h("div", { class: "empty" }, h("p", null, text));
	const list = h("ol", { class: "cards", "aria-label": "Elements" });
	const said = h("p", { class: "unseen", "aria-live": "polite" });
	/** @type {Map<string, Card>} */
	const cards = new Map();

	const foldAll = button(
		"Fold all",
		() => {
			const open = [...cards.values()].some((card) => !card.node.classList.contains("folded"));
			for (const card of cards.values()) card.fold(open);
			fill(foldAll, open ? "Open all" : "Fold all");
		},
		{ class: "small bare fold-all" },
	);

	/** Asks for a component, and adds an element at a place. @param {number} at */
	async function add(at) {
		const chosen = await pick(
			"Which component?",
			await components.all(),
			(c) => ({
				name: titleOf(c),
				detail: `${titleOf(c) === c.name ? "" : `${c.name} · `}version ${c.version}`,
				picture: pictureOf(c, components.base),
			}),
			"There are no components yet. Those who may create them do it under Components.",
		);
		if (!chosen) return;
		const component = { name: chosen.name, version: chosen.version };
		const schema = (await components.manifest(component)).configSchema;
		const item = { key: newKey(), component, config: begin(schema, schema) ?? {} };
		editor.arrange(editor.draft.elements.toSpliced(at, 0, item));
		await cards.get(item.key)?.focus();
	}

	/** Moves an element. @param {string} key @param {number} to */
	function put(key, to) {
		const { elements } = editor.draft;
		const from = elements.findIndex((e) => e.key === key);
		if (from < 0 || to < 0 || to >= elements.length || from === to) return;
		editor.arrange(elements.toSpliced(from, 1).toSpliced(to, 0, elements[from]));
		said.textContent = `${titleOf(components.known(elements[from]).component)} is at place ${to + 1} now.`;
	}

	editor.addEventListener("draft", () => {
		const { elements } = editor.draft;
		none.hidden = elements.length > 0;
		foldAll.hidden = elements.length < 2;
		reconcile(
			list,
			cards,
			elements,
			(e) => e.key,
			(e) => new Card(editor, e, components, put, session, (at) => void add(at).catch(tell)),
			(card, e, i) => card.update(e, i, elements.length),
		);
	});
	editor.addEventListener("state", () => {
		for (const card of cards.values()) card.judge();
	});
	return {
		cards,
		node: h(
			"div",
			null,
			foldAll,
			none,
			list,
			!editor.readonly && adder(() => add(editor.draft.elements.length)),
			said,
		),
	};
}

/**
 * The address of a component's picture, if it may be shown. One of another host tells that host who looks, so it is
 * shown to those who let the pictures of assets be shown.
 * @param {{preview?: string}} component @param {URL} base
 */
function pictureOf({ preview = "" }, base) {
	const address = preview !== "" && URL.canParse(preview, base) ? new URL(preview, base) : undefined;
	const foreign = address?.protocol === "https:" && sessionStorage.getItem("vitrine.images") === "yes";
	return address && (address.origin === base.origin || foreign) ? address.href : undefined;
}

/**
 * Shows the draft in a preview as soon as its components are loaded, and marks there the element that has the focus.
 * @param {Preview} preview @param {Editor} editor @param {Components} components
 * @param {ReturnType<typeof cardList>} list
 */
function previewDraft(preview, editor, components, { cards, node }) {
	node.addEventListener("focusin", (event) => {
		const at = [...cards].find(([, card]) => card.node.contains(/** @type {Node} */ (event.target)));
		preview.mark(at?.[0] ?? null);
	});
	editor.addEventListener("draft", async () => {
		const { app, draft } = editor;
		const loaded = await Promise.allSettled(
			draft.elements.map(async (e) => ({ ...e, component: await components.manifest(e.component) })),
		);
		if (draft !== editor.draft) return; // another one is shown meanwhile
		for (const card of cards.values()) card.fail("");
		preview.show(
			{ id: app.id, tag: "", version: editor.app.version, title: draft.title },
			loaded.flatMap((l) => (l.status === "fulfilled" ? [l.value] : [])),
		);
	});
}

/** A button that adds an element. @param {() => Promise<void>} go */
function adder(go) {
	const add = button(
		"Add an element",
		async () => {
			add.disabled = true;
			await go().finally(() => (add.disabled = false));
		},
		{ icon: "add", class: "main" },
	);
	return add;
}

/**
 * What a person has to know about the state, and can do.
 * @param {LocalDraft} local @param {Components["known"]} known @returns {import("../dom.js").Child[]}
 */
function troubleOf({ editor, works }, known) {
	const { app, state: s } = editor;
	switch (s.kind) {
		case "conflict":
			return [
				h("p", null, person(s.by), ` has changed the same places meanwhile (version ${app.version}).`),
				button("Compare and choose", () => compare(editor, s, known), { class: "main small" }),
			];
		case "offline":
			return [
				sentence(s.error),
				help("What you type is kept here and saved as soon as the service takes it."),
				button("Try now", () => editor.save(), { class: "small" }),
			];
		case "refused":
			return [sentence(s.error)];
		case "gone":
			return [
				h(
					"p",
					null,
					"This app is not there any more, or you may not see it any more. ",
					"What you have typed is still here: it is under JSON, to copy.",
				),
				details(s.error),
				button("Try again", () => editor.retry(), { class: "small" }),
			];
	}
	if (works || (!editor.unsaved && editor.refused.length === 0)) return [];
	const why = "This browser keeps nothing: its storage is full, or may not be used. ";
	return [h("p", null, why, "What is not saved is lost when you leave.")];
}

/**
 * Asks which side of each conflict is to stay.
 * @param {Editor} editor @param {{conflicts: Conflict[], by: string}} state @param {Components["known"]} known
 */
async function compare(editor, { conflicts, by }, known) {
	/** @type {Map<Conflict, "mine" | "theirs">} */
	const choices = new Map();
	const sides = conflicts.map((c) => {
		const name = newID("side");
		/** @param {"mine" | "theirs"} side @param {string | Node} text */
		const option = (side, text) => {
			const onchange = () => choices.set(c, side);
			const box = h("input", { type: "radio", name, checked: side === "mine", onchange });
			const value = c[side];
			const shown = typeof value === "string" ? value : value === undefined ? "taken away" : stringify(value, 2);
			return h("label", { class: "side" }, h("span", null, box, text), h("pre", null, shown));
		};
		return h(
			"fieldset",
			{ class: "sides" },
			h("legend", null, whereOf(c, editor, known)),
			option("mine", "Yours"),
			option("theirs", h("span", null, "By ", person(by))),
		);
	});
	if (await askWith("Two changes of the same places", sides, "Go on with these", () => true, { wide: true }))
		editor.resolve((c) => choices.get(c) ?? "mine");
}

/**
 * What others do with the app: their versions are shown, or told of while somebody works here.
 * @param {HTMLElement} page @param {Editor} editor @param {Context["live"]} live @param {AbortSignal} signal
 * @param {() => void} moved is called when a tag may have moved
 */
function newsOf(page, editor, live, signal, moved) {
	const { id } = editor.app;
	const news = h("div", { class: "news row", role: "status" });
	editor.addEventListener("state", () => (news.hidden = true));
	live.each(signal, async (c) => {
		if (c && c.app !== id) return;
		if (!c || c.tag !== undefined) moved();
		if (editor.state.kind === "conflict") return;
		await editor.save();
		const before = editor.app.version;
		if (!c) await editor.catchUp();
		if (!c || c.type === "app.left" || c.version === undefined || Number(c.version) <= Number(before)) return;
		const by = person(c.by?.urn);
		const typing = editor.canUndo && page.contains(document.activeElement);
		const taken = !(typing || editor.unsaved || editor.refused.length > 0 || unread(page));
		if (taken && !(await editor.catchUp())) return;
		fill(
			news,
			h(
				"span",
				null,
				`Version ${taken ? editor.app.version : c.version} by `,
				by,
				taken ? " is shown now." : " is newer than what you see.",
			),
			h("a", { href: `${to("apps", id, "history")}?from=${before}&to=${c.version}` }, "What changed"),
			!taken && button("Show it here", () => editor.catchUp(), { class: "small" }),
		);
		news.hidden = false;
	});
	return news;
}

/** A listener for Ctrl with Z, Shift Z and S. @param {Editor} editor @param {() => void} reveal shows what is wrong */
function shortcuts(editor, reveal) {
	return (/** @type {KeyboardEvent} */ event) => {
		if (!event.ctrlKey && !event.metaKey) return;
		const key = event.key.toLowerCase();
		if (key === "s") void editor.retry().then(() => editor.refused.length > 0 && reveal());
		else if (key !== "z" || isText(event.target)) return;
		else if (event.shiftKey) editor.redo();
		else editor.undo();
		event.preventDefault();
	};
}

/**
 * Tells of the state when a typed text becomes no value, or one again.
 * @param {HTMLElement} page @param {Editor} editor
 */
function noteUnread(page, editor) {
	let was = false;
	// The listeners of the control itself run first, so it is known here whether its text is a value.
	for (const type of ["input", "focusout"]) {
		page.addEventListener(type, () => {
			if (was === (unread(page) !== null)) return;
			was = !was;
			editor.dispatchEvent(new Event("state"));
		});
	}
}

/** Whether typing here has an undo of the browser's own. @param {EventTarget | null} target */
function isText(target) {
	return (
		target instanceof HTMLTextAreaElement ||
		(target instanceof HTMLInputElement && ["text", "search", "url", "email", "password"].includes(target.type))
	);
}

/**
 * What a conflict is about, in the words of the form.
 * @param {Conflict} c @param {Editor} editor @param {Components["known"]} known
 */
function whereOf(c, editor, known) {
	if (c.key === undefined) return "Title";
	const mine = editor.draft.elements.some((e) => e.key === c.key);
	const { elements } = mine ? editor.draft : editor.saved;
	const i = elements.findIndex((e) => e.key === c.key);
	const name = `${elementName(elements.map(known), i) ?? "An element"}${mine ? "" : ", which you have removed"}`;
	const [part, ...path] = names(c.path.slice(c.key.length));
	if (part !== "config" || path.length === 0) return part === "component" ? `${name}, component` : name;
	const { component, config } = known(elements[i]);
	return `${name}, ${fieldAt(component.configSchema, config, path).labels.join(" › ")}`;
}

/**
 * What of the draft is in no version, in the words of the form, and why.
 * @param {Editor} editor @param {Components["known"]} known
 * @param {HTMLElement | null} unread the control whose text is no value
 */
function notSaved(editor, known, unread) {
	const { draft, saved, refused } = editor;
	/** @param {Item[]} list @param {number} i */
	const called = (list, i) => `Element ${i + 1}, ${elementName(list.map(known), i)}`;
	const card = unread?.closest("[aria-label^='Element ']")?.getAttribute("aria-label")?.replace(": ", ", ") ?? "JSON";
	const typed = unread && `${card}: what is typed is not ${unread.dataset["unread"]}`;
	const parts = draft.elements.flatMap((e, i) => {
		if (refused.includes(e))
			return [`${called(draft.elements, i)}: something in it is missing or not accepted yet`];
		return saved.elements.some((s) => sameItem(s, e)) ? [] : [called(draft.elements, i)];
	});
	const stays = (/** @type {Item} */ e) => draft.elements.some((d) => d.key === e.key);
	const gone = saved.elements.flatMap((e, i) => (stays(e) ? [] : [`${called(saved.elements, i)}: its removal`]));
	const regrouped = draft.groups.join() !== saved.groups.join();
	const rest = [draft.title !== saved.title && "The title", regrouped && "The groups"];
	const all = [typed, ...rest, ...parts, ...gone].filter((x) => typeof x === "string");
	return all.length === 0 && editor.unsaved ? ["The order of the elements"] : all;
}
