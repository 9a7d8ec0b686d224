/**
 * People with accounts: who there is, what they may, and how they come in.
 * @module
 */
import { ApiError } from "../api.js";
import { button, count, debounce, detail, fill, h, head, icon, labelled, rowTable, searchLine } from "../dom.js";
import { askWith, closeAround, confirm, show, toast, trouble } from "../elements/dialog.js";
import { Pages } from "../elements/pages.js";
import { person } from "../elements/person.js";
import { lacks, none, rightsForm, rightsOf } from "../elements/rights.js";
import { once } from "../elements/secret.js";
import { moment, time, used } from "../elements/time.js";
import { forget, learn } from "../model/names.js";

/** @typedef {import("../api.js").Person} Person */
/** @typedef {import("../session.js").Session} Session */

/** What the service refuses of accounts, in words. @param {unknown} e @returns {never} */
export function refused(e) {
	if (e instanceof ApiError && e.code === "forbidden")
		e.words =
			"You may give and take only rights that you have, and change only people all of whose rights you have. " +
			"Only an administrator invites somebody who has or had a passkey, or has the URN of a token.";
	if (e instanceof ApiError && e.code === "too_many")
		e.words = "You have mailed as many invitations as one may within an hour: try again later.";
	throw e;
}

/**
 * Makes a link of somebody and shows it.
 * @param {Session} session @param {Person} who @param {string} [then] the view that it leads to
 */
export async function invite(session, who, then) {
	const { link, expires, mailed } = await session.api
		.account("POST", `people/${who.id}/invite`, {}, "link")
		.catch(refused);
	await once(
		`The invitation of ${who.name}`,
		{ Link: then ? `${link}&${then}` : link },
		mailed ? `A mail with another link goes to ${who.email}. ` : `Send it to ${who.name}. `,
		`Whoever opens it first makes a passkey and is signed in as ${who.name}; it is good until `,
		moment(Number(expires)),
		". It is shown this once.",
	);
}

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, query, signal, shell }) {
	shell.title("People");
	const body = h("tbody");
	const search = searchLine("Find by name or address", query.get("q") ?? "");
	const empty = h("div", { class: "empty", hidden: true }, h("p", null, "Nobody is found."));
	/** @type {Pages<Person>} */
	const list = new Pages(
		signal,
		"people",
		(after, signal) => api.people({ after, q: search.value.trim() || undefined }, signal),
		() => {
			learn(list.items);
			forget();
			empty.hidden = list.items.length > 0;
			fill(
				body,
				list.items.map((p) =>
					h(
						"tr",
						{ class: p.disabled ? "off" : "" },
						h(
							"th",
							{ scope: "row" },
							button("", () => void open(p), {
								class: "bare open name",
								"aria-label": `${lacks(session, p) ? "Look at" : "Change"} ${p.name}`,
							}),
							detail(p.email),
						),
						h("td", null, rightsOf(p)),
						h("td", null, state(p)),
					),
				),
			);
			list.items.forEach((p, i) => body.rows[i]?.querySelector("button")?.append(person(p.urn)));
			return list.items.length === 0 ? "" : count(list.items.length, "person").replace("persons", "people");
		},
	);

	/** Whether somebody can sign in, and when they did. @param {Person} p */
	function state(p) {
		if (p.disabled) return h("span", { class: "chip bad" }, "disabled");
		const seen =
			p.urn === session.me?.urn
				? h("div", null, "is here now")
				: p.lastSeenAt !== null && h("div", null, used(p.lastSeenAt, "seen"));
		return [
			p.invitation && h("div", null, "invited, the link ends ", time(p.invitation.expires)),
			seen || (!p.invitation && h("div", null, "has no way to sign in yet")),
			p.provider &&
				h("div", { class: "detail", title: p.provider.issuer }, `rights by ${p.provider.values.join(", ")}`),
		];
	}

	/**
	 * The form of a person. Rights that a provider gives are not changed here.
	 * @param {Pick<Person, "name" | "email"> & import("../api.js").Rights & {provider?: Person["provider"]}} has
	 */
	function form(has) {
		const name = h("input", { required: true, maxlength: 128, autocomplete: "off", value: has.name });
		const email = h("input", { type: "email", autocomplete: "off", value: has.email });
		const rights = has.provider
			? { node: h("div", { class: "field" }, rightsOf(has)), value: () => ({}) }
			: rightsForm(session, has, { admin: true });
		return {
			nodes: [
				labelled("Name", name, "It is shown to everybody of the network."),
				labelled(
					"Mail address",
					email,
					session.account?.mail ? "Mails go to it." : "For you alone: nothing is sent to it.",
				),
				rights.node,
			],
			value: () => ({ name: name.value.trim(), email: email.value.trim(), ...rights.value() }),
		};
	}

	/** Shows somebody whom the caller may not change. @param {Person} p @param {string} lack */
	async function look(p, lack) {
		const why =
			`${p.name} has the right ${lack}, which you do not have. Only somebody who has it can change ` +
			"this account.";
		await show(
			p.name,
			h(
				"form",
				null,
				h("p", { class: "note" }, why),
				h(
					"dl",
					null,
					p.email && [h("dt", null, "Mail address"), h("dd", null, p.email)],
					h("dt", null, "Rights"),
					h("dd", null, rightsOf(p)),
				),
				h("div", { class: "buttons" }, button("Close", closeAround)),
			),
			{ wide: true },
		);
	}

	async function create() {
		const f = form({ name: "", email: "", ...none() });
		const made = await askWith(
			"Invite somebody",
			f.nodes,
			"Invite",
			() => api.account("POST", "people/", f.value(), "id").catch(refused),
			{ wide: true },
		);
		if (!made) return;
		await list.load(true);
		await invite(session, made).catch(trouble);
		await list.load(true);
	}

	/** @param {Person} p */
	async function open(p) {
		const lack = lacks(session, p);
		if (lack) return look(p, lack);
		const f = form(p);
		/** Closes the form, and goes on. @param {() => Promise<unknown>} next */
		const then = (next) => async () => {
			node.closest("dialog")?.close();
			await next().catch(refused).catch(trouble);
			await list.load(true);
		};
		const save = h("button", { class: "main" }, "Save");
		const node = h(
			"form",
			null,
			p.provider &&
				h(
					"p",
					{ class: "note" },
					`The rights come from ${p.provider.issuer} at each sign-in: ${p.provider.values.join(", ")}.`,
				),
			f.nodes,
			h(
				"div",
				{ class: "buttons" },
				!p.disabled &&
					!p.provider &&
					(!p.mayOwn || session.account?.person.admin) &&
					button(
						p.passkeys > 0 || p.invitation ? "Invite anew" : "Invite",
						then(() => invite(session, p)),
					),
				button(
					p.disabled ? "Enable" : "Disable",
					then(async () => {
						if (
							!p.disabled &&
							!(await confirm(
								`Disable ${p.name}?`,
								`${p.name} is signed out everywhere at once, and secret keys of ${p.name} stop. ` +
									`What ${p.name} has made stays.`,
								"Disable",
								{ danger: true },
							))
						)
							return;
						await api.account("PATCH", `people/${p.id}`, { disabled: !p.disabled }, "id");
					}),
				),
				button(
					"Delete",
					then(async () => {
						if (
							!(await confirm(
								`Delete ${p.name}?`,
								"The account is gone for good, with its passkeys, sessions and secret keys. What " +
									`${p.name} has made stays.`,
								"Delete",
								{ danger: true },
							))
						)
							return;
						await api.account("DELETE", `people/${p.id}`);
						toast(`${p.name} is deleted.`);
					}),
					{ class: "danger" },
				),
				save,
			),
		);
		const saved = await show(p.name, node, {
			wide: true,
			submit: async () => {
				const now = f.value();
				const changes = Object.fromEntries(
					Object.entries(now).filter(
						([k, v]) => JSON.stringify(v) !== JSON.stringify(/** @type {any} */ (p)[k]),
					),
				);
				if (Object.keys(changes).length > 0)
					await api.account("PATCH", `people/${p.id}`, changes, "id").catch(refused);
				return true;
			},
		});
		if (!saved) return;
		toast(`${p.name} is saved.`);
		await list.load(true);
	}

	search.addEventListener(
		"input",
		debounce(200, () => void list.load(true)),
	);
	void list.load(true);
	return {
		node: h(
			"div",
			{ class: "page people" },
			head(
				"People",
				button("Invite somebody", () => void create(), { icon: "add", class: "main" }),
			),
			h("div", { class: "filters", role: "search" }, h("span", { class: "searching" }, icon("search"), search)),
			rowTable(["Person", "Rights", "Sign-in"], body),
			empty,
			list.foot,
		),
	};
}
