/**
 * Changes all apps: brings a version of a component to them, or replaces a text in them. First it is a dry run, then it
 * is done in earnest, and then it goes into a release.
 * @module
 */
import { button, count, detail, fill, h, help, labelled } from "../dom.js";
import { names, notJSON, parse, stringify } from "../json.js";
import { buttons, sentence, show } from "./dialog.js";
import { groupName } from "../model/names.js";
import { propose } from "./release.js";

/** @typedef {import("../api.js").Upgraded} Upgraded */

/** An operation in words. @param {import("../api.js").Operation} o */
function words(o) {
	const [, , , element, part, ...rest] = names(o.path);
	const value = "value" in o ? stringify(o.value) : "";
	return (
		`Element ${Number(element) + 1}, ${[part, ...rest].filter((x) => x !== undefined).join(" › ")}: ` +
		`${o.op === "remove" ? "taken away" : value.length > 200 ? `${value.slice(0, 200)}…` : value}`
	);
}

/**
 * @typedef {object} Job
 * @property {string} title of the dialog
 * @property {HTMLElement[]} controls
 * @property {string} release what a release of it is called
 * @property {(after: string | undefined, dry: boolean) => Promise<{apps: Upgraded[], next: string | null}>} page
 * @property {string} nothing what is said if there is nothing to do
 * @property {(dry: boolean, one: boolean) => string} does what happens to apps
 * @property {boolean} [waits] whether the person begins it
 */

/** @param {import("../api.js").Api} api @param {string} name @param {string} version */
export async function upgrade(api, name, version) {
	const patch = h("textarea", {
		class: "mono",
		rows: 4,
		spellcheck: "false",
		placeholder: '[{"op": "add", "path": "/size", "value": 1}]',
	});
	await changeAll(api, {
		title: `Bring all apps to version ${version}`,
		controls: [
			h(
				"p",
				null,
				`Every app that you may change and that uses another version of ${name} gets version ${version}, as ` +
					"a new version of the app. What is live stays as it is until you release it.",
			),
			h(
				"details",
				null,
				h("summary", null, "Change the configs too"),
				labelled("JSON Patch for each config", patch, "For a version whose configs look different."),
			),
		],
		release: `${name} ${version}`,
		page(after, dry) {
			const text = patch.value.trim();
			return api.upgrade(name, { to: version, ...(text !== "" && { patch: parse(text) }), after }, dry);
		},
		nothing: "There is nothing to do: no app that you may change has another version.",
		does: (dry, one) => `${dry ? "would get" : one ? "has" : "have"} version ${version}`,
	});
}

/**
 * Replaces a text in all apps, or in some.
 * @param {import("../api.js").Api} api
 * @param {{text: string, components: {all: [string, string][], chosen: string}, groups: {all: string[], chosen:
 *   string}}} options the text to find, components by name and title, and the URNs of groups
 */
export async function replaceText(api, { text, components, groups }) {
	/** @param {[string, string][]} options @param {string} chosen */
	const choice = (options, chosen) => {
		const select = h(
			"select",
			null,
			options.map(([value, name]) => h("option", { value, title: value }, name)),
		);
		select.value = options.some(([value]) => value === chosen) ? chosen : "";
		return select;
	};
	const urns = groups.all.map((urn) => /** @type {[string, string]} */ ([urn, groupName(urn)]));
	const group = choice([["", "Any group"], ...urns], groups.chosen);
	const component = choice(components.all, components.chosen);
	const find = h("input", { value: text, minlength: 2, maxlength: 1024, required: true, autocomplete: "off" });
	const by = h("input", { maxlength: 1024, autocomplete: "off" });
	const again = help("The new text contains the one to find: doing it twice replaces it twice.");
	const tell = () => (again.hidden = find.value === "" || !by.value.includes(find.value));
	for (const input of [find, by]) input.addEventListener("input", tell);
	tell();
	await changeAll(api, {
		title: "Replace a text in all apps",
		controls: [
			h(
				"p",
				null,
				"Every app that you may change gets a new version in which the text is replaced, in all its fields " +
					"but those with fixed choices. What is live stays as it is until you release it.",
			),
			labelled("Find", find, "Exactly as it is written, two characters at least."),
			labelled("Replace by", by),
			again,
			labelled("Only in apps of", group),
			labelled("Only in elements of", component),
		],
		release: "Texts",
		page: (after, dry) =>
			api.replace(
				{
					find: find.value,
					replace: by.value,
					group: group.value || undefined,
					component: component.value || undefined,
					after,
				},
				dry,
			),
		nothing: "Nothing is found in the apps that you may change.",
		does: (dry, one) => (dry ? "would be changed" : one ? "is changed" : "are changed"),
		waits: true,
	});
}

/** Whether an app conforms to its components, then or as it would be. @param {Upgraded} a */
const fits = (a) => a.violations.length === 0;

/** @param {import("../api.js").Api} api @param {Job} job */
async function changeAll(api, job) {
	const found = h("div", { role: "status", class: "upgrade" });
	/** @type {Upgraded[]} */
	let done = [];
	const run = button("Change these apps", () => void all(false), { class: "main", hidden: true });
	const release = button(
		"Release them",
		() =>
			void (async () => {
				const offers = done
					.filter(fits)
					.flatMap(({ app, title, tags, version }) =>
						tags.map((tag) => ({ app, title, tag, from: null, to: version })),
					);
				const moves = await Promise.all(
					offers.slice(0, 200).map(async (o) => ({
						...o,
						from: (await api.tags(o.app)).tags.find((t) => t.name === o.tag)?.appVersion ?? null,
					})),
				);
				content.closest("dialog")?.close();
				await propose(api, moves, { name: job.release.slice(0, 128), chosen: true });
			})().catch((e) => fill(found, sentence(e))),
		{ class: "main", hidden: true },
	);
	const look = button("Show what changes", () => void all(true));

	/** @param {boolean} dry */
	async function all(dry) {
		look.disabled = run.disabled = true;
		release.hidden = true;
		done = [];
		try {
			let after;
			do {
				const page = await job.page(after, dry);
				done.push(...page.apps);
				after = page.next ?? undefined;
				report(dry, after === undefined);
			} while (after !== undefined);
			const good = done.filter(fits);
			run.hidden = !dry || good.length === 0;
			release.hidden = dry || !good.some((a) => a.tags.length > 0);
		} catch (e) {
			fill(found, e instanceof SyntaxError ? h("p", { class: "wrong" }, notJSON(e)) : sentence(e));
		}
		look.disabled = run.disabled = false;
	}

	/** @param {boolean} dry @param {boolean} ended */
	function report(dry, ended) {
		const good = done.filter(fits);
		const bad = done.filter((a) => !fits(a));
		const as = bad.length === 1 ? "it is" : "they are";
		const stay = bad.length > 0 ? `, ${bad.length} ${dry ? "would stay" : "stayed"} as ${as}` : "";
		fill(
			found,
			h(
				"p",
				{ class: "strong" },
				!ended
					? `${count(done.length, "app")} so far…`
					: done.length === 0
						? job.nothing
						: `${count(good.length, "app")} ${job.does(dry, good.length === 1)}${stay}.`,
			),
			[...bad, ...good].slice(0, 200).map((a) =>
				h(
					"details",
					null,
					h(
						"summary",
						null,
						a.title,
						" ",
						!fits(a)
							? h("span", { class: "chip bad" }, "does not fit")
							: detail(
									count(a.elements.length, "element"),
									a.tags.length > 0 && `, not live by ${a.tags.join(", ")}`,
								),
					),
					h(
						"ul",
						null,
						!fits(a)
							? a.violations.map((v) =>
									h(
										"li",
										{ class: "wrong" },
										`${names(v.pointer)
											.map((x, i) => (i === 1 ? String(Number(x) + 1) : x))
											.join(" › ")}: ${v.message}`,
									),
								)
							: a.diff.filter((o) => o.op !== "test").map((o) => h("li", null, words(o))),
					),
				),
			),
			done.length > 200 && help("Of these, 200 are shown."),
		);
	}

	const content = h("div", null, job.controls, h("div", { class: "row" }, look), found, buttons(run, release));
	if (!job.waits) void all(true);
	await show(job.title, content, { wide: true });
}
