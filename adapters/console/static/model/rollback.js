/**
 * Where a tag leads when it is rolled back.
 * @module
 */

/**
 * Where a tag pointed before its last move that was not rolled back: the service goes back there.
 * @param {{from: string | null, rollback?: boolean}[]} moves of the tag, the newest first
 * @returns {string | null | undefined} null if there was no such tag, undefined if older moves have to tell
 */
export function before(moves) {
	let undone = 0;
	for (const { from, rollback } of moves) {
		if (rollback) undone++;
		else if (undone === 0) return from;
		else undone--;
	}
	return undefined;
}
