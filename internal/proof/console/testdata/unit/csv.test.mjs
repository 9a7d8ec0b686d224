import assert from "node:assert/strict";
import { test } from "node:test";
import { readRows, writeRow } from "../static/model/csv.js";

test("rows are read as they are written, and what is no row stays as it is", () => {
	const rows = [
		["a", 'say "yes"; or no', ""],
		["", "two\nlines", "x"],
		["ä", "", " "],
	];
	const text = rows.map((row) => writeRow(row, ";")).join("");
	assert.deepEqual(readRows(text, ";"), { rows, rest: "" });
	assert.deepEqual(readRows(text.replaceAll("\n", "\r\n"), ";").rows.length, 3);
	const broken = 'f28;lamp;"Great\nf29;lamp;5\n28;"a quote is not closed"\n';
	assert.deepEqual(readRows(text + broken, ";"), { rows, rest: broken });
	assert.deepEqual(readRows(`${text}a;b\n`, ";"), { rows, rest: "a;b\n" });
	assert.deepEqual(readRows("a;b;c", ";"), { rows: [["a", "b", "c"]], rest: "" });
});
