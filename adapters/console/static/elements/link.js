/**
 * Links that show an app to people without an account: they are made here, copied once, listed and revoked.
 * @module
 */
import { button, fill, h, help, labelled } from "../dom.js";
import { closeAround, sentence, show, toast } from "./dialog.js";
import { person } from "./person.js";
import { copyable } from "./secret.js";
import { moment, time } from "./time.js";

/** @typedef {import("../api.js").Preview} Preview */

/** For how long a link works, in days, in words. */
const terms = [
	["1", "a day"],
	["7", "a week"],
	["30", "30 days"],
];

/**
 * @param {import("../api.js").Api} api
 * @param {{id: string, title: string, version: string}} app with the version that is seen now
 * @param {string} [release] the id of a release whose version is shown
 */
export async function linksOf(api, { id, title, version }, release) {
	const what = h(
		"select",
		null,
		release && h("option", { value: "release" }, "What the release is to publish"),
		h("option", { value: "latest" }, "Whichever version is the latest"),
		h("option", { value: version }, `Version ${version} and no other`),
	);
	const term = h(
		"select",
		null,
		terms.map(([value, text]) => h("option", { value, selected: value === "7" }, text)),
	);
	const note = h("input", { maxlength: 1024, autocomplete: "off" });
	const made = h("div", { role: "status" });
	const list = h("ul", { class: "links" });
	const all = h("section", { hidden: true }, h("h3", null, "Links of this app"), list);

	async function load() {
		const links = await api.previews(id);
		all.hidden = links.length === 0;
		fill(list, links.map(line));
	}

	/** @param {Preview} p */
	function line(p) {
		const shows = p.release
			? "The version of a release"
			: p.version === "latest"
				? "The latest version"
				: `Version ${p.version}`;
		return h(
			"li",
			null,
			h(
				"div",
				null,
				h("span", { class: "strong" }, shows),
				p.note && [" ", h("bdi", null, p.note)],
				h(
					"div",
					{ class: "detail" },
					person(p.by.urn),
					" made it ",
					time(p.createdAt),
					". ",
					p.ended
						? "It shows nothing now: its maker may not change the app, or its release was run or cancelled."
						: ["It ends at ", moment(p.expires), "."],
				),
			),
			button("Revoke", () => void revoke(p), { class: "small", "aria-label": `Revoke the link: ${shows}` }),
		);
	}

	/** @param {Preview} p */
	async function revoke(p) {
		try {
			await api.revokePreview(id, p.id);
			toast("The link is revoked: it shows nothing any more.");
			await load();
		} catch (e) {
			toast(sentence(e), { bad: true });
		}
	}

	const form = h(
		"form",
		null,
		help(
			"Whoever has the link sees the app, without an account and nothing else. It ends by its time, when it " +
				"is revoked, and when you may not change the app any more.",
		),
		labelled("What it shows", what),
		labelled("Works for", term),
		labelled("Note", note, "Whom it is for, say. It is not shown with the app."),
		made,
		h("div", { class: "buttons" }, button("Close", closeAround), h("button", { class: "main" }, "Make the link")),
	);
	await load().catch((e) => toast(sentence(e), { bad: true }));
	await show(`Links that show ${title}`, h("div", null, form, all), {
		async submit() {
			const shows = what.value === "release" ? { release } : { version: what.value };
			const { value } = await api.createPreview(id, { ...shows, days: Number(term.value), note: note.value });
			fill(made, copyable("Link", value.url), help("Copy it now: it is kept as a hash and never shown again."));
			note.value = "";
			await load();
			return undefined; // the dialog stays
		},
	});
}
