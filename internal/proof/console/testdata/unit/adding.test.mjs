import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../static/api.js";
import { Adding, faultOf } from "../static/model/adding.js";
import { items, placeOf, scan } from "../static/model/jsontext.js";

/** The values of a text that comes in pieces of n characters. */
async function all(text, n = text.length || 1) {
	const pieces = [];
	for (let i = 0; i < text.length; i += n) pieces.push(text.slice(i, i + n));
	const found = [];
	for await (const item of items(pieces)) found.push(item);
	return found;
}

/** The first mistake of a file, as line:column: message. */
async function mistakeOf(text) {
	for (const item of await all(text)) {
		const fault = faultOf(item);
		if (fault) return `${fault.line}:${fault.column}: ${fault.message}`;
	}
	return "";
}

test("the place of a mistake", async () => {
	for (const [text, want] of /** @type {[string, string][]} */ ([
		['{"a": 1,\n "b" 2}', '2:6: Want a colon after "b".'],
		['{"a": 1\n "b": 2}', "2:2: Want a comma or } here."],
		['{"a": [1, 2,]}', "1:12: Nothing follows this comma: want none before ]."],
		[
			'{"a": tru}',
			"1:7: Want a value here: a text in double quotation marks, a number, true, false, null, a list or an " +
				"object.",
		],
		["{'a': 1}", "1:2: Want the name of a member in double quotation marks here."],
		["{\"a\": 'x'}", "1:7: Texts stand in double quotation marks."],
		['{"a": "x\n"}', "1:7: The text that begins here has no closing quotation mark on its line."],
		[
			'{"a": "x\\y"}',
			'1:9: A backslash stands before one of " \\ / b f n r t, or before u and four hexadecimal digits.',
		],
		['{"a": 1, "a": 2}', '1:10: The member "a" is there twice.'],
		[
			'{"a": 01}',
			"1:7: Want a value here: a text in double quotation marks, a number, true, false, null, a list or an " +
				"object.",
		],
		['{"😀": 1 x}', "1:9: Want a comma or } here."],
		['{"a": {"b": 1}', "1:15: It ends too early. Want a comma or } here."],
		['[{"a": 1}\n{"a": 1}]', "2:1: Want a comma or ] here, between two items of the list."],
		['[{"a": 1},\n]', "2:1: Want an item of the list here, or no comma before."],
		['[{"a": 1}', "1:10: The list has no ] at its end."],
		['[{"a": 1}] 5', "1:12: Nothing may follow the end of the list."],
		["[5]", "1:2: Want an object: an asset with id, generator and content."],
		[
			"abc",
			"1:1: Want a value here: a text in double quotation marks, a number, true, false, null, a list or an " +
				"object.",
		],
		[
			'{"a": 1}\n{"a": }\n{"a": 2}',
			"2:7: Want a value here: a text in double quotation marks, a number, true, false, null, a list or an " +
				"object.",
		],
		[
			'{"a": 1}, {"a": 2}',
			"1:9: Want no comma here: between two assets there is one only where [ and ] are around them.",
		],
		[`${'{"a":'.repeat(66)}1${"}".repeat(66)}`, "1:326: Lists and objects are nested more than 64 deep."],
		['{"a": -0.5e+3, "b": ["\\u00e9\\n", null, true, {}, []]}', ""],
		["[]", ""],
		["", ""],
	]))
		assert.equal(await mistakeOf(text), want, text);
});

test("what JSON.parse takes, scan takes, and the other way round, but for names that are there twice", () => {
	const seeds = ['{"a":[1,-2.5e3,"x\\u00e9\\"y",null,true,{"b":{}}],"c":""}', '[0,{"a":"\\\\"}]'];
	let random = 7;
	const next = (/** @type {number} */ n) => (random = (random * 1103515245 + 12345) % 2147483648) % n;
	for (let i = 0; i < 20000; i++) {
		let text = seeds[next(2)];
		for (let k = next(3); k >= 0; k--) {
			const at = next(text.length);
			text =
				text.slice(0, at) +
				(next(2) === 0 ? '{}[]",:\\0.eE+-tnu x\n'[next(20)] : "") +
				text.slice(at + next(2));
		}
		let good = true;
		try {
			JSON.parse(text);
		} catch {
			good = false;
		}
		const { mistake } = scan(text);
		if (mistake?.message.endsWith("is there twice.")) continue;
		assert.equal(mistake === undefined, good, `${text}: ${mistake?.message}`);
	}
});

test("where values stand", () => {
	const text = '{"a": [1, {"b/c": 2}]}';
	const { places } = scan(text);
	assert.deepEqual(
		[...places].map(([p, at]) => [p, text[at]]),
		[
			["", "{"],
			["/a", "["],
			["/a/0", "1"],
			["/a/1", "{"],
			["/a/1/b~1c", "2"],
		],
	);
});

test("the values of a file, however it comes", async () => {
	for (const [text, want] of /** @type {[string, string[]][]} */ ([
		['{"a":1}\n{"a":2}\r\n\n{"a":3}', ['{"a":1}', '{"a":2}', '{"a":3}']],
		['\ufeff [ {"a":"],\\"["} ,\n{"b":[1]} ]\n', ['{"a":"],\\"["}', '{"b":[1]}']],
		['{\n\t"a": 1\n}\n{\n"a": 2\n}', ['{\n\t"a": 1\n}', '{\n"a": 2\n}']],
	])) {
		for (const n of [1, 2, 3, 7, 1000]) {
			const found = await all(text, n);
			assert.deepEqual(
				found.map((x) => x.text),
				want,
			);
			for (const item of found) {
				assert.equal(text.slice(item.at, item.at + item.text.length), item.text);
				const before = text.slice(0, item.at).split("\n");
				assert.deepEqual([item.line, item.column], [before.length, [...before.at(-1)].length + 1]);
			}
		}
	}
	const [item] = await all('\n  {"a":\n 1}');
	assert.deepEqual(placeOf(item, 7), { line: 3, column: 2, at: 10 });
});

test("a value that does not end is not held forever", async () => {
	const found = await all(`[{"a": "x",${" ".repeat(5 << 20)}`, 65536);
	assert.deepEqual(
		found.map((x) => x.mistake),
		["The value that begins here does not end, or is longer than 4 MiB."],
	);
});

/** A service that refuses what has "bad", and whole requests with more than two of "big". */
function service() {
	const stored = [];
	const sizes = [];
	return {
		stored,
		sizes,
		send: async (/** @type {string[]} */ add) => {
			sizes.push(add.length);
			const bad = add.findIndex((x) => x.includes("bad"));
			if (bad >= 0)
				throw new ApiError(`/add/${bad}/content/bad: want a string`, {
					status: 400,
					code: "invalid",
					pointer: `/add/${bad}/content/bad`,
				});
			if (add.filter((x) => x.includes("big")).length > 2)
				throw new ApiError("has too many terms", { status: 400, code: "invalid" });
			stored.push(...add);
		},
	};
}

const lines = (/** @type {string[]} */ list) => items([list.join("\n")]);
const asset = (/** @type {number} */ n, more = "{}") => `{"id":"${n}","content":${more}}`;

test("many assets are added in batches, and each that is refused is named", async () => {
	const s = service();
	const file = Array.from({ length: 250 }, (_, i) => asset(i, i % 100 === 7 ? '{"bad":1}' : "{}"));
	file[120] = '{"id":"120",';
	const adding = new Adding(s.send);
	await adding.run(lines(file));
	assert.equal(adding.added, 246);
	assert.equal(s.stored.length, 246);
	assert.deepEqual(
		adding.refused.map((r) => [r.id, r.line, r.column, r.message]),
		[
			["7", 8, 28, "content/bad: want a string"],
			["107", 108, 30, "content/bad: want a string"],
			["", 121, 13, "It ends too early. Want the name of a member in double quotation marks here."],
			["207", 208, 30, "content/bad: want a string"],
		],
	);
	assert.ok(Math.max(...s.sizes) <= 100);
	assert.equal(adding.rest, undefined);
});

test("a batch that is too much as a whole is halved", async () => {
	const s = service();
	const adding = new Adding(s.send);
	await adding.run(lines(Array.from({ length: 10 }, (_, i) => asset(i, '"big"'))));
	assert.deepEqual([adding.added, adding.refused.length, s.stored.length], [10, 0, 10]);
	assert.deepEqual(
		s.stored,
		Array.from({ length: 10 }, (_, i) => asset(i, '"big"')),
	);
});

test("batches have at most a million characters", async () => {
	const s = service();
	await new Adding(s.send).run(lines(Array.from({ length: 12 }, (_, i) => asset(i, `"${"x".repeat(200_000)}"`))));
	assert.deepEqual(s.sizes, [5, 5, 2]);
});

test("what may pass is tried again, and what never will ends it", async () => {
	const s = service();
	const waits = [];
	let failures = 3;
	const adding = new Adding(
		async (add) => {
			if (failures-- > 0)
				throw new ApiError(
					"busy",
					failures === 0 ? { status: 503, code: "unavailable", retryAfter: 9 } : { code: "offline" },
				);
			await s.send(add);
		},
		{ pause: async (seconds) => void waits.push(seconds) },
	);
	await adding.run(lines([asset(1), asset(2)]));
	assert.deepEqual([adding.added, waits, adding.waiting], [2, [1, 2, 9], undefined]);
	const forbidden = new Adding(async () => {
		throw new ApiError("no", { status: 403, code: "forbidden" });
	});
	await assert.rejects(forbidden.run(lines([asset(1), asset(2)])), /no/);
	assert.deepEqual([forbidden.added, forbidden.refused.length, forbidden.rest?.line], [0, 0, 1]);
});

test("a stop tells from where on nothing was sent", async () => {
	const s = service();
	const file = Array.from({ length: 350 }, (_, i) => asset(i));
	const adding = new Adding(async (add) => {
		await s.send(add);
		if (s.stored.length === 200) adding.stop();
	});
	await adding.run(lines(file));
	assert.deepEqual([adding.added, s.stored.length, adding.rest?.line], [200, 200, 201]);
});

test("a file of which everything is wrong is not sent to its end", async () => {
	const adding = new Adding(service().send);
	await adding.run(lines(Array.from({ length: 1500 }, () => "{x}")));
	assert.deepEqual([adding.added, adding.refused.length, adding.rest?.line], [0, 1000, 1001]);
});

test("assets that name no folder go into the one that is chosen, and numbers keep their text", async () => {
	const s = service();
	await new Adding(s.send, { folder: "9" }).run(
		lines(['{"id":"1","via":1.10}', '{"id":"2","folders":[]}', '{"id":"3","folders":["4"]}']),
	);
	assert.deepEqual(s.stored, [
		'{"id":"1","via":1.10,"folders":["9"]}',
		'{"id":"2","folders":["9"]}',
		'{"id":"3","folders":["4"]}',
	]);
});
