// poll.js asks a question. See poll.json for its configuration.
//
// It keeps the visitor's answer in the browser, and tells the page of it with the event "poll-answer" (detail
// {question, answers}), so that the page can count it wherever it likes.

const style = `
	:host { display: block; font: 1rem/1.4 system-ui, sans-serif }
	form { padding: 1.25em; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: 12px }
	fieldset { display: grid; gap: .5em; margin: .75em 0 0; padding: 0; border: 0; min-width: 0 }
	form.cards fieldset { grid-template-columns: repeat(auto-fit, minmax(9em, 1fr)) }
	legend, p { margin: 0 }
	legend { padding: 0; font-size: 1.15em; font-weight: 600 }
	label { display: flex; gap: .6em; align-items: center; padding: .55em .8em; border-radius: 8px; cursor: pointer;
		background: color-mix(in srgb, var(--color) 12%, transparent) }
	form.list label { padding: .2em 0; background: none }
	label:has(:checked) { outline: 2px solid var(--color) }
	input { accent-color: var(--color) }
	p { margin-top: .75em; opacity: .8 }
	fieldset > p { grid-column: 1 / -1; margin: 0 }
`;

// closed reports whether the last day on which one can answer is over where the visitor is.
export const closed = (closes, now) => Boolean(closes) && now >= new Date(closes + "T00:00:00").setHours(24);

// render returns the poll for a page without scripts: nobody can answer there.
export function render({ config: { question, introduction, answers = [] } }) {
	const items = answers.map(({ text }) => `<li>${escaped(text)}</li>`);
	const before = introduction ? `<p>${escaped(introduction)}</p>` : "";
	return `<h2>${escaped(question)}</h2>${before}<ul>${items.join("")}</ul>`;
}

// escaped returns a text as HTML.
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

export function mount(element, { config, app, key }) {
	element.replaceChildren(); // what render has returned
	const root = element.attachShadow({ mode: "open" });
	const sheet = new CSSStyleSheet(); // which a strict policy allows, unlike a <style> element
	sheet.replaceSync(style);
	root.adoptedStyleSheets = [sheet];
	const place = `poll ${app.id} ${key}`;
	let chosen = stored(place);

	const thanks = () => (chosen.length ? (config.thanks ?? "Thank you for your answer.") : "");

	function draw() {
		const over = closed(config.closes, Date.now());
		const form = make("form", { className: config.style ?? "bars" });
		const answers = make("fieldset", { disabled: over }, make("legend", { textContent: config.question }));
		if (config.introduction) answers.append(make("p", { textContent: config.introduction }));
		for (const { text, color } of config.answers ?? []) {
			const input = make("input", {
				type: config.several ? "checkbox" : "radio",
				name: "answer",
				value: text,
				checked: chosen.includes(text),
			});
			const label = make("label", {}, input, make("span", { textContent: text }));
			label.style.setProperty("--color", color ?? "#3b5bdb");
			answers.append(label);
		}
		const note = make("p", {
			role: "status",
			textContent: over ? (config.over ?? "This poll is closed.") : thanks(),
		});
		form.append(answers, note);
		form.addEventListener("change", () => {
			chosen = [...form.querySelectorAll(":checked")].map((input) => input.value);
			store(place, chosen);
			note.textContent = thanks();
			element.dispatchEvent(
				new CustomEvent("poll-answer", {
					bubbles: true,
					detail: { question: config.question, answers: chosen },
				}),
			);
		});
		root.replaceChildren(form);
	}

	draw();
	return {
		update(changed) {
			config = changed;
			draw();
		},
	};
}

// stored returns what was stored in the browser, and store stores it. A page in a sandbox may not; then the answer
// lasts as long as the page.
function stored(place) {
	try {
		return JSON.parse(localStorage.getItem(place)) ?? [];
	} catch {
		return [];
	}
}

function store(place, value) {
	try {
		localStorage.setItem(place, JSON.stringify(value));
	} catch {
		// It is in chosen.
	}
}

// make returns an HTML element with these properties and children.
function make(name, properties, ...children) {
	const element = Object.assign(document.createElement(name), properties);
	element.append(...children);
	return element;
}
