/**
 * Addresses of views: how they are made, and how a part of one is read. router.js has the views.
 * @module
 */

/** The address of a view. @param {...string} parts */
export function to(...parts) {
	return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** A part of an address as text. @param {string} part */
export function decode(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}
