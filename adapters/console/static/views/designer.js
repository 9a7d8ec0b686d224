/**
 * The designer of an app: its elements as cards with a form each, saved while one works.
 * @module
 */
import { to } from "../address.js";
import { ApiError } from "../api.js";
import { arrows, button, count, fill, focusIn, follow, h, icon, newID, reconcile } from "../dom.js";
import { appNav } from "../elements/apphead.js";
import { askWith, confirm, details, sentence, toast, trouble as tell } from "../elements/dialog.js";
import { field } from "../elements/form.js";
import { chooseGroups, group, person } from "../elements/person.js";
import { pick } from "../elements/pick.js";
import { Preview } from "../elements/preview.js";
import { publisher } from "../elements/publish.js";
import { tabbed } from "../elements/tabs.js";
import { equal, names, notJSON, parse, stringify } from "../json.js";
import { Editor } from "../model/editor.js";
import { LocalDraft } from "../model/local.js";
import { merge } from "../model/merge.js";
import { newKey, sameItem } from "../model/patch.js";
import { begin, fieldAt } from "../model/schema.js";
import { titleOf } from "../model/names.js";
import { elementName } from "../model/timeline.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../api.js").Manifest} Manifest */
/** @typedef {import("../model/patch.js").Item} Item */
/** @typedef {import("../model/merge.js").Conflict} Conflict */
/** @typedef {import("../model/editor.js").State} State */

/**
 * What is said about a state, at a glance.
 * @param {State} s @param {string} version @param {number} refused how many elements stay in this browser
 * @param {string | undefined} unread what a typed text is not
 */
function saying(s, version, refused, unread) {
	if (unread && ["saved", "changed", "saving"].includes(s.kind))
		return [icon("warn"), `Not saved: what you typed is not ${unread}`];
	switch (s.kind) {
		case "saved":
			return [
				icon("ok"),
				refused === 0
					? `Saved as ${version}`
					: `Saved as ${version}, ${count(refused, "element")} ${refused === 1 ? "is" : "are"} not saved yet`,
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

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, query, signal, live, shell }) {
	const id = params[0];
	const node = h("div", { class: "page designer" }, h("div", { class: "loading", "aria-busy": "true" }));
	/** @type {Editor | undefined} */
	let editor;
	/** @type {LocalDraft | undefined} */
	let local;

	/** The control whose text is no value, if there is one. @returns {HTMLElement | null} */
	const unread = () => node.querySelector("[data-unread]");

	/** Whether something would be lost if the page was left now. @param {Editor} editor */
	const losing = (editor) =>
		editor.state.kind !== "readonly" &&
		(unread() !== null || ((editor.unsaved || editor.refused.length > 0) && !local?.works));

	async function load() {
		try {
			const app = await api.app(id, undefined, signal);
			editor = new Editor(api, app, !session.mayWrite(app));
			local = new LocalDraft([api.base.href, session.me?.urn ?? "", id], editor, signal);
			build(editor);
			if (editor.state.kind !== "readonly") void local.restore().catch(tell);
		} catch (e) {
			if (signal.aborted) return;
			fill(
				node,
				h(
					"div",
					{ class: "empty" },
					sentence(e),
					button("Try again", () => void load()),
					" ",
					h("a", { href: to("apps") }, "All apps"),
				),
			);
		}
	}

	/** @param {Editor} editor */
	function build(editor) {
		const { readonly } = editor;
		const title = h("textarea", {
			class: "title",
			"aria-label": "Title",
			rows: 1,
			maxlength: 1024,
			readonly,
			value: editor.draft.title,
			spellcheck: "false",
		});
		title.addEventListener("keydown", (event) => {
			if (event.key === "Enter") event.preventDefault();
		});
		title.addEventListener("input", () => {
			// A text that is pasted may have line breaks.
			if (/[\r\n]/.test(title.value)) title.value = title.value.replace(/[\r\n]+/g, " ");
			if (title.value.trim() !== "") editor.change({ ...editor.draft, title: title.value }, "title");
		});
		const state = h("span", { class: "saving", role: "status" });
		const undo = button("Undo", () => editor.undo(), { icon: "undo", bare: true });
		const redo = button("Redo", () => editor.redo(), { icon: "redo", bare: true });
		const show = button("Show where", () => reveal(), { class: "small", hidden: true });
		const trouble = h("div", { class: "trouble", role: "alert", hidden: true });
		const elements = h("ol", { class: "cards", "aria-label": "Elements" });
		/** @type {Map<string, Card>} */
		const cards = new Map();
		const add = button("Add an element", () => void addElement(), { icon: "add", class: "main" });
		const none = h(
			"div",
			{ class: "empty" },
			h(
				"p",
				null,
				"This app has no elements yet. An element is powered by a component and has a config of its own.",
			),
		);
		const raw = rawJSON(editor);
		const live_ = publisher(api, session, id, signal, async () => {
			if (editor.unsaved) await editor.save();
			return notSaved(editor, tools.known, unread());
		});
		const preview = new Preview({
			base: api.base,
			signal,
			onclick(key) {
				tabs.open(0);
				cards.get(key)?.focus();
			},
			onerror: (key, message) => cards.get(key)?.fail(message),
		});
		const design = h("div", { class: "beside" }, h("div", null, none, elements, !readonly && add), preview.node);
		elements.addEventListener("focusin", (event) => {
			const at = [...cards].find(([, card]) => card.node.contains(/** @type {Node} */ (event.target)));
			preview.mark(at?.[0] ?? null);
		});
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

		function render() {
			const { draft } = editor;
			if (title.value !== draft.title && !(document.activeElement === title && title.value.trim() === ""))
				title.value = draft.title;
			shell.title(draft.title);
			none.hidden = draft.elements.length > 0;
			reconcile(
				elements,
				cards,
				draft.elements,
				(e) => e.key,
				(e) => new Card(editor, e, { ...tools, readonly }),
				(card, e, i) => card.update(e, i, draft.elements.length),
			);
			undo.disabled = !editor.canUndo || readonly;
			redo.disabled = !editor.canRedo || readonly;
			fill(
				groups,
				draft.groups.map(group),
				!readonly && button("Change the groups", () => void editGroups(), { class: "small bare" }),
			);
			raw.update();
			void showPreview();
		}

		/** Shows the draft in the preview as soon as its components are loaded. */
		async function showPreview() {
			const { draft } = editor;
			const loaded = await Promise.allSettled(
				draft.elements.map(async ({ key, component, config }) => ({
					key,
					component: await tools.manifest(component),
					config,
				})),
			);
			if (draft !== editor.draft) return; // another one is shown meanwhile
			for (const card of cards.values()) card.fail("");
			preview.show(
				{ id, tag: "", version: editor.app.version, title: draft.title },
				loaded.flatMap((l) => (l.status === "fulfilled" ? [l.value] : [])),
			);
		}

		function renderState() {
			const s = editor.state;
			const said = troubleOf(s);
			const refused = editor.refused.length;
			const typed = unread()?.dataset["unread"];
			news.hidden = true;
			node.dataset["unsaved"] = losing(editor) || (editor.unsaved && s.kind !== "readonly") ? "yes" : "";
			state.className = `saving ${typed ? "refused" : s.kind === "saved" && refused > 0 ? "local" : s.kind}`;
			fill(state, saying(s, `version ${editor.app.version}`, refused, typed));
			live_.update(editor.app);
			show.hidden = !typed && refused === 0;
			trouble.hidden = said.length === 0;
			trouble.className = `trouble ${s.kind}`;
			fill(trouble, said);
			for (const card of cards.values()) card.judge();
			if (refused > 0 && s.kind === "saved" && query.get("show") === "refused") {
				query.delete("show");
				reveal();
			}
		}

		/** Shows everything that is wrong, and leads to the first of it. */
		function reveal() {
			const typed = unread();
			const refused = typed ? [] : editor.refused.map((e) => cards.get(e.key));
			tabs.open(raw.node.contains(typed) ? 1 : 0);
			for (const card of refused) card?.judge(true);
			if (typed) typed.focus();
			else refused[0]?.reveal();
		}

		/** What a person has to know about a state, and can do. @param {State} s @returns {(HTMLElement | false)[]} */
		function troubleOf(s) {
			switch (s.kind) {
				case "conflict":
					return [
						h(
							"p",
							null,
							person(s.by),
							` has changed the same places meanwhile (version ${editor.app.version}).`,
						),
						button("Compare and choose", () => void resolve(s), { class: "main small" }),
					];
				case "offline":
					return [
						sentence(s.error),
						h(
							"p",
							{ class: "help" },
							"What you type is kept here and saved as soon as the service takes it.",
						),
						button("Try now", () => void editor.save(), { class: "small" }),
					];
				case "refused":
					return [sentence(s.error)];
				case "gone":
					return [
						h(
							"p",
							null,
							"This app is not there any more, or you may not see it any more. What you have typed is still here: it is under JSON, to copy.",
						),
						details(s.error),
						button("Try again", () => void editor.retry(), { class: "small" }),
					];
				default:
					return local?.works === false && (editor.unsaved || editor.refused.length > 0)
						? [
								h(
									"p",
									null,
									"This browser keeps nothing: its storage is full, or may not be used. What is not saved is lost when you leave.",
								),
							]
						: [];
			}
		}

		/** @param {Extract<State, {kind: "conflict"}>} s */
		async function resolve(s) {
			/** @type {Map<Conflict, "mine" | "theirs">} */
			const choices = new Map(s.conflicts.map((c) => [c, "mine"]));
			const sides = s.conflicts.map((c) => {
				const name = newID("side");
				/** @param {"mine" | "theirs"} side @param {string | Node[]} text @param {Value | undefined} value */
				const option = (side, text, value) =>
					h(
						"label",
						{ class: "side" },
						h(
							"span",
							null,
							h("input", {
								type: "radio",
								name,
								checked: side === "mine",
								onchange: () => choices.set(c, side),
							}),
							text,
						),
						h(
							"pre",
							null,
							value === undefined
								? "taken away"
								: typeof value === "string"
									? value
									: stringify(value, 2),
						),
					);
				return h(
					"fieldset",
					{ class: "sides" },
					h("legend", null, whereOf(c, editor, tools.known)),
					option("mine", "Yours", c.mine),
					option("theirs", [h("span", null, "By ", person(s.by))], c.theirs),
				);
			});
			if (await askWith("Two changes of the same places", sides, "Go on with these", () => true, { wide: true }))
				editor.resolve((c) => choices.get(c) ?? "mine");
		}

		async function editGroups() {
			const picked = new Set(editor.draft.groups);
			const groups = chooseGroups(
				"Groups",
				[...editor.draft.groups, ...(session.me?.moderates ?? [])],
				picked,
				session,
				{ help: "Their moderators may use the app." },
			);
			await askWith("Groups of the app", groups, "Change", () => {
				if (picked.size === 0) throw new Error("An app has at least one group.");
				editor.change({ ...editor.draft, groups: [...picked] });
				return true;
			});
		}

		async function addElement() {
			add.disabled = true;
			try {
				const chosen = await pickComponent();
				if (!chosen) return;
				const { name, version } = chosen;
				const schema = (await tools.manifest({ name, version })).configSchema;
				const item = { key: newKey(), component: { name, version }, config: begin(schema, schema) ?? {} };
				editor.arrange([...editor.draft.elements, item]);
				cards.get(item.key)?.focus();
			} finally {
				add.disabled = false;
			}
		}

		async function pickComponent() {
			/** @type {{name: string, version: string, title?: string}[]} */
			let list = [];
			let after;
			do {
				const page = await api.components(after, signal);
				list = [...list, ...page.components];
				after = page.next;
			} while (after !== undefined && list.length < 5000);
			return pick(
				"Which component?",
				list,
				(c) => ({
					name: titleOf(c),
					detail: `${titleOf(c) === c.name ? "" : `${c.name} · `}version ${c.version}`,
				}),
				"There are no components yet. Those who may create them do it under Components.",
			);
		}

		/** @type {Map<string, Manifest>} */
		const manifests = new Map();
		/** @param {import("../api.js").Ref} ref */
		const manifestKey = ({ name, version }) => `${name}\0${version}`;
		for (const e of editor.app.elements) manifests.set(manifestKey(e.component), e.component);

		const tools = {
			/**
			 * The component of an element: the stored copy, or the component itself.
			 * @param {import("../api.js").Ref} ref
			 */
			async manifest(ref) {
				const manifest = manifests.get(manifestKey(ref)) ?? (await api.manifest(ref.name, ref.version, signal));
				manifests.set(manifestKey(ref), manifest);
				return manifest;
			},
			/** An element with as much of its component as is loaded. @param {Item} item */
			known({ component, config }) {
				return {
					component: manifests.get(manifestKey(component)) ?? {
						id: "",
						main: "",
						description: null,
						configSchema: true,
						...component,
					},
					config,
				};
			},
			/** @param {string} name */
			async versions(name) {
				return (await api.componentVersions(name, undefined, signal)).components.map((c) => c.version);
			},
			/** @param {string} key @param {number} to */
			move(key, to) {
				const { elements } = editor.draft;
				const from = elements.findIndex((e) => e.key === key);
				if (from < 0 || to < 0 || to >= elements.length || from === to) return;
				editor.arrange(elements.toSpliced(from, 1).toSpliced(to, 0, elements[from]));
				said.textContent = `${titleOf(tools.known(elements[from]).component)} is at place ${to + 1} now.`;
			},
		};
		const said = h("p", { class: "unseen", "aria-live": "polite" });
		const news = h("div", { class: "news row", role: "status", hidden: true });
		const groups = h("div", { class: "groups chips" });
		fill(
			node,
			appNav(id, ""),
			h(
				"div",
				{ class: "head" },
				h("h1", { class: "unseen" }, "Designer"),
				title,
				h(
					"div",
					{ class: "status" },
					live_.node,
					state,
					!readonly && [show, undo, redo],
					button(
						"Share",
						async () => (await import("../elements/share.js")).share(session, { ...editor.draft, id }),
						{ class: "small" },
					),
				),
			),
			groups,
			tabs.node,
			h("div", { class: "notices" }, news, trouble),
			said,
		); // what is told moves nothing that somebody may be about to click
		editor.addEventListener("draft", render);
		editor.addEventListener("state", renderState);
		node.addEventListener("keydown", (event) => {
			if (!event.ctrlKey && !event.metaKey) return;
			const key = event.key.toLowerCase();
			if (key === "z" && !isText(event.target)) {
				event.preventDefault();
				if (event.shiftKey) editor.redo();
				else editor.undo();
			} else if (key === "s") {
				event.preventDefault();
				void editor.retry().then(() => editor.refused.length > 0 && reveal());
			}
		});
		// The listeners of the control itself run first, so it is known here whether its text is a value.
		let was = false;
		for (const type of ["input", "focusout"]) {
			node.addEventListener(type, () => {
				if (was === (unread() !== null)) return;
				was = !was;
				renderState();
			});
		}
		const online = () => {
			if (editor.state.kind === "offline") void editor.save();
		};
		addEventListener("online", online);
		signal.addEventListener("abort", () => {
			removeEventListener("online", online);
			editor.close();
		});
		live.each(signal, async (c) => {
			if (!c || (c.app === id && c.tag !== undefined)) live_.reload();
			if ((c && c.app !== id) || editor.state.kind === "conflict") return;
			await editor.save();
			if (!c) await editor.catchUp();
			else if (
				c.type === "app.left" ||
				c.version === undefined ||
				Number(c.version) <= Number(editor.app.version)
			)
				return;
			else await others(c);
		});
		render();
		renderState();

		/** Whether somebody works here: something is not saved, or typed into just now. */
		function busy() {
			return (
				editor.unsaved ||
				editor.refused.length > 0 ||
				unread() !== null ||
				(editor.canUndo && node.contains(document.activeElement))
			);
		}

		/**
		 * Shows a version that somebody else has made, or tells of it while somebody works here.
		 * @param {import("../live.js").Change} c
		 */
		async function others(c) {
			const before = editor.app.version;
			const by = person(c.by?.urn);
			const taken = !busy();
			if (taken && !(await editor.catchUp())) return;
			fill(
				news,
				h(
					"span",
					null,
					`Version ${taken ? editor.app.version : c.version} by `,
					by,
					taken ? " is shown now." : ".",
				),
				h("a", { href: `${to("apps", id, "history")}?from=${before}&to=${c.version}` }, "Show"),
				!taken && button("Take over", () => void editor.catchUp(), { class: "small" }),
			);
			news.hidden = false;
		}
	}

	void load();
	return {
		node,
		async leave() {
			if (!editor || editor.state.kind === "readonly") return true;
			if (editor.unsaved) await editor.save();
			local?.write();
			if (!editor.unsaved && !losing(editor)) return true;
			const typed = unread()?.dataset["unread"];
			return confirm(
				"Leave without saving?",
				typed
					? `What you have typed is not ${typed}. It is lost when you leave.`
					: local?.works
						? "Some of your changes are not saved. They are kept in this browser until you open this app here again."
						: "Some of your changes are not saved. They are lost when you leave.",
				"Leave",
				{ danger: true },
			);
		},
	};
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
 * @param {Conflict} c @param {Editor} editor @param {Tools["known"]} known
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
 * @param {Editor} editor @param {Tools["known"]} known
 * @param {HTMLElement | null} unread the control whose text is no value
 */
function notSaved(editor, known, unread) {
	const { draft, saved, refused } = editor;
	/** @param {Item[]} list @param {number} i */
	const called = (list, i) => `Element ${i + 1}, ${elementName(list.map(known), i)}`;
	const card = unread?.closest("[aria-label^='Element ']")?.getAttribute("aria-label")?.replace(": ", ", ") ?? "JSON";
	const typed = unread && `${card}: what is typed is not ${unread.dataset["unread"]}`;
	const parts = draft.elements.flatMap((e, i) => {
		if (refused.includes(e)) return [`${called(draft.elements, i)}: it does not fit its component yet`];
		return saved.elements.some((s) => sameItem(s, e)) ? [] : [called(draft.elements, i)];
	});
	const stays = (/** @type {Item} */ e) => draft.elements.some((d) => d.key === e.key);
	const gone = saved.elements.flatMap((e, i) => (stays(e) ? [] : [`${called(saved.elements, i)}: its removal`]));
	const regrouped = draft.groups.join() !== saved.groups.join();
	const rest = [draft.title !== saved.title && "The title", regrouped && "The groups"];
	const all = [typed, ...rest, ...parts, ...gone].filter((x) => typeof x === "string");
	return all.length === 0 && editor.unsaved ? ["The order of the elements"] : all;
}

/** The elements as JSON, with the same content as the cards. @param {Editor} editor */
function rawJSON(editor) {
	const id = newID();
	const input = h("textarea", {
		id,
		class: "mono whole",
		spellcheck: "false",
		autocomplete: "off",
		"aria-describedby": `${id}-wrong`,
	});
	const wrong = h("p", { class: "wrong", id: `${id}-wrong`, role: "status" });
	const discard = button(
		"Discard this text",
		() => {
			unread("");
			shown = undefined;
			update();
			editor.dispatchEvent(new Event("state"));
		},
		{ class: "small", hidden: true },
	);
	/** @type {Value | undefined} */
	let shown;
	/** What the text was made from. */
	let base = editor.draft;
	let visible = false;
	/** @param {string} what what the text is not, or "" @param {string} [message] */
	function unread(what, message = "") {
		if (what === "") delete input.dataset["unread"];
		else input.dataset["unread"] = what;
		wrong.textContent = message;
		discard.hidden = what === "";
	}
	const content = () => editor.draft.elements.map((e) => ({ component: { ...e.component }, config: e.config }));
	input.addEventListener("input", () => {
		try {
			const value = parse(input.value);
			const good =
				Array.isArray(value) &&
				value.every(
					(/** @type {any} */ e) =>
						typeof e?.component?.name === "string" &&
						typeof e.component.version === "string" &&
						e.config !== undefined,
				);
			unread(
				good ? "" : "a list of elements",
				good ? "" : 'Want a list of elements, each {"component": {"name", "version"}, "config": {…}}.',
			);
			if (!good) return;
			shown = value;
			// Since the text was last read, the draft may have become another one.
			editor.arrange(
				merge(base, { ...base, elements: keyed(/** @type {any[]} */ (value)) }, editor.draft).draft.elements,
				"raw",
			);
		} catch (e) {
			unread("JSON", notJSON(e));
		}
	});
	/**
	 * The elements with keys: one that was there before, at its place or with the same content, keeps its own.
	 * @param {Item[]} list @returns {Item[]}
	 */
	function keyed(list) {
		const now = base.elements;
		const taken = new Set();
		return list.map(({ component: { name, version }, config }, i) => {
			/** @param {Item | undefined} x */
			const alike = (x) => x !== undefined && !taken.has(x.key) && x.component.name === name;
			/** @param {Item | undefined} x */
			const same = (x) => alike(x) && equal(x?.config, config);
			const was = same(now[i]) ? now[i] : (now.find(same) ?? (alike(now[i]) ? now[i] : undefined));
			const key = was?.key ?? newKey();
			taken.add(key);
			return { key, component: { name, version }, config };
		});
	}
	function update() {
		input.readOnly = editor.state.kind === "readonly";
		if (!visible || input.dataset["unread"]) return;
		const now = /** @type {Value} */ (/** @type {unknown} */ (content()));
		base = editor.draft;
		if (shown !== undefined && equal(shown, now)) return;
		shown = now;
		input.value = stringify(now, 2);
		input.rows = Math.min(40, Math.max(8, input.value.split("\n").length));
	}
	return {
		node: h(
			"div",
			{ class: "field" },
			h("label", { for: id, class: "unseen" }, "Elements as JSON"),
			input,
			wrong,
			discard,
		),
		update,
		show() {
			visible = true;
			update();
		},
	};
}

/**
 * @typedef {object} Tools what cards need of the designer
 * @property {(ref: import("../api.js").Ref) => Promise<Manifest>} manifest
 * @property {(item: Item) => {component: Manifest, config: Value}} known
 * @property {(name: string) => Promise<string[]>} versions
 * @property {(key: string, to: number) => void} move
 * @property {boolean} readonly
 */

/** The key of the card that is dragged. */
let dragged = "";

/** An element as a card. */
class Card {
	/** @param {Editor} editor @param {Item} item @param {Tools} tools */
	constructor(editor, item, tools) {
		this.editor = editor;
		this.item = item;
		/** @type {Item | undefined} the element as the card shows it */
		this.known = undefined;
		this.tools = tools;
		this.index = 0;
		this.count = 0;
		/** @type {ApiError | undefined} why the element is refused */
		this.refusal = undefined;
		/** Whether all that is wrong is shown, and not only where a field was left. */
		this.all = false;
		/** @type {import("../elements/form.js").Widget | undefined} */
		this.form = undefined;
		this.shown = "";
		this.number = h("span", { class: "number" });
		this.title = h("h2");
		this.version = h("select", { "aria-label": "Version of the component", disabled: tools.readonly });
		this.version.addEventListener("change", () =>
			this.change({ ...this.item, component: { ...this.item.component, version: this.version.value } }),
		);
		this.version.addEventListener("pointerdown", () => void this.listVersions(), { once: true });
		this.version.addEventListener("focus", () => void this.listVersions(), { once: true });
		this.body = h("div", { class: "body" });
		this.local = h("div", { class: "local row", hidden: true });
		this.failure = h("div", { class: "local row", role: "status", hidden: true });
		const handle = button("Drag, or move with Alt and the arrow keys", () => {}, {
			icon: "drag",
			bare: true,
			class: "bare handle",
		});
		this.up = button("Move up", () => this.move(-1), { icon: "up", bare: true });
		this.down = button("Move down", () => this.move(1), { icon: "down", bare: true });
		/** @param {boolean} yes */
		const draggable = (yes) => void (this.node.draggable = yes);
		handle.addEventListener("pointerdown", () => draggable(true));
		handle.addEventListener("pointerup", () => draggable(false));
		this.node = h(
			"li",
			{ class: "card", onkeydown: arrows((by) => this.move(by)), ...this.dragging() },
			h(
				"header",
				null,
				!tools.readonly && handle,
				this.number,
				this.title,
				this.version,
				!tools.readonly &&
					h(
						"span",
						{ class: "tools" },
						this.up,
						this.down,
						button("Duplicate", () => this.duplicate(), { icon: "copy", bare: true }),
						button("Remove", () => this.remove(), { icon: "remove", bare: true }),
					),
			),
			this.body,
			this.local,
			this.failure,
		);
	}

	/** Shows what has failed when the component ran, "" for nothing. @param {string} message */
	fail(message) {
		this.failure.hidden = message === "";
		this.failure.textContent = `The component has failed in the preview: ${message}. Tell whoever makes it.`;
	}

	/** What happens while a card is dragged by its handle, and over this one. */
	dragging() {
		/** @param {string} name @param {boolean} [on] */
		const mark = (name, on = false) => this.node.classList.toggle(name, on);
		const other = () => dragged !== "" && dragged !== this.item.key;
		return {
			ondragstart: (/** @type {DragEvent} */ event) => {
				dragged = this.item.key;
				event.dataTransfer?.setData("text/plain", this.item.component.name);
				mark("dragged", true);
			},
			ondragend: () => {
				dragged = "";
				this.node.draggable = false;
				mark("dragged");
			},
			ondragover: (/** @type {DragEvent} */ event) => {
				if (!other()) return;
				event.preventDefault();
				mark("over", true);
			},
			ondragleave: () => mark("over"),
			ondrop: (/** @type {DragEvent} */ event) => {
				mark("over");
				if (!other()) return;
				event.preventDefault();
				this.tools.move(dragged, this.index);
			},
		};
	}

	/** @param {Item} item */
	change(item) {
		this.editor.arrange(
			this.editor.draft.elements.map((e) => (e.key === item.key ? item : e)),
			item.key,
		);
	}

	/** @param {number} by */
	move(by) {
		const active = document.activeElement;
		this.tools.move(this.item.key, this.index + by);
		follow(this.node, active);
	}

	duplicate() {
		this.editor.arrange(this.editor.draft.elements.toSpliced(this.index + 1, 0, { ...this.item, key: newKey() }));
	}

	remove() {
		const next = this.node.nextElementSibling ?? this.node.previousElementSibling;
		const name = this.called();
		this.editor.arrange(this.editor.draft.elements.filter((e) => e.key !== this.item.key));
		focusIn(next);
		toast(`The element ${name} is removed.`, { action: "Undo", onaction: () => this.editor.undo() });
	}

	/** Shows what the element is now. @param {Item} item @param {number} index @param {number} count */
	update(item, index, count) {
		// Most cards stay as they are while somebody types into one of them.
		if (this.known === item && this.index === index && this.count === count) return;
		this.known = item;
		this.item = item;
		this.index = index;
		this.count = count;
		this.number.textContent = String(index + 1);
		this.name();
		this.up.disabled = index === 0;
		this.down.disabled = index === count - 1;
		if (![...this.version.options].some((o) => o.value === item.component.version))
			this.version.append(h("option", { value: item.component.version }, item.component.version));
		this.version.value = item.component.version;
		const component = `${item.component.name}\0${item.component.version}`;
		if (this.shown !== component) {
			this.shown = component;
			void this.build();
		} else this.form?.set(item.config);
	}

	/** What the element is called, as far as its component is loaded. */
	called() {
		return titleOf(this.tools.known(this.item).component);
	}

	/** Shows what the element is called. */
	name() {
		const name = this.called();
		this.node.setAttribute("aria-label", `Element ${this.index + 1}: ${name}`);
		this.title.textContent = name;
		this.title.title = this.item.component.name;
	}

	async build() {
		const component = this.shown;
		/** @type {Value} */
		let schema;
		try {
			schema = (await this.tools.manifest(this.item.component)).configSchema;
		} catch (e) {
			if (e instanceof DOMException) return;
			// Without its schema the config is edited as JSON.
			schema = true;
		}
		if (this.shown !== component) return;
		this.name();
		this.form = field({
			schema,
			root: schema,
			name: "Config",
			bare: true,
			required: true,
			value: this.item.config,
			readOnly: this.tools.readonly,
			onchange: (config) => this.change({ ...this.item, config: config ?? {} }),
		});
		fill(this.body, this.form.node);
		this.refusal = undefined;
		this.judge();
	}

	async listVersions() {
		try {
			const versions = await this.tools.versions(this.item.component.name);
			const now = this.item.component.version;
			fill(
				this.version,
				(versions.includes(now) ? versions : [now, ...versions]).map((v) => h("option", { value: v }, v)),
			);
			this.version.value = now;
		} catch {
			// the version that it has stays the only one
		}
	}

	/**
	 * Shows what the service finds wrong with the element, or that nothing is.
	 * @param {boolean} [all] whether to show it everywhere from now on
	 */
	judge(all = this.all) {
		const refusal = this.editor.refusals.of(this.item.key);
		if (refusal === this.refusal && all === this.all) return;
		this.refusal = refusal;
		this.all = all && refusal !== undefined;
		this.form?.faults(
			refusal?.violations.map((v) => ({ path: names(v.pointer), keyword: v.keyword, message: v.message })) ?? [],
			this.all,
		);
		this.local.hidden = !refusal;
		if (!refusal) return;
		const stored = () => this.editor.saved.elements.find((e) => e.key === this.item.key);
		fill(
			this.local,
			h(
				"span",
				null,
				refusal.violations.length > 0
					? "It does not fit its component yet, so it is kept in this browser. "
					: [sentence(refusal), " It is kept in this browser. "],
				stored() ? "The app has it as it was before." : "The app does not have it yet.",
			),
			refusal.violations.length > 0 &&
				button(
					"Show what is wrong",
					() => {
						this.judge(true);
						this.reveal();
					},
					{ class: "small" },
				),
			stored() && button("Back to what is saved", () => this.change(stored() ?? this.item), { class: "small" }),
		);
	}

	/** Brings the first field that is wrong into view. */
	reveal() {
		const wrong = /** @type {HTMLElement | null} */ (
			this.node.querySelector(
				".field.bad input, .field.bad select, .field.bad textarea, .group.bad button, .group.bad input",
			)
		);
		this.node.scrollIntoView({ block: "start" });
		wrong?.focus();
	}

	focus() {
		this.node.scrollIntoView({ block: "nearest" });
		setTimeout(() => focusIn(this.body), 50);
	}
}
