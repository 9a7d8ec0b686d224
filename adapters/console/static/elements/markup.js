/**
 * Buttons for the HTML of a text: bold, italic, a link and a list, around what is selected in it.
 * @module
 */
import { button, h } from "../dom.js";
import { ask } from "./dialog.js";

/** @param {string} text */
function escaped(text) {
	return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}

/**
 * The buttons of a text. What they write is typed into it, so that the browser can undo it.
 * @param {HTMLTextAreaElement} input @param {string} name of the field
 */
export function markup(input, name) {
	/**
	 * Writes something around what is selected, and selects that again.
	 * @param {string} before @param {string} after
	 */
	function wrap(before, after, inside = selected()) {
		const start = input.selectionStart;
		input.focus();
		document.execCommand("insertText", false, before + inside + after);
		input.setSelectionRange(start + before.length, start + before.length + inside.length);
	}
	function selected() {
		return input.value.slice(input.selectionStart, input.selectionEnd);
	}
	function list() {
		const lines = selected().split("\n").filter(Boolean);
		wrap("<ul>\n", "\n</ul>", (lines.length > 0 ? lines : [""]).map((x) => `<li>${x}</li>`).join("\n"));
	}
	async function link() {
		const { selectionStart, selectionEnd } = input;
		let address = "";
		await ask("Link", "Address", "Insert", async (typed) => void (address = typed.trim()), { value: "https://" });
		if (!address) return;
		// The browser may not give the selection back with the focus.
		input.focus();
		input.setSelectionRange(selectionStart, selectionEnd);
		wrap(`<a href="${escaped(address)}">`, "</a>");
	}
	/** @param {string} what @param {() => void} f @param {string} sign */
	const tool = (what, f, sign) => {
		const made = button(sign, f, { class: "small bare", "aria-label": `${what}: ${name}`, title: what });
		// The text keeps its selection while the mouse is on a button.
		made.addEventListener("mousedown", (event) => event.preventDefault());
		return made;
	};
	return h(
		"div",
		{ class: "row markup", role: "group", "aria-label": `Markup of ${name}` },
		tool("Bold", () => wrap("<strong>", "</strong>"), "B"),
		tool("Italic", () => wrap("<em>", "</em>"), "I"),
		tool("Link", () => void link(), "Link"),
		tool("List", list, "List"),
	);
}
