import assert from "node:assert/strict";
import test from "node:test";
import { askFor, begin, groupName, initials, learn, nameOf } from "../static/model/names.js";

const urn = (id) => `urn:vitrine:example.test:user=${id}`;

test("names are asked for once, a hundred at a time", async () => {
	const requests = [];
	begin({
		names: async (urns) => (
			requests.push(urns),
			urns.filter((x) => x !== urn(1)).map((x) => ({ urn: x, name: `Nr. ${x.split("=")[1]}` }))
		),
	});
	const all = Array.from({ length: 150 }, (_, i) => urn(i));
	await Promise.all([askFor(all), askFor([urn(3)])]);
	await askFor([urn(3), "urn:vitrine:example.test", "somebody"]);
	assert.deepEqual(
		requests.map((r) => r.length),
		[100, 50],
	);
	assert.deepEqual([nameOf(urn(3)), nameOf(urn(1))], ["Nr. 3", "1"]);
	learn([{ urn: urn(3), name: "Rea" }]);
	assert.equal(nameOf(urn(3)), "Rea");
});

test("where there are no names, people are called by their URNs, and a passing failure is tried again", async () => {
	let asked = 0;
	begin({ names: async () => (asked++, Promise.reject({ passing: asked === 1 })) });
	await askFor([urn(7)]);
	await askFor([urn(7)]);
	await askFor([urn(7)]);
	assert.deepEqual([asked, nameOf(urn(7))], [2, "7"]);
});

test("groups are called by the part that tells them apart", () => {
	assert.equal(groupName("urn:vitrine:a.test:site=blog"), "blog");
	assert.equal(groupName("urn:vitrine:a.test"), "a.test");
	assert.equal(groupName("urn:vitrine:b.test:site=blog"), "blog (b.test)");
	assert.equal(groupName("urn:vitrine:a.test:site=blog"), "blog (a.test)");
	assert.equal(groupName("urn:other:a.test:site=blog"), "urn:other:a.test:site=blog");
});

test("initials", () => {
	assert.deepEqual(["Lea Novak", "lea", "Anna van der Berg", "李 小龍", "", "é"].map(initials), [
		"LN",
		"L",
		"AB",
		"李小",
		"?",
		"É",
	]);
});
