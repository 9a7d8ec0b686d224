// article.js shows a text with a picture. A build writes it with render; on the page, mount adds a button to it.

/** @import { Config } from "../vitrine/article.js" */
/** @import { Component } from "../vitrine/vitrine.js" */

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const widths = [320, 640, 1280];

/**
 * The service answers pictures of its library in these widths.
 * @param {NonNullable<Config["picture"]>} picture
 */
function image({ src, alt }) {
	if (!/^https?:/.test(src)) return "";
	const srcset = widths.map((w) => `${escaped(src)}?w=${w} ${w}w`).join(", ");
	const sizes = `srcset="${srcset}" sizes="(min-width: 44rem) 40rem, 90vw"`;
	return `<img src="${escaped(src)}" ${/\/x\/file\//.test(src) ? sizes : ""} alt="${escaped(alt)}" loading="lazy">`;
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
		const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Read more" });
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
