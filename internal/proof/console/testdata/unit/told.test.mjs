import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ApiError } from "../static/api.js";
import { told } from "../static/model/told.js";

/** @type {string[]} */
const codes = JSON.parse(readFileSync(process.env.VITRINE_OPENAPI, "utf8")).components.schemas.Error.properties.code
	.enum;

test("each code of the service has words of the page's own", () => {
	for (const code of [...codes, "offline"].filter((code) => !["rule", "wrong_state"].includes(code))) {
		const words = told(new ApiError("RAW", { status: 400, code }));
		assert.match(words, /^[A-Z][^_]*\.$/, code);
		assert.ok(!words.includes("RAW") && !words.includes(`(${code})`), `${code}: ${words}`);
	}
});

test("what cannot be done at the moment is said in full", () => {
	assert.equal(told(new ApiError("it is done already", { code: "wrong_state" })), "It is done already.");
});

test("a rule of the program around the service speaks for itself", () => {
	assert.equal(told(new ApiError("the title is taken", { code: "rule" })), "the title is taken");
	assert.equal(
		told(new ApiError("/apps/0/title: the title is taken", { code: "rule", pointer: "/apps/0/title" })),
		"the title is taken",
	);
});

test("words have what a person needs of an error", () => {
	for (const [more, want] of [
		[{ code: "invalid", pointer: "/configSchema/properties/a~1b" }, "configSchema › properties › a/b"],
		[{ code: "invalid", parameter: "limit" }, "limit"],
		[{ code: "moved", pointsTo: "12" }, "version 12"],
		[{ code: "moved", pointsTo: null }, "removed"],
		[{ code: "too_many", retryAfter: 1 }, "in 1 second."],
		[{ code: "unavailable", retryAfter: 9 }, "in 9 seconds."],
		[{ code: "unavailable" }, "in a while."],
		[{ code: "new_code" }, "(new_code)"],
		[{ code: "__proto__" }, "(__proto__)"],
	])
		assert.ok(told(new ApiError("RAW", more)).includes(want), want);
});

test("what the page itself says stays", () => {
	assert.equal(told(new Error("An app has at least one group.")), "An app has at least one group.");
	assert.equal(
		told(new ApiError("The service answered with status 502.", { status: 502 })),
		"The service answered with status 502.",
	);
	const e = new ApiError("RAW", { code: "forbidden" });
	e.words = "Only a moderator may.";
	assert.equal(told(e), "Only a moderator may.");
	assert.equal(told("text"), "text");
});
