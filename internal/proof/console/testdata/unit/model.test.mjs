import assert from "node:assert/strict";
import { test } from "node:test";
import { equal, parse, stringify } from "../static/json.js";
import { merge } from "../static/model/merge.js";
import { compare, draftOf, longestRise, newKey, patchOf, same } from "../static/model/patch.js";
import { random } from "./service.mjs";

test("more changes than the service takes operations replace the elements", () => {
	const app = {
		title: "x",
		groups: ["g"],
		elements: Array.from({ length: 600 }, (_, i) => ({
			key: `0.${i}`,
			component: { name: "poll", version: "1" },
			config: { a: i, b: i },
		})),
	};
	const from = draftOf(app);
	for (const [changed, longest] of [
		[499, 999],
		[500, 2],
	]) {
		const to = {
			...from,
			title: "y",
			elements: from.elements.map((e, i) => (i < changed ? { ...e, config: { a: -1, b: -1 } } : e)),
		};
		const operations = patchOf(from, to, "7");
		assert.ok(
			operations.length >= longest && operations.length <= 1000,
			`${operations.length} operations for ${changed} elements`,
		);
		assert.deepEqual(
			operations.slice(0, 2).map((o) => o.path),
			["/apps/0/version", "/apps/0/title"],
		);
		assert.ok(same(like(apply({ ...app, version: "7" }, operations), to), to));
	}
});

const words = ["a", "b/c", "d~e", "title", "", "__proto__", "ü"];

function value(r, depth = 0) {
	switch (r(depth > 2 ? 4 : 6)) {
		case 0:
			return r(5);
		case 1:
			return words[r(words.length)];
		case 2:
			return r(2) === 0;
		case 3:
			return r(3) === 0 ? null : parse(["1.10", "9007199254740993", "1e5"][r(3)]);
		case 4:
			return Array.from({ length: r(4) }, () => value(r, depth + 1));
		default:
			return object(r, depth);
	}
}

function object(r, depth = 0) {
	const names = [...new Set(Array.from({ length: r(4) }, () => words[r(words.length)]))];
	const members = names.map((n) => `${JSON.stringify(n)}:${stringify(value(r, depth + 1))}`);
	return parse(`{${members.join(",")}}`);
}

function app(r) {
	const component = () => ({ name: `c${r(3)}`, version: `${r(3)}.0.0`, main: "x", configSchema: {} });
	return {
		title: `t${r(3)}`,
		groups: [`urn:v:n:site=${r(3)}`],
		version: "0",
		elements: Array.from({ length: r(7) }, (_, i) => ({
			id: String(i),
			key: `0.${i}`,
			component: component(),
			config: object(r),
		})),
	};
}

// changed is a draft after some random changes by a person.
function changed(r, draft, times = 1 + r(5)) {
	let { title, groups, elements } = draft;
	for (; times > 0; times--) {
		const i = r(elements.length + 1);
		switch (r(7)) {
			case 0:
				title = `t${r(9)}`;
				break;
			case 1:
				elements = elements.toSpliced(i, 0, {
					key: newKey(),
					component: { name: "new", version: "1" },
					config: object(r),
				});
				break;
			case 2:
				elements = elements.toSpliced(i, 1);
				break;
			case 3: {
				if (i < elements.length)
					elements = elements.toSpliced(i, 1).toSpliced(r(elements.length), 0, elements[i]);
				break;
			}
			case 4:
				if (r(3) === 0) groups = [...new Set([...groups, `urn:v:n:site=${r(9)}`])];
				break;
			case 5:
				if (i < elements.length)
					elements = elements.with(i, {
						...elements[i],
						component: { name: `c${r(3)}`, version: `${r(3)}.0.0` },
					});
				break;
			default:
				if (i < elements.length)
					elements = elements.with(i, {
						...elements[i],
						config: { ...elements[i].config, [["x", "y", "a"][r(3)]]: value(r) },
					});
		}
	}
	return { title, groups, elements };
}

// apply carries out operations on a stored app, as the service does.
function apply(stored, operations) {
	const root = parse(stringify({ apps: [stored] }));
	const names = (pointer) =>
		pointer
			.slice(1)
			.split("/")
			.map((n) => n.replaceAll("~1", "/").replaceAll("~0", "~"));
	const walk = (path) =>
		path.reduce((v, n) => {
			assert.ok(Object.hasOwn(v, n), `${path} leads nowhere`);
			return v[n];
		}, root);
	const put = (v, n, x) =>
		Object.defineProperty(v, n, { value: x, writable: true, enumerable: true, configurable: true });
	const take = (path) => {
		const parent = walk(path.slice(0, -1));
		const last = path.at(-1);
		assert.ok(Object.hasOwn(parent, last));
		if (Array.isArray(parent)) return parent.splice(Number(last), 1)[0];
		const was = parent[last];
		delete parent[last];
		return was;
	};
	const add = (path, v) => {
		const parent = walk(path.slice(0, -1));
		const last = path.at(-1);
		if (Array.isArray(parent)) {
			assert.ok(Number(last) <= parent.length);
			parent.splice(Number(last), 0, v);
		} else put(parent, last, v);
	};
	for (const o of operations) {
		const path = names(o.path);
		if (o.op === "test") assert.ok(equal(walk(path), o.value));
		else if (o.op === "remove") take(path);
		else if (o.op === "add") add(path, o.value);
		else if (o.op === "move") {
			assert.notEqual(o.from, o.path);
			add(path, take(names(o.from)));
		} else {
			walk(path);
			put(walk(path.slice(0, -1)), path.at(-1), o.value);
		}
	}
	return root.apps[0];
}

// like is the draft of an app whose elements are those of another draft in order.
function like(app, draft) {
	return draftOf({ ...app, elements: app.elements.map((e, i) => ({ ...e, key: draft.elements[i].key })) });
}

test("a patch makes one draft of the other", () => {
	for (let seed = 1; seed < 3000; seed++) {
		const r = random(seed);
		const stored = app(r);
		const from = draftOf(stored);
		const to = changed(r, from);
		const operations = patchOf(from, to, "0");
		const got = like(apply(stored, operations), to);
		assert.ok(same(got, to), `seed ${seed}: ${stringify(operations)}\n${stringify(got)}\nwant ${stringify(to)}`);
		assert.equal(operations.length === 1, same(from, to), `seed ${seed}`);
	}
});

test("one change is one operation", () => {
	const from = draftOf({
		title: "t",
		groups: ["g"],
		elements: ["a", "b", "c", "d"].map((x, i) => ({
			key: `0.${i}`,
			component: { name: x, version: "1" },
			config: { deep: { x, list: [1, 2] } },
		})),
	});
	const [a, b, c, d] = from.elements;
	const n = { key: newKey(), component: { name: "n", version: "1" }, config: {} };
	for (const [elements, op, path] of [
		[[n, a, b, c, d], "add", "/apps/0/elements/0"],
		[[a, c, d], "remove", "/apps/0/elements/1"],
		[[d, a, b, c], "move", "/apps/0/elements/0"],
		[[b, c, d, a], "move", "/apps/0/elements/3"],
		[
			[a, b, { ...c, config: { deep: { x: "z", list: [1, 2] } } }, d],
			"replace",
			"/apps/0/elements/2/config/deep/x",
		],
		[
			[a, b, { ...c, config: { deep: { x: "c", list: [1, 3] } } }, d],
			"replace",
			"/apps/0/elements/2/config/deep/list/1",
		],
		[
			[a, b, { ...c, config: { deep: { x: "c", list: [1, 2], y: 1 } } }, d],
			"add",
			"/apps/0/elements/2/config/deep/y",
		],
		[[a, b, { ...c, config: { deep: { x: "c" } } }, d], "remove", "/apps/0/elements/2/config/deep/list"],
		[
			[a, b, { ...c, component: { name: "c", version: "2" } }, d],
			"replace",
			"/apps/0/elements/2/component/version",
		],
	]) {
		const operations = patchOf(from, { ...from, elements }, "7");
		assert.equal(operations.length, 2, stringify(operations));
		assert.equal(operations[1].op, op);
		assert.equal(operations[1].path, path);
	}
});

test("the longest rise", () => {
	assert.deepEqual(longestRise([3, 0, 1, 2]), [1, 2, 3]);
	assert.deepEqual(longestRise([]), []);
});

test("numbers keep their text", () => {
	const text = '{"a":1.10,"b":9007199254740993,"c":[1e5,-0,2],"__proto__":1}';
	assert.equal(stringify(parse(text)), text);
	assert.ok(!equal(parse("1.10"), parse("1.1")));
	const operations = [];
	compare(parse("[1.10]"), parse("[1.1]"), "", operations);
	assert.equal(stringify(operations), '[{"op":"replace","path":"/0","value":1.1}]');
});

test("a merge keeps what either side changed, and names what both changed", () => {
	for (let seed = 1; seed < 3000; seed++) {
		const r = random(seed);
		const base = draftOf(app(r));
		const mine = changed(r, base);
		const theirs = changed(r, base);
		assert.ok(same(merge(base, mine, base).draft, mine), `seed ${seed}: nobody else changed anything`);
		assert.ok(same(merge(base, base, theirs).draft, theirs), `seed ${seed}: I changed nothing`);
		assert.deepEqual(merge(base, mine, mine).conflicts, []);
		const { draft, conflicts } = merge(base, mine, theirs);
		const got = new Map(draft.elements.map((e) => [e.key, e]));
		assert.equal(got.size, draft.elements.length, "no element twice");
		const their = new Map(theirs.elements.map((e) => [e.key, e]));
		const was = new Map(base.elements.map((e) => [e.key, e]));
		for (const e of mine.elements) {
			if (!was.has(e.key))
				assert.ok(equal(got.get(e.key)?.config, e.config), `seed ${seed}: my new element is there`);
		}
		for (const e of theirs.elements) {
			if (!was.has(e.key))
				assert.ok(equal(got.get(e.key)?.config, e.config), `seed ${seed}: their new element is there`);
		}
		for (const e of base.elements) {
			const mineNow = mine.elements.find((x) => x.key === e.key);
			const theirNow = their.get(e.key);
			if (conflicts.some((c) => c.key === e.key)) continue;
			if (!mineNow || !theirNow) assert.ok(!got.has(e.key), `seed ${seed}: one side took it away`);
			else if (equal(mineNow.config, e.config)) assert.ok(equal(got.get(e.key).config, theirNow.config));
			else if (equal(theirNow.config, e.config)) assert.ok(equal(got.get(e.key).config, mineNow.config));
		}
	}
});

test("fields of one element merge", () => {
	const base = draftOf({
		title: "t",
		groups: ["g"],
		elements: [{ key: "0.0", component: { name: "c", version: "1" }, config: { a: 1, b: { c: 1, d: [1] } } }],
	});
	const e = base.elements[0];
	const draft = (config) => ({ ...base, elements: [{ ...e, config }] });
	const both = merge(base, draft({ a: 2, b: { c: 1, d: [1] } }), draft({ a: 1, b: { c: 5, d: [1, 2] } }));
	assert.deepEqual(both.draft.elements[0].config, { a: 2, b: { c: 5, d: [1, 2] } });
	assert.deepEqual(both.conflicts, []);
	const clash = merge(base, draft({ a: 2, b: { c: 1, d: [1] } }), draft({ a: 3, b: { c: 1, d: [1] } }));
	assert.deepEqual(
		clash.conflicts.map((c) => [c.path, c.base, c.mine, c.theirs]),
		[[`${e.key}/config/a`, 1, 2, 3]],
	);
	assert.equal(clash.draft.elements[0].config.a, 2);
	const gone = merge(base, draft({ a: 2, b: {} }), { ...base, elements: [] });
	assert.equal(gone.conflicts[0].theirs, undefined);
	assert.equal(gone.draft.elements.length, 1, "what I changed does not vanish");
});
