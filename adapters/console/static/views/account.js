/**
 * Who somebody is here: what they may, and where and how they are signed in.
 * @module
 */
import { to } from "../address.js";
import { button, detail, fill, h, head, help, rowTable } from "../dom.js";
import { ask, askWith, closeAround, confirm, sentence, toast } from "../elements/dialog.js";
import { group, person } from "../elements/person.js";
import { browserName, passkeyName, register } from "../elements/signin.js";
import { moment, time, used } from "../elements/time.js";

/** @typedef {import("../session.js").Session} Session */
/** @typedef {import("../api.js").Passkey} Passkey */

/** How a session began, in words. */
const ways = /** @type {Record<string, string>} */ ({
	passkey: "with a passkey",
	oidc: "at the provider",
	link: "by a link",
});

/**
 * What stands in the corner: who I am, what I may, until when.
 * @param {Session} session @param {boolean} [more] with what leads to the account
 */
export function whoami(session, more = true) {
	const { account, byToken } = session;
	const me = /** @type {import("../api.js").Me} */ (session.me);
	const out = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="vitrine-signout"]')).content;
	const chip = (/** @type {string} */ name) => h("span", { class: "chip" }, name);
	/** @param {string} name @param {import("../dom.js").Child[]} list */
	const row = (name, list) =>
		list.length > 0 && [h("dt", null, name), h("dd", null, h("span", { class: "chips" }, list))];
	return h(
		"div",
		{ class: "whoami" },
		h(
			"dl",
			null,
			h("dt", null, "You are"),
			h("dd", null, person(me.urn), h("div", { class: "detail" }, me.urn)),
			account?.person.email && [h("dt", null, "Mail address"), h("dd", null, account.person.email)],
			account?.person.admin &&
				row("Administrator", ["You may do everything with people and keys of all networks."]),
			row("You moderate", me.moderates.map(group)),
			row("You may read", me.reads.map(group)),
			row("Roles", me.roles.map(chip)),
			row("Groups", me.groups.map(group)),
			row("Components", me.components ? ["You may create and delete them."] : []),
			account?.person.provider && [
				h("dt", null, "By"),
				h(
					"dd",
					null,
					account.person.provider.values.join(", "),
					h("div", { class: "detail" }, account.person.provider.issuer),
				),
			],
			me.expires !== null && [h("dt", null, "Until"), h("dd", null, moment(Number(me.expires)))],
		),
		more &&
			(account || byToken) &&
			h(
				"div",
				{ class: "buttons" },
				account &&
					h(
						"a",
						{ class: "button quiet", href: to("account"), onclick: closeAround },
						"Passkeys and sessions",
					),
				button("Sign out", () => session.signOut()),
			),
		more &&
			!account &&
			!byToken &&
			out &&
			h("div", { class: "buttons" }, h("a", { class: "button quiet", href: out }, "Sign out")),
	);
}

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, signal, shell }) {
	shell.title("Your account");
	const passkeys = h("tbody");
	const sessions = h("tbody");
	const said = h("div", { role: "status" });

	async function load() {
		try {
			const [own, open] = await Promise.all([
				api.get("x/signin/passkeys/", "passkeys", undefined, signal),
				api.get("x/signin/sessions/", "sessions", undefined, signal),
			]);
			fill(
				passkeys,
				own.passkeys.map((/** @type {Passkey} */ p) =>
					h(
						"tr",
						null,
						h(
							"th",
							{ scope: "row" },
							h("bdi", null, p.name),
							detail(p.synced ? "kept by a password manager" : "kept by one device"),
						),
						h("td", null, "made ", time(p.createdAt)),
						h("td", null, used(p.lastUsedAt)),
						h(
							"td",
							null,
							h(
								"div",
								{ class: "row" },
								button("Rename", () => void rename(p), {
									class: "small",
									"aria-label": `Rename ${p.name}`,
								}),
								button("Remove", () => void remove(p, own.passkeys.length), {
									class: "small",
									"aria-label": `Remove ${p.name}`,
								}),
							),
						),
					),
				),
			);
			fill(
				sessions,
				open.sessions.map((/** @type {import("../api.js").OwnSession} */ s) =>
					h(
						"tr",
						null,
						h(
							"th",
							{ scope: "row", title: s.browser },
							browserName(s.browser),
							" ",
							s.current && h("span", { class: "chip" }, "this one"),
						),
						h("td", null, `${ways[s.via] ?? s.via}, `, time(s.createdAt)),
						h("td", null, s.current ? "used now" : used(s.lastSeenAt)),
						h(
							"td",
							null,
							button("Sign out", () => void (s.current ? session.signOut() : end(s.id)), {
								class: "small",
								"aria-label": `Sign out ${browserName(s.browser)}${s.current ? ", this one" : ""}`,
							}),
						),
					),
				),
			);
			fill(said);
		} catch (e) {
			if (!signal.aborted)
				fill(
					said,
					sentence(e),
					button("Try again", () => void load(), { class: "small" }),
				);
		}
	}

	/** @param {Passkey} p */
	async function rename(p) {
		await ask(
			"Rename the passkey",
			"Name",
			"Rename",
			async (name) => void (await api.account("PATCH", `signin/passkeys/${p.id}`, { name }, "id")),
			{ value: p.name },
		);
		await load();
	}

	/** @param {Passkey} p @param {number} all */
	async function remove(p, all) {
		const last =
			all === 1 && session.account?.via !== "oidc"
				? " It is your last one: without another passkey you need a new invitation to sign in again."
				: "";
		if (
			!(await confirm(
				`Remove ${p.name}?`,
				`Nobody can sign in with it any more, and the sessions that began with it end.${last}`,
				"Remove",
				{ danger: true },
			))
		)
			return;
		await api.account("DELETE", `signin/passkeys/${p.id}`);
		await load();
	}

	async function add() {
		const { input, field } = passkeyName();
		if (!(await askWith("Another passkey", field, "Make a passkey", () => register(session, input.value)))) return;
		await session.look(); // it has begun another session
		toast("The passkey is stored.");
		await load();
	}

	/** @param {string} id */
	async function end(id) {
		await api.account("DELETE", `signin/sessions/${id}`);
		toast("That browser is signed out.");
		await load();
	}

	/** The switch of mails, if the service sends some. @param {{off: boolean} | undefined} mail */
	function mails(mail) {
		if (!mail) return false;
		const to = session.account?.person.email;
		const box = h("input", {
			type: "checkbox",
			checked: !mail.off,
			onchange: async () => {
				const off = !box.checked;
				try {
					mail.off = (await api.account("PUT", "me/mail", { off }, "off")).off;
					toast(mail.off ? "You get no mails." : "You get mails.");
				} catch (e) {
					toast(sentence(e));
				}
				box.checked = !mail.off;
			},
		});
		return h(
			"section",
			null,
			h("div", { class: "head section" }, h("h2", null, "Mails")),
			h(
				"div",
				{ class: "boxes" },
				h("label", null, box, "Mail me what I am asked to approve, and who mentions me"),
			),
			help(
				to
					? `Mails go to ${to}, one a minute at most.`
					: "You have no address yet: an administrator enters it.",
			),
		);
	}

	if (session.account) void load();
	return {
		node: h(
			"div",
			{ class: "page account" },
			head("Your account"),
			whoami(session, false),
			said,
			session.account
				? [
						h(
							"div",
							{ class: "head section" },
							h("h2", null, "Passkeys"),
							button("Add a passkey", () => void add(), { icon: "add" }),
						),
						rowTable(["Passkey", "Made", "Used", "Change"], passkeys),
						h(
							"div",
							{ class: "head section" },
							h("h2", null, "Where you are signed in"),
							button("Sign out everywhere", () => void session.signOut(true), { class: "danger" }),
						),
						rowTable(["Browser", "Since", "Used", "Change"], sessions),
						mails(session.account.mail),
					]
				: [
						help("You use a token: it has no passkeys and no sessions."),
						session.byToken && button("Sign out", () => session.signOut()),
					],
		),
	};
}
