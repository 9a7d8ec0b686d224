/**
 * The selected assets, and what can be done with all of them at once. The answer says how it went for each.
 * @module
 */
import { ApiError } from "../api.js";
import { button, count, fill, h, labelled, newID } from "../dom.js";
import { askWith, confirm, show, toast } from "../elements/dialog.js";
import { pick } from "../elements/pick.js";
import { told } from "../model/told.js";
import { usedNote } from "./assetfiles.js";

/** @typedef {import("../api.js").Asset} Asset */
/** @typedef {{id: string, status: number, message?: string}} Result */

/** Why an asset is not changed, by status. @type {Record<number, string>} */
const reasons = { 403: "you may not change it", 404: "it is not there any more" };

/**
 * Does something with assets, as many at a time as the service takes. When a later part fails, what was done
 * before is told, and the rest stays as it was.
 * @param {string[]} ids @param {number} most @param {(part: string[]) => Promise<Result[]>} f
 * @returns {Promise<Result[]>}
 */
async function inParts(ids, most, f) {
	/** @type {Result[]} */
	const results = [];
	for (let at = 0; at < ids.length; at += most)
		try {
			results.push(...(await f(ids.slice(at, at + most))));
		} catch (e) {
			if (at === 0) throw e;
			const message = told(e).replace(/\.$/, "");
			return [...results, ...ids.slice(at).map((id) => ({ id, status: 0, message }))];
		}
	return results;
}

export class Selected {
	/** @type {Map<string, Asset>} */
	assets = new Map();

	/**
	 * @param {import("../api.js").Library} lib
	 * @param {import("./folders.js").Folders} folders
	 * @param {{shown: () => Asset[], name: (a: Asset) => string, onchanged: () => void, onselect: () => void}} options
	 * shown are the assets of the list; onchanged is called when assets were changed, onselect when others are selected
	 */
	constructor(lib, folders, options) {
		this.lib = lib;
		this.folders = folders;
		this.options = options;
		this.node = h("div", {
			class: "row actions",
			role: "toolbar",
			"aria-label": "What to do with the selected assets",
			hidden: true,
		});
	}

	/** Whether an asset is selected. @param {string} id */
	has(id) {
		return this.assets.has(id);
	}

	/** @param {Asset} asset @param {boolean} on */
	set(asset, on) {
		if (on) this.assets.set(asset.id, asset);
		else this.assets.delete(asset.id);
		this.render();
	}

	/** Leaves those selected that are in the list, as they are now. */
	keep() {
		const shown = new Map(this.options.shown().map((a) => [a.id, a]));
		for (const id of this.assets.keys()) {
			const a = shown.get(id);
			if (a) this.assets.set(id, a);
			else this.assets.delete(id);
		}
		this.render();
	}

	/** @param {Asset[]} assets */
	#only(assets) {
		this.assets = new Map(assets.map((a) => [a.id, a]));
		this.options.onselect();
		this.render();
	}

	render() {
		const n = this.assets.size;
		this.node.hidden = n === 0;
		const shown = this.options.shown();
		fill(
			this.node,
			h("span", { class: "strong" }, `${n.toLocaleString()} selected`),
			button("Put into a folder", () => void this.#into(), { class: "small" }),
			[...this.assets.values()].some((a) => a.folders.length > 0) &&
				button("Take out of a folder", () => void this.#out(), { class: "small" }),
			button("Attributes", () => void this.#attributes(), { class: "small" }),
			button("Remove", () => void this.#remove(), { class: "small danger" }),
			n < shown.length && button(`Select all ${shown.length}`, () => this.#only(shown), { class: "small bare" }),
			button("Select none", () => this.#only([]), { class: "small bare" }),
		);
	}

	/**
	 * Says how it went for each asset. Those for which it did not stay selected.
	 * @param {string} done such as "put into Winter" @param {Result[]} results
	 * @param {string} [many] what status 400 says
	 */
	#told(done, results, many) {
		const bad = results.filter((r) => r.status !== 200);
		const text = `${(results.length - bad.length).toLocaleString()} ${done}`;
		const names = new Map(
			[...this.options.shown(), ...this.assets.values()].map((a) => [a.id, this.options.name(a)]),
		);
		for (const r of results) if (r.status === 200) this.assets.delete(r.id);
		this.options.onselect();
		this.render();
		this.options.onchanged();
		if (bad.length === 0) toast(`${text}.`);
		else
			void show(
				`${text}, ${bad.length.toLocaleString()} not`,
				h(
					"div",
					null,
					h("p", null, "These stay selected:"),
					h(
						"ul",
						null,
						bad.map((r) =>
							h(
								"li",
								null,
								h("span", { class: "strong" }, names.get(r.id) ?? r.id),
								`: ${r.message ?? reasons[r.status] ?? many ?? r.status}.`,
							),
						),
					),
				),
			);
	}

	/** Puts assets into a folder. @param {string[]} ids @param {string} folder */
	async assign(ids, folder) {
		this.#told(
			`put into ${this.folders.label(folder)}`,
			await inParts(ids, 5000, async (part) => (await this.lib.assign(folder, { assign: part })).assign),
			"it is in too many folders",
		);
	}

	async #into() {
		const f = await this.folders.pick("Which folder?");
		if (f) await this.assign([...this.assets.keys()], f.id);
	}

	async #out() {
		const all = [...this.assets.values()];
		const places = [
			...new Map(
				all.flatMap((a) =>
					a.folders.map((f) => [
						f.id,
						{ ...f, n: all.filter((x) => x.folders.some((y) => y.id === f.id)).length },
					]),
				),
			).values(),
		];
		const f =
			places.length === 1
				? places[0]
				: await pick(
						"Out of which folder?",
						places,
						(x) => ({ name: x.label, detail: `${x.n} of ${all.length}` }),
						"They are in no folder.",
					);
		if (f)
			this.#told(
				`taken out of ${f.label}`,
				await inParts(
					all.filter((a) => a.folders.some((x) => x.id === f.id)).map((a) => a.id),
					5000,
					async (part) => (await this.lib.assign(f.id, { remove: part })).remove,
				),
			);
	}

	async #attributes() {
		const [list, values] = [newID(), newID()];
		const assets = [...this.assets.values()];
		const has = assets.flatMap((a) => a.attributes ?? []);
		const suggested = h("datalist", { id: values });
		const keyField = h("input", {
			list,
			required: true,
			maxlength: 128,
			autocomplete: "off",
			onchange: () => {
				fill(suggested);
				if (keyField.value)
					this.lib.values(keyField.value).then(
						(found) =>
							fill(
								suggested,
								found.slice(0, 200).map((x) => h("option", { value: x.value })),
							),
						() => {},
					);
			},
		});
		const valueField = h("input", { list: values, maxlength: 1024, autocomplete: "off" });
		const howField = h(
			"select",
			null,
			[
				["add", "Add, beside what they have"],
				["set", "Set, in place of other values of this key"],
				["remove", "Take away"],
			].map(([v, text]) => h("option", { value: v }, text)),
		);
		const results = await askWith(
			`Attribute of ${count(assets.length, "asset")}`,
			[
				h(
					"datalist",
					{ id: list },
					[...new Set(has.map((x) => x.key))].map((k) => h("option", { value: k })),
				),
				suggested,
				labelled("Key", keyField),
				labelled("Value", valueField),
				labelled("What to do", howField),
			],
			"Change",
			() =>
				inParts(
					assets.map((a) => a.id),
					5000,
					async (ids) => {
						const { result } = await this.lib.attributes({
							assets: ids,
							[howField.value]: [{ key: keyField.value, value: valueField.value }],
						});
						return result.map((status, i) => ({ id: ids[i] ?? "", status }));
					},
				),
		);
		if (results)
			this.#told(
				howField.value === "remove" ? "do not have it any more" : "have it",
				results,
				"it has too many attributes",
			);
	}

	async #remove() {
		const ids = [...this.assets.keys()];
		const used = usedNote(this.lib.api, [...this.assets.values()]);
		if (
			!(await confirm(
				`Remove ${count(ids.length, "asset")}?`,
				h("span", null, "They are gone for good, in all folders.", used),
				"Remove",
				{ danger: true },
			))
		)
			return;
		/** @param {string[]} list @returns {Promise<Result[]>} */
		const remove = async (list) => {
			const { removed } = await this.lib.change({ remove: list });
			return list.map((id) => ({ id, status: removed.includes(id) ? 200 : 404 }));
		};
		this.#told(
			"removed",
			await inParts(ids, 1000, (part) =>
				remove(part).catch(async (e) => {
					if (!(e instanceof ApiError) || e.status !== 403 || part.length === 1) throw e;
					// One that may not be removed keeps them all: each is asked for by itself.
					/** @type {Result[]} */
					const results = [];
					for (const id of part)
						results.push(
							...(await remove([id]).catch((x) => [
								{ id, status: 403, message: told(x).replace(/\.$/, "") },
							])),
						);
					return results;
				}),
			),
		);
	}
}
