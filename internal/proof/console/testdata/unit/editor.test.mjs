import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { ApiError } from "../static/api.js";
import { equal } from "../static/json.js";
import { Editor } from "../static/model/editor.js";
import { newKey } from "../static/model/patch.js";
import { haveAll, quiet, random, Service, settle } from "./service.mjs";

test("two people edit at once: each change of another place is kept, through lost requests and answers", async () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	for (let seed = 1; seed < 250; seed++) {
		const r = random(seed);
		const service = new Service(r, [{ n: 0 }, { n: 1 }, { n: 2 }]);
		service.bad = [0, 6, 3][seed % 3];
		const editors = ["x", "y"].map((name) => Object.assign(new Editor(service, service.latest), { name }));
		const typed = new Map(); // "<n of the element> <field>" -> value
		const added = [];
		for (let step = 0; step < 30; step++) {
			const e = editors[r(2)];
			const { draft } = e;
			const i = r(draft.elements.length);
			const item = draft.elements[i];
			switch (r(6)) {
				case 0: {
					const n = 100 + step;
					added.push(n);
					e.change({
						...draft,
						elements: draft.elements.toSpliced(i, 0, {
							key: newKey(),
							component: { name: "c", version: "1" },
							config: { n },
						}),
					});
					break;
				}
				case 1:
					e.change({
						...draft,
						elements: draft.elements.toSpliced(i, 1).toSpliced(r(draft.elements.length), 0, item),
					});
					break;
				default: {
					const field = `${e.name}${r(3)}`; // each person has fields of their own
					typed.set(`${item.config.n} ${field}`, step);
					e.change({
						...draft,
						elements: draft.elements.with(i, { ...item, config: { ...item.config, [field]: step } }),
					});
				}
			}
			if (r(3) === 0) mock.timers.tick(r(1500));
			if (r(2) === 0) await settle();
		}
		service.bad = 0;
		await quiet(editors);
		for (const e of editors) await e.catchUp();
		await quiet(editors);
		const { elements } = service.latest;
		haveAll(elements, typed, [0, 1, 2, ...added], seed);
		for (const e of editors)
			assert.ok(
				equal(
					e.draft.elements.map((x) => x.config),
					elements.map((x) => x.config),
				),
				`seed ${seed}: ${e.name} sees something else`,
			);
	}
	mock.timers.reset();
});

test("two changes of one place are a conflict, and the person's choice is what is saved", async () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	for (const choice of ["mine", "theirs"]) {
		const service = new Service(random(1), [{ a: 1, b: 1 }]);
		const [one, two] = [new Editor(service, service.latest), new Editor(service, service.latest)];
		const set = (e, config) => e.change({ ...e.draft, elements: [{ ...e.draft.elements[0], config }] });
		set(one, { a: 2, b: 1 });
		await quiet([one]);
		set(two, { a: 3, b: 5 });
		mock.timers.tick(600);
		await settle();
		assert.equal(two.state.kind, "conflict");
		assert.deepEqual(
			two.state.conflicts.map((c) => [c.base, c.mine, c.theirs]),
			[[1, 3, 2]],
		);
		two.resolve(() => choice);
		await quiet([two]);
		assert.deepEqual(service.latest.elements[0].config, { a: choice === "mine" ? 3 : 2, b: 5 });
	}
	mock.timers.reset();
});

test("undo takes my change back and leaves what others changed since", async () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	const service = new Service(random(1), [{ a: 1, b: 1 }]);
	const [one, two] = [new Editor(service, service.latest), new Editor(service, service.latest)];
	const set = (e, more) =>
		e.change({
			...e.draft,
			elements: [{ ...e.draft.elements[0], config: { ...e.draft.elements[0].config, ...more } }],
		});
	set(one, { a: 2 });
	await quiet([one]);
	set(two, { b: 2 });
	await quiet([two]);
	await one.catchUp();
	one.undo();
	await quiet([one]);
	assert.deepEqual(service.latest.elements[0].config, { a: 1, b: 2 });
	one.redo();
	await quiet([one]);
	assert.deepEqual(service.latest.elements[0].config, { a: 2, b: 2 });
	mock.timers.reset();
});

test("undo and redo go on in the next editor of the app, also over elements that were new", async () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	const service = new Service(random(1), [{ n: 0 }]);
	const one = new Editor(service, service.latest);
	const item = { key: newKey(), component: { name: "c", version: "1" }, config: { n: 1 } };
	one.arrange([...one.draft.elements, item]);
	await quiet([one]);
	one.arrange(one.draft.elements.with(1, { ...item, config: { n: 2 } }));
	await quiet([one]);
	one.undo();
	await quiet([one]);
	const configs = () => service.latest.elements.map((e) => e.config.n);
	assert.deepEqual(configs(), [0, 1]);
	one.close();
	const other = new Editor(service, service.latest);
	other.change({ ...other.draft, title: "theirs" });
	await quiet([other]);
	const two = new Editor(service, service.latest, false, one.trail);
	two.redo();
	await quiet([two]);
	assert.deepEqual(configs(), [0, 2]);
	two.undo();
	two.undo();
	await quiet([two]);
	assert.deepEqual([configs(), service.latest.title], [[0], "theirs"]);
	assert.equal(two.canUndo, false);
	mock.timers.reset();
});

test("what the service refuses stays, and is tried again with the next change", async () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	const service = new Service(random(1), [{ a: 1 }]);
	const e = new Editor(service, service.latest);
	const { patch } = service;
	service.patch = async () => {
		throw new ApiError("no", { status: 422, code: "invalid_patch", pointer: "/0" });
	};
	const set = (a) => e.change({ ...e.draft, elements: [{ ...e.draft.elements[0], config: { a } }] });
	set(2);
	mock.timers.tick(600);
	await settle();
	assert.equal(e.state.kind, "refused");
	assert.ok(e.unsaved);
	service.patch = patch;
	set(3);
	await quiet([e]);
	assert.deepEqual(service.latest.elements[0].config, { a: 3 });
	for (const [error, kind] of [
		[new ApiError("gone", { status: 404, code: "not_found" }), "gone"],
		[new ApiError("later", { status: 503, code: "unavailable", retryAfter: 5 }), "offline"],
		[new ApiError("full", { status: 507, code: "full" }), "offline"],
		[new ApiError("large", { status: 413, code: "too_large" }), "refused"],
	]) {
		const other = new Editor(
			{ ...service, patch: () => Promise.reject(error), app: async () => service.latest },
			service.latest,
		);
		other.change({ ...other.draft, title: "x" });
		mock.timers.tick(600);
		await settle();
		assert.equal(other.state.kind, kind, error.code);
		assert.equal(other.draft.title, "x");
		other.close();
	}
	mock.timers.reset();
});

test("a conflict without a newer version is tried again like a passing error, and shown", async () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	const service = new Service(random(1), [{ a: 1 }]);
	const e = new Editor(service, service.latest);
	const { patch } = service;
	let patches = 0;
	service.patch = async () => {
		if (++patches > 20) await new Promise(() => {});
		throw new ApiError("the title is taken", {
			status: 409,
			code: "stale_version",
			version: service.latest.version,
		});
	};
	e.change({ ...e.draft, title: "taken" });
	mock.timers.tick(600);
	await settle();
	assert.equal(patches, 1);
	for (let second = 0; second < 60; second++) {
		mock.timers.tick(1000);
		await settle();
	}
	assert.equal(patches, 6);
	assert.equal(e.state.kind, "offline");
	assert.equal(e.state.error.message, "the title is taken");
	assert.equal(e.draft.title, "taken");
	service.patch = patch;
	e.change({ ...e.draft, title: "free" });
	await quiet([e]);
	assert.equal(service.latest.title, "free");
	mock.timers.reset();
});

test("a look at what others have stored that takes longer than a save takes nothing back", async () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	const service = new Service(random(1), [{ a: 1, b: 1 }]);
	const [one, two] = [new Editor(service, service.latest), new Editor(service, service.latest)];
	const set = (e, more) =>
		e.change({
			...e.draft,
			elements: [{ ...e.draft.elements[0], config: { ...e.draft.elements[0].config, ...more } }],
		});
	set(one, { b: 2 });
	await quiet([one]);
	const { app } = service;
	let answer;
	service.app = async (...request) => {
		const found = await app.apply(service, request);
		await new Promise((resolve) => (answer = resolve));
		return found;
	};
	const look = two.catchUp();
	await settle();
	service.app = app;
	set(two, { a: 2 });
	await quiet([two]);
	assert.deepEqual(service.latest.elements[0].config, { a: 2, b: 2 });
	answer();
	await look;
	assert.equal(two.app.version, service.latest.version);
	assert.deepEqual(two.draft.elements[0].config, { a: 2, b: 2 });
	mock.timers.reset();
});

test("an app that may not be changed shows what others change, and stays so", async () => {
	const service = new Service(random(1), [{ n: 0 }]);
	const [reader, writer] = [true, false].map((readonly) => new Editor(service, service.latest, readonly));
	writer.change({ ...writer.draft, title: "theirs" });
	await writer.save();
	assert.equal(await reader.catchUp(), true);
	assert.equal(reader.draft.title, "theirs");
	assert.equal(reader.state.kind, "readonly");
	reader.change({ ...reader.draft, title: "mine" });
	assert.equal(reader.draft.title, "theirs");
});
