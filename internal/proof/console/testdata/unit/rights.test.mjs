import assert from "node:assert/strict";
import test from "node:test";
import { learn } from "../static/model/names.js";
import { below, differences, effective, holder, moved, sentences } from "../static/model/rights.js";

const users = "urn:vitrine:example.test:user=";
const folder = (id, path, permissions, inherit = true) => ({
	id,
	path,
	label: id.toUpperCase(),
	children: [],
	inherit,
	deleted: false,
	permissions,
});
const user = (id, operation) => ({ id: "1", operation, user: { id } });
const role = (id, operation) => ({ id: "2", operation, role: { id, name: id } });
const all = (e) => Object.fromEntries([...e.rights.values()].map((r) => [r.who, `${r.operation} ${r.from.id}`]));

test("the best permission on the way up counts", () => {
	const e = effective(
		[
			folder("c", "/a/b", [user("rea", "view")]),
			folder("b", "/a", [user(`${users}rea`, "edit"), role("desk", "view")]),
			folder("a", "/", [role("desk", "manage")]),
		],
		users,
	);
	assert.deepEqual(all(e), { "person rea": "edit b", "role desk": "manage a" });
	assert.equal(e.open, false);
});

test("a folder is open while all inherit and nobody has a permission", () => {
	assert.equal(effective([folder("b", "/a", []), folder("a", "/", [])], users).open, true);
	assert.equal(effective([folder("b", "/a", []), folder("a", "/", [], false)], users).open, false);
	assert.equal(effective([folder("b", "/a", []), folder("a", "/", [role("x", "view")])], users).open, false);
	const alone = effective(
		[folder("b", "/a", [role("y", "view")], false), folder("a", "/", [role("x", "view")])],
		users,
	);
	assert.deepEqual(all(alone), { "role y": "view b" });
	const hidden = effective([folder("b", "/a", []), folder("a", "/", undefined)], users);
	assert.deepEqual([hidden.open, hidden.hidden], [false, true]);
});

test("a folder that moves out of a closed one keeps what it inherits", () => {
	const f = folder("f", "/b/a", [user("rea", "view")]);
	const closed = folder("a", "/b", [role("desk", "edit")]);
	const top = folder("b", "/", [role("desk", "manage")]);
	const open = folder("o", "/", []);
	const rights = (...args) => {
		const { chain, kept } = moved(...args);
		const { open, hidden, rights } = effective(chain, users);
		return [kept, open, hidden, Object.fromEntries([...rights.values()].map((r) => [r.who, r.operation]))];
	};
	const all = { "person rea": "view", "role desk": "manage" };
	assert.deepEqual(rights([f, closed, top], [open]), [true, false, false, all]);
	assert.deepEqual(rights([f, closed, top], []), [true, false, false, all]);
	// Not all of what closed it does so in the new place.
	assert.deepEqual(rights([f, closed, top], [top]), [true, false, false, all]);
	const other = folder("c", "/b/a", [role("press", "view")]);
	assert.deepEqual(rights([f, closed, top], [other, closed, top]), [
		false,
		false,
		false,
		{ ...all, "role press": "view" },
	]);
	// Nothing closed it, or it inherits nothing.
	assert.deepEqual(rights([f, open], [closed]), [false, false, false, { "person rea": "view", "role desk": "edit" }]);
	const own = { ...f, inherit: false };
	assert.deepEqual(rights([own, closed], []), [false, false, false, { "person rea": "view" }]);
	// What is above a folder that does not inherit does not count.
	const sealed = folder("s", "/b", [], false);
	assert.deepEqual(rights([f, sealed, top], [open]), [true, false, false, { "person rea": "view" }]);
	// It is not known what a hidden folder allows.
	const hidden = folder("h", "/", undefined);
	assert.deepEqual(rights([f, hidden], [open]), [true, false, true, { "person rea": "view" }]);
	assert.deepEqual(rights([f, hidden], [open, hidden]), [false, false, true, { "person rea": "view" }]);
});

test("what changes, for whom", () => {
	const open = effective([folder("a", "/", [])], users);
	const one = effective([folder("a", "/", [role("desk", "edit")])], users);
	const none = effective([folder("a", "/", [], false)], users);
	assert.deepEqual(differences(open, one), [
		"Not every member of the network may view it any more.",
		"Role desk may view and edit it; before: view.",
	]);
	assert.deepEqual(differences(one, open), [
		"Every member of the network may view it.",
		"Role desk may view it; before: view and edit.",
	]);
	assert.deepEqual(differences(one, none), [
		"Role desk may not view it any more; before: view and edit.",
		"Only moderators of the network see it.",
	]);
	assert.deepEqual(differences(one, one), []);
});

test("answers of explain are sentences", () => {
	const label = (id) => id.toUpperCase();
	const grant = { allowed: true, rule: "grant", folder: "a", grant: role("desk", "edit") };
	const no = { allowed: false, rule: "none" };
	assert.deepEqual(sentences({ view: grant, edit: grant, manage: no }, "rea", label, "folder", users), [
		"Rea may view and edit it: the folder “A” has a permission to edit for role desk.",
		"Rea may not manage it: no permission of it, or of a folder that it inherits from, allows that.",
	]);
	const moderator = { allowed: true, rule: "moderator" };
	assert.deepEqual(
		sentences({ view: moderator, edit: moderator, manage: moderator }, undefined, label, "folder", users),
		["You may view, edit and manage it: you moderate the network."],
	);
	assert.deepEqual(
		sentences({ view: { allowed: true, rule: "unfiled" }, edit: no }, undefined, label, "unfiled", users),
		[
			"You may view it: it is in no folder, so every member may view it.",
			"You may not edit it: it is in no folder, and only moderators change such assets.",
		],
	);
	const deleted = { allowed: false, rule: "deleted", folder: "b" };
	assert.deepEqual(sentences({ view: deleted, edit: deleted }, undefined, label, "asset", users), [
		"You may not view or edit it: the folder “B” is deleted, and nobody sees what is in it until it is brought " +
			"back.",
	]);
});

test("names and places", () => {
	learn([{ urn: `${users}1`, name: "Rea Lind" }]);
	assert.equal(holder({ user: { id: "1" } }, users), "person Rea Lind");
	assert.equal(holder({ user: { id: `${users}1`, name: "x" } }, users), "person Rea Lind");
	assert.equal(holder({ user: { id: "2" } }, users), "person 2");
	assert.equal(holder({ group: "urn:vitrine:example.test:site=1" }, users), "group 1");
	assert.deepEqual([below(undefined), below(folder("a", "/")), below(folder("b", "/a"))], ["/", "/a", "/a/b"]);
});
