/**
 * Where tags will point, by the releases that are scheduled.
 * @module
 */

/** @typedef {import("../api.js").Release} Release */

/** Whether the schedule will end a release that has run. @param {Release} r */
export function ending(r) {
	return r.state === "done" && r.until !== null && r.conflicts.length === 0;
}

/**
 * Where a tag will point at a time: as now, unless a release moves it before. Of one time, ends come first.
 * @param {Release[]} releases @param {string} app @param {string} tag @param {string | null} now @param {number} at
 * @returns {{version: string | null, by?: Release}} by is the release that moves it there
 */
export function pointsAt(releases, app, tag, now, at) {
	const steps = releases.flatMap((by) => {
		const move = by.moves.find((m) => m.app === app && m.tag === tag);
		if (!move) return [];
		const begins = by.state === "scheduled" && by.at !== null ? [{ at: by.at, end: 0, version: move.to, by }] : [];
		const ends = (by.state === "scheduled" || ending(by)) && by.until !== null;
		return [...begins, ...(ends ? [{ at: Number(by.until), end: 1, version: move.from, by }] : [])];
	});
	const before = steps.filter((s) => s.at <= at).sort((a, b) => a.at - b.at || b.end - a.end);
	return before.at(-1) ?? { version: now };
}

/**
 * The releases that are scheduled to run or to end.
 * @param {import("../api.js").Api} api @param {string} [except] the id of one that does not count
 */
export async function planned(api, except) {
	const lists = await Promise.all(["scheduled", "done"].map((state) => api.releases({ state, limit: "500" })));
	return lists.flatMap((l) => l.releases).filter((r) => r.id !== except);
}
