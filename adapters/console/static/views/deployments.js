/**
 * The deployments of an app: its tags, what each points to, and since when.
 * @module
 */
import { to } from "../address.js";
import { ApiError, keys, newKey } from "../api.js";
import {
	button,
	count,
	detail,
	fill,
	flag,
	h,
	help,
	icon,
	labelled,
	newID,
	reconcile,
	table,
	whenSeen,
} from "../dom.js";
import { appNav } from "../elements/apphead.js";
import { askWith, closeAround, confirm, noteField, show, toast, trouble } from "../elements/dialog.js";
import { Pages } from "../elements/pages.js";
import { author, person } from "../elements/person.js";
import { propose, whatChanges } from "../elements/release.js";
import { showVersion } from "../elements/preview.js";
import { moderated } from "../elements/rights.js";
import { copyable } from "../elements/secret.js";
import { time } from "../elements/time.js";
import { chooseVersion, versions } from "../elements/versions.js";
import { foldersIn } from "../model/files.js";
import { kept } from "../model/local.js";
import { groupName } from "../model/names.js";
import { before } from "../model/rollback.js";

/** @typedef {import("../api.js").Tag} Tag */
/** @typedef {import("../api.js").Move} Move */

const whoMoves = "It is protected: only a moderator of every group of the app may create, move or remove it.";

/** Tells somebody who may not move a tag who may. @param {unknown} e @returns {never} */
function mayNot(e) {
	if (e instanceof ApiError && e.code === "forbidden")
		e.words = "You may not change this tag. If it is protected, only a moderator of every group of the app may.";
	throw e;
}

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, signal, live, shell }) {
	const id = params[0];
	const title = h("h1", null, "Deployments");
	const board = h("div", { class: "board" });
	const none = h(
		"div",
		{ class: "empty", hidden: true },
		h(
			"p",
			null,
			"No tags yet. A tag is a name, such as production, that points to one version. Pages that show the app " +
				"by its tag change when the tag is moved.",
		),
	);
	/** @type {Map<string, {node: HTMLElement, update: () => void}>} */
	const cards = new Map();
	/** @type {Map<string, number>} how often a tag was moved while the board is shown */
	const moves = new Map();
	/** @type {import("../api.js").App | undefined} */
	let app;
	/** @type {Pages<Tag>} */
	const list = new Pages(
		signal,
		"tags",
		async (after, signal) => {
			app = await api.app(id, undefined, signal);
			shell.title(`Deployments of ${app.title}`);
			fill(title, app.title);
			add.hidden = !session.mayWrite(app);
			return api.tags(id, { after }, signal);
		},
		() => {
			none.hidden = list.items.length > 0;
			reconcile(
				board,
				cards,
				list.items,
				(t) => [t.name, t.appVersion, moves.get(t.name), t.protected, movable(t)].join(" "),
				card,
				(part) => part.update(),
			);
			return list.next === undefined ? "" : count(list.items.length, "loaded tag");
		},
	);

	const seen = whenSeen(signal);

	/** @param {Tag} tag */
	function movable(tag) {
		return app !== undefined && session.mayMove(app, tag);
	}

	/** How many versions a tag is behind. @param {Tag} tag */
	const behind = (tag) => Number(app?.version) - Number(tag.appVersion);

	/** How many people must approve a move. @param {Tag} tag */
	const approvals = (tag) => tag.approvals ?? 0;

	/** @param {Tag} tag */
	function card(tag) {
		const may = movable(tag);
		const version = h("p", { class: "version" });
		const since = h("p", { class: "detail" }, "\u00a0");
		const deploy = button(
			approvals(tag) ? "Propose the latest" : "Move to the latest",
			() => void move(tag, String(app?.version), false),
			{ class: "main" },
		);
		const none = h(
			"p",
			{ class: "help", id: newID(), hidden: true },
			"Nothing to roll back to: it has not pointed to another version.",
		);
		const back = button("Roll back", () => earlier && void move(tag, earlier, true), {
			icon: "undo",
			disabled: true,
			"aria-describedby": none.id,
		});
		/** @type {string | null | undefined} */
		let earlier;
		const node = h(
			"article",
			{ class: "deployment", "aria-label": tag.name },
			h(
				"h2",
				null,
				icon("flag"),
				tag.name,
				tag.protected &&
					h(
						"span",
						{ class: "chip" },
						icon("lock"),
						approvals(tag) ? `protected, ${count(approvals(tag), "approval")}` : "protected",
					),
			),
			version,
			since,
			none,
			tag.protected && !may && help(whoMoves),
			h(
				"div",
				{ class: "row" },
				deploy,
				may && [
					button("Move", () => void choose(tag)),
					back,
					!approvals(tag) &&
						behind(tag) > 0 &&
						button(
							"Into a release",
							() =>
								void propose(api, [
									{
										app: id,
										title: app?.title ?? "",
										tag: tag.name,
										from: tag.appVersion,
										to: String(app?.version),
									},
								]),
						),
				],
				button("Show", () => void showVersion(api, id, tag.appVersion).catch(trouble)),
				button("History", () => void past(tag)),
				button("Use it", () => void useIt(tag).catch(trouble)),
				may && button("Remove the tag", () => void remove(tag), { icon: "remove", bare: true }),
			),
		);
		seen(node, async () => {
			try {
				let page = await api.moves(id, tag.name, {}, signal);
				const last = page.moves[0];
				fill(
					since,
					last
						? [
								last.rollback && "rolled back ",
								"by ",
								person(last.by.urn),
								" ",
								time(last.at),
								last.from !== null && `, before that version ${last.from}`,
							]
						: "since before moves were recorded",
				);
				const known = page.moves;
				earlier = before(known);
				while (may && earlier === undefined && page.next !== undefined) {
					page = await api.moves(id, tag.name, { before: page.next }, signal);
					known.push(...page.moves);
					earlier = before(known);
				}
				back.disabled = !earlier;
				none.hidden = !may || !!earlier;
			} catch {
				fill(since, "its history cannot be read");
			}
		});
		return {
			node,
			update() {
				const late = behind(tag);
				deploy.hidden = !may || late === 0;
				fill(
					version,
					h(
						"a",
						{ href: `${to("apps", id, "history")}?from=${tag.appVersion}&to=${app?.version}` },
						`Version ${tag.appVersion}`,
					),
					" ",
					h("span", { class: "chip" }, late === 0 ? "latest" : `${count(late, "version")} behind`),
				);
			},
		};
	}

	/** Tells of what is in no version, and leads to it. */
	function notSaved() {
		return (
			kept([api.base.href, session.me?.urn ?? "", id]).length > 0 &&
			h(
				"p",
				{ class: "note local" },
				"Some of your changes are kept in this browser and are in no version yet. ",
				h("a", { href: `${to("apps", id)}?show=refused`, onclick: closeAround }, "Show what is wrong"),
			)
		);
	}

	/**
	 * Moves a tag, unless somebody else was faster. What it changes is shown first.
	 * @param {Tag} tag @param {string} version @param {boolean} back
	 */
	async function move(tag, version, back) {
		if (approvals(tag) && !back)
			return void (await propose(
				api,
				[{ app: id, title: app?.title ?? "", tag: tag.name, from: tag.appVersion, to: version }],
				{ name: app?.title.slice(0, 128) },
			));
		const changes = whatChanges(api, { app: id, from: tag.appVersion, to: version }, true, signal);
		const keyOf = keys();
		const note = noteField();
		const moved = await askWith(
			back ? `Roll ${tag.name} back?` : `Move ${tag.name}?`,
			[
				h(
					"p",
					null,
					`${tag.name} points to version ${tag.appVersion} and will point to version ${version}. Those ` +
						`who see ${tag.name} will see this:`,
				),
				tag.protected && help(whoMoves),
				notSaved(),
				changes,
				note.node,
			],
			`${back ? "Roll back" : "Move"} to version ${version}`,
			() =>
				(back
					? api.rollBack(
							id,
							tag.name,
							{ from: tag.appVersion, note: note.value },
							keyOf(version + note.value),
						)
					: api.putTag(
							id,
							tag.name,
							{ appVersion: version, from: tag.appVersion, note: note.value },
							keyOf(version + note.value),
						)
				).catch(mayNot),
			{ wide: true },
		);
		if (moved) toast(`${tag.name} points to version ${version} now.`);
		await list.load(true);
	}

	/** @param {Tag} tag */
	async function choose(tag) {
		const chosen = await chooseVersion(
			`Where shall ${tag.name} point?`,
			versions(api, id, signal, tag.appVersion, { app }),
		);
		if (chosen?.to && chosen.to !== tag.appVersion) await move(tag, chosen.to, false);
	}

	async function create() {
		const name = h("input", {
			required: true,
			pattern: "[A-Za-z0-9_][A-Za-z0-9._\\-]{0,127}",
			autocomplete: "off",
			title: "A letter, digit or underscore, then letters, digits, underscores, dots and hyphens.",
		});
		const wanted = versions(api, id, signal, app?.version, { app });
		const keyOf = keys();
		const tag = await askWith(
			"New tag",
			[labelled("Name", name, "Such as production or staging."), wanted.node],
			"Create",
			() =>
				api
					.putTag(
						id,
						name.value,
						{ appVersion: wanted.value ?? "", from: null },
						keyOf(`${name.value} ${wanted.value}`),
					)
					.catch(mayNot),
		);
		if (tag) await list.load(true);
	}

	/** @param {Tag} tag */
	async function remove(tag) {
		if (
			!(await confirm(
				`Remove ${tag.name}?`,
				`Pages that show the app by ${tag.name} find nothing any more. Its history stays.`,
				"Remove",
				{ danger: true },
			))
		)
			return;
		await api
			.deleteTag(id, tag.name, newKey())
			.catch(mayNot)
			.finally(() => list.load(true));
	}

	/** @param {Tag} tag */
	async function past(tag) {
		const body = h("tbody");
		/** @type {Pages<Move>} */
		const moves = new Pages(
			signal,
			"moves",
			(before, signal) => api.moves(id, tag.name, { before }, signal),
			() => {
				fill(
					body,
					moves.items.map((m) =>
						h(
							"tr",
							null,
							h("td", null, time(m.at)),
							h("td", null, person(m.by.urn)),
							h("td", null, m.from === null ? "created" : `version ${m.from}`),
							h(
								"td",
								null,
								m.to === null ? "removed" : `version ${m.to}`,
								m.rollback && detail(" rolled back"),
								m.note && [" ", h("q", { class: "detail" }, m.note)],
								m.release && [
									" ",
									h("a", { href: to("releases", m.release), onclick: closeAround }, "release"),
								],
							),
						),
					),
				);
				return "";
			},
		);
		void moves.load();
		await show(`History of ${tag.name}`, h("div", null, table(["When", "Who", "From", "To"], body), moves.foot));
	}

	/**
	 * The folders that a version shows, of the network that a key is for, and a sentence about them.
	 * @param {string} version @param {string} network
	 */
	async function foldersOf(version, network) {
		const folders = foldersIn(await api.app(id, version, signal)).filter((f) => f.startsWith(`${network}/`));
		const names = await Promise.all(
			folders.map((f) => {
				const [, library, folder] = /** @type {string[]} */ (/^[^/]+\/(.+)\/([^/]+)$/.exec(f));
				return api
					.library(network, String(library))
					.folders({ id: String(folder) }, signal)
					.then(
						({ folders: [found] }) => found?.label ?? "one that you may not see",
						() => "one that you may not see",
					);
			}),
		);
		return {
			folders,
			said:
				folders.length === 0
					? null
					: help(
							`The app shows ${folders.length === 1 ? "a folder" : "folders"} of the library: `,
							names.flatMap((n, i) => [i > 0 && ", ", h("bdi", null, n)]),
							". The key reads what is in there, so everybody who sees the page can. To make the key, " +
								"you must be",
							` able to manage ${folders.length === 1 ? "the folder" : "each of them"}.`,
						),
		};
	}

	/** @param {Tag} tag */
	async function useIt(tag) {
		const script = new URL("x/vitrine.js", api.base).href;
		const name = tag.name.replace(/[&"]/g, (c) => `&#${c.charCodeAt(0)};`);
		/** @param {string} key */
		const lines = (key) => [
			copyable(
				"In a page",
				`<script type="module" src="${script}"></script>\n` +
					`<vitrine-app app="${id}" tag="${name}" page-key="${key}" live></vitrine-app>`,
			),
			copyable(
				"Address of the JSON that the page gets",
				new URL(`x/public/${encodeURIComponent(tag.name)}?app=${id}&key=${key}`, api.base).href,
			),
		];
		const url = new URL(`apps/${id}/tagged/${encodeURIComponent(tag.name)}`, api.base).href;
		const signIn = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="vitrine-signin"]')).content;
		const command =
			`vitrine token -urn ${(app?.groups[0] ?? "").split(":").slice(0, 3).join(":")}:user=page ` +
			`-reads ${(app?.groups ?? []).join(",")} -tags ${tag.name} -ttl 365d`;
		const group = session.managesPeople && app && moderated(session, app.groups)[0];
		const { folders, said } = group
			? await foldersOf(tag.appVersion, String(group.split(":")[2]))
			: { folders: [], said: null };
		const make = button(
			"Make a key for the page",
			async () => {
				make.disabled = true;
				try {
					const { key } = await api.account(
						"POST",
						"keys/",
						{
							name: `${app?.title}, ${tag.name}`.slice(0, 128),
							kind: "public",
							reads: [group],
							tags: [tag.name],
							folders,
						},
						"id",
					);
					fill(
						shown,
						lines(key),
						help(
							`The key reads what ${tag.name} points to in all apps of `,
							groupName(/** @type {string} */ (group)),
							folders.length > 0 && ", and what is in the folders of the library that the app shows",
							", and nothing else. It is listed, and can be revoked, under ",
							h("a", { href: to("keys"), onclick: closeAround }, "Keys"),
							".",
						),
					);
				} catch (e) {
					make.disabled = false;
					trouble(e);
				}
			},
			{ class: "main", icon: "key" },
		);
		const shown = h(
			"div",
			null,
			lines("MAKE_A_KEY_FIRST"),
			group
				? h("div", { class: "field" }, said, make)
				: signIn !== ""
					? help(
							"This site makes its own keys for pages: " +
								`ask who runs it for one that reads what ${tag.name} points to.`,
						)
					: copyable(
							`A token for the page: it reads what ${tag.name} points to ` +
								"in all apps of these groups, and nothing else",
							command,
						),
		);
		void show(`Use ${tag.name}`, h("div", null, shown, copyable("Address for those who have a token", url)), {
			wide: true,
		});
	}

	const add = button("New tag", () => void create(), { icon: "add", class: "main", hidden: true });
	live.each(signal, (c) => {
		if (c?.app === id && c.tag !== undefined) moves.set(c.tag, (moves.get(c.tag) ?? 0) + 1);
	});
	list.follow(live, (c) => c.app === id);
	void list.load(true);
	return {
		node: h(
			"div",
			{ class: "page" },
			appNav(id, "deployments"),
			h("div", { class: "head" }, title, add),
			board,
			none,
			list.foot,
		),
	};
}
