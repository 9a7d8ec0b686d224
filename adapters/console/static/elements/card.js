/**
 * An element of an app as a card: its component, a form of its config, and what is wrong with it.
 * @module
 */
import { arrows, buildLater, buildNow, button, detail, fill, focusIn, folder, follow, h, unfold } from "../dom.js";
import { isObject, names } from "../json.js";
import { titleOf } from "../model/names.js";
import { newKey } from "../model/patch.js";
import { sentence, toast } from "./dialog.js";
import { field } from "./form.js";
import { partAt } from "./place.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../api.js").Manifest} Manifest */
/** @typedef {import("../model/editor.js").Editor} Editor */
/** @typedef {import("../model/patch.js").Item} Item */
/** @typedef {ReturnType<typeof componentsOf>} Components */

/**
 * The components of an app's elements: the copies that it has stored, and others once they are asked for.
 * @param {import("../api.js").App} app @param {import("../api.js").Api} api @param {AbortSignal} signal
 */
export function componentsOf(app, api, signal) {
	/** @type {Map<string, Manifest>} */
	const loaded = new Map();
	/** @param {import("../api.js").Ref} ref */
	const keyOf = ({ name, version }) => `${name}\0${version}`;
	for (const { component } of app.elements) loaded.set(keyOf(component), component);
	return {
		/** What addresses of components begin from. */
		base: api.base,
		/** @param {import("../api.js").Ref} ref */
		async manifest(ref) {
			const key = keyOf(ref);
			const manifest = loaded.get(key) ?? (await api.manifest(ref.name, ref.version, signal));
			loaded.set(key, manifest);
			return manifest;
		},
		/** An element with as much of its component as is loaded. @param {Item} item */
		known({ component, config }) {
			const unknown = { id: "", main: "", description: null, configSchema: true, ...component };
			return { component: loaded.get(keyOf(component)) ?? unknown, config };
		},
		/** The components that there are to choose from. */
		async all() {
			/** @type {{name: string, version: string, title?: string, preview?: string}[]} */
			const list = [];
			let after;
			do {
				const page = await api.components(after, signal);
				list.push(...page.components);
				after = page.next;
			} while (after !== undefined && list.length < 5000);
			return list;
		},
		/** @param {string} name */
		async versions(name) {
			return (await api.componentVersions(name, undefined, signal)).components.map((c) => c.version);
		},
	};
}

/** So many elements are built at once, with so many fields each. All others are built when they come in sight. */
const [cardsAtOnce, fieldsAtOnce] = [20, 40];

/**
 * The first text of a config that is no address, which tells one element from another.
 * @param {Value} config @returns {string}
 */
function firstText(config) {
	if (typeof config === "string") return /^(\/|https?:)/.test(config) ? "" : config;
	const parts = isObject(config) ? Object.values(config) : Array.isArray(config) ? config : [];
	for (const part of parts) {
		const text = firstText(part);
		if (text !== "") return text;
	}
	return "";
}

/** The key of the card that is dragged. */
let dragged = "";

/** An element as a card. */
export class Card {
	/**
	 * @param {Editor} editor @param {Item} item @param {Components} components
	 * @param {(key: string, to: number) => void} put moves an element to a place
	 * @param {import("../session.js").Session} session
	 * @param {(at: number) => void} add adds an element at a place
	 */
	constructor(editor, item, components, put, session, add) {
		this.session = session;
		this.editor = editor;
		this.item = item;
		this.components = components;
		this.put = put;
		this.index = 0;
		this.count = 0; // nothing is shown yet
		/** @type {import("../api.js").ApiError | undefined} why the element is refused */
		this.refusal = undefined;
		/** Whether all that is wrong is shown, and not only where a field was left. */
		this.all = false;
		/** @type {import("../elements/form.js").Widget | undefined} */
		this.form = undefined;
		this.shown = "";
		this.number = h("span", { class: "number" });
		this.title = h("h2");
		this.version = h("select", { "aria-label": "Version of the component", disabled: editor.readonly });
		this.version.addEventListener("change", () =>
			this.change({ ...this.item, component: { ...this.item.component, version: this.version.value } }),
		);
		for (const type of ["pointerdown", "focus"])
			this.version.addEventListener(type, () => void this.listVersions(), { once: true });
		this.body = h("div", { class: "body" });
		this.local = h("div", { class: "local row", hidden: true });
		this.failure = h("div", { class: "local row", role: "status", hidden: true });
		/** @param {boolean} yes */
		const draggable = (yes) => () => void (this.node.draggable = yes);
		const handle = button("Drag, or move with Alt and the arrow keys", () => {}, {
			icon: "drag",
			bare: true,
			class: "bare handle",
			onpointerdown: draggable(true),
			onpointerup: draggable(false),
		});
		this.brief = detail();
		this.up = button("Move up", () => this.move(-1), { icon: "up", bare: true });
		this.down = button("Move down", () => this.move(1), { icon: "down", bare: true });
		this.node = h(
			"li",
			{ class: "card", onkeydown: arrows((by) => this.move(by)), ...this.dragging() },
			h(
				"header",
				null,
				!editor.readonly && handle,
				this.number,
				this.title,
				this.version,
				this.brief,
				!editor.readonly &&
					h(
						"span",
						{ class: "tools" },
						this.up,
						this.down,
						button("Add an element below", () => add(this.index + 1), { icon: "add", bare: true }),
						button("Duplicate", () => this.duplicate(), { icon: "copy", bare: true }),
						button("Remove", () => this.remove(), { icon: "remove", bare: true }),
					),
			),
			this.body,
			this.local,
			this.failure,
		);
		const { toggle, fold } = folder(this.node, () => [this.body], "Fold the element");
		/** Folds the element, or opens it. */
		this.fold = fold;
		this.number.before(toggle);
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
				this.put(dragged, this.index);
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
		this.put(this.item.key, this.index + by);
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
		if (this.item === item && this.index === index && this.count === count) return;
		this.item = item;
		this.index = index;
		this.count = count;
		this.number.textContent = String(index + 1);
		this.brief.textContent = firstText(item.config).slice(0, 60);
		this.name();
		this.up.disabled = index === 0;
		this.down.disabled = index === count - 1;
		if (![...this.version.options].some((o) => o.value === item.component.version))
			this.version.append(h("option", { value: item.component.version }, item.component.version));
		this.version.value = item.component.version;
		const component = `${item.component.name}\0${item.component.version}`;
		if (this.shown !== component) {
			this.shown = component;
			/** The form, once it is built or will be. @type {Promise<void> | undefined} */
			this.building = undefined;
			const build = () => void (this.building = this.build());
			if (this.form || index < cardsAtOnce) build();
			else buildLater(this.body, build);
		} else this.form?.set(item.config);
	}

	/** What the element is called, as far as its component is loaded. */
	called() {
		return titleOf(this.components.known(this.item).component);
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
			schema = (await this.components.manifest(this.item.component)).configSchema;
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
			readOnly: this.editor.readonly,
			session: this.session,
			atOnce: { left: fieldsAtOnce },
			onchange: (config) => this.change({ ...this.item, config: config ?? {} }),
		});
		fill(this.body, this.form.node);
		this.refusal = undefined;
		this.judge();
		this.node.dispatchEvent(new Event("built", { bubbles: true }));
	}

	/** Opens the element, and builds its form if it is not built yet. */
	async open() {
		unfold(this.node);
		buildNow(this.body);
		await this.building;
	}

	async listVersions() {
		try {
			const versions = await this.components.versions(this.item.component.name);
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
					? "Something in it is missing or not accepted yet, so it is kept in this browser. "
					: [sentence(refusal), " It is kept in this browser. "],
				stored() ? "The app has it as it was before." : "The app does not have it yet.",
			),
			refusal.violations.length > 0 &&
				button(
					"Show what is wrong",
					() => {
						this.judge(true);
						void this.reveal();
					},
					{ class: "small" },
				),
			stored() && button("Back to what is saved", () => this.change(stored() ?? this.item), { class: "small" }),
		);
	}

	/** Brings the first field that is wrong into view. */
	async reveal() {
		await this.open();
		const wrong = /** @type {HTMLElement | null} */ (
			this.node.querySelector(
				".field.bad input, .field.bad select, .field.bad textarea, .group.bad button, .group.bad input",
			)
		);
		if (wrong) unfold(wrong);
		this.node.scrollIntoView({ block: "start" });
		wrong?.focus();
	}

	/** Leads to a part of the config, once its form is built. @param {string[]} path */
	lead(path) {
		void this.open();
		const at = this.form && partAt(this.body, path);
		if (!at) return false;
		unfold(at);
		at.scrollIntoView({ block: "center" });
		const control = /** @type {HTMLElement | null} */ (at.querySelector("input, select, textarea"));
		if (control) control.focus();
		else focusIn(at);
		return true;
	}

	async focus() {
		await this.open();
		this.node.scrollIntoView({ block: "nearest" });
		setTimeout(() => focusIn(this.body), 50);
	}
}
