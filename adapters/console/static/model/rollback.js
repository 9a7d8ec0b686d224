/**
 * Where a tag leads when it is rolled back.
 * @module
 */

/**
 * The version that a tag is rolled back to. The versions that it has pointed to are a stack: a move takes off those that are
 * not older than where it leads, and puts that one on top. A rollback is such a move, so one after another leads further
 * back, and none leads to a version that was rolled back from. Below the top of the stack is the last version in the
 * history of the tag that is older than the one it points to now.
 * @param {string} now the version that the tag points to
 * @param {{from: string | null}[]} moves of the tag, the newest first
 * @returns {string | null | undefined} null if there is nothing to roll back to, undefined if older moves have to tell
 */
export function before(now, moves) {
	const found = moves.find(({ from }) => from === null || Number(from) < Number(now));
	return found?.from;
}
