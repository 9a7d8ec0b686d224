import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, stringify } from "../static/json.js";
import { begin, chosen, fieldOf, fits, resolve, shows } from "../static/model/schema.js";
import { words } from "../static/model/words.js";

const kind = (schema, value) => fieldOf(schema, schema, value).kind;

test("each schema has its field", () => {
	for (const [schema, want] of [
		[{ type: "string" }, "text"], [{ type: "string", maxLength: 500 }, "long"], [{ minLength: 1 }, "text"], [{ type: "number" }, "number"], [{ type: "integer" }, "integer"], [{ minimum: 1 }, "number"],
		[{ type: "boolean" }, "boolean"], [{ enum: [1, "a"] }, "options"], [{ const: 3 }, "const"], [{ type: "null" }, "null"], [{ type: "array" }, "list"], [{ items: {} }, "list"], [{ properties: {} }, "object"],
		[{ oneOf: [{ type: "string" }, { type: "object" }] }, "choice"], [{ anyOf: [{ type: "string" }, { type: "null" }] }, "choice"], [{ type: ["string", "null"] }, "choice"],
		[{ oneOf: [{ const: 1, title: "One" }, { const: 2 }] }, "options"], [{ type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }, "object"], [{}, "json"], [true, "json"], [{ $ref: "#/none" }, "json"],
	]) assert.equal(kind(schema), want, stringify(schema));
	assert.equal(kind({ type: "string" }, "two\nlines"), "long");
});

test("references are followed, and circles end", () => {
	const root = { $defs: { a: { $ref: "#/$defs/b" }, b: { $anchor: "here", type: "string", title: "B" }, "c/d": { type: "integer" }, loop: { $ref: "#/$defs/loop" }, item: { $id: "https://example.test/item", type: "boolean" } } };
	const of = ($ref) => fieldOf({ $ref, description: "beside" }, root, undefined);
	assert.deepEqual([of("#/$defs/a").kind, of("#/$defs/a").title, of("#/$defs/a").description], ["text", "B", "beside"]);
	assert.equal(of("#here").kind, "text");
	assert.equal(of("#/$defs/c~1d").kind, "integer");
	assert.equal(of("https://example.test/item").kind, "boolean");
	assert.equal(of("item").kind, "boolean");
	assert.equal(of("#/$defs/loop").kind, "json");
	assert.equal(resolve("https://elsewhere.test/x", root), undefined);
});

test("allOf joins, and if chooses", () => {
	const schema = { allOf: [{ type: "object", required: ["a"], properties: { a: { type: "string" } } }, { required: ["b"], properties: { a: { title: "A" }, b: { type: "integer" } } }],
		if: { properties: { a: { const: "x" } }, required: ["a"] }, then: { properties: { c: { type: "boolean" } } } };
	const names = (value) => fieldOf(schema, schema, value).members.map((m) => [m.name, m.required]);
	assert.deepEqual(names({}), [["a", true], ["b", true]]);
	assert.deepEqual(names({ a: "x" }).map(([n]) => n).sort(), ["a", "b", "c"]);
	const a = fieldOf(schema, schema, {}).members.find((m) => m.name === "a");
	assert.deepEqual([fieldOf(a.schema, schema, "").kind, fieldOf(a.schema, schema, "").title], ["text", "A"]);
});

test("a value chooses its form", () => {
	const schema = { oneOf: [{ title: "Plain", type: "object", required: ["type"], properties: { type: { const: "plain" } } }, { type: "object", required: ["type", "src"], properties: { type: { const: "picture" }, src: { type: "string" } } }, { type: "string" }] };
	const field = fieldOf(schema, schema, undefined);
	assert.deepEqual(field.options.map((o) => o.label), ["Plain", "picture", "Text"]);
	assert.equal(chosen(field, schema, { type: "plain" }), 0);
	assert.equal(chosen(field, schema, { type: "picture", src: "x" }), 1);
	assert.equal(chosen(field, schema, "x"), 2);
	assert.equal(chosen(field, schema, 3), -1);
	assert.equal(chosen(field, schema, undefined), -1);
});

test("what a form can show", () => {
	assert.ok(!shows(fieldOf({ type: "string" }, {}, 3), 3));
	assert.ok(shows(fieldOf({ type: "number" }, {}, parse("1.10")), parse("1.10")));
	assert.ok(!shows(fieldOf({ enum: [1] }, {}, 2), 2));
	assert.ok(fits({ type: "integer" }, {}, parse("9007199254740993")));
	assert.ok(!fits({ type: "integer" }, {}, 1.5));
	assert.ok(!fits({ not: {} }, {}, 1));
	assert.ok(!fits(false, {}, 1));
});

test("new values have what is certain, and leave the rest to the person", () => {
	const schema = { type: "object", required: ["v", "size", "name", "kind", "only"], properties: { v: { const: 2 }, size: { default: parse("1.10") }, name: { type: "string" }, kind: { enum: ["a", "b"] }, only: { enum: ["x"] }, other: { const: 1 } } };
	assert.equal(stringify(begin(schema, schema)), '{"v":2,"size":1.10,"only":"x"}');
	const endless = { type: "object", required: ["next"], properties: { next: { $ref: "#" } } };
	assert.ok(stringify(begin(endless, endless)).length < 500);
});

test("members are in the order of the schema, and those that no schema names follow", () => {
	const schema = { type: "object", properties: { b: {}, a: {} }, patternProperties: { "^x-": { type: "integer" } }, additionalProperties: false };
	const f = fieldOf(schema, schema, { "x-1": 1, a: 2 });
	assert.deepEqual(f.members.map((m) => m.name), ["b", "a", "x-1"]);
	assert.equal(fieldOf(f.members[2].schema, schema, 1).kind, "integer");
	assert.equal(f.more.type, "integer");
});

test("words that differ", () => {
	const told = (a, b) => words(a, b).map((p) => ({ same: p.text, added: `+${p.text}`, removed: `-${p.text}` })[p.kind]);
	assert.deepEqual(told("Is the tea hot?", "Is the cocoa hot?"), ["Is the ", "-tea", "+cocoa", " hot?"]);
	assert.deepEqual(told("", "new"), ["+new"]);
	assert.deepEqual(told("old", ""), ["-old"]);
	assert.deepEqual(told("same", "same"), ["same"]);
	assert.deepEqual(told("a b c d", "b c d e"), ["-a ", "b c d", "+ e"]);
	for (let seed = 1; seed < 500; seed++) {
		const some = (n) => Array.from({ length: n }, (_, i) => ["a", "b ", ", ", "ü", "👍"][(seed * (i + 3) * 7919 >> 3) % 5]).join("");
		const [a, b] = [some(seed % 17), some(seed % 13 + 2)];
		const pieces = words(a, b);
		assert.equal(pieces.filter((p) => p.kind !== "added").map((p) => p.text).join(""), a);
		assert.equal(pieces.filter((p) => p.kind !== "removed").map((p) => p.text).join(""), b);
	}
	const long = "word ".repeat(5000);
	assert.equal(words(long, `${long}end`).at(-1).text, "end");
});
