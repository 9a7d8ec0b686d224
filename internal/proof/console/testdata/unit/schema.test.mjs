import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse, stringify } from "../static/json.js";
import { fits } from "../static/model/fits.js";
import { keywords, resolve } from "../static/model/keywords.js";
import { begin, chosen, fieldOf, itemAt, shows } from "../static/model/schema.js";
import { words } from "../static/model/words.js";

const kind = (schema, value) => fieldOf(schema, schema, value).kind;

test("each schema has its field", () => {
	for (const [schema, want] of [
		[{ type: "string" }, "text"],
		[{ type: "string", maxLength: 500 }, "long"],
		[{ minLength: 1 }, "text"],
		[{ type: "number" }, "number"],
		[{ type: "integer" }, "integer"],
		[{ minimum: 1 }, "number"],
		[{ type: "boolean" }, "boolean"],
		[{ enum: [1, "a"] }, "options"],
		[{ const: 3 }, "const"],
		[{ type: "null" }, "null"],
		[{ type: "array" }, "list"],
		[{ items: {} }, "list"],
		[{ properties: {} }, "object"],
		[{ oneOf: [{ type: "string" }, { type: "object" }] }, "choice"],
		[{ anyOf: [{ type: "string" }, { type: "null" }] }, "choice"],
		[{ type: ["string", "null"] }, "choice"],
		[{ oneOf: [{ const: 1, title: "One" }, { const: 2 }] }, "options"],
		[{ type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }, "object"],
		[{}, "json"],
		[true, "json"],
		[{ $ref: "#/none" }, "json"],
	])
		assert.equal(kind(schema), want, stringify(schema));
	assert.equal(kind({ type: "string" }, "two\nlines"), "long");
});

test("references are followed, and circles end", () => {
	const root = {
		$defs: {
			a: { $ref: "#/$defs/b" },
			b: { $anchor: "here", type: "string", title: "B" },
			"c/d": { type: "integer" },
			loop: { $ref: "#/$defs/loop" },
			item: { $id: "https://example.test/item", type: "boolean" },
		},
	};
	const of = ($ref) => fieldOf({ $ref, description: "beside" }, root, undefined);
	assert.deepEqual(
		[of("#/$defs/a").kind, of("#/$defs/a").title, of("#/$defs/a").description],
		["text", "B", "beside"],
	);
	assert.equal(of("#here").kind, "text");
	assert.equal(of("#/$defs/c~1d").kind, "integer");
	assert.equal(of("https://example.test/item").kind, "boolean");
	assert.equal(of("item").kind, "boolean");
	assert.equal(of("#/$defs/loop").kind, "json");
	assert.equal(resolve("https://elsewhere.test/x", root), undefined);
});

test("allOf joins, and if chooses", () => {
	const schema = {
		allOf: [
			{ type: "object", required: ["a"], properties: { a: { type: "string" } } },
			{ required: ["b"], properties: { a: { title: "A" }, b: { type: "integer" } } },
		],
		if: { properties: { a: { const: "x" } }, required: ["a"] },
		then: { properties: { c: { type: "boolean" } } },
	};
	const names = (value) => fieldOf(schema, schema, value).members.map((m) => [m.name, m.required]);
	assert.deepEqual(names({}), [
		["a", true],
		["b", true],
	]);
	assert.deepEqual(
		names({ a: "x" }).map(([n]) => n),
		["a", "b", "c"],
	); // what the value asks for comes last
	const a = fieldOf(schema, schema, {}).members.find((m) => m.name === "a");
	assert.deepEqual([fieldOf(a.schema, schema, "").kind, fieldOf(a.schema, schema, "").title], ["text", "A"]);
});

test("a value chooses its form", () => {
	const schema = {
		oneOf: [
			{ title: "Plain", type: "object", required: ["type"], properties: { type: { const: "plain" } } },
			{
				type: "object",
				required: ["type", "src"],
				properties: { type: { const: "picture" }, src: { type: "string" } },
			},
			{ type: "string" },
		],
	};
	const field = fieldOf(schema, schema, undefined);
	assert.deepEqual(
		field.options.map((o) => o.label),
		["Plain", "picture", "Text"],
	);
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
	const schema = {
		type: "object",
		required: ["v", "size", "name", "kind", "only"],
		properties: {
			v: { const: 2 },
			size: { default: parse("1.10") },
			name: { type: "string" },
			kind: { enum: ["a", "b"] },
			only: { enum: ["x"] },
			other: { const: 1 },
		},
	};
	assert.equal(stringify(begin(schema, schema)), '{"v":2,"size":1.10,"only":"x"}');
	const endless = { type: "object", required: ["next"], properties: { next: { $ref: "#" } } };
	assert.ok(stringify(begin(endless, endless)).length < 500);
});

test("members are in the order of the schema, and those that no schema names follow", () => {
	const schema = {
		type: "object",
		properties: { b: {}, a: {} },
		patternProperties: { "^x-": { type: "integer" } },
		additionalProperties: false,
	};
	const f = fieldOf(schema, schema, { "x-1": 1, a: 2 });
	assert.deepEqual(
		f.members.map((m) => m.name),
		["b", "a", "x-1"],
	);
	assert.equal(fieldOf(f.members[2].schema, schema, 1).kind, "integer");
	assert.equal(f.more.type, "integer");
});

test("words that differ", () => {
	const told = (a, b) =>
		words(a, b).map((p) => ({ same: p.text, added: `+${p.text}`, removed: `-${p.text}` })[p.kind]);
	assert.deepEqual(told("Is the tea hot?", "Is the cocoa hot?"), ["Is the ", "-tea", "+cocoa", " hot?"]);
	assert.deepEqual(told("", "new"), ["+new"]);
	assert.deepEqual(told("old", ""), ["-old"]);
	assert.deepEqual(told("same", "same"), ["same"]);
	assert.deepEqual(told("a b c d", "b c d e"), ["-a ", "b c d", "+ e"]);
	for (let seed = 1; seed < 500; seed++) {
		const some = (n) =>
			Array.from({ length: n }, (_, i) => ["a", "b ", ", ", "ü", "👍"][((seed * (i + 3) * 7919) >> 3) % 5]).join(
				"",
			);
		const [a, b] = [some(seed % 17), some((seed % 13) + 2)];
		const pieces = words(a, b);
		assert.equal(
			pieces
				.filter((p) => p.kind !== "added")
				.map((p) => p.text)
				.join(""),
			a,
		);
		assert.equal(
			pieces
				.filter((p) => p.kind !== "removed")
				.map((p) => p.text)
				.join(""),
			b,
		);
	}
	const long = "word ".repeat(5000);
	assert.equal(words(long, `${long}end`).at(-1).text, "end");
});

const addresses = {
	4: "http://json-schema.org/draft-04/schema#",
	6: "http://json-schema.org/draft-06/schema#",
	7: "http://json-schema.org/draft-07/schema#",
	2019: "https://json-schema.org/draft/2019-09/schema",
	2020: "https://json-schema.org/draft/2020-12/schema",
};
const drafts = Object.keys(addresses).map(Number);

/** Whether a draft has a keyword. */
const has = (draft, keyword) => draft >= keywords[keyword][0] && draft <= (keywords[keyword][1] ?? 2020);

test("each keyword counts in the drafts that have it, for the values with which the service is tested", () => {
	const cases = parse(readFileSync(process.env.VITRINE_KEYWORDS, "utf8"));
	assert.deepEqual([...new Set(cases.map((c) => c.keyword))].sort(), Object.keys(keywords).sort());
	for (const { keyword, drafts: only, schema, good, bad } of cases) {
		for (const draft of only ?? drafts) {
			const s = { $schema: addresses[draft], ...schema };
			const refused = (value) => `${stringify(value)} by ${stringify(s)}`;
			for (const value of good) assert.ok(fits(s, s, value), refused(value));
			for (const value of bad) assert.equal(fits(s, s, value), !has(draft, keyword), refused(value));
		}
	}
});

/**
 * What a form shows of a schema, in a line: its kind, what can be chosen, the members with a star if they are required.
 */
const form = (f) =>
	f.kind +
	(f.options ? ` ${f.options.map((o) => o.label).join("|")}` : "") +
	(f.members ? ` ${f.members.map((m) => m.name + (m.required ? "*" : "")).join(",")}` : "");

test("the form shows a keyword in the drafts that have it, and not in others", () => {
	const text = { type: "string" };
	const tried = new Set();
	for (const [keyword, schema, value, shown, otherwise] of [
		["$ref", { $ref: "#/definitions/a", definitions: { a: text } }, undefined, "text"],
		// A reference finds its aim in every draft.
		["$defs", { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: text } }, undefined, "text", "text"],
		["definitions", { allOf: [{ $ref: "#/definitions/a" }], definitions: { a: text } }, undefined, "text"],
		[
			"$dynamicRef",
			{ allOf: [{ $dynamicRef: "#/definitions/a" }], definitions: { a: text } },
			undefined,
			"text",
			"json",
		],
		[
			"$recursiveRef",
			{ allOf: [{ $recursiveRef: "#/definitions/a" }], definitions: { a: text } },
			undefined,
			"text",
			"json",
		],
		["type", text, undefined, "text"],
		["enum", { enum: [1, "a"] }, undefined, "options 1|a"],
		["const", { type: "string", const: "x" }, undefined, "const", "text"],
		[
			"const",
			{
				type: "string",
				oneOf: [
					{ const: "a", title: "A" },
					{ const: "b", title: "B" },
				],
			},
			undefined,
			"options A|B",
			"text",
		],
		["multipleOf", { type: "number", multipleOf: 2 }, undefined, "number"],
		["minimum", { minimum: 1 }, undefined, "number"],
		["maximum", { maximum: 1 }, undefined, "number"],
		["exclusiveMinimum", { type: "number", exclusiveMinimum: 1 }, undefined, "number"],
		["exclusiveMaximum", { type: "number", exclusiveMaximum: 1 }, undefined, "number"],
		["maxLength", { maxLength: 201 }, undefined, "long"],
		["minLength", { minLength: 1 }, undefined, "text"],
		["pattern", { pattern: "a" }, undefined, "text"],
		["format", { type: "string", format: "date-time" }, undefined, "time"],
		["format", { type: "string", format: "time" }, undefined, "time"],
		["items", { items: text }, undefined, "list"],
		["prefixItems", { prefixItems: [text] }, undefined, "list", "json"],
		["minItems", { type: "array", minItems: 1 }, undefined, "list"],
		["maxItems", { type: "array", maxItems: 1 }, undefined, "list"],
		["uniqueItems", { type: "array", uniqueItems: true }, undefined, "list"],
		["contains", { type: "array", contains: text }, undefined, "list", "list"],
		["minContains", { type: "array", contains: text, minContains: 2 }, undefined, "list", "list"],
		["maxContains", { type: "array", contains: text, maxContains: 2 }, undefined, "list", "list"],
		["properties", { properties: { a: text } }, undefined, "object a"],
		["required", { type: "object", required: ["a"] }, undefined, "object a*"],
		["patternProperties", { patternProperties: { "^x": text } }, { x: 1 }, "object x"],
		["additionalProperties", { additionalProperties: text }, { x: 1 }, "object x"],
		["propertyNames", { type: "object", propertyNames: { maxLength: 1 } }, { x: 1 }, "object x", "object x"],
		["minProperties", { type: "object", minProperties: 1 }, undefined, "object "],
		["maxProperties", { type: "object", maxProperties: 1 }, undefined, "object "],
		["allOf", { allOf: [text] }, undefined, "text"],
		["anyOf", { anyOf: [text, { type: "null" }] }, undefined, "choice Text|Nothing (null)"],
		["oneOf", { oneOf: [text, { type: "null" }] }, undefined, "choice Text|Nothing (null)"],
		["not", { type: "string", not: { minLength: 3 } }, undefined, "text"],
		[
			"if",
			{ type: "object", if: { required: ["a"] }, then: { properties: { b: text } } },
			{ a: 1 },
			"object b,a",
			"object a",
		],
		["then", { type: "object", if: {}, then: { required: ["b"] } }, {}, "object b*", "object "],
		["else", { type: "object", if: { required: ["a"] }, else: { required: ["b"] } }, {}, "object b*", "object "],
		[
			"dependencies",
			{ type: "object", dependencies: { a: ["b"], c: { properties: { d: text } } } },
			{ a: 1, c: 1 },
			"object d,b*,a,c",
		],
		["dependencies", { type: "object", dependencies: { a: ["b"], c: { properties: { d: text } } } }, {}, "object "],
		[
			"dependentRequired",
			{ type: "object", properties: { b: text }, dependentRequired: { a: ["b"] } },
			{ a: 1 },
			"object b*,a",
			"object b,a",
		],
		[
			"dependentSchemas",
			{ type: "object", dependentSchemas: { a: { properties: { b: text }, required: ["b"] } } },
			{ a: 1 },
			"object b*,a",
			"object a",
		],
		["additionalItems", { items: [text], additionalItems: { type: "null" } }, ["a", null], "list", "list"],
		["unevaluatedProperties", { type: "object", unevaluatedProperties: text }, { x: "y" }, "object x", "object x"],
		["unevaluatedItems", { type: "array", unevaluatedItems: text }, [], "list", "list"],
		["contentSchema", { type: "string", contentSchema: {} }, undefined, "text", "text"],
	]) {
		for (const draft of drafts) {
			const s = { $schema: addresses[draft], ...schema };
			assert.equal(
				form(fieldOf(s, s, value)),
				has(draft, keyword) ? shown : otherwise,
				`${keyword} in ${draft}: ${stringify(schema)}`,
			);
		}
		tried.add(keyword);
	}
	assert.deepEqual([...tried].sort(), Object.keys(keywords).sort());
	// Before 2019-09 what stands beside a reference asks for nothing, and is shown if it only describes.
	for (const draft of drafts) {
		const s = {
			$schema: addresses[draft],
			properties: { a: { $ref: "#/definitions/a", title: "A", enum: ["x"] } },
			definitions: { a: text },
		};
		const f = fieldOf(s.properties.a, s, undefined);
		assert.deepEqual([f.kind, f.title], [draft < 2019 ? "text" : "options", "A"]);
	}
});

test("the schemas of items and of members are those of the draft", () => {
	const item = (draft, schema, i) => {
		const s = { $schema: addresses[draft], type: "array", ...schema };
		return fieldOf(itemAt(fieldOf(s, s, []), i), s, undefined).kind;
	};
	for (const draft of drafts) {
		assert.equal(
			item(draft, { prefixItems: [{ type: "string" }], items: { type: "number" } }, 0),
			draft === 2020 ? "text" : "number",
		);
		if (draft !== 2020)
			assert.deepEqual(
				[0, 1].map((i) => item(draft, { items: [{ type: "string" }], additionalItems: { type: "number" } }, i)),
				["text", "number"],
			);
		assert.equal(item(draft, { unevaluatedItems: { type: "number" } }, 0), draft >= 2019 ? "number" : "json");
	}
});

test("a choice that a member asks for is asked once", () => {
	for (const keyword of ["dependencies", "dependentSchemas"]) {
		const schema = {
			$schema: addresses[keyword === "dependencies" ? 4 : 2019],
			type: "object",
			[keyword]: { a: { anyOf: [{ required: ["b"], properties: { b: {} } }, { properties: { c: {} } }] } },
		};
		const asked = fieldOf(schema, schema, { a: 1 });
		assert.equal(asked.kind, "choice");
		assert.deepEqual(
			asked.options.map((o) => form(fieldOf(o.value, schema, { a: 1 }))),
			["object b*,a", "object c,a"],
		);
		// What other members ask for is asked inside the choice too.
		const other = { ...schema, [keyword]: { ...schema[keyword], d: { properties: { e: {} } } } };
		assert.equal(
			form(fieldOf(fieldOf(other, other, { a: 1 }).options[1].value, other, { a: 1, d: 1 })),
			"object c,e,a,d",
		);
	}
});

test("values of enum are called as the schema calls them", () => {
	for (const [schema, want] of [
		[{ enum: ["a", "b"], enumNames: ["Ah", "Be"] }, "options Ah|Be"],
		[{ enum: ["a", "b"], enumNames: ["Ah"] }, "options a|b"],
		[{ enum: ["a", 1], enumNames: ["", 2] }, "options a|1"],
		[
			{
				enum: ["a", "b"],
				oneOf: [
					{ const: "b", title: "Be" },
					{ const: "a", title: "Ah" },
				],
			},
			"options Ah|Be",
		],
		[{ oneOf: [{ const: 1, title: "One" }, { const: 2 }] }, "options One|2"],
		[{ $schema: addresses[4], oneOf: [{ enum: ["a"], title: "Ah" }, { enum: ["b"] }] }, "options Ah|b"],
		[{ anyOf: [{ const: null, title: "None" }, { const: "a" }] }, "options None|a"],
	])
		assert.equal(form(fieldOf(schema, schema, undefined)), want, stringify(schema));
});

test("formats tell alternatives apart", () => {
	const schema = {
		oneOf: [
			{ type: "string", title: "Day", format: "date" },
			{ type: "string", title: "Address", format: "email" },
			{ type: "string", format: "uri" },
		],
	};
	const field = fieldOf(schema, schema, undefined);
	assert.deepEqual(
		["2026-01-05", "ann@example.test", "https://example.test/"].map((v) => chosen(field, schema, v)),
		[0, 1, 2],
	);
});

test("numbers are compared by their value, as the service does", () => {
	const of = (text, schema) => fieldOf(parse(schema), parse(schema), parse(text));
	for (const [schema, ...same] of [
		['{"const":1.0}', "1", "1.00", "10e-1"],
		['{"enum":[1.0,2.5]}', "1", "2.50", "0.25E1"],
		['{"const":[{"a":-0.0}]}', '[{"a":0}]'],
		['{"oneOf":[{"const":1.0,"title":"One"},{"const":2}]}', "1", "2.0"],
		['{"const":9007199254740993}', "9007199254740993.0"],
	]) {
		for (const text of same) {
			assert.ok(shows(of(text, schema), parse(text)), `${text} of ${schema}`);
			assert.ok(fits(parse(schema), parse(schema), parse(text)), `${text} fits ${schema}`);
		}
		for (const text of ["3", "-1", "1.0000000000000000001", "9007199254740992", '"1"', "null"]) {
			assert.ok(!shows(of(text, schema), parse(text)), `${text} of ${schema}`);
			assert.ok(!fits(parse(schema), parse(schema), parse(text)), `${text} fits ${schema}`);
		}
	}
	assert.ok(!fits({ uniqueItems: true }, {}, parse("[1,1.0]")));
});

test("the formats of the service tell the alternatives of a oneOf apart", () => {
	for (const [format, good, bad] of [
		["date", "2026-01-05", "5 January"],
		["date-time", "2026-01-05T09:30:00Z", "2026-01-05"],
		["time", "09:30:00Z", "noon"],
		["duration", "P1DT2H", "a day"],
		["email", "a@b.test", "a"],
		["hostname", "a.test", "a test"],
		["ipv4", "10.0.0.1", "10"],
		["ipv6", "::1", "10.0.0.1"],
		["uri", "https://a.test/", "/a"],
		["uri", "mailto:a@b.test", "a:\u00e9"],
		["iri", "https://a.test/\u00e9", "/a"],
		["uri-reference", "../a#b", "a b"],
		["uri-reference", "", "\u00e9"],
		["iri-reference", "\u00e9", "a b"],
		["uri-template", "/a/{id}", "/a/{id"],
		["uuid", "18ad8f15-c138-44b5-96fe-706ec3f33f75", "18ad"],
		["json-pointer", "/a", "a"],
		["relative-json-pointer", "1/a", "/a"],
		["regex", "^a$", "("],
	]) {
		const schema = {
			oneOf: [
				{ type: "string", format, title: "Of it" },
				{ type: "string", title: "Another" },
			],
		};
		const field = fieldOf(schema, schema, good);
		assert.equal(chosen(field, schema, good), 0, `${good} is of ${format}`);
		assert.equal(chosen(field, schema, bad), 1, `${bad} is not of ${format}`);
	}
});
