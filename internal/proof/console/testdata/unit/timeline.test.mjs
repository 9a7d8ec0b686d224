import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldAt, fieldOf, labelOf } from "../static/model/schema.js";
import { titleOf } from "../static/model/names.js";
import { elementName, read } from "../static/model/timeline.js";

const poll = {
	type: "object",
	properties: {
		question: { type: "string", title: "Question" },
		answers: {
			type: "array",
			title: "Answers",
			items: { type: "object", properties: { text: { type: "string", title: "Text" } } },
		},
		links: { type: "array", items: { type: "string", title: "Link" } },
		style: {
			title: "Style",
			oneOf: [
				{ type: "object", required: ["type"], properties: { type: { const: "plain" } } },
				{
					type: "object",
					required: ["type", "src"],
					properties: { type: { const: "picture" }, src: { type: "string", title: "Source" } },
				},
			],
		},
	},
};
const element = (name, title, config) => ({ component: { name, version: "1", title, configSchema: poll }, config });

test("a component is called by its title, if people can see one", () => {
	for (const [title, want] of [
		["Poll", "Poll"],
		[undefined, "poll"],
		["", "poll"],
		[" \t", "poll"],
		["\u202e\u200b", "poll"],
		[5, "poll"],
		[{}, "poll"],
		[null, "poll"],
		["<b>x</b>", "<b>x</b>"],
		["👍", "👍"],
	]) {
		assert.equal(titleOf({ name: "poll", title }), want);
	}
});

test("elements of one title have a number", () => {
	const list = [element("poll", "Poll"), element("countdown"), element("quiz", "Poll"), undefined];
	assert.deepEqual(
		list.map((_, i) => elementName(list, i)),
		["Poll 1", "countdown", "Poll 2", undefined],
	);
	assert.equal(elementName(list, 9), undefined);
});

test("fields are called as in the form", () => {
	const config = {
		question: "Tea?",
		answers: [{ text: "a" }, { text: "b" }],
		links: ["x"],
		style: { type: "picture", src: "x" },
	};
	const labels = (path, value = config) => fieldAt(poll, value, path).labels.join(" › ");
	assert.equal(labels(["question"]), "Question");
	assert.equal(labels(["answers", "1", "text"]), "Answers 2 › Text");
	assert.equal(labels(["links", "0"]), "Link 1");
	assert.equal(labels(["style", "src"]), "Style › Source");
	assert.equal(labels(["style", "src"], undefined), "Style › Source", "also where the value is not known");
	assert.equal(
		labels(["style", "src"], { style: { type: "plain" } }),
		"Style › Source",
		"also where the value is of another form",
	);
	assert.equal(labels(["more", "deep"]), "more › deep");
	assert.equal(labels([]), "");
	assert.equal(labels(["answers", "1"], undefined), "Answers 2");
	assert.equal(fieldAt(true, { a: [1] }, ["a", "0"]).labels.join(), "a 1");
	assert.equal(labelOf(fieldOf({ title: " \u200f" }, {}, 1), "name"), "name");
	const endless = { $ref: "#/$defs/a", $defs: { a: { oneOf: [{ $ref: "#/$defs/a" }] } } };
	assert.equal(fieldAt(endless, {}, ["x", "y"]).labels.join(), "x,y");
});

/** What is said, with names in brackets. */
const say = (said) =>
	said.map((s) => s.parts.map((p) => (typeof p === "string" ? p : `[${p.name}]`)).join("") + (s.known ? "" : " ?"));
const at = "/apps/0/elements";

test("a history is read from the version after it", () => {
	const after = [element("countdown", "Countdown", {}), element("poll", "Poll", {}), element("poll", "Poll", {})];
	const { said, before } = read(
		[
			{ op: "replace", path: "/apps/0/title" },
			{ op: "replace", path: "/apps/0/groups" },
			{ op: "remove", path: `${at}/0` },
			{ op: "add", path: `${at}/0` },
			{ op: "move", from: `${at}/2`, path: `${at}/1` },
			{ op: "replace", path: `${at}/2/config/answers/0/text` },
			{ op: "add", path: `${at}/2/config/question` },
		],
		undefined,
		after,
	);
	assert.deepEqual(say(said), [
		"changed the title",
		"changed the groups",
		"removed an element ?",
		"added [Countdown]",
		"moved [Poll 1]",
		"changed [Answers 1] › [Text] of [Poll 2]",
		"added [Question] of [Poll 2]",
	]);
	assert.deepEqual(before, [undefined, after[2], after[1]]);
});

test("what the version after does not tell is read from the version before", () => {
	const before = [element("poll", "Poll", {}), element("countdown", "Countdown", {})];
	const changes = [
		{ op: "remove", path: `${at}/0` },
		{ op: "add", path: `${at}/1` },
		{ op: "replace", path: `${at}/0/component/version` },
		{ op: "replace", path: `${at}/0/config` },
	];
	assert.deepEqual(say(read(changes, before, undefined).said), [
		"removed [Poll]",
		"added an element ?",
		"changed the version of an element ?",
		"changed the content of an element ?",
	]);
	const after = [{ ...before[1], component: { ...before[1].component, version: "2" } }, element("quiz", "Quiz", {})];
	assert.deepEqual(say(read(changes, before, after).said), [
		"removed [Poll]",
		"added [Quiz]",
		"changed the version of [Countdown]",
		"changed the content of [Countdown]",
	]);
	assert.deepEqual(say(read(changes, undefined, undefined).said).at(-1), "changed the content of an element ?");
	assert.deepEqual(read([{ op: "replace", path: at }], undefined, after), {
		said: [{ parts: ["changed the elements"], known: true }],
		before: undefined,
	});
});

test("operations that lead nowhere break nothing", () => {
	for (const path of [
		"",
		"/apps",
		"/apps/0",
		`${at}/x`,
		`${at}/99`,
		`${at}/99/config/a`,
		`${at}/-`,
		`${at}/0/other`,
	]) {
		for (const op of ["add", "remove", "replace", "move", "copy", "test"])
			read([{ op, path, from: path }], [undefined], [element("poll", "Poll", {})]);
	}
});
