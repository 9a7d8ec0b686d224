/**
 * What differs between two versions of an app, for people: elements that were added, removed, moved and changed, and their
 * fields with the words that differ.
 * @module
 */
import { h } from "../dom.js";
import { at, names, stringify } from "../json.js";
import { compare, draftOf, follow, longestRise } from "../model/patch.js";
import { words } from "../model/words.js";
import { shortURN } from "../session.js";
import { brief } from "./form.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../api.js").Operation} Operation */
/** @typedef {import("../model/patch.js").Item} Item */

/**
 * @param {import("../api.js").App} from
 * @param {Operation[]} operations what the service says differs
 * @returns {HTMLElement}
 */
export function difference(from, operations) {
	const before = draftOf(from);
	const after = follow(before, operations);
	const was = new Map(before.elements.map((e, i) => [e.key, { e, i }]));
	const kept = after.elements.filter((e) => was.has(e.key));
	const order = kept.map((e) => /** @type {{i: number}} */ (was.get(e.key)).i);
	const still = new Set(longestRise(order).map((i) => kept[i].key));
	/** @type {HTMLElement[]} */
	const parts = [];
	if (before.title !== after.title) parts.push(part("changed", "Title", [change("", before.title, after.title)]));
	const [left, came] = [before.groups.filter((g) => !after.groups.includes(g)), after.groups.filter((g) => !before.groups.includes(g))];
	if (left.length + came.length > 0) parts.push(part("changed", "Groups", [h("p", null, came.map((g) => h("ins", { title: g }, shortURN(g))), " ", left.map((g) => h("del", { title: g }, shortURN(g))))]));
	after.elements.forEach((e, i) => {
		const old = was.get(e.key);
		if (!old) {
			parts.push(part("added", `Element ${i + 1}: ${e.component.name}`, [h("pre", null, stringify(e.config, 2))]));
			return;
		}
		const fields = fieldsOf(old.e, e);
		if (!still.has(e.key)) fields.unshift(h("p", { class: "detail" }, `It was element ${old.i + 1}.`));
		if (fields.length > 0) parts.push(part(still.has(e.key) ? "changed" : "moved", `Element ${i + 1}: ${e.component.name}`, fields));
	});
	const gone = new Set(after.elements.map((e) => e.key));
	before.elements.forEach((e, i) => {
		if (!gone.has(e.key)) parts.push(part("removed", `Element ${i + 1}: ${e.component.name}`, [h("pre", null, stringify(e.config, 2))]));
	});
	return h("div", { class: "difference" }, parts.length > 0 ? parts : h("p", { class: "empty" }, "Nothing differs."));
}

/** @param {string} kind @param {string} title @param {HTMLElement[]} content */
function part(kind, title, content) {
	return h("section", { class: `part ${kind}` }, h("h3", null, h("span", { class: "kind" }, kind), title), content);
}

/** @param {Item} from @param {Item} to */
function fieldsOf(from, to) {
	/** @type {Operation[]} */
	const operations = [];
	compare({ ...from.component }, { ...to.component }, "/component", operations);
	compare(from.config, to.config, "/config", operations);
	return operations.map((o) => {
		const path = names(o.path);
		const old = at({ component: { ...from.component }, config: from.config }, path);
		return change((path[0] === "config" ? path.slice(1) : path).join(" › "), old, "value" in o ? o.value : undefined);
	});
}

/** One field that changed. @param {string} name @param {Value | undefined} from @param {Value | undefined} to */
function change(name, from, to) {
	const label = name !== "" && h("span", { class: "path" }, name);
	if (typeof from === "string" && typeof to === "string") {
		return h("p", null, label, words(from, to).map((w) => (w.kind === "same" ? w.text : h(w.kind === "added" ? "ins" : "del", null, w.text))));
	}
	/** @param {Value} v */
	const text = (v) => (stringify(v).length > 200 ? stringify(v, 2) : brief(v));
	return h("p", null, label, from !== undefined && h("del", null, text(from)), from !== undefined && to !== undefined && " ", to !== undefined && h("ins", null, text(to)));
}

/** What somebody did to make a version. @param {import("../api.js").Entry} e */
export function done(e) {
	if (e.restoredFrom !== null) return `restored version ${e.restoredFrom}`;
	return e.version === "0" ? "created the app" : summary(e.changes, e.changesTruncated);
}

/** What changed, in a few words. @param {{op: string, path: string, from?: string}[]} changes @param {boolean} truncated */
export function summary(changes, truncated) {
	const verbs = /** @type {Record<string, string>} */ ({ add: "added", remove: "removed", replace: "changed", move: "moved" });
	const said = changes.map((c) => {
		const [, , member, index, ...rest] = names(c.path);
		if (member !== "elements") return `${verbs[c.op]} ${member}`;
		if (index === undefined) return `${verbs[c.op]} the elements`;
		const element = `element ${Number(index) + 1}`;
		return rest.length === 0 ? `${verbs[c.op]} ${element}` : `${verbs[c.op]} ${(rest[0] === "config" ? rest.slice(1) : rest).join(" › ") || "the config"} of ${element}`;
	});
	const shown = [...new Set(said)];
	const more = shown.length > 3 || truncated;
	return shown.length === 0 ? (truncated ? "many changes" : "") : `${shown.slice(0, 3).join(", ")}${more ? " and more" : ""}`;
}
