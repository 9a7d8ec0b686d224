// article.js shows a text with a picture. A build writes it with render; on the page, mount adds a button to it.

/** @import { Config } from "../vitrine/article.js" */
/** @import { Component } from "../vitrine/vitrine.js" */

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const widths = [320, 640, 1280];
/** @type {Record<string, string>} */
const readMore = { de: "Weiterlesen" }; // yours, by language

// The preview of the console is a page without an origin, and without the style sheet of the site.
if (globalThis.origin === "null") {
	const sheet = new CSSStyleSheet();
	document.adoptedStyleSheets.push(sheet);
	fetch(new URL("../style.css", import.meta.url)).then(async (response) => sheet.replace(await response.text()));
}

/**
 * The service answers pictures of its library in these widths.
 * @param {NonNullable<Config["picture"]>} picture
 */
function image({ src, alt, width, height }) {
	if (!/^https?:/.test(src) || !URL.canParse(src)) return "";
	const url = new URL(src); // has a query already, the version of the file
	const srcset = widths.map((w) => {
		url.searchParams.set("w", String(w));
		return `${escaped(url.href)} ${w}w`;
	});
	let more = width && height ? ` width="${width}" height="${height}"` : ""; // keeps its place free
	if (url.pathname.includes("/x/file/"))
		more += ` srcset="${srcset.join(", ")}" sizes="(min-width: 44rem) 40rem, 90vw"`;
	return `<img src="${escaped(src)}" alt="${escaped(alt)}"${more} loading="lazy">`;
}

/** @type {NonNullable<Component<Config>["render"]>} */
export function render({ config: { heading, text, more, picture } }) {
	const rest = more ? `<p>${escaped(more)}</p>` : "";
	return `<h2>${escaped(heading)}</h2>${picture ? image(picture) : ""}<p>${escaped(text)}</p>${rest}`;
}

/** @type {Component<Config>["mount"]} */
export function mount(element, context) {
	/** @param {Config} config */
	function live(config) {
		const rest = config.more && element.querySelector("p:last-of-type");
		if (!(rest instanceof HTMLElement)) return;
		const textContent = readMore[context.app.lang ?? ""] ?? "Read more";
		const button = Object.assign(document.createElement("button"), { type: "button", textContent });
		button.addEventListener("click", () => {
			rest.hidden = false;
			button.remove();
		});
		rest.hidden = true;
		rest.before(button);
	}

	/** @param {Config} config */
	function show(config) {
		element.innerHTML = /** @type {string} */ (render({ ...context, config, server: "", main: import.meta.url }));
		live(config);
	}

	if (context.rendered) live(context.config);
	else show(context.config);
	return { update: show };
}
