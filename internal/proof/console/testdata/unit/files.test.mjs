import assert from "node:assert/strict";
import test from "node:test";
import { filled, foldersIn, holderOf, nameIn } from "../static/model/files.js";
import { fieldOf } from "../static/model/schema.js";

const picture = { type: "string", format: "vitrine-picture" };
const focus = { type: "object", properties: { x: { type: "number" }, y: { type: "number" } } };
const item = {
	type: "object",
	properties: {
		src: picture,
		alt: { type: "string" },
		width: { type: "integer" },
		height: { type: "string" },
		focus,
	},
};
const picked = { href: "/x/file/1/a.png?v=2", name: "a.png", alt: "A", width: 3, height: 2, focus: { x: 0.1, y: 1 } };

test("a text of such a format is a field for files", () => {
	assert.equal(fieldOf(picture, picture, undefined).kind, "file");
	assert.equal(fieldOf({ type: "string", format: "vitrine-other" }, {}, undefined).kind, "text");
});

test("a list takes several files where its items have one place for them", () => {
	assert.equal(holderOf(picture, picture), "");
	assert.equal(holderOf(item, item), "src");
	assert.equal(holderOf({ ...item, properties: { a: picture, b: picture } }, item), undefined);
	assert.equal(holderOf({ type: "string" }, {}), undefined);
});

test("what the schema has beside a file is filled in, as far as it is of the right type", () => {
	assert.equal(filled("old", picture, picture, "", picked), picked.href);
	const want = { src: picked.href, alt: "A", width: 3, focus: picked.focus };
	assert.deepEqual(filled({}, item, item, "src", picked), want);
	assert.deepEqual(filled(undefined, picture, picture, "src", picked), { src: picked.href });
});

test("the text of a person stays, and what was known of the file before goes", () => {
	const { width, ...unknown } = picked;
	assert.deepEqual(filled({ src: "b", alt: "Mine", width: 9, height: "high", more: 1 }, item, item, "src", unknown), {
		src: picked.href,
		alt: "Mine",
		height: "high",
		more: 1,
		focus: picked.focus,
	});
	assert.equal(filled({ alt: "" }, item, item, "src", picked).alt, "A");
});

test("the name of a file is in its address", () => {
	assert.equal(nameIn("/x/file/1/a%20b.png?v=2/3"), "a b.png");
	assert.equal(nameIn("/x/%zz"), "%zz");
});

test("an app shows the folders that its schemas call so, wherever they are", () => {
	const folder = { type: "string", format: "vitrine-folder" };
	const configSchema = {
		$defs: {
			part: { type: "object", properties: { from: { $ref: "#/$defs/folder" }, name: { type: "string" } } },
			folder,
		},
		type: "object",
		properties: {
			top: folder,
			parts: { type: "array", items: { $ref: "#/$defs/part" } },
			either: {
				oneOf: [
					{ type: "object", required: ["text"], properties: { text: { type: "string" } } },
					{ type: "object", required: ["wall"], properties: { wall: folder } },
				],
			},
			usual: { ...folder, default: "n/l/usual" },
		},
	};
	const config = {
		top: "n/l/top",
		parts: [{ from: "n/a/b/inner", name: "n/l/only-a-text" }, { from: "n/l/top" }, { from: "no folder" }],
		either: { wall: "n/l/wall" },
	};
	const elements = [{ component: { configSchema }, config }];
	assert.deepEqual(foldersIn({ elements }), ["n/l/top", "n/a/b/inner", "n/l/wall", "n/l/usual"]);
	assert.deepEqual(foldersIn({ elements: [{ component: { configSchema: {} }, config }] }), []);
});
