// countdown.js shows the time until something begins. See countdown.json for its configuration.

const style = `
	:host { display: block; font: 1rem/1.4 system-ui, sans-serif }
	section { padding: 1.25em; border-radius: 12px; color: var(--text); background: var(--background); text-align: center }
	section.small { font-size: .85rem }
	section.large { font-size: 1.4rem }
	h2 { margin: 0 0 .4em; font-size: 1.15em }
	dl { display: flex; justify-content: center; gap: 1.25em; margin: 0 }
	dl div { display: flex; flex-direction: column-reverse }
	dd { margin: 0; font-size: 2em; font-weight: 700; font-variant-numeric: tabular-nums }
	dt { font-size: .85em; opacity: .85 }
	a { display: inline-block; padding: .5em 1em; border-radius: 8px; color: var(--background); background: var(--text); text-decoration: none }
`;

// left returns what is left until the day begins where the visitor is, as pairs of a number and its unit. It is empty
// when the day has come.
export function left(until, now, seconds) {
	const ms = new Date(until + "T00:00:00") - now;
	if (!(ms > 0)) return [];
	const units = [
		["day", 86_400_000],
		["hour", 3_600_000],
		["minute", 60_000],
		["second", 1000],
	];
	return units
		.slice(0, seconds ? 4 : 3)
		.map(([unit, length], i) => [Math.floor((i ? ms % units[i - 1][1] : ms) / length), unit]);
}

// render returns the countdown for a page without scripts, which shows the day.
export function render({ config: { title, until, afterwards } }) {
	const heading = `<h2>${escaped(title)}</h2>`;
	const day = escaped(until);
	if (left(until, Date.now(), true).length) return `${heading}<p><time datetime="${day}">${day}</time></p>`;
	return afterwards?.page && /^https?:/.test(afterwards.page)
		? `${heading}<p><a href="${escaped(afterwards.page)}">${escaped(afterwards.label)}</a></p>`
		: `${heading}<p>${escaped(afterwards?.text ?? "It has begun.")}</p>`;
}

// named returns the name of a unit of time beside a number.
function named(n, unit, lang = "en") {
	const parts = new Intl.NumberFormat(lang, { style: "unit", unit, unitDisplay: "long" }).formatToParts(n);
	return parts.find(({ type }) => type === "unit").value;
}

export function mount(element, { config, app, signal }) {
	element.replaceChildren(); // what render has returned
	const root = element.attachShadow({ mode: "open" });
	const sheet = new CSSStyleSheet(); // which a strict policy allows, unlike a <style> element
	sheet.replaceSync(style);
	root.adoptedStyleSheets = [sheet];
	let timer;

	function draw() {
		const parts = left(config.until, Date.now(), config.seconds);
		const box = make("section", { className: config.size ?? "medium" }, make("h2", { textContent: config.title }));
		box.style.setProperty("--text", config.colors?.text ?? "#ffffff");
		box.style.setProperty("--background", config.colors?.background ?? "#1c3d5a");
		const { afterwards } = config;
		if (parts.length) {
			box.append(
				make(
					"dl",
					{ role: "timer" },
					...parts.map(([n, unit]) =>
						make(
							"div",
							{},
							make("dt", { textContent: named(n, unit, app.lang) }),
							make("dd", { textContent: n }),
						),
					),
				),
			);
		} else if (afterwards?.page && /^https?:/.test(afterwards.page)) {
			box.append(make("a", { href: afterwards.page, textContent: afterwards.label }));
		} else {
			box.append(make("p", { textContent: afterwards?.text ?? "It has begun." }));
		}
		root.replaceChildren(box);
		clearTimeout(timer);
		if (parts.length) timer = setTimeout(draw, 1000 - (Date.now() % 1000));
	}

	signal.addEventListener("abort", () => clearTimeout(timer));
	draw();
	return {
		update(changed) {
			config = changed;
			draw();
		},
	};
}

// escaped returns a text as HTML.
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// make returns an HTML element with these properties and children.
function make(name, properties, ...children) {
	const element = Object.assign(document.createElement(name), properties);
	element.append(...children);
	return element;
}
