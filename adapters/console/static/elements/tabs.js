/**
 * Tabs: one of several parts of a view, by mouse or arrow keys.
 * @module
 */
import { h, newID } from "../dom.js";

/**
 * @param {[string, HTMLElement][]} list @param {number} first @param {(i: number) => void} onchange
 * @returns {{node: HTMLElement, open: (i: number) => void}} open shows a part
 */
export function tabbed(list, first, onchange) {
	const id = newID("tabs");
	const buttons = list.map(([name], i) =>
		h(
			"button",
			{
				type: "button",
				role: "tab",
				id: `${id}-${i}`,
				"aria-controls": `${id}-panel-${i}`,
				onclick: () => open(i),
			},
			name,
		),
	);
	const panels = list.map(([, content], i) =>
		h("div", { role: "tabpanel", id: `${id}-panel-${i}`, "aria-labelledby": `${id}-${i}` }, content),
	);
	/** @param {number} i */
	function open(i) {
		buttons.forEach((b, j) => {
			b.setAttribute("aria-selected", String(i === j));
			b.tabIndex = i === j ? 0 : -1;
			panels[j].hidden = i !== j;
		});
		onchange(i);
	}
	const bar = h(
		"div",
		{
			role: "tablist",
			class: "tabs",
			onkeydown: (/** @type {KeyboardEvent} */ event) => {
				const now = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
				const next = event.key === "ArrowRight" ? now + 1 : event.key === "ArrowLeft" ? now - 1 : -1;
				if (now < 0 || !buttons[next]) return;
				open(next);
				buttons[next].focus();
			},
		},
		buttons,
	);
	open(first);
	return { node: h("div", { class: "tabbed" }, bar, panels), open };
}
