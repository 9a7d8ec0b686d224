/**
 * Rows of a table as text: cells are separated by one character, and those that have it, a quote or a line break are in
 * quotes.
 * @module
 */

/**
 * The rows of a text up to the first that has another number of cells than the first row, and the text from there on.
 * @param {string} text @param {string} separator
 */
export function readRows(text, separator) {
	/** @type {string[][]} */
	const rows = [];
	let at = 0;
	while (at < text.length) {
		/** @type {string[]} */
		const row = [];
		let i = at;
		for (;;) {
			let cell = "";
			if (text[i] === '"') {
				for (i++; i < text.length && (text[i] !== '"' || text[i + 1] === '"'); i++) {
					if (text[i] === '"') i++;
					cell += text[i];
				}
				i++;
			} else for (; i < text.length && text[i] !== separator && text[i] !== "\n"; i++) cell += text[i];
			row.push(cell.replace(/\r$/, ""));
			if (text[i] !== separator) break;
			i++;
		}
		if (row.length !== (rows[0] ?? row).length || (i < text.length && text[i] !== "\n" && text[i] !== "\r")) break;
		rows.push(row);
		at = text.indexOf("\n", i) < 0 ? text.length : text.indexOf("\n", i) + 1;
	}
	return { rows, rest: text.slice(at) };
}

/** A row as text. @param {string[]} row @param {string} separator */
export function writeRow(row, separator) {
	const cells = row.map((c) => (/["\r\n]/.test(c) || c.includes(separator) ? `"${c.replaceAll('"', '""')}"` : c));
	return `${cells.join(separator)}\n`;
}
