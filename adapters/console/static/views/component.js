/**
 * A component: its versions and their schemas.
 * @module
 */
import { to } from "../address.js";
import { keys, newKey } from "../api.js";
import { button, count, detail, fill, flag, h, help, labelled, named } from "../dom.js";
import { buttons, confirm, sentence, show, toast } from "../elements/dialog.js";
import { field } from "../elements/form.js";
import { isObject, names, notJSON, parse, stringify } from "../json.js";
import { fileKind } from "../model/files.js";
import { numberIn } from "../model/keywords.js";
import { titleOf } from "../model/names.js";
import { label } from "../model/number.js";
import { begin, fieldAt, fieldOf } from "../model/schema.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../api.js").Manifest} Manifest */

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, query, signal, live, shell }) {
	const name = params[0];
	const heading = h("h1", { title: name }, name);
	shell.title(name);
	const versions = h("ul", { class: "versions" });
	const shown = h("div", { class: "manifest" });
	/** @type {(Manifest & {[name: string]: Value}) | undefined} */
	let manifest;
	let listed = /** @type {string[]} */ ([]);
	/** @type {string | undefined} */
	let chosen; // the version that is shown, or is on its way
	const again = button("New version", () => void newVersion(), { icon: "add", class: "main" });
	const remove = button("Delete", () => void removeAll(), { icon: "remove", class: "danger" });
	const upgrade = button(
		"Bring all apps to this version",
		async () => {
			if (chosen !== undefined) await (await import("../elements/upgrade.js")).upgrade(api, name, chosen);
		},
		{ class: "small", hidden: !session.me?.moderates.length },
	);
	const side = h("section", { "aria-label": "Versions", hidden: true }, h("h2", null, "Versions"), versions, upgrade);
	const tools = session.me?.components
		? h("div", { class: "row", hidden: true }, again, remove)
		: help("You may not make or delete versions.");

	async function list() {
		const { components } = await api.componentVersions(name, undefined, signal);
		listed = components.map((c) => c.version);
		side.hidden = tools.hidden = false;
	}

	async function load() {
		try {
			await list();
			await open(chosen !== undefined && listed.includes(chosen) ? chosen : (query.get("version") ?? listed[0]));
		} catch (e) {
			manifest = undefined;
			side.hidden = tools.hidden = true;
			if (!signal.aborted)
				fill(
					shown,
					h("div", { class: "empty" }, sentence(e), h("a", { href: to("components") }, "All components")),
				);
		}
	}

	function choices() {
		fill(
			versions,
			listed.map((v) =>
				h(
					"li",
					null,
					h(
						"button",
						{ type: "button", "aria-pressed": String(v === chosen), onclick: () => void open(v) },
						v,
					),
				),
			),
		);
	}

	/** @param {string} version */
	async function open(version) {
		chosen = version;
		choices();
		history.replaceState(null, "", `${to("components", name)}?version=${encodeURIComponent(version)}`);
		try {
			const found = await api.manifest(name, version, signal);
			if (chosen !== version) return; // another one was chosen meanwhile
			manifest = found;
			fill(shown, describe(manifest));
			heading.textContent = titleOf(manifest);
			shell.title(titleOf(manifest));
		} catch (e) {
			if (!signal.aborted && chosen === version) fill(shown, h("div", { role: "alert" }, sentence(e)));
		}
	}

	async function newVersion() {
		await loaded;
		if (!manifest) return;
		const last = listed[0] === manifest.version ? manifest : await api.manifest(name, listed[0], signal);
		const made = await edit(api, last);
		if (!made) return;
		await list();
		await open(made.version);
		toast(`Version ${made.version} is there.`);
	}

	async function removeAll() {
		await loaded;
		const which =
			listed.length === 1 ? `The one version of ${name} is` : `All ${listed.length} versions of ${name} are`;
		const text =
			`${which} deleted. Apps keep the copies that their elements have, and go on as they are. An ` +
			`element of ${name} cannot be changed any more until the component is created again.`;
		if (!(await confirm(`Delete ${name}?`, text, "Delete", { danger: true }))) return;
		await api.deleteComponent(name, newKey());
		toast(`${name} is deleted.`);
		location.hash = to("components");
	}

	live.each(signal, (c) => {
		if (c && c.component?.name !== name) return;
		if (c?.type === "component.created" && manifest) void list().then(choices, () => load());
		else void load();
	});
	const loaded = load();
	return {
		node: h(
			"div",
			{ class: "page component" },
			h(
				"nav",
				{ class: "crumbs", "aria-label": "Where you are" },
				h("a", { href: to("components") }, "Components"),
			),
			h("div", { class: "head" }, heading, tools),
			h("div", { class: "split" }, side, shown),
		),
	};
}

/** @param {Manifest & {[name: string]: Value}} manifest */
function describe(manifest) {
	const { name, version, id, main, description, configSchema, ...others } = manifest;
	const raw = h("pre", { class: "raw", tabindex: "0", "aria-label": "Schema as JSON" }, stringify(configSchema, 2));
	return h(
		"div",
		null,
		h(
			"dl",
			{ class: "facts" },
			h("dt", null, "Name"),
			h("dd", null, h("code", null, name)),
			h("dt", null, "Script"),
			h("dd", null, h("code", null, main)),
			description && [h("dt", null, "About"), h("dd", null, description)],
			h("dt", null, "Id"),
			h("dd", null, h("code", null, id)),
			Object.entries(others).flatMap(([k, v]) => [
				h("dt", null, k),
				h("dd", null, h("code", null, stringify(v))),
			]),
		),
		h("h2", null, "Schema of configs"),
		tree(configSchema, configSchema),
		h("details", null, h("summary", null, "As JSON"), raw),
		h(
			"details",
			null,
			h("summary", null, "As the form that designers see"),
			h("div", { class: "card" }, formOf(configSchema)),
		),
	);
}

/** The form of new configs, to be tried. @param {Value} schema */
function formOf(schema) {
	return h(
		"div",
		{ class: "body" },
		field({
			schema,
			root: schema,
			name: "Config",
			bare: true,
			required: true,
			value: begin(schema, schema) ?? {},
			onchange: () => {},
		}).node,
	);
}

/**
 * The members of a schema as nested lists.
 * @param {Value} schema @param {Value} root @param {number} [depth] @returns {HTMLElement}
 */
function tree(schema, root, depth = 0) {
	const f = fieldOf(schema, root, undefined);
	/** @param {string} name @param {Value} below @param {boolean} required */
	const row = (name, below, required) => {
		const b = fieldOf(below, root, undefined);
		const nested = depth < 6 && (b.kind === "object" || b.kind === "list" || b.kind === "choice");
		return h(
			"li",
			null,
			h("code", { class: "member" }, name),
			required && h("span", { class: "required" }, " required"),
			" ",
			detail(b.title && b.title !== name && `“${b.title}”, `, kindOf(b)),
			b.description && h("span", { class: "help" }, `. ${b.description}`),
			nested && tree(below, root, depth + 1),
		);
	};
	if (f.kind === "object")
		return h(
			"ul",
			{ class: "tree" },
			(f.members ?? []).map((m) => row(m.name, m.schema, m.required)),
			isObject(f.more) && row("…", f.more, false),
		);
	if (f.kind === "list")
		return h(
			"ul",
			{ class: "tree" },
			(f.leading ?? []).map((s, i) => row(String(i), s, false)),
			isObject(f.items) && Object.keys(f.items).length > 0 && row("each", f.items, false),
		);
	if (f.kind === "choice")
		return h(
			"ul",
			{ class: "tree" },
			(f.options ?? []).map((o) => row(o.label, o.value, false)),
		);
	return help(f.kind === "json" ? "Anything is allowed." : kindOf(f));
}

/** @param {import("../model/schema.js").Field} f */
function kindOf(f) {
	const names = {
		object: "group of fields",
		list: "list",
		text: "text",
		long: "text of several lines",
		time: f.schema["format"] === "time" ? "time of a day" : "date and time",
		number: "number",
		integer: "whole number",
		boolean: "yes or no",
		options: "one of",
		const: "always",
		choice: "one of these forms",
		null: "null",
		json: "anything",
	};
	const s = f.schema;
	/** @type {[string, string, string?][]} */
	const words = [
		["minimum", "from"],
		["maximum", "to"],
		["minLength", "at least", "character"],
		["maxLength", "at most", "character"],
		["minItems", "at least", "item"],
		["maxItems", "at most", "item"],
		["format", ""],
		["pattern", "like"],
	];
	const bounds = words
		.filter(([k]) => s[k] !== undefined && (k !== "format" || !["time", "file"].includes(f.kind)))
		.map(([k, word, noun]) =>
			`${word} ${noun ? count(numberIn(s[k]) ?? 0, noun) : label(/** @type {Value} */ (s[k]))}`.trim(),
		);
	if (s["readOnly"] === true) bounds.push("read only");
	const values =
		f.kind === "options"
			? ` ${(f.options ?? [])
					.slice(0, 12)
					.map((o) => o.label)
					.join(" · ")}${(f.options?.length ?? 0) > 12 ? " …" : ""}`
			: f.kind === "const"
				? ` ${stringify(s["const"])}`
				: "";
	const name = f.kind === "file" ? fileKind(f).noun : names[f.kind];
	if (f.initial !== undefined) bounds.push(`default ${stringify(f.initial)}`);
	return [name + values, ...bounds].join(", ");
}

/**
 * Asks for a version of a component, which begins as another one.
 * @param {import("../api.js").Api} api
 * @param {(Manifest & {[name: string]: Value}) | undefined} from
 * @returns {Promise<{name: string, version: string} | undefined>}
 */
export function edit(api, from) {
	/** @type {{[name: string]: Value}} */
	const begun = from ?? {
		name: "",
		version: "1.0.0",
		main: "https://",
		description: "",
		configSchema: { type: "object", properties: {}, additionalProperties: false },
	};
	const { id, name, version, main, description, configSchema, ...others } = begun;
	const line = (/** @type {Value | undefined} */ value, /** @type {import("../dom.js").Props} */ more = {}) =>
		h("input", {
			value: typeof value === "string" ? value : "",
			autocomplete: "off",
			spellcheck: "false",
			...more,
		});
	const names = line(name, { required: true, maxlength: 128, readonly: from !== undefined });
	const versions = line(from ? nextVersion(String(version)) : version, { required: true, maxlength: 128 });
	const same = h("p", { class: "help", role: "status" });
	const told = () =>
		void (same.textContent =
			from && mains.value === main
				? `Version ${version} has the same script. If the script is another one, give it an address of its ` +
					"own, or a roll back does not bring the old one back."
				: "");
	const mains = line(main, { required: true, oninput: told });
	told();
	const about = line(description);
	const schema = h("textarea", {
		class: "mono",
		rows: 16,
		spellcheck: "false",
		required: true,
		value: stringify(configSchema, 2),
	});
	const preview = h("div", { class: "card" });
	const wrong = h("p", { class: "wrong", role: "status" });
	function look() {
		try {
			fill(preview, formOf(parse(schema.value)));
			wrong.textContent = "";
		} catch (e) {
			wrong.textContent = notJSON(e);
		}
	}
	schema.addEventListener("input", look);
	look();
	const keyOf = keys();
	let checked = "";
	const create = h("button", { class: "main" }, "Create");
	const found = h("div", { class: "trouble", role: "alert", tabindex: "-1", hidden: true });
	const form = h(
		"form",
		{ class: "editor" },
		h(
			"div",
			{ class: "columns" },
			h(
				"div",
				null,
				labelled("Name", names, "Letters, digits and signs, such as @example/poll."),
				labelled(
					"Version",
					versions,
					"A semantic version, such as 1.2.0. A version that is there cannot be changed.",
				),
				labelled("Script", mains, "The URL of the script that shows the element."),
				same,
				labelled("Description", about, "For those who choose a component."),
				labelled("Schema of configs", schema, "A JSON Schema. {} accepts anything."),
				wrong,
			),
			h("section", { "aria-label": "Preview" }, h("h3", null, "What designers will see"), preview),
		),
		found,
		buttons(create),
	);
	return show(from ? `New version of ${String(name)}` : "New component", form, {
		wide: true,
		submit: async () => {
			const manifest = {
				name: names.value,
				version: versions.value,
				main: mains.value,
				...(about.value === "" ? {} : { description: about.value }),
				...others,
				configSchema: parse(schema.value),
			};
			const text = stringify(manifest);
			if (checked !== text) {
				const check = await api.check(manifest.name, text);
				checked = text;
				if (check.broken.length + check.warnings.length > 0) {
					fill(found, breaks(check, parse(text)));
					found.hidden = false;
					found.focus();
					create.textContent = "Create all the same";
					return undefined;
				}
			}
			await api.createComponent(text, keyOf(text));
			return { name: manifest.name, version: manifest.version };
		},
	});
}

/**
 * What a check has found, with links to it.
 * @param {Awaited<ReturnType<import("../api.js").Api["check"]>>} check
 * @param {Value} manifest what was checked
 */
function breaks(check, manifest) {
	const component = /** @type {import("../api.js").Manifest} */ (/** @type {unknown} */ (manifest));
	/** @param {string} pointer */
	const where = (pointer) => fieldAt(component.configSchema, undefined, names(pointer)).labels.join(" › ");
	return [
		check.broken.length > 0 &&
			h(
				"p",
				null,
				`Of ${count(check.elements, "element")} in ${count(check.apps, "app")}, ` +
					`${check.broken.length}${check.next === null ? "" : " and more"} would not fit. They stay ` +
					"as they are until somebody changes them.",
			),
		h(
			"ul",
			null,
			check.broken.slice(0, 50).map((b) =>
				h(
					"li",
					null,
					h(
						"a",
						{ href: `${to("apps", b.app)}`, target: "_blank" },
						named(titleOf(component)),
						` at place ${Number(b.element) + 1} of version ${b.version}`,
					),
					b.tags.map((t) => [" ", flag(t)]).flat(),
					" ",
					b.violations
						.slice(0, 3)
						.map((v) =>
							h(
								"div",
								null,
								v.pointer !== "" && [
									h("span", { class: "path", title: v.pointer }, named(where(v.pointer))),
									" ",
								],
								v.message,
							),
						),
				),
			),
		),
		h(
			"ul",
			null,
			check.warnings.map((w) => h("li", null, h("code", null, w.pointer || "/"), ` ${w.message}`)),
		),
	];
}

/** The version after another one. @param {string} version */
function nextVersion(version) {
	const match = version.match(/^(\d+)\.(\d+)\.(\d+)$/);
	return match ? `${match[1]}.${Number(match[2]) + 1}.0` : "";
}
