/**
 * Times as JSON Schema has them, with a zone, and as the controls of a browser have them, without one.
 * @module
 */

const shape = /^(?:(\d{4}-\d\d-\d\d)[Tt ])?(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)([Zz]|[-+]\d\d:\d\d)?$/;

/** @param {number} n */
const two = (n) => String(n).padStart(2, "0");

/**
 * A time as a control of this type shows it, and its zone, "" if it has none. A time of a date is that of this computer
 * if it has a zone, a time of a day stands as it is. undefined if the text is no such time.
 * @param {string} text @param {"time" | "datetime-local"} type
 * @returns {[shown: string, zone: string] | undefined}
 */
export function localTime(text, type) {
	const [, date, time = "", zone = ""] = shape.exec(text) ?? [];
	const at = new Date(`${date ?? "2000-01-01"}T${time}${zone}`);
	if (time === "" || (date === undefined) !== (type === "time") || Number.isNaN(at.getTime())) return undefined;
	const [hours = "", seconds = ""] = [time.slice(0, 5), time.slice(5, 12)];
	if (type === "time") return [hours + seconds, zone];
	if (zone === "") return [`${date}T${hours}${seconds}`, ""];
	return [controlTime(at) + seconds, zone];
}

/** A time, to the minute, as a control for a date and a time shows it: that of this computer. @param {Date} at */
export function controlTime(at) {
	const day = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
	return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/**
 * What a control shows, with seconds and a zone: by default the one that this computer has at a time.
 * @param {string} shown @param {Date} at @param {string} [zone]
 */
export function withZone(shown, at, zone) {
	const minutes = -at.getTimezoneOffset();
	const ahead = Math.abs(minutes);
	const own = `${minutes < 0 ? "-" : "+"}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
	return `${shown}${/(^|T)\d\d:\d\d$/.test(shown) ? ":00" : ""}${zone || own}`;
}
