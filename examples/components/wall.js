// wall.js shows the newest assets of a folder of the library. See wall.json for its configuration. It reads them
// itself, with the public key of the page, which must have the folder. The preview of the console has no key.

const style = `
	:host { display: block; font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere }
	h2 { margin: 0 0 .5em; font-size: 1.15em }
	ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 14rem), 1fr)); gap: .75em }
	ul { margin: 0; padding: 0; list-style: none }
	ul.cards { grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); align-items: start }
	.cards li { padding: .75em; border: 1px solid light-dark(#0003, #fff3); border-radius: 10px }
	img, video { display: block; width: 100%; height: auto; border-radius: 8px }
	.grid img, .grid video { aspect-ratio: 4 / 3; object-fit: cover }
	audio { width: 100% }
	p { margin: .5em 0 0; white-space: pre-line }
	small { display: block; margin-top: .5em; opacity: .8; font-size: .85em }
	a { color: inherit }
	button { margin-top: 1em; padding: .45em .9em; border: 1px solid currentcolor; border-radius: 8px }
	button { background: none; color: inherit; font: inherit; cursor: pointer }
`;

// render returns the assets of the first page for a page without scripts.
export async function render({ config, server, pageKey }) {
	const { folder, assets } = await read(config, server, pageKey);
	const items = assets.map((asset) => {
		const parts = asset.attachments.filter(addressed).map((a) => {
			if (a.type === "photo") return `<img ${attributes(picture(a))}>`;
			return `<p><a href="${escaped(a.url)}">${escaped(a.title || a.url)}</a></p>`;
		});
		const text = told(asset);
		if (text && (config.layout === "cards" || !parts.length)) parts.push(`<p>${escaped(text)}</p>`);
		return `<li>${parts.join("")}</li>`;
	});
	return `<h2>${escaped(config.heading || folder.label)}</h2><ul>${items.join("")}</ul>`;
}

export function mount(element, { config, server, pageKey, signal }) {
	const root = element.attachShadow({ mode: "open" });
	root.append(make("slot")); // what render has returned is shown until the assets are there
	const sheet = new CSSStyleSheet(); // which a strict policy allows, unlike a <style> element
	sheet.replaceSync(style);
	root.adoptedStyleSheets = [sheet];

	async function draw() {
		element.style.colorScheme = { light: "light", dark: "dark" }[config.theme] ?? "light dark";
		const now = config; // what is read for an older configuration is not shown
		if (!pageKey) {
			const textContent = "A page shows the newest assets of the folder here, if its key has the folder.";
			root.replaceChildren(make("h2", { textContent: now.heading ?? "" }), make("p", { textContent }));
			return;
		}
		const list = make("ul", { className: now.layout === "cards" ? "cards" : "grid" });
		const more = make("button", { type: "button", textContent: now.more ?? "Show more", hidden: true });
		let next;

		async function load() {
			const page = await read(now, server, pageKey, next, signal);
			next = page.next;
			more.hidden = !next;
			const items = page.assets.map((asset) => item(asset, now.layout === "cards"));
			list.append(...items);
			return { page, items };
		}

		more.addEventListener("click", async () => {
			more.disabled = true;
			try {
				const { items } = await load();
				items[0]?.querySelector("a, video, audio")?.focus();
			} catch {
				more.hidden = true;
			}
			more.disabled = false;
		});
		const { page } = await load();
		if (now !== config || signal.aborted) return;
		element.replaceChildren();
		root.replaceChildren(make("h2", { textContent: now.heading || page.folder.label }), list, more);
	}

	return draw().then(() => ({
		update(changed) {
			config = changed;
			return draw();
		},
	}));
}

// read reads one page of the folder. next is there if there is another one.
async function read({ folder, limit = 12 }, server, key, after, signal) {
	const path = `/x/public/assets/${folder.split("/").map(encodeURIComponent).join("/")}`;
	const url = new URL(server.replace(/\/*$/, path));
	const query = { key, limit, ...(after && { after }) };
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
	const response = await fetch(url, { signal, credentials: "omit" });
	const found = await response.json();
	if (!response.ok) throw new Error(found.error);
	return found;
}

// picture returns the attributes of an <img>. The browser takes the narrowest of the widths that is wide enough.
function picture({ url, thumbnail_url, description, width, height, file }) {
	const at = (w) => {
		const narrow = new URL(url);
		narrow.searchParams.set("w", w);
		return `${narrow} ${w}w`;
	};
	const widths = file?.widths ?? [];
	return {
		alt: description ?? "",
		loading: "lazy",
		...(width && height && { width, height }),
		...(widths.length && { sizes: "20rem", srcset: [...widths.map(at), `${url} ${width}w`].join(", ") }),
		src: thumbnail_url ?? url,
	};
}

// attributes returns attributes as HTML.
const attributes = (all) =>
	Object.entries(all)
		.map(([name, value]) => `${name}="${escaped(value)}"`)
		.join(" ");

// escaped returns a text as HTML.
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// item returns an asset.
function item(asset, card) {
	const { author, attachments } = asset;
	const text = told(asset);
	const parts = attachments.filter(addressed).map(attachment);
	if (text && (card || !parts.length)) parts.push(make("p", { textContent: text }));
	if (card && author?.name) parts.push(make("small", { textContent: author.name }));
	return make("li", {}, ...parts);
}

// told returns the text of an asset. A file that nobody has given a title has its name there.
const told = ({ text, attachments }) => (attachments.some(({ file }) => file?.name === text) ? "" : text);

// addressed returns whether an attachment has an address that may be opened.
const addressed = ({ url }) => /^https?:/.test(url);

// attachment returns what an attachment shows.
function attachment(a) {
	const media = { controls: true, preload: "none", src: a.url, title: a.description || a.title || "" };
	if (a.type === "photo") {
		const image = make("img");
		for (const [name, value] of Object.entries(picture(a))) image.setAttribute(name, value);
		return image;
	}
	if (a.type === "video" && a.file) return make("video", { ...media, poster: a.thumbnail_url ?? "" });
	if (a.type === "audio" && a.file) return make("audio", media);
	return make("p", {}, make("a", { href: a.url, rel: "noopener", textContent: a.title || a.url }));
}

// make returns an HTML element with these properties and children.
function make(name, properties, ...children) {
	const element = Object.assign(document.createElement(name), properties);
	element.append(...children);
	return element;
}
