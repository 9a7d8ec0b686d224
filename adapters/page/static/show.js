// show.js is the page of a link that shows an app to people without an account. The secret of the link is the fragment
// of its address. The page sends it to the service, which answers with the app, and asks again every minute until the
// link has ended. The app runs in a sandboxed frame, preview.html, which has no origin and never gets the secret.

const minute = 60_000;
const again = 10_000; // milliseconds until the first answer is asked for again

const [settings, languages, language, what, said] = ["settings", "languages", "language", "what", "said"].map((id) =>
	document.getElementById(id),
);
const heading = document.querySelector("h1");
const main = document.querySelector("main");

let app; // what is shown
let port; // of the frame, once it is ready
let timer;
let asks = 0; // counts the questions: only the last one is answered

function say(text) {
	said.textContent = text;
}

function moment(at) {
	return new Date(at).toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" });
}

// close takes the app away.
function close() {
	app = port = undefined;
	main.replaceChildren();
	settings.hidden = true;
}

function open() {
	const frame = document.createElement("iframe");
	frame.title = "The app as a page shows it";
	frame.setAttribute("sandbox", "allow-scripts");
	frame.src = "preview.html";
	let loads = 0;
	frame.addEventListener("load", () => {
		if (++loads > 1) {
			close();
			clearTimeout(timer);
			return say("A component has left the page. Load this page again to see the app.");
		}
		const { port1, port2 } = new MessageChannel();
		port1.onmessage = ({ data }) => {
			if (data?.ready === true) {
				port = port1;
				show();
			}
			if (typeof data?.error === "object" && data.error)
				say(`A part of the app has failed: ${String(data.error.message).slice(0, 300)}`);
		};
		frame.contentWindow.postMessage("vitrine", "*", [port2]);
	});
	main.replaceChildren(frame);
}

function show() {
	if (app) port?.postMessage({ show: { tag: "", ...app } });
}

// take shows an answer.
function take(answer) {
	const before = app;
	app = answer.app;
	document.title = heading.textContent = app.title;
	const which = {
		version: `Version ${app.version}`,
		latest: `Version ${app.version}, the latest one`,
		release: `Version ${app.version}, which a release is to publish`,
	}[answer.shows];
	what.textContent = `${which}. This link works until ${moment(answer.expires)}.`;
	const spoken = app.languages ?? [];
	const names = new Intl.DisplayNames(navigator.languages, { type: "language" });
	languages.hidden = spoken.length < 2;
	if (spoken.join() !== (before?.languages ?? []).join())
		language.replaceChildren(...spoken.map((tag) => new Option(names.of(tag), tag)));
	if (app.lang) language.value = app.lang;
	settings.hidden = false;
	if (!before) open();
	show();
}

async function ask() {
	const mine = ++asks;
	clearTimeout(timer);
	let wait = app ? minute : again;
	try {
		const query = app && language.value ? `?lang=${encodeURIComponent(language.value)}` : "";
		const response = await fetch(`show/app${query}`, {
			headers: { Authorization: `Bearer ${location.hash.slice(1)}` },
			cache: "no-store",
			credentials: "omit",
		});
		const answer = await response.json();
		if (mine !== asks) return;
		if (response.ok) {
			say("");
			take(answer);
			wait = Math.min(minute, Math.max(1000, answer.expires - Date.now()));
		} else if (response.status === 401) {
			close();
			document.title = heading.textContent = "This link shows nothing";
			what.textContent = "It has ended, or its address is not whole. Ask who sent it to you for a new one.";
			return say("");
		} else if (response.status < 500 && response.status !== 429) {
			close();
			what.textContent = "";
			say(`The app cannot be shown: ${answer.error}`);
			wait = minute;
		} else throw new Error(answer.error);
	} catch {
		if (mine !== asks) return;
		say("The service does not answer. This page asks again.");
	}
	timer = setTimeout(ask, wait);
}

settings.addEventListener("change", ({ target }) => {
	if (target === language) ask();
	else main.className = target.value;
});
settings.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => {
	close();
	ask();
});
ask();
