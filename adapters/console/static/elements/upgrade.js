/**
 * Brings a version of a component to all apps: first as a dry run, then in earnest, and then into a release.
 * @module
 */
import { button, count, detail, fill, h, help, labelled } from "../dom.js";
import { names, notJSON, parse, stringify } from "../json.js";
import { buttons, sentence, show } from "./dialog.js";
import { propose } from "./release.js";

/** @typedef {import("../api.js").Upgraded} Upgraded */

/** An operation in words. @param {import("../api.js").Operation} o */
function words(o) {
	const [, , , element, part, ...rest] = names(o.path);
	const value = "value" in o ? stringify(o.value) : "";
	return `Element ${Number(element) + 1}, ${[part, ...rest].filter((x) => x !== undefined).join(" › ")}: ${o.op === "remove" ? "taken away" : value.length > 200 ? `${value.slice(0, 200)}…` : value}`;
}

/** @param {import("../api.js").Api} api @param {string} name @param {string} version */
export async function upgrade(api, name, version) {
	const patch = h("textarea", {
		class: "mono",
		rows: 4,
		spellcheck: "false",
		placeholder: '[{"op": "add", "path": "/size", "value": 1}]',
	});
	const found = h("div", { role: "status", class: "upgrade" });
	/** @type {Upgraded[]} */
	let done = [];
	const run = button("Change these apps", () => void all(false), { class: "main", hidden: true });
	const release = button(
		"Release them",
		() =>
			void (async () => {
				const offers = done
					.filter((a) => a.violations.length === 0)
					.flatMap((a) =>
						a.tags.map((tag) => ({ app: a.app, title: a.title, tag, from: null, to: a.version })),
					);
				const moves = await Promise.all(
					offers.slice(0, 200).map(async (o) => ({
						...o,
						from: (await api.tags(o.app)).tags.find((t) => t.name === o.tag)?.appVersion ?? null,
					})),
				);
				content.closest("dialog")?.close();
				await propose(api, moves, { name: `${name} ${version}`.slice(0, 128), chosen: true });
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
			const text = patch.value.trim();
			const body = { to: version, ...(text !== "" && { patch: parse(text) }) };
			let after;
			do {
				const page = await api.upgrade(name, { ...body, ...(after && { after }) }, dry);
				done.push(...page.apps);
				after = page.next ?? undefined;
				report(dry, after === undefined);
			} while (after !== undefined);
			const good = done.filter((a) => a.violations.length === 0);
			run.hidden = !dry || good.length === 0;
			release.hidden = dry || !good.some((a) => a.tags.length > 0);
		} catch (e) {
			fill(found, e instanceof SyntaxError ? h("p", { class: "wrong" }, notJSON(e)) : sentence(e));
		}
		look.disabled = run.disabled = false;
	}

	/** @param {boolean} dry @param {boolean} ended */
	function report(dry, ended) {
		const bad = done.filter((a) => a.violations.length > 0);
		const good = done.length - bad.length;
		fill(
			found,
			h(
				"p",
				{ class: "strong" },
				!ended
					? `${count(done.length, "app")} so far…`
					: done.length === 0
						? "There is nothing to do: no app that you may change has another version."
						: `${count(good, "app")} ${dry ? "would get" : good === 1 ? "has" : "have"} version ${version}${bad.length > 0 ? `, ${bad.length} ${dry ? "would stay" : "stayed"} as ${bad.length === 1 ? "it is" : "they are"}` : ""}.`,
			),
			[...bad, ...done.filter((a) => a.violations.length === 0)].slice(0, 200).map((a) =>
				h(
					"details",
					null,
					h(
						"summary",
						null,
						a.title,
						" ",
						a.violations.length > 0
							? h("span", { class: "chip bad" }, "does not fit")
							: detail(
									`${count(a.elements.length, "element")}${a.tags.length > 0 ? `, not live by ${a.tags.join(", ")}` : ""}`,
								),
					),
					h(
						"ul",
						null,
						a.violations.length > 0
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
			done.length > 200 && help(`Of these, 200 are shown.`),
		);
	}

	const content = h(
		"div",
		null,
		h(
			"p",
			null,
			`Every app that you may change and that uses another version of ${name} gets version ${version}, as a new version of the app. What is live stays as it is until you release it.`,
		),
		h(
			"details",
			null,
			h("summary", null, "Change the configs too"),
			labelled("JSON Patch for each config", patch, "For a version whose configs look different."),
		),
		h("div", { class: "row" }, look),
		found,
		buttons(run, release),
	);
	void all(true);
	await show(`Bring all apps to version ${version}`, content, { wide: true });
}
