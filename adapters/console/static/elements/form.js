/**
 * The form of a config: a field for each part of its schema. A field shows a value, says when the person changes it,
 * and shows what the service finds wrong with it. A control whose text is no value, such as JSON that is not finished,
 * keeps it: it has data-unread, which says what the text is not.
 * @module
 */
import {
	arrows,
	buildLater,
	buildNow,
	button,
	detail,
	fill,
	focusIn,
	folder,
	follow,
	h,
	newID,
	reconcile,
	set as setProps,
} from "../dom.js";
import { define, equal, isNumber, isObject, notJSON, own, parse, sameValue, stringify } from "../json.js";
import { filled, holderOf, fileKind } from "../model/files.js";
import { isTexts, nameOf, spoken } from "../model/languages.js";
import { label, readNumber, shownNumber } from "../model/number.js";
import { localTime, withZone } from "../model/moment.js";
import { addition, begin, chosen, fieldOf, itemAt, labelOf, schemaOf, shows } from "../model/schema.js";
import { ask } from "./dialog.js";
import { textsOf } from "./languages.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../model/schema.js").Field} Field */
/** @typedef {import("../model/files.js").Picked} Picked */
/** @typedef {{path: string[], keyword: string, message: string}} Fault what is wrong, by the path from the field on */
/**
 * @typedef {object} Widget
 * @property {HTMLElement} node
 * @property {(value: Value | undefined) => void} set shows another value
 * @property {(faults: Fault[], all?: boolean) => void} faults shows what is wrong, and takes away what was shown
 * before. With all=false it is shown at each field once the person has left it
 */
/**
 * @typedef {object} Place where a field stands
 * @property {Value} schema
 * @property {Value} root the whole schema
 * @property {string} name of the member, or of the list that it is an item of
 * @property {number} [index] of the item
 * @property {boolean} required
 * @property {Value | undefined} value
 * @property {(value: Value | undefined) => void} onchange undefined takes the value away
 * @property {boolean} [bare] without a label: the place around it has one
 * @property {boolean} [readOnly]
 * @property {import("../session.js").Session} [session] of the person, whose libraries have files to choose
 * @property {(picked: Picked[]) => void} [take] takes files that were chosen for the field, with what is known of them
 * @property {boolean} [several] whether take takes more than one
 * @property {boolean} [translatable] false for a text that stands in one language
 * @property {() => void} [translate] shows the field of another language beside it
 * @property {{left: number}} [atOnce] how many fields of the form are built at once. Others are when they come in
 * sight. Without it all are
 */

/**
 * What of a field decides how it is built: if it changes, the field is built anew.
 * @param {Field} f @param {Value | undefined} v
 */
function shape(f, v) {
	return isTexts(v) ? "texts" : shows(f, v) ? f.kind : "json";
}

/** Whether a field is for texts that people read. @param {Field} f */
function translatable(f) {
	return (
		["text", "long", "file"].includes(f.kind) &&
		!["date", "color", "email", "vitrine-folder"].includes(String(f.schema["format"]))
	);
}

/**
 * The field of a place, whatever its value becomes.
 * @param {Place} place
 * @returns {Widget}
 */
export function field(place) {
	let value = place.value;
	const node = h("div", { class: "slot" });
	let described = fieldOf(place.schema, place.root, value);
	let translating = false; // the person translates a string that stands for all languages
	let kept = false; // what is typed must not replace the string that stands for all languages
	const shapeOf = (/** @type {Field} */ f) => (translating ? "texts" : shape(f, value));
	/** @type {Built | undefined} */
	let built;
	/** What is wrong. @type {[Fault[], boolean | undefined]} */
	let wrong = [[], undefined];
	const { atOnce } = place;
	if (!atOnce || atOnce.left-- > 0) built = build(described);
	else
		buildLater(node, () => {
			atOnce.left = Math.max(atOnce.left, 10); // what is right below is in sight, too
			described = fieldOf(place.schema, place.root, value);
			built = build(described);
			built.faults(...wrong);
		});

	/** @param {Field} f */
	function translatesFrom(f) {
		return spoken.now !== (spoken.all[0] ?? "") && place.translatable !== false && translatable(f);
	}

	/** @param {Field} f */
	function build(f) {
		const readOnly = place.readOnly || f.schema["readOnly"] === true;
		const other = !readOnly && translatesFrom(f);
		kept = keeps(f);
		const widget = widgets[shapeOf(f)](
			{ ...place, value, onchange, readOnly: readOnly || kept, ...(other && { translate }) },
			f,
		);
		fill(node, widget.node);
		return widget;
	}

	/** Whether a string stands for all languages, and the person edits another one than the base. @param {Field} f */
	function keeps(f) {
		return translatesFrom(f) && shapeOf(f) !== "texts" && value !== undefined && value !== "";
	}

	function translate() {
		translating = true;
		built = build(described);
		const [, other] = node.querySelectorAll(".texts > *");
		focusIn(other);
	}

	/** @param {Value | undefined} next */
	function onchange(next) {
		value = next;
		place.onchange(next);
		again(next === undefined);
	}

	/** @param {boolean} show whether the field does not know of the value yet */
	function again(show) {
		if (!built) return;
		const next = fieldOf(place.schema, place.root, value);
		const stale = (next.kind === "choice" && built.stale?.(value)) || (show && keeps(next) !== kept);
		if (shapeOf(next) !== built.shape || stale) {
			const focused = node.contains(document.activeElement);
			described = next;
			built = build(described);
			if (focused) focusIn(node);
		} else if (show || ["object", "const", "null"].includes(next.kind)) built.set(value);
	}

	return {
		node,
		set(next) {
			if (equal(value, next) && value !== undefined) return;
			value = next;
			again(true);
		},
		faults(list, all) {
			wrong = [list, all];
			if (list.length > 0) buildNow(node);
			built?.faults(list, all);
		},
	};
}

/** @typedef {Widget & {shape: string, stale?: (value: Value | undefined) => boolean}} Built */

/** @param {Place} place @param {Field} f */
function called(place, f) {
	return labelOf(f, place.name, place.index);
}

/** @type {Record<Field["kind"] | "texts", (place: Place, field: Field) => Built>} */
const widgets = {
	texts,
	text,
	long: text,
	time: moment,
	file,
	number,
	integer: number,
	boolean: select,
	options: select,
	const: constant,
	null: constant,
	object,
	list,
	choice,
	json,
};

/**
 * The frame of a field: label, description, what it is by default, what is wrong.
 * @param {Place} place
 * @param {Field} f
 * @param {HTMLElement} control
 * @param {{group?: boolean, folds?: boolean, tools?: Node[]}} [options] with group the control is several controls,
 * which can be folded with folds
 */
function frame(place, f, control, options = {}) {
	const id = newID("f");
	const name = called(place, f);
	const help = f.description && h("p", { class: "help", id: `${id}-help` }, f.description);
	const wrong = h("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
	const initial =
		f.initial !== undefined &&
		control.tagName !== "SELECT" && // its first option names the default
		h("span", { class: "default" }, "default ", h("code", null, brief(f.initial)));
	const resets = f.initial === undefined ? "Clear" : "Use default";
	const reset =
		!place.required &&
		!place.readOnly &&
		(f.kind !== "file" || f.initial !== undefined) && // a file is taken away by its own button
		button(resets, () => place.onchange(undefined), {
			class: "bare small reset",
			"aria-label": `${resets}: ${name}`,
		});
	const { translate } = place;
	const fixed =
		f.schema["readOnly"] === true
			? detail("read only")
			: translate && place.readOnly && detail(`${nameOf(spoken.all[0] ?? "")}, in all languages`);
	const other =
		translate &&
		button("Translate", translate, {
			class: "bare small translate",
			"aria-label": `Translate ${name} into ${nameOf(spoken.now)}`,
		});
	const tools = h("span", { class: "tools" }, initial, fixed, reset, options.tools, other);
	const mark =
		place.required &&
		h("span", { class: "required", title: "required" }, " *", h("span", { class: "unseen" }, "required"));
	const described = [help && `${id}-help`, `${id}-wrong`].filter(Boolean).join(" ");
	const { group } = options;
	/** @param {...HTMLElement} label */
	const head = (...label) => !place.bare && h("div", { class: "label" }, label, tools);
	const node = group
		? h("div", { class: place.bare ? "group bare" : "group" }, help, wrong, control)
		: h(
				"div",
				{ class: "field" },
				head(h("label", { for: id, class: "name" }, name, mark)),
				control,
				place.bare && other,
				help,
				wrong,
			);
	if (group && !place.bare) {
		const label = h("span", { id: `${id}-label`, class: "name" }, name, mark);
		const { toggle } = folder(node, () => [help, control].filter((x) => x instanceof Element), `Fold ${name}`);
		node.prepend(/** @type {HTMLElement} */ (head(...(options.folds ? [toggle, label] : [label]))));
	}
	setProps(control, {
		"aria-describedby": described,
		...(group
			? { role: "group", "aria-labelledby": !place.bare && `${id}-label` }
			: {
					id,
					"aria-required": place.required && control.tagName !== "OUTPUT" && "true",
					"aria-label": place.bare && name,
				}),
	});
	/** @type {Fault[]} */
	let found = [];
	/** @type {Fault[]} */
	let own = [];
	let left = false;
	function tell() {
		const faults = left ? [...own, ...found] : [];
		wrong.hidden = faults.length === 0;
		fill(
			wrong,
			faults
				.slice(0, 5)
				.map((x) => h("span", null, x.path.length > 0 && h("code", null, `/${x.path.join("/")} `), x.message)),
		);
		node.classList.toggle("bad", faults.length > 0);
		if (!group) control.setAttribute("aria-invalid", String(faults.length > 0));
	}
	// A field is left if the person has been in it, and not only the focus.
	let met = false;
	for (const type of ["pointerdown", "keydown", "input"]) node.addEventListener(type, () => (met = true));
	node.addEventListener("focusout", (event) => {
		if (!met || node.contains(/** @type {Node | null} */ (event.relatedTarget))) return;
		left = true;
		whenReleased(tell);
	});
	return {
		node,
		/** @param {boolean} present */
		present(present) {
			node.classList.toggle("absent", !present);
			if (reset) reset.hidden = !present;
		},
		/** @param {Fault[]} faults @param {boolean} [all] */
		faults(faults, all = true) {
			found = faults;
			left ||= all && faults.length > 0;
			tell();
		},
		/**
		 * Says that the control has a text that is no value, or that it has none.
		 * @param {string} what what the text is not, or "" @param {string} [message]
		 */
		unread(what, message = `This is not ${what}.`) {
			if (what === "" && own.length === 0) return;
			if (what === "") delete control.dataset["unread"];
			else control.dataset["unread"] = what;
			own = what === "" ? [] : [{ path: [], keyword: "", message }];
			tell();
		},
	};
}

let pressed = false;
addEventListener("pointerdown", () => (pressed = true), true);
for (const type of ["pointerup", "pointercancel"]) addEventListener(type, () => (pressed = false), true);

/**
 * Calls f once no button of the mouse is down, so that what is pressed does not move away from under it.
 * @param {() => void} f
 */
function whenReleased(f) {
	if (pressed) setTimeout(whenReleased, 50, f);
	else f();
}

/**
 * A field of one control.
 * @param {Place} place
 * @param {Field} f
 * @param {HTMLElement} control
 * @param {(value: Value | undefined) => void} show puts a value into the control
 * @param {Node[]} [tools]
 * @returns {Built & {change: (value: Value | undefined) => void, unread: (what: string, message?: string) => void}}
 * change is what the control calls when the person has changed it
 */
function single(place, f, control, show, tools) {
	const { node, present, faults, unread } = frame(place, f, control, { tools });
	/** @param {Value | undefined} value */
	const set = (value) => {
		if (value !== undefined && control.dataset["unread"]) return; // do not replace what the person is typing
		unread("");
		show(value);
		present(value !== undefined);
	};
	set(place.value);
	if (control instanceof HTMLInputElement) {
		const { validity } = control;
		// Such as half a date. A line of text has another way to say what it is not.
		for (const type of ["input", "focusout"])
			control.addEventListener(type, () => control.type !== "text" && unread(validity.badInput ? "whole" : ""));
	}
	return {
		node,
		set,
		faults,
		unread,
		shape: f.kind,
		change(value) {
			present(value !== undefined);
			place.onchange(value);
		},
	};
}

/** A text in several languages. @param {Place} place @param {Field} f @returns {Built} */
function texts(place, f) {
	const { translate, ...plain } = place;
	const inner = textsOf(plain, f, field);
	const framed = frame(plain, f, inner.node, { group: true });
	framed.present(place.value !== undefined);
	return {
		node: framed.node,
		shape: "texts",
		set(value) {
			framed.present(value !== undefined);
			inner.set(value);
		},
		faults: (list, all) => framed.faults(inner.faults(list, all), all),
	};
}

/** A value in a few characters. @param {Value} v */
function brief(v) {
	const text = label(v);
	return text.length > 40 ? `${text.slice(0, 39)}…` : text === "" ? '""' : text;
}

/** @param {Place} place @param {Field} f @returns {Built} */
function text(place, f) {
	const long = f.kind === "long";
	const format = String(f.schema["format"] ?? "");
	const type =
		{
			date: "date",
			email: "email",
			"idn-email": "email",
			uri: "url",
			"uri-reference": "text",
			password: "password",
		}[format] ?? "text";
	const most = f.schema["maxLength"];
	const attributes = {
		placeholder: placeholder(f) ?? (place.readOnly ? "" : { uri: "https://", color: "#3b5bdb" }[format]),
		autocomplete: "off",
		spellcheck: String(long),
		readonly: place.readOnly,
	};
	const input = long ? h("textarea", { rows: 4, ...attributes }) : h("input", { type, ...attributes });
	const picker =
		format === "color"
			? h("input", { type: "color", disabled: place.readOnly ?? false, "aria-label": `Pick ${called(place, f)}` })
			: undefined;
	picker?.addEventListener("input", () => {
		input.value = picker.value;
		changed();
	});
	const count = h("span", { class: "count" });
	/** @type {ReturnType<typeof import("./folderfield.js").folderfield> | undefined} */
	let folder;
	function tell() {
		folder?.show(input.value);
		const length = [...input.value].length;
		if (isNumber(most)) count.textContent = length * 10 > Number(most) * 7 ? `${length} of ${Number(most)}` : "";
		if (picker && /^#[0-9a-f]{6}$/i.test(input.value)) picker.value = input.value;
	}
	const built = single(
		place,
		f,
		input,
		(value) => {
			const shown = typeof value === "string" ? value : "";
			if (input.value !== shown) input.value = shown;
			// A control for dates, for instance, is empty where the text is no date.
			if (input.value !== shown && !long) {
				/** @type {HTMLInputElement} */ (input).type = "text";
				input.value = shown;
			}
			tell();
		},
		[count],
	);
	function changed() {
		tell();
		built.change(input.value === "" && !place.required ? undefined : input.value);
	}
	input.addEventListener("input", changed);
	const { session } = place;
	if (format === "vitrine-folder" && session)
		void import("./folderfield.js").then(({ folderfield }) => {
			/** @param {string} text */
			const take = (text) => {
				input.value = text;
				changed();
			};
			folder = folderfield(session, called(place, f), place.readOnly ? undefined : take);
			input.after(folder.node);
			folder.show(input.value);
		});
	if (input instanceof HTMLTextAreaElement && f.schema["contentMediaType"] === "text/html" && !place.readOnly)
		void import("./markup.js").then(({ markup }) => input.before(markup(input, called(place, f))));
	if (picker) {
		const row = h("div", { class: "row" });
		input.replaceWith(row);
		row.append(picker, input);
	}
	return built;
}

/**
 * A time of a day, or of a date. It is picked in the time of this computer, which is told, and is stored with its zone.
 * A stored text that is no time is edited as text.
 * @param {Place} place @param {Field} f @returns {Built}
 */
function moment(place, f) {
	const picked = f.schema["format"] === "time" ? "time" : "datetime-local";
	const input = h("input", { autocomplete: "off", readonly: place.readOnly });
	const zone = h("span", { class: "count" });
	const note = h("p", { class: "help", role: "status" });
	let offset = "";
	/** What is picked, with a zone: a time of a day keeps the one that it has. @param {string} typed */
	const zoned = (typed) =>
		picked === "time" ? withZone(typed, new Date(), offset) : withZone(typed, new Date(typed));
	/** @param {string} text */
	function tell(text) {
		const read = localTime(text, picked);
		const [typed] = read ?? [];
		offset = read?.[1] ?? "";
		const bare = typed !== undefined && offset === "";
		const own =
			picked === "time"
				? `UTC${zoned("").replace(/z|[-+]00:00/i, "")}`
				: Intl.DateTimeFormat().resolvedOptions().timeZone;
		zone.textContent = bare || (!read && text !== "") ? "" : own;
		fill(
			note,
			bare && [
				"It has no zone, so every visitor sees this hour of their own day. ",
				!place.readOnly &&
					button("Add the zone of this computer", () => change(zoned(typed)), { class: "small" }),
			],
		);
		note.hidden = !bare;
	}
	const built = single(
		place,
		f,
		input,
		(value) => {
			const text = typeof value === "string" ? value : "";
			const [typed] = localTime(text, picked) ?? [];
			input.type = typed === undefined && text !== "" ? "text" : picked;
			const shown = typed ?? text;
			if (input.value !== shown) input.value = shown;
			tell(text);
		},
		[zone],
	);
	/** @param {string} text */
	function change(text) {
		tell(text);
		built.change(text === "" && !place.required ? undefined : text);
	}
	input.addEventListener("input", () => {
		if (!input.validity.badInput)
			change(input.type === "text" || input.value === "" ? input.value : zoned(input.value));
	});
	input.after(note);
	return built;
}

/** How files are chosen and sent, which is loaded when a form has a field for them. */
const files = async (/** @type {import("./filefield.js").Options} */ options) =>
	(await import("./filefield.js")).filefield(options);

/** A file, by its address. @param {Place} place @param {Field} f @returns {Built} */
function file(place, f) {
	const box = h("div");
	const framed = frame(place, f, box, { group: true });
	let value = place.value;
	/** @type {Awaited<ReturnType<typeof files>> | undefined} */
	let inner;
	/** @param {Value | undefined} next */
	function change(next) {
		set(next);
		place.onchange(next);
	}
	/** @param {Value | undefined} next */
	function set(next) {
		value = next;
		framed.present(value !== undefined);
		inner?.set(typeof value === "string" ? value : "");
	}
	void files({
		kind: fileKind(f),
		name: called(place, f),
		session: place.session,
		several: place.several,
		readOnly: place.readOnly,
		take: (picked) => (place.take ? place.take(picked) : change(picked[0]?.href)),
		onchange: (text) => change(text === "" && !place.required ? undefined : text),
	}).then((made) => {
		inner = made;
		set(value);
		fill(box, made.node);
	});
	set(value);
	return { node: framed.node, set, faults: framed.faults, shape: "file" };
}

/** @param {Field} f */
function placeholder(f) {
	if (f.initial !== undefined) return label(f.initial);
	const examples = f.schema["examples"];
	return Array.isArray(examples) && examples[0] !== undefined ? label(examples[0]) : undefined;
}

/** A number, as the person's language writes it. @param {Place} place @param {Field} f @returns {Built} */
function number(place, f) {
	const input = h("input", {
		inputmode: "decimal",
		autocomplete: "off",
		placeholder: placeholder(f),
		readonly: place.readOnly,
	});
	const [least, most] = [f.schema["minimum"], f.schema["maximum"]].map((n) =>
		isNumber(n) ? shownNumber(n) : undefined,
	);
	const range =
		least !== undefined && most !== undefined
			? `${least} to ${most}`
			: least !== undefined
				? `from ${least}`
				: most !== undefined
					? `to ${most}`
					: "";
	const built = single(
		place,
		f,
		input,
		(value) => {
			const shown = isNumber(value) ? shownNumber(value) : "";
			if (input.value !== shown) input.value = shown;
		},
		[h("span", { class: "count" }, range)],
	);
	input.addEventListener("input", () => {
		const read = input.value.trim() === "" ? { value: undefined } : readNumber(input.value);
		if ("wrong" in read) return built.unread(read.wrong, read.message);
		built.unread("");
		built.change(read.value);
	});
	// Once it is left, the number stands there as it was understood.
	input.addEventListener("change", () => {
		const read = readNumber(input.value);
		if ("value" in read) input.value = shownNumber(read.value);
	});
	return built;
}

/**
 * A control that takes one of several, or nothing, which is "".
 * @param {Place} place @param {Field} f @param {import("../model/schema.js").Option[]} choices
 * @param {import("../dom.js").Props} [props]
 */
function dropdown(place, f, choices, props) {
	const { initial } = f;
	const none =
		initial !== undefined
			? `Default: ${choices.find((c) => sameValue(c.value, initial))?.label ?? brief(initial)}`
			: place.required
				? "Choose…"
				: "Not set";
	return h(
		"select",
		{ disabled: place.readOnly, ...props },
		h("option", { value: "" }, none),
		choices.map((c, i) => h("option", { value: String(i) }, c.label)),
	);
}

/** @param {Place} place @param {Field} f @returns {Built} */
function select(place, f) {
	const choices = f.options ?? [];
	const input = dropdown(place, f, choices);
	const built = single(place, f, input, (value) => {
		const i = value === undefined ? -1 : choices.findIndex((c) => sameValue(c.value, value));
		input.value = i < 0 ? "" : String(i);
	});
	input.addEventListener("change", () =>
		built.change(input.value === "" ? undefined : choices[Number(input.value)]?.value),
	);
	return built;
}

/** A value that can be nothing else. @param {Place} place @param {Field} f @returns {Built} */
function constant(place, f) {
	const only = f.kind === "null" ? null : f.schema["const"];
	const input = h("output", { class: "const" });
	const add = button(`Set to ${brief(only)}`, () => place.onchange(only), { class: "small" });
	return single(place, f, input, (value) =>
		fill(input, value !== undefined ? h("code", null, brief(only)) : place.readOnly ? "" : add),
	);
}

/** A value as JSON, for what a form cannot show. @param {Place} place @param {Field} f @returns {Built} */
function json(place, f) {
	const input = h("textarea", {
		class: "mono",
		spellcheck: "false",
		autocomplete: "off",
		rows: 2,
		placeholder: f.initial !== undefined ? stringify(f.initial) : "JSON",
		readonly: place.readOnly,
	});
	/** @type {Value | undefined} */
	let shown;
	const built = single(place, { ...f, kind: "json" }, input, (value) => {
		if (value !== undefined && shown !== undefined && equal(value, shown)) return;
		shown = value;
		input.value = value === undefined ? "" : stringify(value, 2);
		grow();
	});
	input.addEventListener("input", () => {
		const typed = input.value.trim();
		grow();
		try {
			shown = typed === "" && !place.required ? undefined : parse(typed);
			built.unread("");
			built.change(shown);
		} catch (e) {
			built.unread("JSON", notJSON(e));
		}
	});
	function grow() {
		input.rows = Math.min(20, Math.max(2, input.value.split("\n").length));
	}
	return built;
}

/** @param {Place} place @param {Field} f @returns {Built} */
function object(place, f) {
	let value = place.value;
	let described = f;
	const body = h("div", { class: "members" });
	const box = h("div", { class: "object" }, body);
	/** @type {Map<string, Widget & {schema: string}>} */
	const parts = new Map();
	const framed = frame(place, f, box, { group: true, folds: true });
	const start =
		!place.readOnly &&
		button(`Add ${called(place, f)}`, () => place.onchange(addition(place.schema, place.root)), {
			icon: "add",
			class: "small",
		});
	const more =
		described.more !== false &&
		!place.readOnly &&
		button(
			"Add a member",
			() =>
				void ask("Add a member", "Name", "Add", (name) => {
					if (isObject(value) && Object.hasOwn(value, name))
						throw new Error(`There is a member ${name} already.`);
					change(name, addition(schemaOf(described.schema, name), place.root));
				}),
			{ icon: "add", class: "small bare" },
		);

	/** @param {string} name @param {Value | undefined} next */
	function change(name, next) {
		/** @type {{[name: string]: Value}} */
		const made = {};
		const now = isObject(value) ? value : {};
		for (const n of Object.keys(now)) {
			if (n !== name) define(made, n, now[n]);
			else if (next !== undefined) define(made, n, next);
		}
		if (next !== undefined && !Object.hasOwn(now, name)) define(made, name, next);
		place.onchange(made);
	}

	/**
	 * How a member takes files: with what is beside it. A list around the object takes several.
	 * @param {string} name
	 */
	function taking(name) {
		const several = place.several === true && holderOf(place.schema, place.root) === name;
		return {
			several,
			take: (/** @type {Picked[]} */ picked) => {
				if (several) place.take?.(picked);
				else if (picked[0]) place.onchange(filled(value, place.schema, place.root, name, picked[0]));
			},
		};
	}

	/** @param {Value | undefined} next */
	function set(next) {
		value = next;
		described = fieldOf(place.schema, place.root, value);
		const absent = next === undefined && !place.required && !place.bare;
		framed.present(next !== undefined);
		if (absent) {
			parts.clear();
			fill(body, start);
			if (more) more.remove();
			return;
		}
		if (start && start.parentNode === body) start.remove();
		const now = isObject(value) ? value : {};
		const members = (described.members ?? []).filter((m) => m.schema !== false || Object.hasOwn(now, m.name));
		reconcile(
			body,
			parts,
			members,
			(m) => `${m.name}\0${m.required}\0${stringify(m.schema)}`,
			(m) => {
				const part = field({
					schema: m.schema,
					root: place.root,
					name: m.name,
					required: m.required,
					value: own(now, m.name),
					onchange: (v) => change(m.name, v),
					readOnly: place.readOnly,
					session: place.session,
					atOnce: place.atOnce,
					...taking(m.name),
				});
				part.node.dataset["part"] = m.name;
				return { ...part, schema: m.name };
			},
			(part, m) => part.set(own(now, m.name)),
		);
		if (more && !more.isConnected) box.append(more);
	}
	set(place.value);
	return {
		node: framed.node,
		set,
		shape: "object",
		faults(list, all) {
			/** @type {Map<string, Fault[]>} */
			const below = new Map();
			const here = [];
			for (const fault of list) {
				const [name, ...rest] = fault.path;
				if (name !== undefined && [...parts.values()].some((p) => p.schema === name))
					below.set(name, [...(below.get(name) ?? []), { ...fault, path: rest }]);
				else if (name === undefined && fault.keyword === "required") missing(fault, below, here);
				else here.push(fault);
			}
			framed.faults(here, all);
			for (const part of parts.values()) part.faults(below.get(part.schema) ?? [], all);
		},
	};

	/**
	 * Shows that members are missing at their fields.
	 * @param {Fault} fault @param {Map<string, Fault[]>} below @param {Fault[]} here
	 */
	function missing(fault, below, here) {
		const now = isObject(value) ? value : {};
		const absent = (described.members ?? []).filter((m) => m.required && !Object.hasOwn(now, m.name));
		if (absent.length === 0) here.push(fault);
		for (const m of absent) below.set(m.name, [{ path: [], keyword: "required", message: "This is required." }]);
	}
}

/** @param {Place} place @param {Field} f @returns {Built} */
function list(place, f) {
	/** @type {Value[]} */
	let value = [];
	/** @type {string[]} a key for each item, which goes along when it is moved */
	let keys = [];
	const body = h("ol", { class: "items" });
	const label = called(place, f);
	/** @type {Map<string, Widget & {key: string}>} */
	const parts = new Map();
	const add =
		!place.readOnly &&
		button(
			`Add to ${label}`,
			() => change([...value, addition(itemAt(f, value.length), place.root)], [...keys, newKey()], value.length),
			{ icon: "add", class: "small" },
		);
	const box = h("div", { class: "list" }, body, add);
	const framed = frame(place, f, box, { group: true, folds: true });
	const newKey = () => newID("i");
	const schema = itemAt(f, f.leading?.length ?? 0);
	const holder = holderOf(schema, place.root);
	if (holder !== undefined && add) {
		const inside = holder === "" ? schema : schemaOf(fieldOf(schema, place.root, undefined).schema, holder);
		void files({
			kind: fileKind(fieldOf(inside, place.root, undefined)),
			name: label,
			session: place.session,
			take: (picked) => take(undefined, picked),
			several: true,
		}).then(({ node }) => add.after(node));
	}

	/**
	 * Takes files: the first into the item with this key, the others into new ones behind it. Without a key all make
	 * new items.
	 * @param {string | undefined} key @param {Picked[]} picked
	 */
	function take(key, picked) {
		const at = key === undefined ? value.length : keys.indexOf(key);
		if (at < 0) return;
		const made = picked.map((p, i) => {
			const schema = itemAt(f, at + i);
			const before = i === 0 && key !== undefined ? value[at] : addition(schema, place.root);
			return filled(before, schema, place.root, holder ?? "", p);
		});
		const old = key === undefined ? 0 : 1;
		change(
			value.toSpliced(at, old, ...made),
			keys.toSpliced(at, old, ...made.map((_, i) => (i === 0 && key) || newKey())),
		);
	}

	/** @param {Value[]} next @param {string[]} nextKeys @param {number} [focus] */
	function change(next, nextKeys, focus) {
		keys = nextKeys;
		show(next);
		place.onchange(next);
		if (focus !== undefined) focusIn(parts.get(keys[focus])?.node);
	}

	/** @param {string} key @param {number} by */
	function move(key, by) {
		const i = keys.indexOf(key);
		const j = i + by;
		if (j < 0 || j >= value.length) return;
		const active = document.activeElement;
		change(value.toSpliced(i, 1).toSpliced(j, 0, value[i]), keys.toSpliced(i, 1).toSpliced(j, 0, key));
		follow(parts.get(key)?.node, active);
	}

	/** @param {Value[]} next */
	function show(next) {
		value = next;
		reconcile(
			body,
			parts,
			value,
			(_, i) => `${keys[i]}`,
			(item, i) => {
				const key = keys[i];
				const inner = field({
					schema: itemAt(f, i),
					root: place.root,
					name: label,
					index: i,
					bare: true,
					required: true,
					value: item,
					readOnly: place.readOnly,
					session: place.session,
					atOnce: place.atOnce,
					...(holder !== undefined && {
						several: true,
						take: (/** @type {Picked[]} */ picked) => take(key, picked),
					}),
					onchange: (v) => change(value.with(keys.indexOf(key), v ?? null), keys),
				});
				const tools = h(
					"div",
					{ class: "tools" },
					button("Move up", () => move(key, -1), { icon: "up", bare: true }),
					button("Move down", () => move(key, 1), { icon: "down", bare: true }),
					button(
						"Remove",
						() => {
							const at = keys.indexOf(key);
							change(value.toSpliced(at, 1), keys.toSpliced(at, 1));
							(add || body).focus();
						},
						{ icon: "remove", bare: true },
					),
				);
				const node = h(
					"li",
					{ onkeydown: arrows((by) => move(key, by)) },
					h("div", { class: "item" }, inner.node),
					!place.readOnly && tools,
				);
				return { ...inner, node, key };
			},
			(part, item, i) => {
				part.node.dataset["part"] = String(i);
				part.set(item);
			},
		);
		framed.present(place.required || value.length > 0);
		if (add) add.hidden = f.items === false && value.length >= (f.leading?.length ?? 0);
	}

	/** @param {Value | undefined} next */
	function set(next) {
		const items = Array.isArray(next) ? next : [];
		// Items that are known by their values keep their fields.
		const left = value.map((v, i) => ({ v, key: keys[i] }));
		keys = items.map((v, i) => {
			const same = left.findIndex((x) => x && equal(x.v, v));
			if (same >= 0) return /** @type {{key: string}} */ (left.splice(same, 1)[0]).key;
			return items.length === value.length ? keys[i] : newKey();
		});
		if (new Set(keys).size !== keys.length) keys = items.map(newKey);
		show(items);
		framed.present(next !== undefined);
	}
	set(place.value);
	return {
		node: framed.node,
		set,
		shape: "list",
		faults(faults, all) {
			framed.faults(
				faults.filter((x) => x.path.length === 0 || !keys[Number(x.path[0])]),
				all,
			);
			for (const part of parts.values()) {
				const i = String(keys.indexOf(part.key));
				part.faults(
					faults.filter((x) => x.path[0] === i).map((x) => ({ ...x, path: x.path.slice(1) })),
					all,
				);
			}
		},
	};
}

/** One of several forms. @param {Place} place @param {Field} f @returns {Built} */
function choice(place, f) {
	const choices = f.options ?? [];
	const input = dropdown(place, f, choices, { "aria-label": `Kind of ${called(place, f)}` });
	const body = h("div", { class: "chosen" });
	const box = h("div", { class: "choice" }, input, body);
	const framed = frame(place, f, box, { group: true, folds: true });
	let now = chosen(f, place.root, place.value);
	/** @type {Widget | undefined} */
	let inner;

	/** @param {Value | undefined} value */
	function build(value) {
		input.value = now < 0 ? "" : String(now);
		const option = choices[now];
		inner = undefined;
		if (option && value !== undefined) {
			inner = field({
				...place,
				schema: option.value,
				bare: true,
				required: true,
				value,
				onchange: place.onchange,
			});
			fill(body, inner.node);
		} else if (value !== undefined) {
			const whole = json({ ...place, bare: true, value }, { kind: "json", schema: {} });
			inner = whole;
			fill(body, whole.node);
		} else fill(body);
		framed.present(value !== undefined);
	}
	input.addEventListener("change", () => {
		now = input.value === "" ? -1 : Number(input.value);
		const option = choices[now];
		const value = option ? (begin(option.value, place.root) ?? addition(option.value, place.root)) : undefined;
		build(value);
		place.onchange(value);
	});
	/** @param {Value | undefined} value */
	function set(value) {
		const next = chosen(f, place.root, value);
		// A form that a person fills in stays, though its value does not fit yet.
		if (
			inner &&
			value !== undefined &&
			(next === now ||
				next < 0 ||
				(shows(fieldOf(choices[now]?.value ?? {}, place.root, value), value) && now >= 0 && next < 0))
		) {
			inner.set(value);
			return;
		}
		now = next;
		build(value);
	}
	build(place.value);
	return {
		node: framed.node,
		set,
		shape: "choice",
		faults(list, all) {
			framed.faults(inner ? [] : list, all);
			inner?.faults(list, all);
		},
	};
}
