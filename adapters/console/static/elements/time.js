/**
 * Times: relative, with the exact one on hover.
 * @module
 */
import { h } from "../dom.js";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const units = [
	["year", 31536000],
	["month", 2592000],
	["week", 604800],
	["day", 86400],
	["hour", 3600],
	["minute", 60],
];

/** How long ago, in words. @param {number} at in milliseconds @param {number} [now] */
export function ago(at, now = Date.now()) {
	const seconds = (at - now) / 1000;
	for (const [unit, length] of units) {
		if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
	}
	return "just now";
}

/** @param {number | string} at milliseconds, or ISO 8601 */
export function time(at) {
	const date = new Date(at);
	return h(
		"time",
		{ datetime: date.toISOString(), "data-ago": "", title: date.toLocaleString() },
		ago(date.getTime()),
	);
}

/**
 * When something was used last. The service writes that once an hour, so within the hour nobody knows it better.
 * @param {number | null} at in milliseconds @param {string} [verb]
 */
export function used(at, verb = "used") {
	if (at === null) return `never ${verb}`;
	const node = time(at);
	node.dataset["hourly"] = "";
	node.removeAttribute("title");
	tell(node);
	return h("span", null, `${verb} `, node);
}

/** Says how long ago the time of a node is. @param {HTMLElement} node */
function tell(node) {
	const at = Date.parse(node.getAttribute("datetime") ?? "");
	const text = node.dataset["hourly"] !== undefined && Date.now() - at < 3600_000 ? "within the last hour" : ago(at);
	if (node.textContent !== text) node.textContent = text;
}

/**
 * A time at which something ends or happens: the exact one, and how long until then.
 * @param {number} at in milliseconds
 */
export function moment(at) {
	return h("span", null, `${new Date(at).toLocaleString()}, `, time(at));
}

// Times that are shown become older.
setInterval(() => {
	for (const node of document.querySelectorAll("time[data-ago]")) tell(/** @type {HTMLElement} */ (node));
}, 30_000);
