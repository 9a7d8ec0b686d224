/**
 * Makes elements. Text is always text: nothing here, nor anywhere else on this page, turns a string into HTML.
 * @module
 */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, any>} Props */

/**
 * Makes an element. A property that begins with "on" is a listener, `class` and names with a hyphen are attributes,
 * true and false set and leave out an attribute, and everything else is an attribute too, but for `value`, `checked`,
 * `disabled`, `hidden` and `indeterminate`, which are properties.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
	const element = document.createElement(tag);
	if (props) set(element, props);
	element.append(...nodes(children));
	return element;
}

const properties = new Set(["value", "checked", "disabled", "hidden", "indeterminate", "selected", "open"]);

/**
 * Sets attributes, properties and listeners of an element, as h does.
 * @param {HTMLElement} element
 * @param {Props} props
 */
export function set(element, props) {
	for (const [name, value] of Object.entries(props)) {
		if (value === undefined || value === null) continue;
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else if (properties.has(name)) /** @type {any} */ (element)[name] = value;
		else if (value === true) element.setAttribute(name, "");
		else if (value !== false) element.setAttribute(name, String(value));
	}
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
	return children
		.flat()
		.filter((c) => c !== null && c !== undefined && c !== false)
		.map((c) => (c instanceof Node ? c : String(c)));
}

/**
 * Replaces what is in an element.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
	parent.replaceChildren(...nodes(children));
}

/**
 * Makes the children of an element those of a list, one for each item, and keeps those that are there already by
 * their keys, so that the focus and what is typed stay.
 * @template T
 * @template {{node: Element}} P
 * @param {Element} parent
 * @param {Map<string, P>} parts what is shown now, by key; it is changed
 * @param {T[]} items
 * @param {(item: T, index: number) => string} key
 * @param {(item: T, index: number) => P} make
 * @param {(part: P, item: T, index: number) => void} [update]
 */
export function reconcile(parent, parts, items, key, make, update) {
	const wanted = new Set(items.map(key));
	for (const [k, part] of parts) {
		if (wanted.has(k)) continue;
		part.node.remove();
		parts.delete(k);
	}
	items.forEach((item, i) => {
		const k = key(item, i);
		let part = parts.get(k);
		if (!part) {
			part = make(item, i);
			parts.set(k, part);
		}
		update?.(part, item, i);
		const there = parent.children[i];
		if (there !== part.node) {
			const active = document.activeElement;
			parent.insertBefore(part.node, there ?? null);
			if (active instanceof HTMLElement && part.node.contains(active)) active.focus({ preventScroll: true });
		}
	});
}

let ids = 0;

/** Returns an id that no other element of the page has. @param {string} [prefix] */
export function newID(prefix = "id") {
	ids++;
	return `${prefix}-${ids}`;
}

/**
 * Calls f when there was no further call for a while.
 * @template {any[]} A
 * @param {number} milliseconds
 * @param {(...args: A) => void} f
 */
export function debounce(milliseconds, f) {
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	return (/** @type {A} */ ...args) => {
		clearTimeout(timer);
		timer = setTimeout(() => f(...args), milliseconds);
	};
}

const icons = {
	up: "M6 15l6-6 6 6",
	down: "M6 9l6 6 6-6",
	close: "M6 6l12 12M18 6L6 18",
	add: "M12 5v14M5 12h14",
	copy: "M9 9h11v11H9zM5 15H4V4h11v1",
	remove: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
	fold: "M9 6l6 6-6 6",
	drag: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
	undo: "M8 5L4 9l4 4M4 9h10a6 6 0 010 12h-3",
	redo: "M16 5l4 4-4 4M20 9H10a6 6 0 000 12h3",
	search: "M11 4a7 7 0 100 14 7 7 0 000-14zM20 20l-4-4",
	apps: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
	parts: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
	person: "M12 12a4 4 0 100-8 4 4 0 000 8zM4 21c0-4 4-6 8-6s8 2 8 6",
	key: "M8 21a5 5 0 100-10 5 5 0 000 10zM11.5 12.5L21 3M17 7l3 3",
	comment: "M4 5h16v11H10l-5 4v-4H4z",
	bell: "M6 16V11a6 6 0 0112 0v5l2 2H4zM10 20h4",
	flag: "M5 21V4h13l-3 4.5 3 4.5H5",
	sun:
		"M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.5 1.5M17.5 17.5L19 19M5 " +
		"19l1.5-1.5M17.5 6.5L19 5",
	reviews: "M12 4l2.5 5 5.5.8-4 3.9 1 5.5-5-2.7-5 2.7 1-5.5-4-3.9 5.5-.8z",
	upload: "M12 16V5M7 10l5-5 5 5M4 19h16",
	library: "M4 5h16v14H4zM4 15l5-5 4 4 3-3 4 4",
	folder: "M3 6h6l2 2h10v11H3z",
	more: "M5 12h.01M12 12h.01M19 12h.01",
	warn: "M12 4l9 16H3zM12 10v4M12 17h.01",
	lock: "M6 11h12v10H6zM9 11V7a3 3 0 016 0v4",
	ok: "M5 12l5 5 9-10",
};

/**
 * Makes an icon. It says nothing to those who do not see it: what it stands on has a name.
 * @param {keyof typeof icons} name
 */
export function icon(name) {
	const ns = "http://www.w3.org/2000/svg";
	const svg = document.createElementNS(ns, "svg");
	const path = document.createElementNS(ns, "path");
	for (const [k, v] of Object.entries({
		viewBox: "0 0 24 24",
		class: "icon",
		"aria-hidden": "true",
		focusable: "false",
	}))
		svg.setAttribute(k, v);
	path.setAttribute("d", icons[name]);
	svg.append(path);
	return svg;
}

/** A tag of an app. @param {string} name @param {string} [title] */
export function flag(name, title) {
	return h("span", { class: "tag", title }, icon("flag"), name);
}

/**
 * Makes a button. With an icon alone the text is its name and its tooltip.
 * @param {string} text
 * @param {(event: MouseEvent) => void} onclick
 * @param {Props & {icon?: keyof typeof icons, bare?: boolean}} [props]
 */
export function button(text, onclick, props = {}) {
	const { icon: name, bare, ...rest } = props;
	const only = bare && name ? { "aria-label": text, title: text, class: "bare" } : {};
	return h("button", { type: "button", onclick, ...only, ...rest }, name && icon(name), !(bare && name) && text);
}

/**
 * A control with its label, and a sentence about it.
 * @param {string} label
 * @param {HTMLElement} control it gets an id
 * @param {Child | Child[]} [help]
 */
export function labelled(label, control, help) {
	const id = newID();
	control.id = id;
	if (help) control.setAttribute("aria-describedby", `${id}-help`);
	return h(
		"div",
		{ class: "field" },
		h("label", { for: id }, label),
		control,
		help && h("p", { class: "help", id: `${id}-help` }, help),
	);
}

/** So many characters of a name are shown. */
const longest = 200;

/**
 * A name that somebody has given. Its direction and its length do not change what stands around it.
 * @param {string} text
 */
export function named(text) {
	const letters = [...text.slice(0, 2 * longest)];
	return letters.length > longest || text.length > 2 * longest
		? h("bdi", { title: text.slice(0, 2000) }, `${letters.slice(0, longest).join("")}…`)
		: h("bdi", null, text);
}

/** What builds the content of elements that are out of sight. @type {WeakMap<Element, () => void>} */
const waiting = new WeakMap();
const coming = new IntersectionObserver(
	(entries) => {
		for (const { target, isIntersecting } of entries) if (isIntersecting) buildNow(target);
	},
	{ rootMargin: "100% 0px" },
);

/**
 * Builds the content of an element once it comes near what is in sight, or is asked for.
 * @param {Element} element @param {() => void} build
 */
export function buildLater(element, build) {
	element.classList.add("later");
	waiting.set(element, build);
	coming.observe(element);
}

/** Builds the content of an element now, if it waits for that. @param {Element} element */
export function buildNow(element) {
	const build = waiting.get(element);
	waiting.delete(element);
	coming.unobserve(element);
	element.classList.remove("later");
	build?.();
}

/** Opens all that is folded around an element. @param {Element} element */
export function unfold(element) {
	element.dispatchEvent(new Event("unfold", { bubbles: true }));
}

/**
 * A button that folds a part of a page, which opens by itself when unfold asks for something in it.
 * @param {HTMLElement} part has the class "folded" when it is @param {() => Element[]} content what is hidden
 * @param {string} name of the part
 */
export function folder(part, content, name) {
	const toggle = button(name, () => fold(!part.classList.contains("folded")), {
		icon: "fold",
		bare: true,
		class: "bare fold",
		"aria-expanded": "true",
	});
	/** @param {boolean} yes */
	function fold(yes) {
		part.classList.toggle("folded", yes);
		toggle.setAttribute("aria-expanded", String(!yes));
		for (const one of content()) /** @type {HTMLElement} */ (one).hidden = yes;
	}
	part.addEventListener("unfold", () => part.classList.contains("folded") && fold(false));
	return { toggle, fold };
}

/** Puts the focus on the first control in an element. @param {Element | null | undefined} element */
export function focusIn(element) {
	if (!element) return;
	unfold(element);
	for (const one of [element, ...element.querySelectorAll(".later")].slice(0, 3)) buildNow(one);
	const all = /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll("input, select, textarea, button"));
	[...all].find((one) => one.checkVisibility({ visibilityProperty: true }))?.focus(); // what is hidden takes no focus
}

/**
 * Shows what a person has moved, and keeps the focus that was in it. A button that can move it no further gives the
 * focus to its neighbour.
 * @param {Element | null | undefined} node @param {Element | null} active what had the focus before
 */
export function follow(node, active) {
	if (!(active instanceof HTMLElement) || !node?.contains(active)) return;
	const target =
		active instanceof HTMLButtonElement && active.disabled
			? active.parentElement?.querySelector("button:enabled")
			: active;
	node.scrollIntoView({ block: "nearest" });
	if (target instanceof HTMLElement) target.focus();
	target?.scrollIntoView({ block: "nearest" });
}

/** A line to search with, or to filter by. @param {string} name @param {string} value @param {Props} [props] */
export function searchLine(name, value, props) {
	return h("input", { type: "search", placeholder: name, "aria-label": name, value, ...props });
}

/** A number of things, such as "1 app" or "2 apps". @param {number} n @param {string} noun */
export function count(n, noun) {
	return `${n.toLocaleString()} ${noun}${n === 1 ? "" : "s"}`;
}

/**
 * A table with names of columns.
 * @param {string[]} names @param {HTMLTableSectionElement} body @param {Props} [props]
 */
export function table(names, body, props) {
	return h(
		"table",
		props,
		h(
			"thead",
			null,
			h(
				"tr",
				null,
				names.map((name) => h("th", { scope: "col" }, name)),
			),
		),
		body,
	);
}

/**
 * A table of things that are listed: it can be scrolled, and shows cards where it is narrow.
 * @param {string[]} names @param {HTMLTableSectionElement} body
 */
export function rowTable(names, body) {
	return h("div", { class: "scroll" }, table(names, body, { class: "rows" }));
}

/** The head of a page. @param {Child} title @param {...(Child | Child[])} more */
export function head(title, ...more) {
	return h("div", { class: "head" }, h("h1", null, title), ...more);
}

/** What is less important than what stands before it. @param {...(Child | Child[])} text */
export function detail(...text) {
	return h("span", { class: "detail" }, ...text);
}

/** A paragraph that explains. @param {...(Child | Child[])} text */
export function help(...text) {
	return h("p", { class: "help" }, ...text);
}

/** A listener for Alt with an arrow key, which moves things up and down. @param {(by: 1 | -1) => void} move */
export function arrows(move) {
	return (/** @type {KeyboardEvent} */ event) => {
		if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
		event.preventDefault();
		event.stopPropagation();
		move(event.key === "ArrowUp" ? -1 : 1);
	};
}

/**
 * Does something for each element when it comes into view, four at a time.
 * @param {AbortSignal} signal ends it
 * @returns {(element: Element, f: () => Promise<void>) => void} f does not fail
 */
export function whenSeen(signal) {
	/** @type {WeakMap<Element, () => Promise<void>>} */
	const all = new WeakMap();
	/** @type {Element[]} */
	const waiting = [];
	let busy = 0;
	async function next() {
		const element = busy < 4 && !signal.aborted && waiting.shift();
		if (!element) return;
		busy++;
		if (element.isConnected) await all.get(element)?.();
		busy--;
		void next();
	}
	const observer = new IntersectionObserver(
		(entries) => {
			for (const { target, isIntersecting } of entries) {
				if (!isIntersecting) continue;
				observer.unobserve(target);
				waiting.push(target);
				void next();
			}
		},
		{ rootMargin: "100px" },
	);
	signal.addEventListener("abort", () => observer.disconnect());
	return (element, f) => {
		all.set(element, f);
		observer.observe(element);
	};
}

/** HTML as plain text, to be read. @param {string} html */
export function plain(html) {
	const names = /** @type {Record<string, string>} */ ({
		lt: "<",
		gt: ">",
		amp: "&",
		quot: '"',
		apos: "'",
		nbsp: "\u00a0",
	});
	return html
		.replace(/<(br|\/p|\/div|\/li)\b[^>]*>/gi, "\n")
		.replace(/<\/?[a-z!][^>]*>/gi, "")
		.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (all, decimal, hex, name) => {
			const code = decimal ? Number(decimal) : hex ? parseInt(hex, 16) : -1;
			return code < 0
				? (names[name.toLowerCase()] ?? all)
				: code > 0 && code <= 0x10ffff
					? String.fromCodePoint(code)
					: all;
		})
		.trim();
}
