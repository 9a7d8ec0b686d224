/**
 * The frame of the page: menu, corner, and the view that the address names.
 * @module
 */
import { to } from "./address.js";
import { button, fill, h, icon } from "./dom.js";
import { closeAll, sentence, show, trouble } from "./elements/dialog.js";
import { person } from "./elements/person.js";
import { Live } from "./live.js";
import { match } from "./router.js";
import { Session } from "./session.js";

const meta = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="vitrine-api"]'));
const title = document.title;
const base = new URL(meta.content.replace(/\/?$/, "/"), location.href);
const session = new Session(base);

/** Whether the service has a domain. @param {"assets" | "reviews"} domain */
const serves = (domain) => !session.me?.absent?.includes(domain);

/**
 * What the menu has: the name of a view, its title, its icon, its key after g, and for whom it is.
 * @type {[string, string, Parameters<typeof icon>[0], string, () => boolean][]}
 */
const menu = [
	["apps", "Apps", "apps", "a", () => true],
	["releases", "Releases", "flag", "l", () => true],
	["assets", "Assets", "library", "s", () => serves("assets")],
	["reviews", "Reviews", "reviews", "r", () => serves("reviews")],
	["components", "Components", "parts", "c", () => true],
	["people", "People", "person", "p", () => session.managesPeople],
	["keys", "Keys", "key", "k", () => session.managesPeople || session.account !== undefined],
];

const main = h("main", { id: "main", tabindex: "-1" });
const links = menu.map(([name, text, symbol, , may]) => h("a", { href: to(name), hidden: !may() }, icon(symbol), text));
const corner = h("div", { class: "corner" });

/** @type {Live} */
let live;
/** How much waits for the person. @type {HTMLElement | undefined} */
let bell;

/** @type {{hash: string, view?: import("./router.js").View, abort?: AbortController}} */
let current = { hash: "" };

/** Shows the view of the address, once the one before may be left. */
async function go() {
	await session.follow();
	const hash = location.hash;
	if (hash === current.hash) return;
	if (current.view?.leave && !(await current.view.leave())) {
		history.replaceState(null, "", current.hash);
		return;
	}
	current.abort?.abort();
	closeAll();
	const found = match(hash || to("apps"));
	const abort = new AbortController();
	current = { hash, abort };
	menu.forEach(([name], i) => {
		const link = /** @type {HTMLAnchorElement} */ (links[i]);
		if (found?.name === name) {
			link.setAttribute("aria-current", "page");
			link.scrollIntoView({ block: "nearest", inline: "nearest" });
		} else link.removeAttribute("aria-current");
	});
	document.title = title;
	if (!found) {
		fill(main, notice("There is no such page.", h("a", { href: to("apps") }, "Go to the apps")));
		return;
	}
	try {
		const module = await found.load();
		if (["account", "people", "keys"].includes(found.name)) await session.placing;
		if (abort.signal.aborted) return;
		if (menu.some(([name, , , , may]) => name === found.name && !may())) {
			fill(main, notice("You may not see this page.", h("a", { href: to("apps") }, "Go to the apps")));
			return;
		}
		const shell = { title: (/** @type {string} */ text) => void (document.title = `${text} · ${title}`) };
		const view = module.view({
			session,
			api: session.api,
			params: found.params,
			query: found.query,
			signal: abort.signal,
			live,
			shell,
		});
		current.view = view;
		fill(main, view.node);
		main.focus({ preventScroll: true });
		scrollTo(0, 0);
	} catch (e) {
		fill(main, failure(e));
	}
}

/** @param {unknown} e */
function failure(e) {
	return h(
		"div",
		{ class: "empty" },
		h("h1", null, "The page cannot be shown"),
		sentence(e),
		button("Try again", () => location.reload()),
	);
}

/** @param {string} text @param {...Node} more */
function notice(text, ...more) {
	return h("div", { class: "empty" }, h("h1", null, text), ...more);
}

function showCorner() {
	const me = session.me;
	if (!me) return;
	const who = button("", async () => show("Who you are", (await import("./views/account.js")).whoami(session)), {
		class: "who",
	});
	fill(who, person(me.urn));
	fill(corner, bell, themeButton(), who);
	links.forEach((link, i) => (link.hidden = !menu[i]?.[4]()));
}

/** The themes: as the system has it, or by choice. */
const themes = /** @type {const} */ (["system", "light", "dark"]);

function themeButton() {
	const now = themes.find((t) => t === localStorage.getItem("vitrine.theme")) ?? "system";
	return button(
		`Theme: ${now}`,
		() => {
			const next = /** @type {string} */ (themes[(themes.indexOf(now) + 1) % themes.length]);
			localStorage.setItem("vitrine.theme", next);
			theme();
			showCorner();
			/** @type {HTMLElement | null} */ (corner.querySelector("button"))?.focus();
		},
		{ icon: "sun", bare: true },
	);
}

function theme() {
	const chosen = localStorage.getItem("vitrine.theme") ?? "system";
	document.documentElement.dataset["theme"] = chosen;
	document
		.querySelector('meta[name="color-scheme"]')
		?.setAttribute("content", chosen === "system" ? "light dark" : chosen);
}

/** The shortcuts that work everywhere; views have more of their own in their help. */
const shortcuts = [
	["?", "This list"],
	["g a", "Apps"],
	["g l", "Releases"],
	["g s", "Assets"],
	["g r", "Reviews"],
	["g c", "Components"],
	["g p", "People"],
	["g k", "Keys"],
	["/", "Search or filter"],
	["Ctrl Z · Ctrl Shift Z", "Undo and redo in the designer"],
	["Ctrl S", "Save at once"],
	["Ctrl Enter", "Send a comment or a reply"],
	["F2 · Delete · Ctrl X · Ctrl V", "Rename, delete, cut and paste a folder"],
	["Shift F10", "What can be done with a folder"],
	["Alt ↑ · Alt ↓", "Move an element or an item up or down"],
	["Esc", "Close a dialog; leave a cut folder where it is"],
];

function help() {
	/** @param {string} keys that are pressed together, or one after the other */
	const together = (keys) =>
		h(
			"span",
			{ class: "together" },
			keys.split(" ").map((key) => h("kbd", null, key)),
		);
	void show(
		"Keyboard",
		h(
			"table",
			{ class: "keys" },
			h(
				"tbody",
				null,
				shortcuts.map(([keys = "", what]) =>
					h(
						"tr",
						null,
						h(
							"th",
							{ scope: "row" },
							keys.split(" · ").flatMap((one, i) => [i > 0 && " or ", together(one)]),
						),
						h("td", null, what),
					),
				),
			),
		),
	);
}

let afterG = 0;

document.addEventListener("keydown", (event) => {
	const target = /** @type {HTMLElement} */ (event.target);
	if (
		event.ctrlKey ||
		event.metaKey ||
		event.altKey ||
		target.matches("input, textarea, select, [contenteditable]") ||
		document.querySelector("dialog[open]")
	)
		return;
	if (event.key === "?") help();
	else if (event.key === "/") {
		const search = /** @type {HTMLElement | null} */ (main.querySelector('input[type="search"]'));
		if (!search) return;
		event.preventDefault();
		search.focus();
	} else if (event.key === "g") afterG = event.timeStamp;
	else if (event.timeStamp - afterG < 1500) {
		const found = menu.find(([, , , key, may]) => key === event.key && may());
		if (found) location.hash = to(found[0]);
	}
});

async function begin() {
	theme();
	if (!(/** @type {any} */ (JSON).rawJSON)) {
		fill(
			document.body,
			notice("This page needs a newer browser: Chromium 114, Firefox 135, Safari 18.4 or later."),
		);
		return;
	}
	fill(
		document.body,
		h(
			"a",
			{
				href: "#main",
				class: "skip",
				onclick: (/** @type {Event} */ event) => {
					event.preventDefault();
					main.focus();
				},
			},
			"Skip to the content",
		),
		h(
			"header",
			{ class: "bar" },
			h(
				"a",
				{ href: to("apps"), class: "logo" },
				h("img", { src: new URL("icon.svg", import.meta.url).href, alt: "", width: 24, height: 24 }),
				title,
			),
			h("nav", { "aria-label": "Main" }, links),
			corner,
		),
		main,
	);
	fill(main, h("div", { class: "loading", "aria-busy": "true" }));
	void match(location.hash || to("apps"))?.load(); // meanwhile
	try {
		const me = await session.begin();
		live = new Live(session.api, me);
		bell = (await import("./elements/bell.js")).bell(session, live);
	} catch (e) {
		fill(main, failure(e));
		return;
	}
	showCorner();
	session.placed = showCorner;
	live.onstop = () => session.changed();
	live.addEventListener("change", (event) => {
		if (!(/** @type {CustomEvent} */ (event).detail)) void session.changed().catch(() => {});
	});
	session.onend = () => {
		current.abort?.abort();
		current = { hash: "" };
		live.end();
	};
	session.unsaved = () => !!current.view?.node.dataset["unsaved"];
	addEventListener("hashchange", () => void go());
	addEventListener("beforeunload", (event) => {
		if (session.unsaved()) event.preventDefault();
	});
	addEventListener("unhandledrejection", (event) => {
		event.preventDefault();
		trouble(event.reason);
	});
	if (location.hash === "" || location.hash === "#") history.replaceState(null, "", to("apps"));
	await go();
	await session.placing;
	if (session.account?.invitedAnew) await (await import("./elements/signin.js")).tellInvited(session);
}

void begin();
