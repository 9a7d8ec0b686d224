/**
 * An app as a page shows it, in a frame that has no origin: what runs there reaches nothing of the console. It takes
 * clicks, sizes and errors from the frame, and nothing else.
 * @module
 */
import { button, fill, h, help, labelled } from "../dom.js";
import { stringify } from "../json.js";
import { fits } from "../model/fits.js";
import { askLanguages, inLanguage, spoken } from "../model/languages.js";
import { complete } from "../model/schema.js";
import { titleOf } from "../model/names.js";
import { show } from "./dialog.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../api.js").Manifest} Manifest */
/** @typedef {{key: string, component: Manifest, config: Value}} Part an element with its component */

const allowed = "vitrine.preview"; // in sessionStorage: the person lets components run
const narrow = "vitrine.phone"; // in sessionStorage: the preview is as wide as a phone
const scripts = "vitrine.scripts"; // in sessionStorage: other scripts for components, by name
const patience = 5000; // milliseconds without a sign of life, until the frame may be closed
const tallest = 20_000; // pixels

/** @param {string} name @returns {any} */
function kept(name) {
	try {
		return JSON.parse(sessionStorage.getItem(name) ?? "null");
	} catch {
		return null; // this browser keeps nothing
	}
}

/** @param {string} name @param {Value} value */
function keep(name, value) {
	try {
		sessionStorage.setItem(name, JSON.stringify(value));
	} catch {
		// it lasts as long as the page
	}
}

/**
 * @typedef {object} Options
 * @property {URL} base the address of the API
 * @property {AbortSignal} signal
 * @property {(key: string) => void} [onclick] an element was clicked
 * @property {(key: string, message: string) => void} [onerror] an element has failed
 */

export class Preview {
	/** @param {Options} options */
	constructor(options) {
		this.options = options;
		/** @type {MessagePort | undefined} */
		this.port = undefined;
		this.heard = 0; // when the frame has answered last
		/** @type {{info: {id: string, tag: string, version: string, title: string}, parts: Part[]} | undefined} */
		this.app = undefined;
		/** @type {Map<string, Part>} what was shown last of each element */
		this.fitting = new Map();
		this.others = kept(scripts) ?? {};
		this.frame = h("div", { class: "frame" });
		this.frame.classList.toggle("phone", kept(narrow) === true);
		const phone = button(
			"Phone width",
			() => {
				const yes = this.frame.classList.toggle("phone");
				keep(narrow, yes);
				phone.setAttribute("aria-pressed", String(yes));
			},
			{ class: "small phone", "aria-pressed": String(kept(narrow) === true) },
		);
		/** Shows the preview beside the field that has the focus, where it stands below the form otherwise. */
		this.dock = button("Preview", () => dock(!this.node.classList.contains("docked")), {
			class: "small dock",
			"aria-expanded": "false",
		});
		/** @param {boolean} yes */
		const dock = (yes) => {
			this.node.classList.toggle("docked", yes);
			this.dock.setAttribute("aria-expanded", String(yes));
			if (!yes) this.dock.focus();
		};
		this.note = h("p", { class: "help", role: "status" });
		this.hangs = h(
			"p",
			{ class: "wrong", role: "status", hidden: true },
			"The preview does not answer. ",
			button("Close it", () => this.stop("The preview was closed."), { class: "small" }),
		);
		this.settings = h("div", { class: "settings" });
		this.node = h(
			"section",
			{ class: "preview", "aria-label": "Preview" },
			h(
				"div",
				{ class: "head" },
				h("div", null, h("h2", null, "Preview")),
				phone,
				button("Close the preview", () => dock(false), { icon: "close", bare: true, class: "bare undock" }),
			),
			this.hangs,
			this.frame,
			this.note,
			h(
				"details",
				null,
				h("summary", null, "Settings"),
				help(
					"Another script for a component, from a server where you develop it for instance. This tab " +
						"keeps it; nobody else sees it.",
				),
				this.settings,
			),
		);
		if (kept(allowed)) this.open();
		else
			this.offer(
				"The preview runs the components, which are programs of those who made them. " +
					"They cannot reach this console.",
				"Show the preview",
			);
		options.signal.addEventListener("abort", () => this.close());
	}

	/** Offers to open the frame. @param {string} text @param {string} yes */
	offer(text, yes) {
		fill(
			this.frame,
			h(
				"div",
				{ class: "empty" },
				h("p", null, text),
				button(
					yes,
					() => {
						keep(allowed, true);
						this.open();
					},
					{ class: "main" },
				),
			),
		);
	}

	open() {
		const frame = h("iframe", {
			title: "The app as a page shows it",
			src: new URL("x/preview.html", this.options.base).href,
		});
		frame.setAttribute("sandbox", "allow-scripts");
		let loads = 0;
		frame.addEventListener("load", () => {
			if (++loads > 1) return this.stop("A component has left the page.");
			const { port1, port2 } = new MessageChannel();
			this.port = port1;
			port1.onmessage = ({ data }) => this.take(data, frame);
			frame.contentWindow?.postMessage("vitrine", "*", [port2]);
		});
		fill(this.frame, frame);
		this.heard = Date.now();
		clearInterval(this.timer);
		this.timer = setInterval(() => {
			if (document.hidden) this.heard = Date.now();
			this.hangs.hidden = Date.now() - this.heard <= patience;
			this.port?.postMessage({ ping: 1 });
		}, 1000);
	}

	/** Closes the frame and offers to open it again. @param {string} why */
	stop(why) {
		keep(allowed, false);
		this.close();
		this.note.textContent = "";
		this.offer(why, "Open the preview again");
	}

	close() {
		clearInterval(this.timer);
		this.hangs.hidden = true;
		this.port?.close();
		this.port = undefined;
		this.frame.replaceChildren();
	}

	/** Takes a message of the frame, which may be anything. @param {any} data @param {HTMLIFrameElement} frame */
	take(data, frame) {
		this.heard = Date.now();
		if (data?.ready === true) this.send();
		if (typeof data?.height === "number") frame.style.height = `${Math.min(tallest, Math.max(80, data.height))}px`;
		if (Number.isFinite(data?.marked)) {
			const from = this.node.scrollTop - this.node.getBoundingClientRect().top;
			this.node.scrollTo({ top: from + frame.getBoundingClientRect().top + data.marked - 16 });
		}
		if (typeof data?.click === "string") this.options.onclick?.(data.click);
		if (typeof data?.error === "object" && data.error) {
			const { key } = data.error;
			const message = String(data.error.message).slice(0, 300);
			if (typeof key === "string") this.options.onerror?.(key, message);
			else this.note.textContent = `The app has failed: ${message}`;
		}
	}

	/** Shows an app. @param {{id: string, tag: string, version: string, title: string}} info @param {Part[]} parts */
	show(info, parts) {
		this.app = { info, parts };
		this.send();
		const names = [...new Set(parts.map((p) => p.component.name))];
		if (names.join() === this.names) return;
		this.names = names.join();
		fill(
			this.settings,
			names.map((name) => {
				const component = /** @type {Part} */ (parts.find((p) => p.component.name === name)).component;
				const input = h("input", {
					type: "url",
					value: this.others[name] ?? "",
					placeholder: component.main,
					spellcheck: "false",
				});
				input.addEventListener("change", () => {
					if (!input.reportValidity()) return;
					this.others[name] = input.value.trim();
					keep(scripts, this.others);
					this.send();
				});
				return labelled(titleOf(component), input);
			}),
		);
	}

	/** Marks the element whose form has the focus. @param {string | null} key */
	mark(key) {
		this.port?.postMessage({ mark: key });
	}

	send() {
		if (!this.app || !this.port) return;
		const { base } = this.options;
		const { info, parts } = this.app;
		/** @type {string[]} */
		const behind = [];
		const elements = parts.flatMap((part, i) => {
			const { component, key } = part;
			let shown = part;
			if (fits(component.configSchema, component.configSchema, part.config)) this.fitting.set(key, part);
			else {
				behind.push(`${i + 1}`);
				const before = this.fitting.get(key);
				if (!before) return [];
				shown = before;
			}
			const schema = shown.component.configSchema;
			// Defaults may be texts in several languages, too.
			const config = inLanguage(complete(schema, schema, inLanguage(shown.config, spoken.now)), spoken.now);
			const { name, version, main } = shown.component;
			return [
				{
					key,
					name,
					version,
					main: new URL(this.others[name] || main, base).href,
					headless: /** @type {any} */ (shown.component).headless === true,
					config: JSON.parse(stringify(config), (_, value) =>
						typeof value === "string" && value.startsWith(`${base.pathname}x/file/`)
							? base.origin + value
							: value,
					),
				},
			];
		});
		this.note.textContent =
			behind.length === 0
				? ""
				: "What you typed is not accepted yet, so the preview is without it: " +
					`${behind.length === 1 ? "element" : "elements"} ${behind.join(", ")}.`;
		this.port.postMessage({ show: { ...info, elements } });
	}
}

/**
 * Shows a version of an app in a dialog.
 * @param {import("../api.js").Api} api @param {string} id @param {string} version
 * @param {(signal: AbortSignal) => Promise<import("../api.js").App>} [load] reads it in another way
 */
export async function showVersion(api, id, version, load = (signal) => api.app(id, version, signal)) {
	const closed = new AbortController();
	const [app] = await Promise.all([load(closed.signal), askLanguages(api, closed.signal)]);
	const said = h("p", { class: "wrong", role: "status" });
	const preview = new Preview({
		base: api.base,
		signal: closed.signal,
		onerror(key, message) {
			said.textContent =
				`Element ${app.elements.findIndex((e) => e.key === key) + 1} has failed: ${message}. ` +
				"Tell whoever makes this component.";
		},
	});
	preview.show({ id, tag: "", version, title: app.title }, app.elements);
	await show(`Version ${version} of ${app.title}`, h("div", null, preview.node, said), { wide: true });
	closed.abort();
}
