/**
 * The asset library: search while typing, filters with counts, folders, and what can be done with the assets that are
 * found.
 * @module
 */
import { to } from "../address.js";
import { ApiError } from "../api.js";
import { button, count, debounce, fill, h, head, icon, plain, reconcile } from "../dom.js";
import { ask, sentence, show, toast } from "../elements/dialog.js";
import { time } from "../elements/time.js";
import { drag } from "../elements/tree.js";
import { stringify } from "../json.js";
import { Gathering } from "../model/assetnews.js";
import { fileOf } from "../model/files.js";
import { askFor, nameOf } from "../model/names.js";
import { sentences } from "../model/rights.js";
import { told } from "../model/told.js";
import { chosen as chosenOf, marker, moreFilters, names, parameters, typed as asTyped } from "./assetfilters.js";
import { filePanel, sending } from "./assetfiles.js";
import { Folders } from "./folders.js";
import { Selected } from "./selected.js";

/** @typedef {import("../api.js").Asset} Asset */
/** @typedef {{name: string, value: string}} Filter */
/** @typedef {Record<string, {value: string, count: number}[]>} Counts by facet */

/** The filters that have counts, and what they are called. */
const facets = /** @type {[string, string][]} */ ([
	["type", "Attachments"],
	["tags", "Tags"],
	["generator", "Source"],
	["via", "Via"],
	["rights", "Rights"],
]);
const imagesShown = "vitrine.images";
/** How many attributes are open at first, and at most: the service counts eight fields at once. */
const [openFirst, openMost] = [2, 8];

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, query, signal, live, shell }) {
	shell.title("Assets");
	const { networks } = session;
	const network = params[0] ?? networks[0] ?? "";
	const library = params[1] ?? network;
	const lib = api.library(network, library);
	const mayManage = session.moderates(session.networkURN(network));
	let words = query.get("q") ?? "";
	let folder = query.get("folder") ?? "";
	/** @type {Filter[]} */
	let filters = [...query]
		.filter(([name]) => [...facets.map(([facet]) => facet), "alt", "attribute"].includes(name))
		.map(([name, value]) => ({ name, value }));
	/** @type {import("./assetfilters.js").Values} */
	let fields = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""]));
	/** @type {ReturnType<typeof marker>} */
	let marked = (text) => [text];
	/** @type {Asset[]} */
	let assets = [];
	/** @type {string | undefined} */
	let older;
	let searching = new AbortController();
	/** @type {string | undefined} the cursor of what is newer than the list */
	let newest;
	/** @type {Set<string> | undefined} the keys of attributes whose values are shown */
	let open;
	/** @type {Map<string, string>} why an asset of the list is not found any more */
	const gone = new Map();
	/** @type {Promise<void> | undefined} the search that the list waits for */
	let loading;
	/**
	 * @type {{id: string, update: (asset: Asset) => void, tell: (text: string) => void} | undefined} the asset whose
	 * details are shown
	 */
	let detail;
	/** How often assets or folders were changed here, after which counts are others. */
	let changes = 0;
	const changed = () => {
		changes++;
		loading = load(true);
	};
	const folders = new Folders(lib, signal, {
		users: `${session.networkURN(network)}:user=`,
		session,
		moderator: mayManage,
		onchanged: changed,
		onpick: (id) => go(() => (folder = folder === id ? "" : id)),
		onknown: () => folder && render(),
		onassets: (ids, id) => void selected.assign(ids, id),
		total: async (id) => (await lib.assets({ ...conditions(), folderTree: id, limit: "1" }, signal)).paging.total,
	});
	folders.choose(folder);
	const selected = new Selected(lib, folders, {
		shown: () => assets,
		name: (a) => `${authorOf(a)}, “${plain(String(a.content["content"] ?? "")).slice(0, 60)}”`,
		onchanged: changed,
		onselect: () => {
			for (const [id, box] of boxes) box.checked = selected.has(id);
		},
	});
	/** @type {Map<string, HTMLInputElement>} */
	const boxes = new Map();

	const search = h("input", {
		type: "search",
		placeholder: "Search, such as harbour or harb*",
		"aria-label": "Search",
		value: words,
	});
	const total = h("div", { class: "state", role: "status" });
	const news = h("p", { class: "news", role: "status", hidden: true });
	const list = h("ul", { class: "assets", "aria-label": "Assets" });
	const none = h("div", { class: "empty", hidden: true });
	/** @type {Map<string, {node: HTMLElement}>} */
	const cards = new Map();
	const more = button("Show more", () => void load(false), { hidden: true });
	const side = h("div", { class: "facets" });
	const extras = h("section", null, moreFilters(fields, change));
	const chosen = h("div", { class: "row chosen-filters" });
	const where = h(
		"select",
		{ "aria-label": "Library" },
		networks.map((n) => h("option", { value: n }, n)),
	);
	where.value = network;
	where.addEventListener("change", () => void (location.hash = to("assets", where.value)));
	const images = h("input", {
		type: "checkbox",
		checked: sessionStorage.getItem(imagesShown) === "yes",
		onchange: () => {
			sessionStorage.setItem(imagesShown, images.checked ? "yes" : "");
			cards.clear();
			fill(list);
			render();
		},
	});

	/** The facets of a search: those that all searches have, and the values of as many attributes as fit in. */
	const counted = () =>
		[...facets.map(([name]) => name), "attribute", ...keysOf([...(open ?? [])].slice(0, openFirst))].join(",");
	const add = h("a", { class: "button quiet" }, icon("add"), "Add assets");
	const adding = h("div", { class: "row" });
	const mayNot = h("span", { class: "detail" }, "Choose a folder that you may edit to add assets to it.");
	/** Offers to add assets to the folder, to those who may: moderators of the network, and who may edit it. */
	async function addTo() {
		add.setAttribute(
			"href",
			`${to("assets", network, library, "add")}${folder ? `?folder=${encodeURIComponent(folder)}` : ""}`,
		);
		const into = folder;
		const may = mayManage || (into !== "" && (await lib.mayEdit(into, signal)));
		if (into !== folder) return;
		adding.hidden = !may;
		mayNot.hidden = may;
	}
	void addTo();

	/** The query of the search without cursors. @returns {Record<string, string | string[] | undefined>} */
	function conditions() {
		/** @param {string} name */
		const all = (name) => filters.filter((f) => f.name === name).map((f) => f.value);
		return {
			...parameters(
				fields,
				filters.some((f) => f.name === "generator"),
			),
			query: words.trim() ? asTyped(words, fields) : undefined,
			folderTree: folder || undefined,
			tags: all("tags"),
			type: all("type")[0],
			alt: all("alt")[0],
			generator: all("generator")[0],
			via: all("via")[0],
			rights: all("rights")[0],
			attribute: all("attribute"),
		};
	}

	/** @param {boolean} anew */
	async function load(anew) {
		if (anew) {
			searching.abort();
			searching = new AbortController();
			signal.addEventListener("abort", () => searching.abort());
		}
		const { signal: mine } = searching;
		if (!anew && more.disabled) return;
		more.disabled = true;
		try {
			const asked = conditions();
			const ascending = fields["order"] === "asc";
			const found = await lib.assets(
				{ ...asked, ...(anew ? {} : { [ascending ? "since" : "until"]: older }), limit: "50" },
				mine,
			);
			assets = anew ? found.assets : [...assets, ...found.assets];
			older = ascending
				? found.paging.hasNext
					? found.paging.next
					: undefined
				: found.paging.hasPrev
					? found.paging.prev
					: undefined;
			total.textContent = count(found.paging.total, "asset");
			if (anew) {
				newest = inOrder() ? found.paging.next : undefined;
				news.hidden = true;
				marked = marker(words.trim() && asTyped(words, fields), fields);
				cards.clear(); // their marks are others
				fill(list);
				gone.clear();
				none.hidden = assets.length > 0;
				fill(
					none,
					h(
						"p",
						null,
						Object.values(conditions()).some((x) => x?.length)
							? "Nothing fits. Take a filter away, or search for the beginning of a word, such as harb*."
							: "There are no assets here yet. Add some: by a form, as JSON, or from a file.",
					),
				);
			}
			render();
			more.disabled = false;
			if (anew) await facet(await counts(mine), mine); // which may take longer than the list
		} catch (e) {
			if (mine.aborted) return;
			more.disabled = false;
			fill(total, sentence(e));
		}
	}

	/** Whether what is added comes first. */
	function inOrder() {
		return !fields["sort"] && fields["order"] !== "asc";
	}

	/** Counts what the search finds. @param {AbortSignal} mine */
	function counts(mine) {
		return lib.assets({ ...conditions(), facets: counted(), limit: "1" }, mine);
	}

	/**
	 * Shows the facets, with the values of the attributes that are open.
	 * @param {{facets?: Counts}} found @param {AbortSignal} mine
	 */
	async function facet({ facets: counts = {} }, mine) {
		const keys = (counts["attribute"] ?? []).map((c) => c.value);
		if (keys.length > 0) open ??= new Set(keys.filter(countable).slice(0, openFirst));
		const wanted = keysOf([...(open ?? [])])
			.filter((name) => !counts[name])
			.slice(-openMost);
		const more =
			wanted.length > 0
				? await lib.assets({ ...conditions(), facets: wanted.join(","), limit: "1" }, mine)
				: undefined;
		renderFacets({ ...counts, ...more?.facets });
	}

	/**
	 * Brings the view up to date with what others did, and leaves the list where it is.
	 * @param {import("../model/assetnews.js").News} found
	 */
	async function follow({ changed, removed, folders: moved, all }) {
		await loading;
		const { signal: mine } = searching;
		const since = newest;
		try {
			changes++;
			if (moved.size > 0 || all) await folders.load();
			await refresh(
				assets.filter((a) => all || moved.size > 0 || changed.has(a.id)),
				mine,
			);
			await askFor([...removed.values()]);
			for (const a of assets) {
				const by = removed.get(a.id);
				if (by !== undefined) gone.set(a.id, `removed by ${nameOf(by)}`);
			}
			const lost = [...selected.assets.values()].filter((a) => gone.has(a.id));
			for (const a of lost) selected.set(a, false);
			const why = gone.get(lost[0]?.id ?? "");
			if (why !== undefined && why !== `removed by ${nameOf(session.me?.urn ?? "")}`)
				toast(`No longer selected: ${count(lost.length, "asset")}, ${why}.`, { bad: true });
			render();
			if (detail) {
				const { id, tell, update } = detail;
				const by = removed.get(id);
				if (by !== undefined) tell(`${nameOf(by)} has removed this asset.`);
				else if (all || changed.has(id)) await lib.asset(id, signal).then(update, (e) => tell(told(e)));
			}
			const [now, fresh] = await Promise.all([
				counts(mine),
				since === undefined ? undefined : lib.assets({ ...conditions(), since, limit: "100" }, mine),
			]);
			if (since !== newest) return; // the list was loaded anew meanwhile
			total.textContent = count(now.paging.total, "asset");
			const n = fresh ? fresh.assets.length : inOrder() ? now.paging.total : 0;
			news.hidden = n === 0;
			fill(
				news,
				`${n}${fresh?.paging.hasNext ? " or more" : ""} new: `,
				button(
					"Show",
					() => {
						scrollTo(0, 0);
						search.focus();
						loading = load(true);
					},
					{ class: "small" },
				),
			);
			await facet(now, mine);
		} catch (e) {
			if (mine.aborted) return;
			if (e instanceof ApiError && e.status === 404 && folder)
				fill(
					total,
					`The folder ${folders.label(folder)} is not there any more. `,
					button("Search in all folders", () => go(() => (folder = "")), { class: "small" }),
				);
			else fill(total, sentence(e));
		}
	}

	/**
	 * Searches again for some assets of the list, among those that were first published when they were.
	 * @param {Asset[]} stale @param {AbortSignal} mine
	 */
	async function refresh(stale, mine) {
		if (stale.length === 0) return;
		const times = stale.map((a) => Date.parse(a.createdAt));
		const window = {
			...conditions(),
			sort: undefined,
			order: undefined,
			from: new Date(Math.min(...times)).toISOString(),
			to: new Date(Math.max(...times) + 1).toISOString(),
			limit: "500",
		};
		let pages = 20;
		/** @type {Map<string, Asset>} */
		const now = new Map();
		/** @type {string | undefined} */
		let until;
		do {
			const found = await lib.assets({ ...window, until }, mine);
			for (const a of found.assets) now.set(a.id, a);
			until = found.paging.hasPrev ? found.paging.prev : undefined;
		} while (until !== undefined && --pages > 0 && !stale.every(({ id }) => now.has(id)));
		assets = assets.map((a) => now.get(a.id) ?? a);
		for (const { id } of stale) {
			if (now.has(id)) gone.delete(id);
			else if (until === undefined) gone.set(id, "not found any more");
		}
	}

	function render() {
		// A card that is made anew gets the focus that the one before had.
		const at = document.activeElement;
		const focused =
			at && list.contains(at)
				? /** @type {HTMLElement | null} */ (at.closest("[data-asset]"))?.dataset["asset"]
				: undefined;
		reconcile(
			list,
			cards,
			assets,
			(a) => stringify([a.id, a.updatedAt, a.attributes, a.folders, a.safe_tags, gone.get(a.id)]),
			(a) => ({ node: card(a) }),
		);
		if (focused !== undefined && !at?.isConnected)
			/** @type {HTMLElement | null} */ (
				list.querySelector(
					`[data-asset="${CSS.escape(focused)}"] ${at?.tagName === "INPUT" ? "input" : ".open"}`,
				)
			)?.focus({ preventScroll: true });
		more.hidden = older === undefined;
		selected.keep();
		fill(
			chosen,
			filters.map((f) => {
				const facet = facets.find(([name]) => name === f.name)?.[1] ?? f.name;
				const kind = ["attribute", "alt"].includes(f.name) ? "" : `${facet.toLowerCase()}: `;
				return button(kind + shownAs(f.name, f.value), () => drop(f), {
					class: "small",
					title: "Remove this filter",
				});
			}),
			chosenOf(fields).map(([which, text]) =>
				button(
					text,
					() => {
						for (const name of which) fields[name] = "";
						renew();
					},
					{ class: "small", title: "Remove this filter" },
				),
			),
			folder &&
				button(`folder: ${folders.label(folder)}`, () => go(() => (folder = "")), {
					class: "small",
					title: "Remove this filter",
				}),
			filters.length + (folder ? 1 : 0) + chosenOf(fields).length > 1 &&
				button(
					"Remove all filters",
					() => {
						filters = [];
						folder = "";
						fields = {};
						renew();
					},
					{ class: "small bare" },
				),
		);
	}

	/** Makes the controls anew, whose values have changed, and searches. */
	function renew() {
		fill(extras, moreFilters(fields, change, extras.querySelector("details")?.open));
		go(() => {});
	}

	/** @param {import("./assetfilters.js").Values} some */
	function change(some) {
		go(() => (fields = { ...fields, ...some }));
	}

	/** @param {Asset} asset */
	function card(asset) {
		const said = plain(String(asset.content["content"] ?? ""));
		const file = fileOf(asset);
		const name = file?.name || authorOf(asset);
		const picture = file ? file.thumbnail : images.checked && pictureOf(asset);
		const why = gone.get(asset.id);
		const box = h("input", {
			type: "checkbox",
			checked: selected.has(asset.id),
			disabled: why !== undefined,
			"aria-label": file ? `Select ${name}` : `Select the asset of ${name}`,
			onchange: () => selected.set(asset, box.checked),
		});
		boxes.set(asset.id, box);
		return h(
			"li",
			{ class: why ? "asset gone" : "asset", "data-asset": asset.id },
			h(
				"div",
				{ class: "pick-one" },
				box,
				h(
					"span",
					{
						class: "handle",
						draggable: "true",
						title: "Drag into a folder",
						ondragstart: (/** @type {DragEvent} */ event) => {
							const ids = selected.has(asset.id) ? [...selected.assets.keys()] : [asset.id];
							drag(event, { assets: ids }, ids.length === 1 ? name : `${ids.length} assets`);
						},
					},
					icon("drag"),
				),
			),
			picture &&
				h("img", {
					src: picture,
					alt: "",
					loading: "lazy",
					referrerpolicy: "no-referrer",
					width: 96,
					height: 72,
					onclick: () => details(asset), // the button beside it does so by the keyboard
				}),
			h(
				"div",
				{ class: "what" },
				h(
					"button",
					{ type: "button", class: "bare open", onclick: () => details(asset) },
					h("span", { class: "strong" }, marked(name)),
					" ",
					h("span", { class: "detail" }, file && marked(authorOf(asset)), file && " ", time(asset.createdAt)),
				),
				why && h("span", { class: "tag" }, why),
				said !== name && h("p", null, marked(said)),
				h(
					"div",
					{ class: "chips" },
					(asset.safe_tags ?? []).map((t) => h("span", { class: "chip" }, t)),
					(asset.attributes ?? [])
						.slice(0, 4)
						.map((x) => h("span", { class: "chip" }, `${x.key}: ${x.value}`)),
					asset.folders.map((f) => h("span", { class: "detail" }, icon("folder"), f.label)),
				),
			),
		);
	}

	const sends = sending(lib, {
		folder: () => folders.tree.known.get(folder),
		moderator: mayManage,
		onsent: () => {
			void folders.load(folder);
			changed();
		},
	});

	/** @param {Asset} asset */
	async function details(asset) {
		const said = h("p", { class: "news", role: "status", hidden: true });
		const body = h("div", null);
		const tell = (/** @type {string} */ text) => {
			said.textContent = text;
			said.hidden = false;
		};
		const file = fileOf(asset) && filePanel(lib, asset, changed);
		const fillIn = (/** @type {Asset} */ a) => {
			file?.set(a);
			fill(body, ...describe(a));
		};
		fillIn(asset);
		detail = {
			id: asset.id,
			tell,
			update: (next) => {
				fillIn(next);
				tell("It was changed just now. This is the asset as it is.");
			},
		};
		const title = file ? plain(String(asset.content["content"] ?? "")) : authorOf(asset);
		await show(title, h("div", null, said, file?.node ?? "", body), { wide: true });
		detail = undefined;
	}

	/** @param {Asset} asset */
	function describe(asset) {
		const { content } = asset;
		return [
			h(
				"dl",
				null,
				h("dt", null, "First published"),
				h("dd", null, time(asset.createdAt)),
				h("dt", null, "Id"),
				h("dd", null, h("code", null, asset.id)),
				h("dt", null, "Source"),
				h(
					"dd",
					null,
					`${String(content["generator"] && /** @type {any} */ (content["generator"]).id)} · ` +
						`${String(content["id"])}`,
				),
				h("dt", null, "Folders"),
				h("dd", null, asset.folders.map((f) => f.label).join(", ") || "none"),
				h("dt", null, "Tags"),
				h("dd", null, (asset.safe_tags ?? []).join(", ") || "none"),
				["via", "rights"].flatMap((name) =>
					/** @type {any} */ (asset)[name] === undefined
						? []
						: [
								h("dt", null, name === "via" ? "Via" : "Rights"),
								h("dd", null, shownAs(name, String(/** @type {any} */ (asset)[name]))),
							],
				),
				(asset.attributes ?? []).flatMap((x) => [h("dt", null, x.key), h("dd", null, x.value)]),
			),
			h("h3", null, "Content"),
			h("p", null, plain(String(content["content"] ?? ""))),
			h(
				"details",
				null,
				h("summary", null, "As it is stored"),
				h("pre", { class: "raw", tabindex: "0", "aria-label": "Content as JSON" }, stringify(content, 2)),
			),
			h("h3", null, "Who may"),
			explained(asset),
		];
	}

	/** What the person may do with an asset, and why. @param {Asset} asset */
	function explained(asset) {
		const node = h("div", null, "…");
		lib.explain({ asset: asset.id }, signal).then(
			(e) =>
				fill(
					node,
					h(
						"ul",
						null,
						sentences(
							e,
							undefined,
							(id) => folders.label(id),
							asset.folders.length === 0 ? "unfiled" : "asset",
							folders.options.users,
						).map((x) => h("li", null, x)),
					),
					button("Why, and who else?", () => void why(), { class: "small" }),
				),
			(e) => fill(node, sentence(e)),
		);
		const why = async () => (await import("./folder.js")).why(folders, { asset: asset.id }, authorOf(asset));
		return node;
	}

	/** @param {Counts} counts */
	function renderFacets(counts) {
		const active = document.activeElement;
		const focused =
			active && side.contains(active) ? /** @type {HTMLElement} */ (active).dataset["facet"] : undefined;
		/** @param {string} name @param {string} value @param {string} text @param {number} [count] */
		const choice = (name, value, text, count) => {
			const filter = { name, value };
			const on = filters.some((f) => f.name === name && f.value === value);
			return h(
				"li",
				null,
				h(
					"button",
					{
						type: "button",
						"data-facet": `${name} ${value}`,
						class: "bare facet",
						"aria-pressed": String(on),
						onclick: () =>
							on
								? drop(filter)
								: go(() => {
										if (["type", "generator", "via", "rights"].includes(name))
											filters = filters.filter((f) => f.name !== name);
										filters = [...filters, filter];
									}),
					},
					h("span", null, text),
					count !== undefined && h("span", { class: "detail" }, count.toLocaleString()),
				),
			);
		};
		/** @param {string} key */
		const values = (key) =>
			(counts[`attribute:${key}`] ?? [])
				.slice(0, 10)
				.map((c) => choice("attribute", attributeFilter(key, c.value), c.value, c.count));
		/** @param {string} key @param {number} [count] */
		const attribute = (key, count) =>
			h(
				"details",
				{
					class: "key",
					open: open?.has(key),
					ontoggle: (/** @type {Event} */ event) => {
						const now = /** @type {HTMLDetailsElement} */ (event.target).open;
						if (now === open?.has(key)) return;
						if (now) open?.add(key);
						else open?.delete(key);
						if (now)
							void facet({ facets: counts }, searching.signal).catch((e) => fill(total, sentence(e)));
					},
				},
				h(
					"summary",
					{ "data-facet": ` ${key}` },
					h("span", null, key),
					h("span", { class: "detail" }, count?.toLocaleString() ?? ""),
				),
				h(
					"ul",
					null,
					count !== undefined && choice("attribute", attributeFilter(key), "any", count),
					values(key),
				),
			);
		const listed = (counts["attribute"] ?? []).filter((c) => countable(c.value));
		const keys = [
			...listed.map((c) => attribute(c.value, c.count)),
			...[...(open ?? [])].filter((k) => !listed.some((c) => c.value === k)).map((k) => attribute(k)),
		];
		fill(
			side,
			facets
				.filter(([name]) => (counts[name] ?? []).some((c) => name !== "type" || c.value !== "none"))
				.map(([name, title]) =>
					h(
						"section",
						null,
						h("h2", null, title),
						h(
							"ul",
							null,
							(counts[name] ?? [])
								.slice(0, 10)
								.map((c) => choice(name, c.value, shownAs(name, c.value), c.count)),
							name === "type" && choice("alt", "missing", shownAs("alt", "missing")),
						),
					),
				),
			keys.length > 0 &&
				h(
					"section",
					null,
					h("h2", null, "Attributes"),
					keys,
					(counts["attribute"]?.length ?? 0) >= 20 &&
						button(
							"Another attribute",
							() =>
								void ask("Another attribute", "Its key", "Show its values", (key) => {
									if (!countable(key)) throw new Error("A key with a comma cannot be searched.");
									open?.add(key);
									void facet({ facets: counts }, searching.signal).catch((e) =>
										fill(total, sentence(e)),
									);
								}),
							{ class: "small bare" },
						),
				),
		);
		if (focused !== undefined)
			/** @type {HTMLElement | null} */ (side.querySelector(`[data-facet="${CSS.escape(focused)}"]`))?.focus({
				preventScroll: true,
			});
		folders.count(stringify([changes, { ...conditions(), folderTree: "" }]));
	}

	/** @param {Filter} filter */
	function drop(filter) {
		go(() => (filters = filters.filter((f) => f.name !== filter.name || f.value !== filter.value)));
	}

	/** Changes what is searched, and searches. @param {() => void} change */
	function go(change) {
		change();
		const kept = new URLSearchParams([
			...(words ? [["q", words]] : []),
			...(folder ? [["folder", folder]] : []),
			...filters.map((f) => [f.name, f.value]),
			...Object.entries(fields).filter(([, value]) => value),
		]);
		history.replaceState(null, "", `${to("assets", network, library)}${kept.size > 0 ? `?${kept}` : ""}`);
		folders.choose(folder);
		void addTo();
		loading = load(true);
	}

	// On a narrow screen the filters are out of the way until they are asked for.
	const aside = h("aside", { "aria-label": "Filters", class: "filtering" }, folders.node, extras, side);
	const toggle = button(
		"Folders and filters",
		() => toggle.setAttribute("aria-expanded", String(aside.toggleAttribute("data-open"))),
		{ class: "narrow", "aria-expanded": "false" },
	);
	const typed = debounce(120, () => go(() => (words = search.value)));
	search.addEventListener("input", typed);
	void folders.load(folder);
	if (mayManage) {
		const feed = live.of(lib, signal);
		const gathering = new Gathering(follow);
		feed.each(signal, (change) => gathering.add(change));
		loading = feed.ready.then(() => load(true));
	} else void load(true);
	new IntersectionObserver(([entry]) => entry?.isIntersecting && !more.hidden && void load(false), {
		rootMargin: "400px",
	}).observe(more);
	const node = h(
		"div",
		{ class: "page" },
		head(
			"Assets",
			h(
				"div",
				{ class: "row" },
				networks.length > 1 && where,
				h("label", { class: "row" }, images, "Show images"),
				mayNot,
				adding,
			),
		),
		h("div", { class: "filters", role: "search" }, h("span", { class: "searching" }, icon("search"), search)),
		chosen,
		h(
			"div",
			{ class: "split" },
			toggle,
			aside,
			h(
				"section",
				{ "aria-label": "Found" },
				sends.node,
				total,
				news,
				selected.node,
				list,
				none,
				h("div", { class: "foot" }, more),
			),
		),
	);
	adding.append(...sends.buttons, add);
	sends.accept(node);
	return { node, leave: sends.leave };
}

/**
 * The names of via and rights, by number, as whoever runs the server has given them.
 * @type {Record<string, Record<string, string>>}
 */
const given = JSON.parse(document.querySelector('meta[name="vitrine-asset-names"]')?.getAttribute("content") || "{}");

/** @type {Record<string, string>} */
const types = {
	"type none": "None",
	"type photo": "Pictures",
	"type video": "Video",
	"type audio": "Sound",
	"type link": "Links and other files",
	"type rich": "Embedded",
	"alt missing": "Pictures without a text for those who do not see them",
};

/** What a value of a facet is called. @param {string} facet @param {string} value */
function shownAs(facet, value) {
	return given[facet]?.[value] ?? types[`${facet} ${value}`] ?? value;
}

/** The facets of attributes. @param {string[]} keys */
function keysOf(keys) {
	return keys.map((key) => `attribute:${key}`);
}

/** Whether the values of an attribute can be counted: commas are separators there. @param {string} key */
function countable(key) {
	return !key.includes(",");
}

/**
 * The filter for an attribute: with a quoted key where a colon would be ambiguous.
 *
 * @param {string} key
 * @param {string} [value] any without one
 */
function attributeFilter(key, value) {
	const name = /^"|:/.test(key) || value?.includes(":") ? JSON.stringify(key) : key;
	return value === undefined ? name : `${name}:${value}`;
}

/** @param {Asset} asset */
function authorOf(asset) {
	const author = /** @type {any} */ (asset.content["attributedTo"]);
	if (fileOf(asset)) return nameOf(String(author?.id));
	return String(author?.displayName || author?.username || author?.id || "somebody");
}

/** The address of a picture of the asset, by https or of this server, or undefined. @param {Asset} asset */
function pictureOf(asset) {
	for (const a of /** @type {any[]} */ (asset.content["attachment"] ?? [])) {
		for (const link of [a?.thumbnail_url, a?.type === "photo" ? a?.url : undefined]) {
			const url = link?.href ?? link;
			if (typeof url === "string" && (/^https:\/\//i.test(url) || url.startsWith(`${location.origin}/`)))
				return url;
		}
	}
	return undefined;
}
