// places.js shows places on a plan, and as a list. See places.json for its configuration.

const style = `
	:host { display: block; font: 1rem/1.4 system-ui, sans-serif }
	svg { display: block; width: 100%; border-radius: 12px; background: #dcebf3 }
	path { stroke: #fff; stroke-width: 1; fill: none }
	circle { stroke: #fff; stroke-width: 2 }
	text { font: 13px system-ui, sans-serif; fill: #1b2730; paint-order: stroke; stroke: #ffffffd0; stroke-width: 4px }
	ul { display: grid; gap: .4em; margin: .75em 0 0; padding: 0; list-style: none }
	li { display: grid; grid-template-columns: auto 1fr; gap: 0 .6em; align-items: baseline }
	i { width: .8em; height: .8em; border-radius: 50% }
	p { grid-column: 2; margin: 0; font-size: .9em; opacity: .8 }
`;
const width = 600;
const height = 340;
const svg = "http://www.w3.org/2000/svg";

// project returns where a position lies on the plan, in pixels (Web Mercator).
export function project({ lat, lon }, center, zoom) {
	const scale = 256 * 2 ** zoom;
	const x = ({ lon }) => (scale * (lon + 180)) / 360;
	const y = ({ lat }) => (scale * (1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI)) / 2;
	return [width / 2 + x({ lon }) - x(center), height / 2 + y({ lat }) - y(center)];
}

// render returns the places for a page without scripts, as a list.
export function render({ config: { places = [] } }) {
	const items = places.map(({ label, note, page }) => {
		const link = page && /^https?:/.test(page);
		const name = link ? `<a href="${escaped(page)}">${escaped(label)}</a>` : escaped(label);
		return `<li>${name}${note ? `<p>${escaped(note)}</p>` : ""}</li>`;
	});
	return `<ul>${items.join("")}</ul>`;
}

// escaped returns a text as HTML.
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

export function mount(element, { config }) {
	element.replaceChildren(); // what render has returned
	const root = element.attachShadow({ mode: "open" });
	const sheet = new CSSStyleSheet(); // which a strict policy allows, unlike a <style> element
	sheet.replaceSync(style);
	root.adoptedStyleSheets = [sheet];

	function draw() {
		const { center, zoom = 8, places = [], labels = true, list = true } = config;
		const plan = shape("svg", {
			viewBox: `0 0 ${width} ${height}`,
			role: "img",
			"aria-label": places.map((p) => p.label).join(", ") || "Plan",
		});
		const lines = [];
		for (let x = 50; x < width; x += 100) lines.push(`M${x} 0v${height}`);
		for (let y = 20; y < height; y += 100) lines.push(`M0 ${y}h${width}`);
		plan.append(shape("path", { d: lines.join("") }));
		for (const { label, position, color = "#e8590c" } of places) {
			const [x, y] = project(position, center, zoom);
			plan.append(shape("circle", { cx: x, cy: y, r: 8, fill: color }));
			if (labels) plan.append(Object.assign(shape("text", { x: x + 13, y: y + 5 }), { textContent: label }));
		}
		const items = make("ul");
		for (const { label, note, page, color = "#e8590c" } of list ? places : []) {
			const dot = make("i");
			dot.style.background = color;
			const name =
				page && /^https?:/.test(page)
					? make("a", { href: page, textContent: label })
					: make("span", { textContent: label });
			items.append(make("li", {}, dot, name, ...(note ? [make("p", { textContent: note })] : [])));
		}
		root.replaceChildren(plan, items);
	}

	draw();
	return {
		update(changed) {
			config = changed;
			draw();
		},
	};
}

// shape returns an SVG element with these attributes.
function shape(name, attributes) {
	const element = document.createElementNS(svg, name);
	for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
	return element;
}

// make returns an HTML element with these properties and children.
function make(name, properties, ...children) {
	const element = Object.assign(document.createElement(name), properties);
	element.append(...children);
	return element;
}
