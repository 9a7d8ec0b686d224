import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { ApiError } from "../static/api.js";
import { equal, parse, stringify } from "../static/json.js";
import { Editor } from "../static/model/editor.js";
import { LocalDraft, changesOf, forget, kept, withChanges } from "../static/model/local.js";
import { draftOf, newKey } from "../static/model/patch.js";
import { haveAll, quiet, random, Service, settle } from "./service.mjs";

beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "Date"] }));
afterEach(() => mock.timers.reset());

// Disk is a localStorage: its keys are the names of what is in it.
function disk(room = Infinity) {
	const methods = {
		getItem: (name) => (Object.hasOwn(all, name) ? all[name] : null),
		removeItem: (name) => delete all[name],
		setItem(name, text) {
			const others = Object.keys(all)
				.filter((x) => x !== name)
				.reduce((n, x) => n + all[x].length, 0);
			if (others + text.length > room) throw new DOMException("full", "QuotaExceededError");
			all[name] = text;
		},
	};
	const all = Object.create(methods);
	return all;
}

// Locks are given in the order in which they are asked for.
function locks() {
	const queues = new Map();
	return {
		async request(name, { signal }, f) {
			const before = queues.get(name) ?? Promise.resolve();
			const turn = (async () => {
				await before;
				if (!signal.aborted) await f();
			})();
			queues.set(name, turn);
			await Promise.race([
				turn,
				new Promise((_, no) => signal.addEventListener("abort", () => no(new Error("waited too long")))),
			]);
		},
	};
}

const whose = ["https://example.test/", "urn:ann", "a"];

// A browser has tabs, each with a designer of the same app.
class Browser {
	constructor(service, room) {
		this.service = service;
		this.disk = disk(room);
		this.locks = locks();
	}

	async open(person = whose) {
		const end = new AbortController();
		const editor = new Editor(this.service, await this.service.app("a"));
		const local = new LocalDraft(person, editor, end.signal, { storage: this.disk, locks: this.locks });
		const restoring = local.restore();
		return {
			editor,
			local,
			restoring,
			close() {
				end.abort();
				editor.close();
			},
		};
	}
}

const whole = (e) => e.draft.elements.map((x) => x.config);
const stored = (service) => service.latest.elements.map((x) => x.config);
const element = (config) => ({ key: newKey(), component: { name: "c", version: "1" }, config });
const put = (e, i, config) => e.arrange(e.draft.elements.with(i, { ...e.draft.elements[i], config }));
const add = (e, i, config) => e.arrange(e.draft.elements.toSpliced(i, 0, element(config)));
const fits = (config) => !("wrong" in config);

function serviceOf(...configs) {
	const service = new Service(random(1), configs);
	service.fits = fits;
	return service;
}

test("an element that does not fit stays, and all else is saved, whatever is wrong with how many", async () => {
	const service = serviceOf({ n: 0 }, { n: 1 }, { n: 2 });
	const e = new Editor(service, service.latest);
	add(e, 0, { wrong: 1 });
	put(e, 2, { n: 1, wrong: 1 });
	put(e, 3, { n: 2, good: 1 });
	add(e, 4, { wrong: 2 });
	e.arrange(e.draft.elements.toSpliced(1, 1).toSpliced(4, 0, e.draft.elements[1])); // the first one, to the end
	await quiet([e]);
	assert.deepEqual(stored(service), [{ n: 1 }, { n: 2, good: 1 }, { n: 0 }]);
	assert.deepEqual(whole(e), [{ wrong: 1 }, { n: 1, wrong: 1 }, { n: 2, good: 1 }, { wrong: 2 }, { n: 0 }]);
	assert.deepEqual(
		e.refused.map((x) => x.config),
		[{ wrong: 1 }, { n: 1, wrong: 1 }, { wrong: 2 }],
	);
	assert.equal(service.patches.length, 1);
	put(e, 0, { now: "good" });
	put(e, 1, { n: 1, also: "good" });
	e.arrange(e.draft.elements.toSpliced(3, 1));
	await quiet([e]);
	assert.deepEqual(stored(service), [{ now: "good" }, { n: 1, also: "good" }, { n: 2, good: 1 }, { n: 0 }]);
	assert.deepEqual(e.refused, []);
	assert.equal(e.refusals.of(e.draft.elements[0].key), undefined);
});

test("what is refused is sent once, and once more after it was changed or the person asks", async () => {
	const service = serviceOf({ n: 0 });
	const e = new Editor(service, service.latest);
	let sent = 0;
	const { patch } = service;
	service.patch = (...request) => {
		sent++;
		return patch.apply(service, request);
	};
	put(e, 0, { wrong: 1 });
	await quiet([e]);
	assert.equal(sent, 1);
	e.change({ ...e.draft, title: "more" });
	await quiet([e]);
	assert.equal(sent, 2);
	assert.equal(service.latest.title, "more");
	service.fits = () => true; // another component of this name and version
	await e.retry();
	assert.equal(sent, 3);
	assert.deepEqual(stored(service), [{ wrong: 1 }]);
	assert.deepEqual(e.refused, []);
});

test("a refusal of what the person did not change is not put aside", async () => {
	const service = serviceOf({ n: 0 }, { n: 1 });
	const e = new Editor(service, service.latest);
	service.patch = () =>
		Promise.reject(
			new ApiError("no", { status: 422, code: "unknown_component", pointer: "/apps/0/elements/1/component" }),
		);
	e.change({ ...e.draft, title: "x" });
	mock.timers.tick(600);
	await settle();
	assert.equal(e.state.kind, "refused");
	assert.deepEqual(e.refused, []);
	e.close();
});

test("others' changes come in while an element is refused", async () => {
	const service = serviceOf({ n: 0, a: 1 }, { n: 1 }, { n: 2 });
	const [one, two] = [new Editor(service, service.latest), new Editor(service, service.latest)];
	put(one, 0, { n: 0, a: 1, wrong: 1 });
	add(one, 2, { wrong: 2 });
	await quiet([one]);
	put(two, 0, { n: 0, a: 2 });
	two.arrange([two.draft.elements[1], two.draft.elements[0], two.draft.elements[2]]);
	await quiet([two]);
	put(one, 3, { n: 2, b: 1 });
	await quiet([one]);
	assert.deepEqual(stored(service), [{ n: 1 }, { n: 0, a: 2 }, { n: 2, b: 1 }]);
	assert.deepEqual(whole(one), [{ n: 1 }, { wrong: 2 }, { n: 0, a: 2, wrong: 1 }, { n: 2, b: 1 }]);
	two.arrange(two.draft.elements.toSpliced(1, 1));
	await two.save();
	await quiet([two]);
	await one.catchUp();
	assert.equal(one.state.kind, "conflict");
	one.resolve(() => "mine");
	put(one, 2, { n: 0, right: 1 });
	await quiet([one]);
	assert.deepEqual(stored(service), [{ n: 1 }, { n: 0, right: 1 }, { n: 2, b: 1 }]);
});

test("undo and redo over what is refused", async () => {
	const service = serviceOf({ n: 0 });
	const e = new Editor(service, service.latest);
	put(e, 0, { n: 0, good: 1 });
	put(e, 0, { n: 0, good: 1, wrong: 1 });
	await quiet([e]);
	assert.deepEqual(stored(service), [{ n: 0 }]); // the element as a whole
	e.undo();
	await quiet([e]);
	assert.deepEqual(stored(service), [{ n: 0, good: 1 }]);
	e.redo();
	await quiet([e]);
	assert.equal(e.refused.length, 1);
	e.undo();
	e.undo();
	await quiet([e]);
	assert.deepEqual([stored(service), whole(e), e.refused], [[{ n: 0 }], [{ n: 0 }], []]);
});

test("changes as differences from a version", () => {
	const service = serviceOf({ n: 0 }, { n: 1 }, { n: 2 });
	const base = draftOf(service.latest);
	assert.deepEqual(changesOf(base, { ...base }), {});
	const [a, b, c] = base.elements;
	const added = { ...element(parse('{"x":1.10}')), key: "k" };
	const draft = { title: "u", groups: ["h"], elements: [c, added, { ...a, config: { n: 7 } }, b] };
	const changes = changesOf(base, draft);
	assert.equal(
		stringify(changes),
		'{"title":"u","groups":["h"],"elements":[2,{"key":"k","component":{"name":"c","version":"1"},"config":{"x":1.10}},' +
			'{"was":0,"component":{"name":"c","version":"1"},"config":{"n":7}},1]}',
	);
	const again = withChanges(base, parse(stringify(changes)));
	assert.ok(equal({ ...again, elements: whole({ draft: again }) }, { ...draft, elements: whole({ draft }) }));
	assert.deepEqual(
		again.elements.map((e) => e.key),
		[c, added, a, b].map((e) => e.key),
	);
	assert.deepEqual(changesOf(base, { ...base, title: "u" }), { title: "u" });
});

test("what is not saved comes back in the next tab: refused, typed offline, and typed a moment ago", async () => {
	const service = serviceOf({ n: 0 }, { n: 1 });
	const browser = new Browser(service);
	let tab = await browser.open();
	add(tab.editor, 1, { wrong: 1 });
	await quiet([tab.editor]);
	put(tab.editor, 2, { n: 1, typed: "just now" });
	tab.close();
	tab = await browser.open();
	await tab.restoring;
	assert.deepEqual(whole(tab.editor), [{ n: 0 }, { wrong: 1 }, { n: 1, typed: "just now" }]);
	await quiet([tab.editor]);
	assert.deepEqual(stored(service), [{ n: 0 }, { n: 1, typed: "just now" }]);
	assert.equal(tab.editor.refused.length, 1);
	tab.editor.undo(); // of what came back
	await quiet([tab.editor]);
	assert.deepEqual(whole(tab.editor), [{ n: 0 }, { n: 1 }]);
	assert.deepEqual(Object.keys(browser.disk), []);
	tab.editor.redo();
	await quiet([tab.editor]);
	assert.equal(Object.keys(browser.disk).length, 1);
	put(tab.editor, 1, { right: 1 });
	await quiet([tab.editor]);
	assert.deepEqual(stored(service), [{ n: 0 }, { right: 1 }, { n: 1, typed: "just now" }]);
	assert.deepEqual(Object.keys(browser.disk), []);
	tab.close();
});

test("it comes back to the element that it belongs to, though others have moved and changed elements", async () => {
	const service = serviceOf({ n: 0, a: 1 }, { n: 1, a: 1 }, { n: 2, a: 1 });
	const browser = new Browser(service);
	let tab = await browser.open();
	put(tab.editor, 1, { n: 1, a: 1, wrong: 1 });
	add(tab.editor, 2, { wrong: 2 });
	await quiet([tab.editor]);
	tab.close();
	const other = new Editor(service, service.latest);
	other.arrange([other.draft.elements[2], element({ n: 3 }), { ...other.draft.elements[1], config: { n: 1, a: 2 } }]);
	await quiet([other]);
	tab = await browser.open();
	await tab.restoring;
	await quiet([tab.editor]);
	assert.deepEqual(stored(service), [{ n: 2, a: 1 }, { n: 3 }, { n: 1, a: 2 }]);
	assert.deepEqual(whole(tab.editor), [{ n: 2, a: 1 }, { n: 3 }, { n: 1, a: 2, wrong: 1 }, { wrong: 2 }]);
	tab.close();
	// Somebody takes the element away, or changes the same field: the person chooses, also after another reload.
	other.arrange(other.draft.elements.toSpliced(2, 1));
	await quiet([other]);
	for (let i = 0; i < 2; i++) {
		tab = await browser.open();
		await tab.restoring;
		assert.equal(tab.editor.state.kind, "conflict");
		assert.deepEqual(
			tab.editor.state.conflicts.map((c) => [c.mine?.config, c.theirs]),
			[[{ n: 1, a: 2, wrong: 1 }, undefined]],
		);
		tab.close();
	}
	tab = await browser.open();
	await tab.restoring;
	tab.editor.resolve(() => "theirs");
	await quiet([tab.editor]);
	assert.deepEqual(whole(tab.editor), [{ n: 2, a: 1 }, { n: 3 }, { wrong: 2 }]);
	assert.deepEqual(stored(service), [{ n: 2, a: 1 }, { n: 3 }]);
	tab.close();
});

test("a new element that was stored, and whose answer was lost, is not added once more", async () => {
	const service = serviceOf({ n: 0 });
	const browser = new Browser(service);
	let tab = await browser.open();
	const { lose } = service;
	let requests = 0;
	service.lose = async () => {
		if (++requests >= 2) throw new ApiError("lost", { code: "offline" });
	};
	add(tab.editor, 1, { n: 1 });
	add(tab.editor, 2, { n: 1 });
	mock.timers.tick(600);
	await settle();
	assert.equal(tab.editor.state.kind, "offline");
	tab.close();
	service.lose = lose;
	tab = await browser.open();
	await tab.restoring;
	await quiet([tab.editor]);
	assert.deepEqual(stored(service), [{ n: 0 }, { n: 1 }, { n: 1 }]);
	tab.close();
});

test("two tabs keep what each has, and the one that is left takes over at its next load", async () => {
	const service = serviceOf({ n: 0 }, { n: 1 });
	const browser = new Browser(service);
	const one = await browser.open();
	const two = await browser.open();
	put(one.editor, 0, { n: 0, wrong: "one" });
	put(two.editor, 1, { n: 1, wrong: "two" });
	await quiet([one.editor, two.editor]);
	assert.equal(Object.keys(browser.disk).length, 2);
	const three = await browser.open();
	await settle();
	mock.timers.tick(5000); // no longer than that is waited for the others
	await three.restoring;
	assert.deepEqual(whole(three.editor), [{ n: 0 }, { n: 1 }]);
	for (const tab of [one, two, three]) tab.close();
	const four = await browser.open();
	await four.restoring;
	assert.deepEqual(whole(four.editor), [
		{ n: 0, wrong: "one" },
		{ n: 1, wrong: "two" },
	]);
	await quiet([four.editor]);
	assert.equal(Object.keys(browser.disk).length, 1);
	four.close();
});

test("where both tabs had the same place, the newer one's stands", async () => {
	const service = serviceOf({ n: 0 });
	const browser = new Browser(service);
	const one = await browser.open();
	mock.timers.tick(5);
	const two = await browser.open();
	put(one.editor, 0, { n: 0, wrong: "one" });
	put(two.editor, 0, { n: 0, wrong: "two" });
	await quiet([one.editor, two.editor]);
	one.close();
	two.close();
	const three = await browser.open();
	await three.restoring;
	assert.deepEqual(whole(three.editor), [{ n: 0, wrong: "two" }]);
	three.close();
});

test("a storage that is full or absent is told, and nothing that is there is lost", async () => {
	const service = serviceOf({ n: 0 });
	const browser = new Browser(service, 200);
	let tab = await browser.open();
	put(tab.editor, 0, { n: 0, wrong: "a".repeat(20) });
	await quiet([tab.editor]);
	assert.ok(tab.local.works);
	put(tab.editor, 0, { n: 0, wrong: "b".repeat(200) });
	await quiet([tab.editor]);
	assert.ok(!tab.local.works);
	tab.close();
	tab = await browser.open();
	await tab.restoring;
	assert.deepEqual(whole(tab.editor), [{ n: 0, wrong: "a".repeat(20) }]); // what there was room for
	assert.ok(tab.local.works);
	await quiet([tab.editor]);
	tab.close();
	const editor = new Editor(service, service.latest);
	const end = new AbortController();
	const local = new LocalDraft(whose, editor, end.signal, {
		storage: {
			removeItem() {},
			setItem() {
				throw new Error("denied");
			},
		},
		locks: locks(),
	});
	await local.restore();
	assert.ok(local.works);
	put(editor, 0, { wrong: 1 });
	await quiet([editor]);
	assert.ok(!local.works);
	put(editor, 0, { right: 1 });
	await quiet([editor]);
	assert.ok(local.works);
	end.abort();
});

test("two people whose tabs are closed and opened at any moment lose nothing that they typed", async () => {
	for (let seed = 1; seed < 150; seed++) {
		const r = random(seed);
		const service = new Service(r, [{ n: 0 }, { n: 1 }, { n: 2 }]);
		service.fits = fits;
		const people = ["x", "y"].map((name) => ({ name, browser: new Browser(service) }));
		const reopen = async (p) => {
			p.tab?.close();
			service.bad = 0;
			p.tab = await p.browser.open();
			await p.tab.restoring;
		};
		for (const p of people) await reopen(p);
		const typed = new Map();
		const added = [];
		for (let step = 0; step < 30; step++) {
			const p = people[r(2)];
			service.bad = [0, 6, 3][seed % 3];
			const e = p.tab.editor;
			const i = r(e.draft.elements.length);
			const item = e.draft.elements[i];
			switch (r(8)) {
				case 0:
					added.push(100 + step);
					add(e, i, r(2) === 0 ? { n: 100 + step } : { n: 100 + step, wrong: p.name });
					break;
				case 1:
					e.arrange(e.draft.elements.toSpliced(i, 1).toSpliced(r(e.draft.elements.length), 0, item));
					break;
				case 2:
					await reopen(p);
					break;
				default: {
					const field = `${p.name}${r(3)}`;
					typed.set(`${item.config.n} ${field}`, step);
					const config = { ...item.config, [field]: step };
					if (r(3) === 0) config.wrong = p.name;
					put(e, i, config);
				}
			}
			if (r(3) === 0) mock.timers.tick(r(1500));
			if (r(2) === 0) await settle();
		}
		service.bad = 0;
		// In the end everybody makes right what is wrong.
		const editors = people.map((p) => p.tab.editor);
		for (const e of editors)
			e.arrange(e.draft.elements.map(({ config: { wrong, ...config }, ...x }) => ({ ...x, config })));
		await quiet(editors);
		for (const e of editors) await e.catchUp();
		await quiet(editors);
		const { elements } = service.latest;
		haveAll(elements, typed, [0, 1, 2, ...added], seed);
		for (const p of people) {
			assert.ok(
				equal(
					whole(p.tab.editor),
					elements.map((x) => x.config),
				),
				`seed ${seed}: ${p.name} sees something else`,
			);
			assert.deepEqual(Object.keys(p.browser.disk), [], `seed ${seed}: something is kept`);
			p.tab.close();
		}
	}
});

test("nobody sees what another person typed, and who signs out leaves nothing", async () => {
	const service = serviceOf({ n: 0 });
	const browser = new Browser(service);
	let tab = await browser.open();
	put(tab.editor, 0, { n: 0, wrong: "secret" });
	await quiet([tab.editor]);
	tab.close();
	for (const person of [
		[whose[0], "urn:bob", "a"],
		["https://example.test/other/", "urn:ann", "a"],
		[whose[0], "urn:ann", "b"],
		[whose[0], "urn:an", "na"],
	]) {
		tab = await browser.open(person);
		await tab.restoring;
		assert.deepEqual(whole(tab.editor), [{ n: 0 }], person.join());
		tab.close();
	}
	assert.equal(kept(whose, browser.disk).length, 1);
	assert.equal(kept(whose.slice(0, 2), browser.disk).length, 1);
	tab = await browser.open();
	await tab.restoring;
	assert.deepEqual(whole(tab.editor), [{ n: 0, wrong: "secret" }]);
	tab.close();
	forget(whose.slice(0, 2), browser.disk);
	assert.deepEqual(Object.keys(browser.disk), []);
});

test("what is broken, of another program or of another store is dropped, and hides nothing else", async () => {
	const service = serviceOf({ n: 0 });
	const browser = new Browser(service);
	let tab = await browser.open();
	put(tab.editor, 0, { n: 0, wrong: 1 });
	await quiet([tab.editor]);
	tab.close();
	const [good] = Object.keys(browser.disk);
	const prefix = good.slice(0, good.lastIndexOf(" ", good.lastIndexOf(" ") - 1));
	for (const text of [
		"{",
		"5",
		"null",
		'{"version":"0"}',
		'{"version":"0","sent":[],"changes":{"elements":[{"was":0}]}}',
		'{"version":"0","sent":[],"changes":{"elements":7}}',
		'{"version":"77","sent":[],"changes":{}}',
	])
		browser.disk.setItem(`${prefix} 0 ${text.length}`, text);
	const { app } = service;
	service.app = async (id, version) => {
		if (version === "77") throw new ApiError("no", { status: 404, code: "not_found" });
		return app.call(service, id, version);
	};
	tab = await browser.open();
	await tab.restoring;
	await quiet([tab.editor]);
	assert.deepEqual(whole(tab.editor), [{ n: 0, wrong: 1 }]);
	assert.equal(Object.keys(browser.disk).length, 1);
	tab.close();
	// Without an answer from the service it stays.
	service.app = async (id, version) => {
		if (version !== undefined) throw new ApiError("lost", { code: "offline" });
		return app.call(service, id, version);
	};
	tab = await browser.open();
	await assert.rejects(tab.restoring, { code: "offline" });
	tab.close();
	assert.equal(Object.keys(browser.disk).length, 1);
});

test("an editor that is closed sends nothing more, whatever it waits for", async () => {
	for (const waiting of ["patch", "app"]) {
		const service = serviceOf({ n: 0 });
		const [one, two] = [new Editor(service, service.latest), new Editor(service, service.latest)];
		put(two, 0, { n: 0, b: 1 });
		await quiet([two]);
		put(one, 0, { n: 0, a: 1 });
		let sent = 0;
		const { patch } = service;
		service.patch = (...request) => {
			sent++;
			return patch.apply(service, request);
		};
		const f = service[waiting];
		service[waiting] = async (...request) => {
			const answer = f.apply(service, request);
			one.close();
			return answer;
		};
		mock.timers.tick(600);
		await settle();
		put(one, 0, { n: 0, a: 2 });
		mock.timers.tick(100_000);
		await settle();
		assert.equal(sent, 1, waiting);
		assert.deepEqual(stored(service), [{ n: 0, b: 1 }]);
	}
});
