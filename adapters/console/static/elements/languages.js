/**
 * The languages of texts: which one is edited beside the base, and a text in both.
 * @module
 */
import { button, detail, fill, h, labelled } from "../dom.js";
import { own } from "../json.js";
import { answered, isTexts, memberOf, missingIn, nameOf, spoken, translated } from "../model/languages.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("./form.js").Place} Place */
/** @typedef {import("./form.js").Fault} Fault */
/** @typedef {import("./form.js").Widget} Widget */

/**
 * A switch of the language that is edited and shown in the preview. It counts the texts that are missing in each.
 * Without a second language there is none.
 * @param {import("../model/editor.js").Editor} editor @param {() => void} onchange
 */
export function languageSwitch(editor, onchange) {
	if (spoken.all.length < 2) return undefined;
	const options = spoken.all.map((language) => h("option", { value: language }));
	const input = h("select", null, options);
	input.value = spoken.now;
	input.addEventListener("change", () => {
		spoken.now = input.value;
		onchange();
	});
	editor.addEventListener("draft", () => {
		const configs = editor.draft.elements.map((e) => e.config);
		spoken.all.forEach((language, i) => {
			const missing = missingIn(configs, language);
			const option = /** @type {HTMLOptionElement} */ (options[i]);
			option.textContent = missing === 0 ? nameOf(language) : `${nameOf(language)}, ${missing} missing`;
		});
	});
	const node = labelled("Language", input);
	node.classList.add("language");
	return node;
}

/**
 * The fields of a text: that of the base, and beside it that of the language that is edited.
 * @param {Place} place @param {import("../model/schema.js").Field} f
 * @param {(place: Place) => Widget} field makes the field of a place
 */
export function textsOf(place, f, field) {
	let { value } = place;
	const { description, default: initial, ...schema } = f.schema; // the fields around the languages have these
	const [base = ""] = spoken.all;
	const parts = [...new Set([base, spoken.now])].map((language) => {
		const note = detail();
		const part = field({
			...place,
			schema: { ...schema, title: nameOf(language) },
			name: language,
			index: undefined,
			bare: false,
			required: place.required && language === base,
			take: undefined,
			several: false,
			translatable: false,
			value: textIn(value, language),
			onchange: (text) => {
				const only = language === base && !isTexts(value);
				change(only ? text : translated(value, language, text));
			},
		});
		const node = h("div", { lang: language, class: "text" }, part.node, note);
		return { ...part, name: memberOf(language), language, node, note };
	});
	const same = button("The same in all languages", () => change(textIn(value, base) ?? textIn(value, spoken.now)), {
		class: "small bare",
	});
	const others = h("p", { class: "detail" });
	const node = h(
		"div",
		{ class: "texts" },
		parts.map((part) => part.node),
	);

	/** @param {Value | undefined} next */
	function change(next) {
		tell(next);
		place.onchange(next === undefined && place.required ? "" : next);
	}

	/** Says in which languages the text is, and in which it is not. @param {Value | undefined} next */
	function tell(next) {
		value = next;
		for (const { note, name, language } of parts) {
			note.hidden = !isTexts(value) || Object.hasOwn(value, name);
			if (isTexts(value)) note.textContent = `missing: pages show ${nameOf(answered(value, language))}`;
		}
		const there = isTexts(value) ? Object.keys(value) : [];
		const further = there.filter((name) => !parts.some((part) => part.name === name));
		fill(others, further.length > 0 && `Also in ${further.map(nameOf).join(", ")}.`);
		others.hidden = further.length === 0;
		same.hidden = !isTexts(value) || place.readOnly === true;
	}

	tell(value);
	return {
		node: h("div", null, node, others, same),
		/** @param {Value | undefined} next */
		set(next) {
			for (const part of parts) part.set(textIn(next, part.language));
			tell(next);
		},
		/**
		 * Shows faults at the fields of their languages. The result is the others.
		 * @param {Fault[]} list @param {boolean} [all]
		 */
		faults(list, all) {
			for (const part of parts) {
				const here = list.filter((fault) => fault.path[0] === part.name);
				part.faults(
					here.map((fault) => ({ ...fault, path: fault.path.slice(1) })),
					all,
				);
			}
			return list
				.filter(({ path: [name] }) => !parts.some((part) => part.name === name))
				.map((fault) =>
					fault.path[0] === undefined
						? fault
						: { ...fault, path: [], message: `${nameOf(fault.path[0])}: ${fault.message}` },
				);
		},
	};
}

/** The string of a text in a language. @param {Value | undefined} value @param {string} language */
function textIn(value, language) {
	if (isTexts(value)) return own(value, memberOf(language));
	return language === spoken.all[0] ? value : undefined;
}
