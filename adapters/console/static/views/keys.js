/**
 * Keys for programs and pages: made here, shown once, revoked here.
 * @module
 */
import { button, count, fill, h, head, help, labelled, rowTable } from "../dom.js";
import { askWith, confirm, toast } from "../elements/dialog.js";
import { Pages } from "../elements/pages.js";
import { chooseGroups, group, person } from "../elements/person.js";
import { choose } from "../elements/pick.js";
import { lacks, none, rightsForm, rightsOf } from "../elements/rights.js";
import { copyable, once } from "../elements/secret.js";
import { time, used } from "../elements/time.js";

/** @typedef {import("../api.js").Key} Key */

/** For how long a key is good, in days, in words. */
const terms = [
	["30", "30 days"],
	["90", "90 days"],
	["365", "a year"],
];

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, signal, shell }) {
	shell.title("Keys");
	const body = h("tbody");
	const empty = h(
		"div",
		{ class: "empty", hidden: true },
		h(
			"p",
			null,
			"No keys yet. A program uses a secret key in place of a token, with some of your rights. A public key " +
				"stands in a page, and reads what the page shows and nothing else.",
		),
	);
	/** @type {Pages<Key>} */
	const list = new Pages(
		signal,
		"keys",
		(after, signal) => api.keys(after, signal),
		() => {
			empty.hidden = list.items.length > 0;
			fill(
				body,
				list.items.map((k) =>
					h(
						"tr",
						null,
						h(
							"th",
							{ scope: "row" },
							h("bdi", null, k.name),
							h("span", { class: "detail mono" }, `${k.prefix}…`),
						),
						h("td", null, k.kind === "public" ? publicly(k) : secretly(k)),
						h("td", null, person(k.by.urn), h("div", { class: "detail" }, time(k.createdAt))),
						h(
							"td",
							null,
							h("div", null, used(k.lastUsedAt)),
							k.expires !== null && h("div", { class: "detail" }, "ends ", time(k.expires)),
						),
						h(
							"td",
							null,
							h(
								"div",
								{ class: "row" },
								k.key !== undefined &&
									button(
										"Show",
										() =>
											void askWith(
												k.name,
												copyable("Key", /** @type {string} */ (k.key)),
												"Done",
												() => true,
												{ focus: true },
											),
										{ class: "small", "aria-label": `Show ${k.name}` },
									),
								button("Revoke", () => void revoke(k), {
									class: "small",
									"aria-label": `Revoke ${k.name}`,
								}),
							),
						),
					),
				),
			);
			return list.items.length === 0 ? "" : count(list.items.length, "key");
		},
	);

	/** @param {Key} k */
	function publicly(k) {
		return [
			h("div", null, "for pages"),
			k.reads.length > 0 && h("div", { class: "chips" }, "of", k.reads.map(group)),
			k.tags.length > 0 &&
				h(
					"div",
					{ class: "chips" },
					"apps by the tags",
					k.tags.map((t) => h("span", { class: "tag" }, t)),
				),
			k.list && h("div", null, "lists of these apps"),
			k.reviews && h("div", null, "reviews that are shown"),
			k.folders.length > 0 && h("div", null, `${count(k.folders.length, "folder")} of the library`),
		];
	}

	/** @param {Key} k */
	function secretly(k) {
		return [
			k.agent && h("div", null, "for an agent"),
			rightsOf(k),
			k.owner && h("div", null, "and what ", person(k.by.urn), " owns"),
		].flat();
	}

	async function createSecret() {
		const name = h("input", { required: true, maxlength: 128, autocomplete: "off" });
		const term = h(
			"select",
			null,
			terms.map(([value, text]) => h("option", { value }, text)),
		);
		const rights = rightsForm(session, none(), { admin: false });
		const owner = h("input", { type: "checkbox" });
		const agent = h("input", { type: "checkbox" });
		const made = await askWith(
			"New secret key",
			[
				labelled("Name", name, "Such as the program that uses it, and where it runs."),
				labelled("Good for", term),
				help("It can do at most what you can do yourself, and less as soon as you can do less."),
				h(
					"div",
					{ class: "field" },
					h("div", { class: "boxes" }, h("label", null, agent, "For an agent, such as an assistant")),
					help(
						"Whatever it may do below, it then only reads, writes versions that nobody sees yet,",
						" adds assets, and proposes releases. It never publishes, schedules, approves or deletes.",
						" You cannot approve what it proposes: somebody else does.",
					),
				),
				rights.node,
				h(
					"div",
					{ class: "field" },
					h("div", { class: "boxes" }, h("label", null, owner, "Also what is mine")),
					help(
						"It may then also change and delete every app that you own, whatever the groups of the app ",
						"are, and use the folders that are shared with you by name. Leave it out unless the program ",
						"needs just that.",
					),
				),
			],
			"Make the key",
			() => {
				const { admin, ...given } = rights.value();
				const expires = Date.now() + Number(term.value) * 86400_000;
				return api.account(
					"POST",
					"keys/",
					{ name: name.value, kind: "secret", expires, owner: owner.checked, agent: agent.checked, ...given },
					"id",
				);
			},
			{ wide: true },
		);
		if (!made) return;
		await list.load(true);
		const server = {
			type: "http",
			url: new URL("x/mcp", api.base).href,
			headers: { Authorization: `Bearer ${made.key}` },
		};
		await once(
			`The key ${made.name}`,
			{
				Key: made.key,
				...(agent.checked && {
					"MCP servers of your assistant": JSON.stringify({ mcpServers: { vitrine: server } }, null, 2),
				}),
			},
			"Copy it now: it is kept as a hash and never shown again. Whoever has it can do what it may.",
		);
	}

	async function createPublic() {
		const name = h("input", { required: true, maxlength: 128, autocomplete: "off" });
		const groups = [...new Set([...(session.me?.moderates ?? [])])];
		/** @type {Set<string>} */
		const reads = new Set(groups.length === 1 ? groups : []);
		const tags = new Set(["production"]);
		const reviews = h("input", { type: "checkbox" });
		const lists = h("input", { type: "checkbox" });
		/** @param {string} text */
		const refuse = (text) =>
			lacks(session, { moderates: [text] }) && "You do not moderate it: ask somebody who does to make the key.";
		const made = await askWith(
			"New public key",
			[
				labelled("Name", name, "Such as the site that it stands in."),
				chooseGroups("Reads", groups, reads, session, {
					help: "The networks and sites whose apps and reviews the page shows.",
					refuse,
				}),
				choose("Tags", [], tags, {
					help: "The page shows apps by these tags, and no other version.",
					placeholder: "Another tag",
				}),
				h(
					"div",
					{ class: "boxes" },
					h("label", null, reviews, "May also read the reviews that are shown"),
					h("label", null, lists, "May also list all apps that these tags publish, as builds of sites do"),
				),
			],
			"Make the key",
			() =>
				api.account(
					"POST",
					"keys/",
					{
						name: name.value,
						kind: "public",
						reads: [...reads],
						tags: [...tags],
						reviews: reviews.checked,
						list: lists.checked,
					},
					"id",
				),
			{ wide: true },
		);
		if (!made) return;
		await list.load(true);
		await once(`The key ${made.name}`, { Key: made.key }, "It may stand in a page for everybody to see.");
	}

	/** @param {Key} k */
	async function revoke(k) {
		const text =
			k.kind === "public"
				? "Pages with it get nothing new within a second; what caches have they show for up to 30 seconds more."
				: "Programs that use it are refused within a second.";
		if (!(await confirm(`Revoke ${k.name}?`, `${text} It cannot be brought back.`, "Revoke", { danger: true })))
			return;
		await api.account("DELETE", `keys/${k.id}`);
		toast(`${k.name} is revoked.`);
		await list.load(true);
	}

	void list.load(true);
	return {
		node: h(
			"div",
			{ class: "page keys" },
			head(
				"Keys",
				h(
					"div",
					{ class: "row" },
					session.managesPeople && button("New public key", () => void createPublic(), { icon: "add" }),
					session.account &&
						button("New secret key", () => void createSecret(), { icon: "add", class: "main" }),
				),
			),
			rowTable(["Key", "May", "By", "Used", "Change"], body),
			empty,
			list.foot,
		),
	};
}
