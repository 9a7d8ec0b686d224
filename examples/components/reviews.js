// reviews.js shows the latest reviews of a collection, with the mean and the distribution of their ratings. See
// reviews.json for its configuration. It reads them itself, with a public key that may show reviews.

const style = `
	:host { display: block; font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere }
	h2 { margin: 0 0 .4em; font-size: 1.15em }
	.mean { display: flex; flex-wrap: wrap; align-items: center; gap: .5em 1.5em; margin: 0 0 1em }
	.mean > div { display: flex; align-items: center; gap: .6em }
	.mean strong { font-size: 1.5em; line-height: 1 }
	small { opacity: .8; font-size: .85em }
	svg { width: 5.5em; height: 1.8em; fill: var(--accent, light-dark(#b45309, #fbbf24)) }
	.stars { color: var(--accent, light-dark(#b45309, #fbbf24)); letter-spacing: .1em; white-space: nowrap }
	ol { margin: 0; padding: 0; list-style: none }
	li { padding: .8em 0; border-top: 1px solid light-dark(#0002, #fff3) }
	li.reply { margin-inline-start: 1.5em }
	h3 { margin: .2em 0; font-size: 1em }
	p { margin: .3em 0 }
	button { padding: .45em .9em; border: 1px solid currentcolor; border-radius: 8px; background: none; color: inherit; font: inherit; cursor: pointer }
`;

// render returns the newest reviews for a page without scripts.
export async function render({ config, server }) {
	const { shown } = await read(config, config.service ?? server);
	const means = shown.dimensions.map(({ name, mean }) => {
		const of = name === "default" ? `${shown.count} ${shown.count === 1 ? "review" : "reviews"}` : name;
		return `<p>${(mean / 20).toFixed(1)} of 5, ${escaped(of)}</p>`;
	});
	const items = shown.reviews.map(({ title, body_html, author }) => {
		const heading = title ? `<h3>${escaped(title)}</h3>` : "";
		// Paragraphs are all that is kept of the markup.
		const paragraphs = body_html.split(/<\/p\s*>/i).map((p) => p.replace(/<[^>]*>/g, "").replace(/[<>]/g, ""));
		const text = paragraphs.filter((p) => p.trim()).map((p) => `<p>${p}</p>`);
		return `<li>${heading}${text.join("")}<small>${escaped(author.name)}</small></li>`;
	});
	return `<h2>${escaped(config.heading || shown.title)}</h2>${means.join("")}<ol>${items.join("")}</ol>`;
}

// escaped returns a text as HTML.
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// read reads one page of reviews. next is the parameter after of the next one, "" for none.
async function read({ network, collection, key, limit = 5, source }, service, after, signal) {
	const path = `/x/public/reviews/${encodeURIComponent(network)}/${encodeURIComponent(collection)}`;
	const url = new URL(service.replace(/\/*$/, path));
	const query = { key, limit, ...(source && { source }), ...(after && { after }) };
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
	const response = await fetch(url, { signal, credentials: "omit" });
	const shown = await response.json();
	if (!response.ok) throw new Error(shown.error);
	const link = /<([^>]*)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
	return { shown, next: (link && new URL(link, url).searchParams.get("after")) ?? "" };
}

export function mount(element, { config, signal }) {
	const root = element.attachShadow({ mode: "open" });
	root.append(make("slot")); // what render has returned is shown until the reviews are there
	const sheet = new CSSStyleSheet(); // which a strict policy allows, unlike a <style> element
	sheet.replaceSync(style);
	root.adoptedStyleSheets = [sheet];

	async function draw() {
		element.style.colorScheme = { light: "light", dark: "dark" }[config.theme] ?? "light dark";
		const now = config; // what is read for an older configuration is not shown
		const list = make("ol");
		const more = make("button", { type: "button", textContent: config.more ?? "More reviews", hidden: true });
		let next = "";

		async function load() {
			const page = await read(now, now.service ?? new URL("../..", import.meta.url).href, next, signal);
			next = page.next;
			more.hidden = next === "";
			list.append(...page.shown.reviews.map(review));
			return page.shown;
		}

		more.addEventListener("click", () =>
			load().catch(() => {
				more.hidden = true;
			}),
		);
		const shown = await load();
		if (now !== config || signal.aborted) return;
		element.replaceChildren();
		root.replaceChildren(
			make("h2", { textContent: config.heading || shown.title }),
			make("div", { className: "mean" }, ...shown.dimensions.map((dimension) => mean(dimension, shown.count))),
			list,
			more,
		);
	}

	const drawn = draw();
	return drawn.then(() => ({
		update(changed) {
			config = changed;
			return draw();
		},
	}));
}

// mean returns the mean of a dimension, from 1 to 5, with its histogram.
function mean({ name, mean, histogram }, count) {
	const value = (mean / 20).toLocaleString(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
	const most = Math.max(1, ...histogram);
	const svg = draw("svg", {
		viewBox: "0 0 100 30",
		role: "img",
		"aria-label": `Ratings from lowest to highest: ${histogram.join(", ")}`,
	});
	svg.append(
		...histogram.map((n, i) =>
			draw("rect", { x: 10 * i + 1, width: 8, y: 29 - (28 * n) / most, height: (28 * n) / most + 1 }),
		),
	);
	return make(
		"div",
		{},
		make("strong", { textContent: value }),
		svg,
		make("small", { textContent: name === "default" ? `${count} ${count === 1 ? "review" : "reviews"}` : name }),
	);
}

// review returns one review.
function review({ title, body_html, created, ratings, author, parent_id }) {
	const rating = Math.round(ratings.reduce((sum, n) => sum + n, 0) / ratings.length / 20);
	const when = new Date(created);
	const by = [author.name, isNaN(when) ? "" : when.toLocaleDateString(undefined, { dateStyle: "medium" })]
		.filter(Boolean)
		.join(", ");
	return make(
		"li",
		{ className: parent_id ? "reply" : "" },
		...(parent_id
			? []
			: [
					make("span", {
						className: "stars",
						role: "img",
						ariaLabel: `${rating} of 5`,
						textContent: "★".repeat(rating) + "☆".repeat(5 - rating),
					}),
				]),
		...(title ? [make("h3", { textContent: title })] : []),
		...text(body_html),
		make("small", { textContent: by }),
	);
}

// text returns the paragraphs and links of a text as nodes. The service has checked that it has nothing else; here
// nothing else gets through.
function text(html) {
	const parsed = new DOMParser().parseFromString(html, "text/html"); // which runs and loads nothing
	const copy = (node) => {
		if (node.nodeType === Node.TEXT_NODE) return [node.data];
		const children = [...node.childNodes].flatMap(copy);
		if (node.localName === "p") return [make("p", {}, ...children)];
		if (node.localName !== "a" || !/^(https?|mailto):/.test(node.href)) return children;
		return [make("a", { href: node.href, rel: "nofollow ugc noopener", target: "_blank" }, ...children)];
	};
	return [...parsed.body.childNodes].flatMap(copy);
}

// draw returns an SVG element with these attributes.
function draw(name, attributes) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
	return element;
}

// make returns an HTML element with these properties and children.
function make(name, properties, ...children) {
	const element = Object.assign(document.createElement(name), properties);
	element.append(...children);
	return element;
}
