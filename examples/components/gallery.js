// gallery.js shows pictures, and each of them large when it is chosen. See gallery.json for its configuration.

const style = `
	:host { display: block; font: 1rem/1.4 system-ui, sans-serif }
	h2 { margin: 0 0 .6em; font-size: 1.15em }
	ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, var(--width)), 1fr)); gap: .75em; margin: 0; padding: 0; list-style: none }
	button { display: block; width: 100%; padding: 0; border: 0; background: none; color: inherit; font: inherit; text-align: start; cursor: zoom-in }
	img { display: block; width: 100%; height: auto; border-radius: 10px }
	li img { aspect-ratio: 4 / 3; object-fit: cover }
	figure { margin: 0 }
	figcaption { padding: .3em .1em; font-size: .9em; opacity: .85 }
	dialog { width: min(92vw, 60rem); padding: 0; border: 0; border-radius: 12px }
	dialog::backdrop { background: rgb(0 0 0 / .75) }
`;
const widths = { small: "8rem", medium: "12rem", large: "18rem" };

// render returns the gallery for a page without scripts.
export function render({ config, main }) {
	const figures = (config.pictures ?? []).slice(0, config.limit ?? 24).map(({ src, alt, caption, width, height }) => {
		const url = address(src, main, 640);
		if (!url) return "";
		const size = width && height ? ` width="${escaped(width)}" height="${escaped(height)}"` : "";
		const image = `<img src="${escaped(url)}" alt="${escaped(alt ?? "")}"${size} loading="lazy">`;
		return `<figure>${image}${caption ? `<figcaption>${escaped(caption)}</figcaption>` : ""}</figure>`;
	});
	return `${config.heading ? `<h2>${escaped(config.heading)}</h2>` : ""}${figures.join("")}`;
}

export function mount(element, { config }) {
	element.replaceChildren(); // what render has returned
	const root = element.attachShadow({ mode: "open" });
	const sheet = new CSSStyleSheet(); // which a strict policy allows, unlike a <style> element
	sheet.replaceSync(style);
	root.adoptedStyleSheets = [sheet];

	function draw() {
		const dialog = make("dialog");
		dialog.addEventListener("click", () => dialog.close());
		const list = make("ul");
		element.style.colorScheme = { light: "light", dark: "dark" }[config.theme] ?? "light dark";
		list.style.setProperty("--width", widths[config.size] ?? widths.medium);
		for (const picture of (config.pictures ?? []).slice(0, config.limit ?? 24)) {
			const button = make("button", { type: "button" }, figure(picture, config.captions !== false, 640));
			button.addEventListener("click", () => {
				dialog.replaceChildren(figure(picture, true, 2560));
				dialog.showModal();
			});
			list.append(make("li", {}, button));
		}
		const heading = config.heading ? [make("h2", { textContent: config.heading })] : [];
		root.replaceChildren(...heading, list, dialog);
	}

	draw();
	return {
		update(changed) {
			config = changed;
			draw();
		},
	};
}

// address returns the address of a picture, which may be relative to this script, or null if it is no picture of the
// web. A picture of the library is asked for in this width; one that is not so wide comes as it is.
function address(src, main, width) {
	try {
		const url = new URL(src, main);
		if (url.pathname.includes("/x/file/")) url.searchParams.set("w", width);
		return /^https?:$/.test(url.protocol) ? url.href : null;
	} catch {
		return null;
	}
}

// escaped returns a text as HTML.
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// figure returns a picture, with its caption if there shall be one.
function figure({ src, alt, caption, width, height, focus }, captioned, wanted) {
	const image = make("img", { alt: alt ?? "", loading: "lazy", ...(width && height && { width, height }) });
	if (focus) image.style.objectPosition = `${100 * focus.x}% ${100 * focus.y}%`;
	const url = address(src, import.meta.url, wanted);
	if (url) image.src = url;
	return make("figure", {}, image, ...(captioned && caption ? [make("figcaption", { textContent: caption })] : []));
}

// make returns an HTML element with these properties and children.
function make(name, properties, ...children) {
	const element = Object.assign(document.createElement(name), properties);
	element.append(...children);
	return element;
}
