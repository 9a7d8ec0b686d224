/**
 * Reviews: a table of a shop is converted; a file is checked, its faults are shown where they are, and it is imported;
 * what is stored is shown with its means, searched, erased and exported.
 * @module
 */
import { ApiError, problem } from "../api.js";
import { button, count, debounce, detail, fill, h, head, icon, labelled, plain, searchLine } from "../dom.js";
import { askWith, confirm, sentence, show, toast, trouble } from "../elements/dialog.js";
import { contentOf, counts, dropZone, headOf, isGzip, progress, rejectsOf, save } from "../elements/files.js";
import { Pages } from "../elements/pages.js";
import { time } from "../elements/time.js";
import { mend } from "../elements/mend.js";
import { table } from "../elements/table.js";

/**
 * @typedef {{line: number, column: number, offset: number, pointer: string, rule: string, severity: string,
 *   message: string, collection?: string, review?: string, value?: string}} Problem
 */
/**
 * @typedef {{lines: number, collections: number, collectionsCreated: number, collectionsUpdated: number,
 *   collectionsRejected: number, reviews: number, created: number, updated: number, unchanged: number,
 *   rejected: number, errors: number, warnings: number, dryRun: boolean, problems: Problem[],
 *   problemsTruncated: boolean}} Report
 */
/**
 * @typedef {{id: string, source: string, title: string, created: string, count: number, dimensions: {name: string,
 *   mean: number, histogram: number[]}[]}} Collection
 */

/** How many bytes of a record are shown on each side of a fault. */
const around = 160;

/** How many problems of a rule are shown. */
const shownOfRule = 50;

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, signal, shell }) {
	shell.title("Reviews");
	const networks = [
		...new Set(
			(session.me?.moderates ?? [])
				.map((urn) => urn.split(":"))
				.filter((parts) => parts.length === 3)
				.map((parts) => parts[2]),
		),
	];
	const where = h(
		"select",
		{ "aria-label": "Network" },
		networks.map((n) => h("option", { value: n }, n)),
	);
	if (params[0] !== undefined) where.value = params[0];
	const drop = dropZone(
		"File of reviews",
		"Drop a file of reviews here: a table that a shop has exported (CSV or JSON), or one collection a line " +
			"(NDJSON), plain or gzip, of any size. It is checked first; nothing is stored before you say so.",
		(file) => void take(file),
	);
	const outcome = h("div", { role: "status" });
	const stored = h("div", { class: "board" });
	const state = h("div", { class: "state", role: "status" });
	const more = button("Show more", () => void render(shownCards + 100), { hidden: true });
	const search = searchLine("Search collections", "", { oninput: debounce(150, () => void render(100)) });
	/** @type {Collection[]} what is loaded */
	let all = [];
	/** @type {string | undefined} */
	let after;
	let shownCards = 0;
	let asked = 0; // how often the collections were asked for, or searched

	/**
	 * Sends a file, which the browser reads from the disk as it goes: the page holds none of it. It shows how far it
	 * is.
	 * @param {string} path @param {Record<string, string | undefined>} query @param {File} file @param {string} doing
	 * @param {string} [type] @param {HTMLElement} [place] where it is shown
	 */
	function send(path, query, file, doing, type, place = outcome) {
		const text = h("span", null, `${doing} ${file.name}…`);
		const stop = new AbortController();
		const told = progress(place, text, file.size, () => stop.abort());
		return api.upload(
			path,
			{ ...query, network: where.value },
			file,
			(sent) => {
				told(sent);
				if (sent >= file.size) text.textContent = "The service has the file and finishes its work…";
			},
			AbortSignal.any([stop.signal, signal]),
			type,
		);
	}

	/** @param {File} file @param {boolean} dryRun @param {HTMLElement} place @returns {Promise<Report>} */
	async function load(file, dryRun, place) {
		return api.report(
			await send(
				"x/reviews/import",
				{ dryRun: dryRun ? "true" : undefined },
				file,
				dryRun ? "Checking" : "Importing",
				undefined,
				place,
			),
		);
	}

	/**
	 * A file is a table unless it has what our lines have. JSON in which no rows are found is checked, which says what
	 * is wrong with it.
	 * @param {File} file
	 */
	async function take(file) {
		try {
			const head = await headOf(file, 256 << 10);
			const json =
				/\.(json|jsonl|ndjson)(\.gz)?$/i.test(file.name) ||
				/^\ufeff?\s*([{[]|$)/.test(await head.slice(0, 4096).text());
			const ours = /^\ufeff?\s*$|"(body_html|dimensions|imported_display_name)"/.test(await head.text());
			if (json && ours) return void (await check(file));
			const { value } = await api
				.ask("POST", "x/reviews/convert", {
					query: { guess: "true", network: where.value },
					body: head,
					type: "text/csv", // the only one of a session, also for JSON
					member: "columns",
					signal,
				})
				.catch((e) => {
					if (json && e instanceof ApiError && e.code === "invalid") return { value: undefined };
					throw e;
				});
			if (!value) return void (await check(file));
			fill(
				outcome,
				table(file.name, value, proposed(), (query) => convert(file, query, value.separator || ",")),
			);
		} catch (e) {
			stopped(e, "It was stopped. Nothing was stored.");
		}
	}

	/** The source of the collections that are stored. There is none to propose if they have several. */
	function proposed() {
		const sources = new Set(all.map((c) => c.source));
		return sources.size > 1 ? "" : ([...sources][0] ?? "import");
	}

	/**
	 * Converts a table, or rows of it that were mended, and checks what has become of it.
	 * @param {File} file @param {Record<string, string | undefined>} query @param {string} separator
	 * @param {HTMLElement} [place] where it is shown
	 */
	async function convert(file, query, separator, place = outcome) {
		const form = [...place.childNodes];
		const [shown, mending] = [h("div"), h("div")];
		const back = button(
			place === outcome ? "Back to the columns" : "Back to the rows",
			() => fill(place, .../** @type {any[]} */ (form)),
			{ class: "small" },
		);
		try {
			const answer = await send("x/reviews/convert", query, file, "Converting", "text/csv", place);
			const tail = answer.slice(Math.max(0, answer.size - (1 << 20)));
			const bytes = new Uint8Array(await tail.arrayBuffer());
			const last = bytes.subarray(bytes.lastIndexOf(10, bytes.length - 2) + 1);
			const result = JSON.parse(new TextDecoder().decode(last));
			const converted = new File(
				[answer.slice(0, answer.size - last.length)],
				rejectsOf(file.name).replace("-rejects", ""),
			);
			/** Does something with the rows that could not be converted. @param {(rows: Blob) => unknown} then */
			const rejects = async (then) => {
				const all = { ...query, rejects: "true" };
				try {
					const doing = "Collecting the rows of";
					await then(await send("x/reviews/convert", all, file, doing, "text/csv", mending));
				} catch (e) {
					stoppedToast(e);
				}
			};
			const decided = /dates=(dmy|mdy)/.exec((result.notes ?? []).join())?.[1];
			/** @param {Blob} rows */
			const mendThem = async (rows) => {
				const form = mend(await rows.text(), separator, query["mapping"] ?? "{}", (text) => {
					const name = file.name.replace(/(-mended)?(\.[^.]*)?$/, "-mended.csv");
					const dates = query["dates"] ?? decided;
					void convert(new File([text], name), { ...query, dates }, separator, mending);
				});
				fill(mending, form);
				/** @type {HTMLElement | null} */ (form.querySelector("input, textarea"))?.focus();
			};
			/** @type {Map<string, {line: number, reason: string}[]>} */
			const reasons = new Map(); // reasons that differ in numbers alone are the same
			for (const r of result.rejected) {
				const reason = r.reason.replace(/[\d.,]+/g, "0");
				reasons.set(reason, [...(reasons.get(reason) ?? []), r]);
			}
			const left =
				result.rejectedTotal > 0 &&
				h(
					"details",
					{ class: "rule" },
					h(
						"summary",
						null,
						h("span", { class: "chip bad" }, count(result.rejectedTotal, "row")),
						" could not be converted",
					),
					h(
						"ul",
						null,
						[...reasons.values()].flatMap((list) => [
							...list
								.slice(0, 3)
								.map((r) => h("li", null, h("strong", null, `Line ${r.line}: `), `${r.reason}.`)),
							list.length > 3 && h("li", { class: "detail" }, `and ${list.length - 3} more like this`),
						]),
					),
					result.rejectedTotal > result.rejected.length &&
						h(
							"p",
							{ class: "detail" },
							`and ${(result.rejectedTotal - result.rejected.length).toLocaleString()} more`,
						),
				);
			/** @type {string[]} */
			const notes = result.notes ?? [];
			/** @type {HTMLElement} */
			const head = h(
				"div",
				null,
				h(
					"p",
					null,
					`${count(result.converted, "review")} of ${file.name} ${result.converted === 1 ? "is" : "are"} ` +
						"converted. ",
					result.skipped > 0 && `${count(result.skipped, "row")} left out. `,
					back,
					" ",
					result.rejectedTotal > 0 && button("Mend them here", () => rejects(mendThem), { class: "small" }),
					" ",
					result.rejectedTotal > 0 &&
						button(
							"Download the " +
								(result.rejectedTotal === 1 ? "row" : `${result.rejectedTotal.toLocaleString()} rows`) +
								" that could not be converted",
							async () => {
								const before = [...mending.childNodes];
								await rejects((rows) => save([rows], rejectsOf(file.name, "csv"), "text/csv"));
								fill(mending, .../** @type {any[]} */ (before));
							},
							{ class: "small" },
						),
				),
				notes.map((note) =>
					h(
						"p",
						{ class: "note" },
						note.replace(
							"dates=dmy or dates=mdy says otherwise",
							"if that is wrong, go back to the columns and choose “Day first” or “Month first”",
						),
						".",
					),
				),
				left,
			);
			fill(place, shown, mending);
			if (result.converted === 0) fill(shown, head);
			else await check(converted, head, shown, place === outcome ? "review" : "mended review");
			place.scrollIntoView(); // the form was longer, so whoever sent it would see what is below
		} catch (e) {
			fill(place, .../** @type {any[]} */ (form));
			stoppedToast(e);
		}
	}

	/** @param {unknown} e */
	const stoppedToast = (e) =>
		e instanceof ApiError ? toast(said(e), { bad: true }) : toast("It was stopped. Nothing was stored.");

	/** What the service says of a table is about the table itself, and so for the person. @param {ApiError} e */
	const said = (e) =>
		e.code === "invalid" ? `${e.message.charAt(0).toUpperCase()}${e.message.slice(1)}.` : sentence(e);

	/** @param {unknown} e @param {string} otherwise @param {HTMLElement} [place] */
	function stopped(e, otherwise, place = outcome) {
		if (!signal.aborted)
			fill(place, h("div", { class: "note bad", role: "alert" }, e instanceof ApiError ? said(e) : otherwise));
	}

	/**
	 * @param {File} file @param {HTMLElement} [head] what was said of it before @param {HTMLElement} [place]
	 * @param {string} [noun] what is imported
	 */
	async function check(file, head, place = outcome, noun = "review") {
		try {
			const report = await load(file, true, place);
			fill(
				place,
				head,
				summary(report, file.name),
				report.reviews > report.rejected &&
					button(
						`Import ${count(report.reviews - report.rejected, noun)}`,
						() => void store(file, head, place),
						{
							class: "main",
						},
					),
				faults(report, file, head),
			);
		} catch (e) {
			stopped(e, "It was stopped. Nothing was stored.", place);
		}
	}

	/** @param {File} file @param {HTMLElement | undefined} head @param {HTMLElement} place */
	async function store(file, head, place) {
		try {
			const report = await load(file, false, place);
			fill(place, head, summary(report, file.name), faults(report, file, head));
			await collections(true);
		} catch (e) {
			const safe = "It was stopped. What was imported before is kept; importing the file again is safe.";
			stopped(e, safe, place);
		}
	}

	/** @param {Report} report @param {string} name */
	function summary(report, name) {
		return h(
			"div",
			null,
			h("h2", null, report.dryRun ? `${name} is checked` : `${name} is imported`),
			counts([
				["lines", report.lines],
				["collections", report.collections],
				["new collections", report.collectionsCreated],
				["changed collections", report.collectionsUpdated],
				["rejected collections", report.collectionsRejected],
				["reviews", report.reviews],
				[report.dryRun ? "would be new" : "new", report.created],
				[report.dryRun ? "would change" : "changed", report.updated],
				["unchanged", report.unchanged],
				["rejected", report.rejected],
			]),
		);
	}

	/**
	 * The problems by rule, each with the record around it.
	 * @param {Report} report @param {File} file @param {HTMLElement} [head] of a table that was converted
	 */
	function faults(report, file, head) {
		if (report.problems.length === 0)
			return h(
				"p",
				{ class: "note" },
				icon("ok"),
				` Nothing is wrong with ${head ? `the ${count(report.reviews, "converted review")}` : "it"}.`,
			);
		/** @type {Map<string, Problem[]>} */
		const rules = new Map();
		for (const p of report.problems) rules.set(p.rule, [...(rules.get(p.rule) ?? []), p]);
		const lines = new Set(
			report.problems.filter((p) => p.severity === "error" && p.rule !== "file-kind").map((p) => p.line),
		);
		const shown = [...rules.values()].flatMap((list) => list.slice(0, shownOfRule));
		/** @type {ReturnType<typeof windows> | undefined} */
		let read;
		/** @param {number} offset */
		const excerpt = async (offset) =>
			parts(
				(await isGzip(file))
					? ((
							await (read ??= windows(
								file,
								shown.map((p) => p.offset),
							))
						).get(offset) ?? none)
					: [
							await bytes(file, Math.max(0, offset - around), offset),
							await bytes(file, offset, offset + around),
						],
			);
		return h(
			"div",
			null,
			h(
				"p",
				null,
				`${count(report.errors, "error")} and ${count(report.warnings, "warning")}. `,
				report.problemsTruncated &&
					"The first 1,000 are shown; the command vitrine reviews check -all shows all. ",
				lines.size > 0 &&
					button(
						`Download the ${report.problemsTruncated ? "first " : ""}${count(lines.size, "line")} with ` +
							"errors",
						() =>
							void download(file, lines).catch(() =>
								toast(`${file.name} cannot be read any more. Choose it again.`, { bad: true }),
							),
						{ class: "small" },
					),
			),
			[...rules]
				.sort((a, b) => b[1].length - a[1].length)
				.map(([rule, list]) =>
					h(
						"details",
						{
							class: "rule",
							ontoggle: (/** @type {Event} */ event) =>
								/** @type {HTMLElement} */ (event.currentTarget)
									.querySelectorAll("li")
									.forEach((li) => li.dispatchEvent(new Event("shown"))),
						},
						h(
							"summary",
							null,
							h("code", null, rule),
							" ",
							h(
								"span",
								{ class: list[0]?.severity === "error" ? "chip bad" : "chip" },
								count(list.length, list[0]?.severity ?? ""),
							),
							" ",
							detail(list[0]?.message ?? ""),
						),
						h(
							"ul",
							null,
							list.slice(0, shownOfRule).map((p) => fault(p, excerpt)),
						),
						list.length > shownOfRule &&
							h("p", { class: "detail" }, `and ${(list.length - shownOfRule).toLocaleString()} more`),
					),
				),
		);
	}

	/** @param {Problem} p @param {(offset: number) => Promise<[string, string, string]>} excerpt */
	function fault(p, excerpt) {
		const record = h("pre", { class: "raw" });
		const li = h(
			"li",
			null,
			h(
				"p",
				null,
				h("strong", null, `Line ${p.line}, column ${p.column}: `),
				`${p.message}.`,
				p.value !== undefined && [" It has ", h("code", null, p.value), "."],
			),
			(p.collection ?? p.review) !== undefined &&
				h(
					"p",
					{ class: "detail" },
					`collection ${p.collection ?? "?"}${p.review === undefined ? "" : `, review ${p.review}`}`,
				),
			record,
		);
		li.addEventListener(
			"shown",
			() =>
				void excerpt(p.offset).then(
					([before, at, behind]) =>
						fill(record, before, h("mark", { class: p.severity === "error" && "bad" }, at), behind),
					() => record.remove(),
				),
			{ once: true },
		);
		return li;
	}

	/**
	 * Saves the lines with errors as they are, but for a byte order mark, to be mended.
	 * @param {File} file @param {Set<number>} lines
	 */
	async function download(file, lines) {
		/** @type {BlobPart[]} */
		const kept = [];
		const last = Math.max(...lines);
		const reader = (await contentOf(file)).getReader();
		let n = 1;
		let ended = true;
		for (let read = await reader.read(); !read.done && n <= last; read = await reader.read()) {
			const { value } = read;
			for (let from = 0; from < value.length && n <= last;) {
				const feed = value.indexOf(10, from);
				const to = feed < 0 ? value.length : feed + 1;
				if (lines.has(n)) {
					kept.push(new Blob([value.subarray(from, to)])); // which the page does not hold
					ended = feed >= 0;
				}
				if (feed >= 0) n++;
				from = to;
			}
		}
		void reader.cancel();
		const all = new Blob(ended ? kept : [...kept, "\n"], { type: "application/x-ndjson" });
		const marked = lines.has(1) && String(await bytes(all, 0, 3)) === "239,187,191";
		save([marked ? all.slice(3, all.size, all.type) : all], rejectsOf(file.name));
	}

	/** Loads the collections, or the next of them. @param {boolean} anew */
	async function collections(anew) {
		if (anew) {
			all = [];
			after = undefined;
			asked++;
		}
		const now = asked;
		const page = await api.collections(where.value, after, signal).catch((e) => {
			if (!signal.aborted) fill(state, sentence(e));
		});
		if (!page || now !== asked) return false;
		after = page.next;
		all.push(...page.collections);
		if (anew) await render(100);
		return true;
	}

	/**
	 * Shows so many of the collections that are searched for, and loads more until there are so many.
	 * @param {number} most
	 */
	async function render(most) {
		const now = ++asked;
		const words = fold(search.value)
			.split(/\s+/)
			.filter((w) => w !== "");
		const wanted = () =>
			all.filter((c) => words.every((w) => fold(`${c.title} ${c.source} ${c.id} ${textOf(c.id)}`).includes(w)));
		while (wanted().length <= most && after !== undefined) {
			state.textContent = "Searching…";
			if (!(await collections(false)) || now !== asked) return;
		}
		const found = wanted();
		shownCards = most;
		more.hidden = found.length <= most;
		fill(
			stored,
			...found.slice(0, most).map(card),
			found.length === 0 &&
				h(
					"div",
					{ class: "empty" },
					h(
						"p",
						null,
						words.length === 0
							? `No reviews are stored in the network ${where.value}.`
							: "No collection has these words in its title, source or id.",
					),
				),
		);
		state.textContent =
			words.length > 0 && found.length > 0
				? `${count(found.length, "collection")}${after === undefined ? "" : " or more"}`
				: "";
	}

	/**
	 * Says what would be erased, and erases it if that is confirmed.
	 * @param {Record<string, string | undefined>} query @param {string} what
	 */
	async function erase(query, what) {
		const named = { ...query, network: where.value };
		const would = await api.erase({ ...named, dryRun: "true" });
		const parts = [would.collections > 0 && count(would.collections, "collection"), count(would.reviews, "review")]
			.filter(Boolean)
			.join(" with ");
		if (
			!(await confirm(
				`Erase ${what}?`,
				`${parts} will be erased for good, also from the files of the store. ` +
					"Nobody can bring that back but from a backup or an export." +
					(would.replies > 0
						? ` ${would.replies === 1 ? "One reply stays" : `${would.replies} replies stay`}.`
						: ""),
				"Erase",
				{ danger: true },
			))
		)
			return false;
		const done = await api.erase(named);
		toast(
			(done.collections > 0 ? `${count(done.collections, "collection")} with ` : "") +
				`${count(done.reviews, "review")} erased.`,
		);
		void collections(true);
		return true;
	}

	/** Erases what somebody has written. */
	async function forget() {
		const by = h(
			"select",
			null,
			h("option", { value: "email" }, "E-mail address"),
			h("option", { value: "author" }, "Id of their profile"),
		);
		const value = h("input", { required: true, autocomplete: "off" });
		const found = await askWith(
			"Erase what somebody wrote",
			[
				labelled("Known by", by),
				labelled("Address or id", value, "Upper and lower case make no difference in an address."),
			],
			"Look for it",
			async () => {
				const query = { [by.value]: value.value.trim() };
				await api.erase({ ...query, network: where.value, dryRun: "true" }); // says if there is nothing
				return query;
			},
		);
		if (found) await erase(found, `what ${value.value.trim()} wrote`).catch(trouble);
	}

	/** Saves all reviews of the network. */
	async function exported() {
		const response = await api.send("GET", "x/reviews/export", { query: { network: where.value }, signal });
		if (!response.ok) throw await problem(response);
		save([await response.blob()], `reviews-${where.value}.ndjson`);
	}

	/** @param {Collection} c */
	function card(c) {
		return h(
			"article",
			{ class: "deployment", "aria-label": c.title || c.id },
			h("h2", null, c.title || c.id),
			h(
				"p",
				{ class: "detail" },
				`${c.source} · ${textOf(c.id)} · id `,
				h("code", null, c.id),
				` · ${count(c.count, "review")}`,
			),
			c.dimensions.map((d) =>
				h(
					"div",
					{ class: "dimension" },
					h(
						"span",
						null,
						called(d.name),
						detail(
							`mean of ${count(
								d.histogram.reduce((n, m) => n + m, 0),
								"rating",
							)} from 1 to 100`,
						),
					),
					h("span", { class: "strong" }, d.mean.toLocaleString()),
					bars(d.histogram, `Ratings of ${called(d.name)} from 1–10 to 91–100: ${d.histogram.join(", ")}`),
				),
			),
			h(
				"div",
				{ class: "row" },
				button("Reviews", () => void reviews(c)),
				button(
					"Erase",
					() => void erase({ source: c.source, collection: c.id }, c.title || c.id).catch(trouble),
					{ "aria-label": `Erase ${c.title || c.id}` },
				),
			),
		);
	}

	/** @param {Collection} c */
	async function reviews(c) {
		const list = h("ul", { class: "assets" });
		/** @param {{[name: string]: any}} r */
		const line = (r) =>
			h(
				"li",
				{ class: "asset" },
				h(
					"div",
					{ class: "what" },
					h(
						"p",
						null,
						h("strong", null, String(r["title"] ?? "")),
						" ",
						detail(
							String(r["imported_display_name"] ?? r["author_id"] ?? ""),
							" ",
							time(String(r["created"])),
						),
					),
					h("p", null, plain(String(r["body_html"] ?? ""))),
					h(
						"p",
						{ class: "detail" },
						c.dimensions.map((d, i) => `${called(d.name)} ${r["ratings"]?.[i] ?? ""}`).join(" · "),
					),
				),
				button(
					"Erase",
					async (event) => {
						const li = /** @type {HTMLElement} */ (event.currentTarget).closest("li");
						if (
							await erase(
								{ source: c.source, collection: c.id, review: String(r["id"]) },
								`the review ${r["title"] || r["id"]}`,
							).catch(trouble)
						)
							li?.remove();
					},
					{ class: "small", "aria-label": `Erase ${r["title"] || r["id"]}` },
				),
			);
		/** @type {Pages<{[name: string]: any}>} */
		const pages = new Pages(
			signal,
			"reviews",
			(after, signal) => api.reviews(c.id, { network: where.value, source: c.source, after }, signal),
			() => {
				list.append(...pages.items.slice(shown).map(line));
				shown = pages.items.length;
				return "";
			},
		);
		let shown = 0;
		void pages.load();
		await show(c.title || c.id, h("div", null, list, pages.foot), { wide: true });
	}

	where.addEventListener("change", () => void collections(true));
	if (networks.length > 0) void collections(true);
	return {
		node: h(
			"div",
			{ class: "page" },
			head("Reviews", networks.length > 1 && where),
			networks.length === 0
				? h("div", { class: "empty" }, h("p", null, "Reviews are for those who moderate a network as a whole."))
				: [
						drop,
						outcome,
						h(
							"div",
							{ class: "head" },
							h("h2", { class: "section" }, "Collections"),
							search,
							button("Export", () => void exported().catch(trouble)),
							button("Erase what somebody wrote", () => void forget()),
						),
						state,
						stored,
						h("div", { class: "foot" }, more),
					],
		),
	};
}

/** @param {string} text */
function fold(text) {
	return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The id of a collection as it was before it became Base64, or as it is if that is no text. @param {string} id */
function textOf(id) {
	try {
		const bytes = Uint8Array.from(atob(id.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
		const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
		return /[\p{C}]/u.test(text) ? id : text;
	} catch {
		return id;
	}
}

/** What a dimension of ratings is called. The only one of a collection is named default. @param {string} name */
function called(name) {
	return name === "default" ? "Rating" : name;
}

/** A histogram. @param {number[]} counts @param {string} name */
function bars(counts, name) {
	const most = Math.max(1, ...counts);
	/** @param {string} tag @param {Record<string, string | number>} attributes */
	const made = (tag, attributes) => {
		const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
		for (const [k, v] of Object.entries(attributes)) element.setAttribute(k, String(v));
		return element;
	};
	const svg = made("svg", { viewBox: "0 0 100 30", class: "bars", role: "img", "aria-label": name });
	svg.append(
		...counts.map((n, i) =>
			made("rect", { x: 10 * i + 1, width: 8, y: 29 - (28 * n) / most, height: (28 * n) / most + 1 }),
		),
	);
	return svg;
}

/** @param {Blob} file @param {number} from @param {number} to */
async function bytes(file, from, to) {
	return new Uint8Array(await file.slice(from, to).arrayBuffer());
}

/**
 * @typedef {[before: Uint8Array, from: Uint8Array]} Window the bytes before a place of a file and those from there on
 */
/** @type {Window} */
const none = [new Uint8Array(), new Uint8Array()];

/**
 * The windows around places of a compressed file, which is read once, as far as the last of them.
 * @param {File} file @param {number[]} offsets @returns {Promise<Map<number, Window>>}
 */
async function windows(file, offsets) {
	const wanted = [...new Set(offsets)].sort((a, b) => a - b);
	/** @type {Map<number, Window>} */
	const found = new Map();
	const reader = (await contentOf(file)).getReader();
	let held = new Uint8Array();
	let at = 0; // the place of its first byte
	for (let ended = false; wanted.length > 0 && !ended;) {
		const { value, done } = await reader.read();
		ended = done;
		if (value) {
			const more = new Uint8Array(held.length + value.length);
			more.set(held);
			more.set(value, held.length);
			held = more;
		}
		for (; wanted.length > 0 && (ended || wanted[0] + around <= at + held.length); wanted.shift()) {
			const o = wanted[0] - at;
			found.set(wanted[0], [held.slice(Math.max(0, o - around), o), held.slice(o, o + around)]);
		}
		const past = Math.max(0, Math.min(wanted[0] ?? at, at + held.length) - around - at);
		held = held.slice(past);
		at += past;
	}
	void reader.cancel();
	return found;
}

/**
 * The line of a place: what stands before, at and behind it.
 * @param {Window} window @returns {[string, string, string]}
 */
function parts([left, right]) {
	const text = new TextDecoder();
	const before = text.decode(left).replace(/^\ufffd+/, "");
	const [behind = ""] = text
		.decode(right)
		.replace(/\ufffd+$/, "")
		.split("\n");
	const [first = ""] = behind;
	return [before.slice(before.lastIndexOf("\n") + 1), first, behind.slice(first.length)];
}
