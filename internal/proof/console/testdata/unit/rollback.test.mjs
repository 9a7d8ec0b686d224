import assert from "node:assert/strict";
import test from "node:test";
import { before } from "../static/model/rollback.js";

/**
 * The moves of a tag, the newest first: versions that it was moved to, and "back" for a roll back.
 * @param {(string | null)[]} steps
 */
function moves(...steps) {
	const stack = [null];
	const list = [];
	let now = null;
	for (const step of steps) {
		if (step === "back") stack.pop();
		else stack.push(step);
		const to = stack.at(-1) ?? null;
		list.unshift({ from: now, to, ...(step === "back" && { rollback: true }) });
		now = to;
	}
	return list;
}

test("a roll back of a roll back goes further back, and never forth", () => {
	for (const [steps, want] of [
		[["1"], null],
		[["1", "2"], "1"],
		[["1", "2", "3"], "2"],
		[["1", "2", "3", "back"], "1"],
		[["1", "2", "3", "back", "back"], null],
		[["1", "2", "3", "back", "4"], "2"],
		[["1", "2", "3", "back", "4", "back"], "1"],
		[["1", "2", "1"], "2"],
		[[], undefined],
		[["1", "back"], undefined],
		[["1", "2", "back", "back"], undefined],
	])
		assert.equal(before(moves(...steps)), want, steps.join());
});
