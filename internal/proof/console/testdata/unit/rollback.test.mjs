import assert from "node:assert/strict";
import test from "node:test";
import { before } from "../static/model/rollback.js";

/** The moves of a tag that has pointed to these versions, the newest first. @param {(string | null)[]} versions */
const moves = (...versions) => versions.slice(1).map((to, i) => ({ from: versions[i], to })).reverse();

test("a rollback of a rollback goes further back, and never forth", () => {
	for (const [versions, want] of [
		[["1", "2", "3"], "2"], [["1", "2", "3", "2"], "1"], [["1", "2", "3", "2", "1"], undefined], [["4", "5", "4"], undefined],
		[["2", "10"], "2"], // a number, not a text
		[["1", "2", "3", "1"], undefined], // two at once
		[["3", "5", "4"], "3"], // to one that it has not pointed to before
		[["1", "2", "3", "2", "4"], "2"], [["1", "2", "3", "2", "4", "2"], "1"], // not to 3, which was rolled back from
		[["7", "2", "9"], "2"], [["7", "2", "9", "2"], undefined],
		[[null, "4"], null], [["1", null, "4"], null], [["1", null, "4", "5", "4"], null], // what was before it was removed does not count
		[["4"], undefined],
	]) assert.equal(before(versions.at(-1), moves(...versions)), want, versions.join());
});
