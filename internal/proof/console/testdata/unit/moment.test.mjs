import assert from "node:assert/strict";
import { test } from "node:test";
import { localTime, withZone } from "../static/model/moment.js";

process.env.TZ = "Europe/Berlin";

test("times are shown in the time of this computer, and get its zone", () => {
	for (const [text, type, want] of [
		["2026-01-05T09:30:00Z", "datetime-local", ["2026-01-05T10:30:00", "Z"]],
		["2026-07-05T09:30:15.25+00:00", "datetime-local", ["2026-07-05T11:30:15.25", "+00:00"]],
		["2026-12-31T23:30:00Z", "datetime-local", ["2027-01-01T00:30:00", "Z"]],
		["2026-01-05t09:30:00-05:00", "datetime-local", ["2026-01-05T15:30:00", "-05:00"]],
		["2026-01-05T09:30", "datetime-local", ["2026-01-05T09:30", ""]],
		["2026-01-05 09:30:00", "datetime-local", ["2026-01-05T09:30:00", ""]],
		["09:30:00Z", "time", ["09:30:00", "Z"]],
		["09:30", "time", ["09:30", ""]],
		["09:30:00+05:30", "time", ["09:30:00", "+05:30"]],
		["09:30", "datetime-local", undefined],
		["2026-01-05T09:30:00Z", "time", undefined],
		["2026-13-05T09:30:00Z", "datetime-local", undefined],
		["25:00", "time", undefined],
		["tomorrow", "datetime-local", undefined],
		["2026-01-05", "datetime-local", undefined],
		["", "time", undefined],
	])
		assert.deepEqual(localTime(text, type), want, text);
	for (const [shown, at, zone, want] of [
		["2026-01-05T10:30", "2026-01-05T10:30", undefined, "2026-01-05T10:30:00+01:00"],
		["2026-07-05T10:30:15", "2026-07-05T10:30:15", undefined, "2026-07-05T10:30:15+02:00"],
		["09:30", "2026-01-05T10:30", undefined, "09:30:00+01:00"],
		["09:30:15.5", "2026-01-05T10:30", "Z", "09:30:15.5Z"],
	])
		assert.equal(withZone(shown, new Date(at), zone), want);
});

test("what is shown is the same moment again", () => {
	for (let i = 0; i < 2000; i++) {
		const text = new Date(i * 12_345_678_000 + 1000 * i).toISOString().replace(".000", "");
		const [shown] = localTime(text, "datetime-local");
		const again = Date.parse(withZone(shown, new Date(shown)));
		const off = Math.abs(again - Date.parse(text));
		assert.ok(
			off === 0 || (off === 3_600_000 && localTime(new Date(again).toISOString(), "datetime-local")[0] === shown),
			`${text} is shown as ${shown}`,
		);
	}
});
