/**
 * Files of the library as values of a config: their addresses, and what goes along with one that is chosen.
 * @module
 */
import { define, isObject, own } from "../json.js";
import { objectIn } from "./keywords.js";
import { complete, fieldOf, itemAt, schemaOf, within } from "./schema.js";

/** @typedef {import("../json.js").Value} Value */
/**
 * @typedef {object} Picked a file that is chosen
 * @property {string} href its address, a path of the server
 * @property {string} name
 * @property {string} alt
 * @property {Value} [width] of the upright picture
 * @property {Value} [height]
 * @property {Value} [focus]
 */

const pictures = ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/svg+xml"];
const videos = ["video/mp4", "video/webm"];
const sounds = ["audio/mpeg", "audio/ogg", "audio/wav"];

/**
 * The kinds of files that a field may be for: what one is called, the type of its attachment, and the media types that
 * are taken. A phone converts pictures of other types where these are named one by one.
 * @type {Record<string, {noun: string, type?: string, media: string[]}>}
 */
export const kinds = {
	picture: { noun: "picture", type: "photo", media: pictures },
	video: { noun: "video", type: "video", media: videos },
	sound: { noun: "sound", type: "audio", media: sounds },
	file: { noun: "file", media: [...pictures, ...videos, ...sounds, "application/pdf"] },
};

/** The kind of files that a field is for. @param {import("./schema.js").Field} field */
export function fileKind({ schema }) {
	const name = String(schema["format"]).slice("vitrine-".length);
	return { name, ...(kinds[name] ?? kinds["file"] ?? { noun: "", media: [] }) };
}

/** The file of an asset, or undefined if it has none. @param {import("../api.js").Asset} asset */
export function fileOf(asset) {
	const first = Array.isArray(asset.content["attachment"]) ? asset.content["attachment"][0] : undefined;
	const { file, url, thumbnail_url: small, ...a } = objectIn(first);
	if (!isObject(file) || objectIn(asset.content["generator"])["id"] !== "files") return undefined;
	return {
		href: String(objectIn(url)["href"]),
		thumbnail: isObject(small) ? String(small["href"]) : undefined,
		type: String(a["type"]),
		media: String(file["type"]),
		size: Number(file["size"]),
		name: String(a["title"]),
		alt: String(a["description"] ?? ""),
		width: a["width"],
		height: a["height"],
		focus: file["focus"],
	};
}

/** The name of a file, by its address. @param {string} href */
export function nameIn(href) {
	const last =
		href
			.replace(/[?#].*/s, "")
			.split("/")
			.at(-1) ?? "";
	try {
		return decodeURIComponent(last);
	} catch {
		return last;
	}
}

/**
 * The member that has the file of an object: "" if the value itself is the file, undefined if it has none or several.
 * @param {Value} schema @param {Value} root
 */
export function holderOf(schema, root) {
	const { kind, members = [] } = fieldOf(schema, root, undefined);
	if (kind === "file") return "";
	const found = members.filter((m) => fieldOf(m.schema, root, undefined).kind === "file");
	return found.length === 1 ? found[0]?.name : undefined;
}

/** What is filled in beside a file, and the kinds of fields that take it. */
const about = /** @type {["alt" | "width" | "height" | "focus", string[]][]} */ ([
	["alt", ["text", "long"]],
	["width", ["number", "integer"]],
	["height", ["number", "integer"]],
	["focus", ["object"]],
]);

/**
 * A value with a file that was chosen for one of its members, and with what its schema has beside it. The text for
 * those who do not see the picture stays, if there is one.
 * @param {Value | undefined} value @param {Value} schema @param {Value} root
 * @param {string} name of the member; "" if the value itself is the file
 * @param {Picked} picked
 * @returns {Value}
 */
export function filled(value, schema, root, name, picked) {
	if (name === "") return picked.href;
	/** @type {{[name: string]: Value}} */
	const made = {};
	for (const [n, v] of Object.entries(objectIn(value))) define(made, n, v);
	define(made, name, picked.href);
	const known = fieldOf(schema, root, value).schema;
	for (const [member, fitting] of about) {
		if (member === name || !Object.hasOwn(objectIn(known["properties"]), member)) continue;
		if (!fitting.includes(fieldOf(schemaOf(known, member), root, undefined).kind)) continue;
		const next = picked[member];
		if (member === "alt" && (next === "" || own(made, "alt"))) continue;
		if (next === undefined) delete made[member];
		else define(made, member, next);
	}
	return made;
}

/**
 * The folders of the library that the elements of an app show: the texts that their schemas call a folder, each once.
 * @param {import("../api.js").App} app @returns {string[]} as network/library/id
 */
export function foldersIn({ elements }) {
	/** @param {Value} schema @param {Value} root @param {Value} value @returns {string[]} */
	const walk = (schema, root, value) => {
		const field = within(fieldOf(schema, root, value), root, value);
		if (typeof value === "string")
			return field.schema["format"] === "vitrine-folder" && /^[^/]+\/.+\/[^/]+$/.test(value) ? [value] : [];
		if (Array.isArray(value)) return value.flatMap((item, i) => walk(itemAt(field, i), root, item));
		return Object.entries(objectIn(value)).flatMap(([name, v]) => walk(schemaOf(field.schema, name), root, v));
	};
	const all = elements.flatMap(({ component: { configSchema: root }, config }) =>
		walk(root, root, complete(root, root, config)),
	);
	return [...new Set(all)];
}
