import assert from "node:assert/strict";
import { test } from "node:test";
import { fits } from "../static/model/fits.js";
import { inLanguage, isTexts, missingIn, spoken, translated } from "../static/model/languages.js";
import { fieldAt } from "../static/model/schema.js";

const tea = { "lang:en": "Tea", "lang:de": "Tee" };

test("a service without languages has no texts in several", () => {
	spoken.all = [];
	assert.equal(isTexts(tea), false);
	assert.deepEqual(inLanguage({ a: tea }, "de"), { a: tea });
});

test("a text is answered as the service answers it", () => {
	spoken.all = ["en", "de", "fr"];
	for (const [value, language, want] of [
		[tea, "de", "Tee"],
		[tea, "de-AT", "Tee"],
		[tea, "fr", "Tea"],
		[{ "lang:fr": "thé", "lang:de": "Tee" }, "en", "Tee"],
		[{ "lang:it": "tè" }, "en", "tè"],
		[[{ a: tea, b: 1 }], "de", [{ a: "Tee", b: 1 }]],
		[{ "lang:en": 1 }, "en", { "lang:en": 1 }],
		[{ "lang:en": "x", a: "y" }, "en", { "lang:en": "x", a: "y" }],
		[{}, "en", {}],
		[{ "lang:": "x" }, "en", { "lang:": "x" }],
	])
		assert.deepEqual(inLanguage(value, language), want);
	assert.equal(missingIn([tea, { b: tea, c: "plain" }], "fr"), 2);
	assert.equal(missingIn([tea, { b: tea, c: "plain" }], "de"), 0);
});

test("a string becomes a text once it is translated, and a text has no empty languages", () => {
	spoken.all = ["en", "de", "fr"];
	assert.deepEqual(translated("Tea", "de", "Tee"), tea);
	assert.deepEqual(Object.keys(translated({ "lang:fr": "thé" }, "en", "Tea")), ["lang:en", "lang:fr"]);
	assert.deepEqual(translated(tea, "de", undefined), { "lang:en": "Tea" });
	assert.equal(translated({ "lang:de": "Tee" }, "de", undefined), undefined);
});

test("a text fits if each of its strings does, and its faults are named by languages", () => {
	spoken.all = ["en", "de", "fr"];
	const schema = { type: "object", properties: { a: { type: "string", maxLength: 3 } } };
	assert.equal(fits(schema, schema, { a: tea }), true);
	assert.equal(fits(schema, schema, { a: { ...tea, "lang:fr": "long" } }), false);
	assert.deepEqual(fieldAt(schema, { a: tea }, ["a", "lang:de"]).labels, ["a", "German"]);
});
