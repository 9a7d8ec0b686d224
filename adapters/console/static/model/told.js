/**
 * What a person is told about an error: a sentence of the page's own for each code of the service. Most sentences of
 * the service are for those who write programs.
 * @module
 */
import { ApiError } from "../api.js";
import { names } from "../json.js";

const changed = "Somebody has changed this meanwhile. Look at it again before you go on.";
const reload = "This page and the service do not understand each other. Reload the page and try again.";
const large = "This is more than the service takes.";

/** @type {Record<string, string | ((e: ApiError) => string)>} */
const sentences = {
	offline: "The service cannot be reached.",
	invalid: (e) => `Something in this is not accepted${where(e)}.`,
	exists: "This exists already. Take another version or name.",
	unauthorized: "You are not signed in, or your token has expired or was not copied whole.",
	forbidden: "You do not have the right to do this.",
	not_found: "This does not exist, or you may not see it.",
	needs_confirmation: "This needs you to show again that it is you. Nothing was done.",
	needs_release: "Somebody has to approve a move of this tag: put it into a release.",
	wrong_state: inFull, // the reasons are many, and each says what to do first
	needs_approval: "Too few people have approved this release.",
	conflicts: "The release cannot be run as it is, and nothing was moved. What is in its way stands below.",
	method_not_allowed: reload,
	stale_version: changed,
	test_failed: changed,
	changed,
	precondition: reload,
	moved: (e) =>
		e.pointsTo === undefined
			? "This is in another place already."
			: e.pointsTo === null
				? "Somebody has removed this tag meanwhile."
				: `This tag points to version ${e.pointsTo} already. Somebody else has set it.`,
	gone: "What changed since you opened this page is not known any more. Reload the page.",
	too_large: large,
	media_type: reload,
	not_applicable: "This cannot be done to what is stored. Look at it again before you go on.",
	rule: (e) => (e.pointer ? e.message.replace(`${e.pointer}: `, "") : e.message),
	read_only: "A part of this cannot be changed.",
	unknown_component: "A component, or this version of it, does not exist any more.",
	schema: "Something in an element is missing or not accepted by its component.",
	cost: "This is too large or too complicated for the service to check. Make it simpler.",
	limit: large,
	key_reused: reload,
	too_many: (e) => `There were too many requests.${later(e)}`,
	internal:
		"Something went wrong in the service. If it does so again, give the id of the request to those who run it.",
	unavailable: (e) => `The service is not available at the moment.${later(e)}`,
	unknown_outcome: "It is not known whether this was done. Look before you try again.",
	full: "The storage of the service is full. Nothing can be saved until there is room.",
};

/** What a person is told about an error, in a sentence. @param {unknown} e */
export function told(e) {
	if (!(e instanceof ApiError)) return e instanceof Error ? e.message : String(e);
	if (e.words !== undefined) return e.words;
	const own = Object.hasOwn(sentences, e.code)
		? sentences[e.code]
		: e.code === ""
			? e.message
			: `The service does not do this (${e.code}).`;
	return typeof own === "function" ? own(e) : (own ?? "");
}

/** What the service says, as a sentence. @param {ApiError} e */
export function inFull({ message }) {
	return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

/** Which part of a request an error is about. @param {ApiError} e */
function where(e) {
	const path = names(e.pointer ?? "")
		.concat(e.parameter ?? [])
		.join(" › ");
	return path === "" ? "" : `: ${path}`;
}

/** @param {ApiError} e */
function later(e) {
	return e.retryAfter === undefined
		? " Try again in a while."
		: ` Try again in ${e.retryAfter} ${e.retryAfter === 1 ? "second" : "seconds"}.`;
}
