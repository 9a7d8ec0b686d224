/**
 * Signing in: with a passkey, at the provider of the organisation, by a link, or with a token.
 * @module
 */
import { ApiError, sendable } from "../api.js";
import { h, help, labelled } from "../dom.js";
import { askWith, buttons, closeAround, confirm as question, sentence, show, toast } from "./dialog.js";
import { learn } from "../model/names.js";
import { person } from "./person.js";
import { moment } from "./time.js";

/** @typedef {import("../session.js").Session} Session */

/**
 * Whether passkeys and the provider work at this address: they do at one address of the service alone.
 * @param {Session} session
 */
function here(session) {
	return session.place?.origin === location.origin;
}

/** What a browser without passkeys has no function for. */
const supported = typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;

/**
 * Does something with passkeys, and tells in words why it failed.
 * @template T @param {() => Promise<T>} f @returns {Promise<T>}
 */
async function withPasskey(f) {
	if (!supported)
		throw new Error(
			"This page needs a newer browser for passkeys: Chromium 129, Firefox 135, Safari 18.4 or later.",
		);
	try {
		return await f();
	} catch (e) {
		if (!(e instanceof DOMException)) throw e;
		if (e.name === "InvalidStateError") throw new Error("This device has a passkey of yours already.");
		if (e.name === "NotAllowedError")
			throw new Error("No passkey was used: it took too long, or was cancelled. Try again.");
		throw new Error(`The browser does not take passkeys here: ${e.message}`);
	}
}

/** Signs in with a passkey. @param {Session} session @param {boolean} [again] for who is signed in already */
async function withOne(session, again) {
	const api = session.bare;
	await withPasskey(async () => {
		const { ceremony, publicKey } = await api.account(
			"POST",
			"signin/begin",
			again ? { confirm: true } : {},
			"ceremony",
		);
		const credential = /** @type {PublicKeyCredential} */ (
			await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) })
		);
		await api.account("POST", "signin/finish", { ceremony, credential: credential.toJSON() }, "session");
	}).catch((e) => {
		if (e instanceof ApiError && e.status === 401)
			e.words = "This passkey is not known here, or its account is disabled.";
		throw e;
	});
	session.channel.postMessage("");
	return "";
}

/**
 * Stores a new passkey: that of an invitation, or a further one.
 * @param {Session} session @param {string} name @param {string} [invitation]
 */
export async function register(session, name, invitation) {
	const api = invitation ? session.bare : session.api;
	return withPasskey(async () => {
		const { ceremony, publicKey } = await api.account(
			"POST",
			"signin/register/begin",
			invitation ? { invitation } : {},
			"ceremony",
		);
		const credential = /** @type {PublicKeyCredential} */ (
			await navigator.credentials.create({
				publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey),
			})
		);
		return api.account(
			"POST",
			"signin/register/finish",
			{ ceremony, name, credential: credential.toJSON() },
			"passkey",
		);
	});
}

/** What a browser is called, such as "Firefox on Linux". @param {string} agent what it says of itself */
export function browserName(agent) {
	/** @param {[RegExp, string][]} names */
	const first = (names) => names.find(([pattern]) => pattern.test(agent))?.[1];
	const name =
		first([
			[/Edg/, "Edge"],
			[/OPR/, "Opera"],
			[/Firefox|FxiOS/, "Firefox"],
			[/Chrom|CriOS/, "Chrome"],
			[/Safari/, "Safari"],
		]) ?? "A browser";
	const system = first([
		[/iPhone/, "iPhone"],
		[/iPad/, "iPad"],
		[/Android/, "Android"],
		[/Windows/, "Windows"],
		[/Mac OS/, "Mac"],
		[/CrOS/, "ChromeOS"],
		[/Linux/, "Linux"],
	]);
	return system ? `${name} on ${system}` : name;
}

/** A field for the name of a new passkey: that of this device, unless the person has a better one. */
export function passkeyName() {
	const input = h("input", {
		required: true,
		maxlength: 128,
		autocomplete: "off",
		value: browserName(navigator.userAgent),
	});
	return {
		input,
		field: labelled("Name of the passkey", input, "It tells your passkeys apart, if you have several."),
	};
}

/**
 * Goes to the provider, in a tab of its own while something here must not be lost.
 * @param {Session} session @param {boolean} again
 */
function provider(session, again) {
	const { name } = /** @type {{name: string}} */ (session.place?.oidc);
	const url = new URL("x/signin/oidc", session.base);
	url.searchParams.set("to", location.hash || "#/apps");
	if (again) url.searchParams.set("confirm", "true");
	const stays = again || session.me !== undefined;
	return h(
		"a",
		{ class: "button", href: url.href, ...(stays ? { target: "_blank", rel: "noopener" } : {}) },
		`Sign in with ${name}`,
	);
}

/**
 * Does something when another tab of this browser has signed in.
 * @param {Session} session @param {HTMLFormElement} form it is submitted then
 */
function elsewhere(session, form) {
	const heard = () => form.requestSubmit();
	session.channel.addEventListener("message", heard);
	return () => session.channel.removeEventListener("message", heard);
}

/**
 * Leads to the page where people sign in to the program around this one, in a tab of its own while something here must
 * not be lost.
 * @param {string} href @param {Session} session
 */
function programs(href, session) {
	const url = new URL(href, document.baseURI);
	url.searchParams.set("to", location.pathname + location.hash);
	const tab = session.me ? { target: "_blank", rel: "noopener" } : {};
	return h(
		"form",
		null,
		h("p", null, "Nobody is signed in."),
		h(
			"div",
			{ class: "buttons" },
			session.me && h("button", null, "Go on"),
			h("a", { class: "button main", href: url.href, ...tab }, "Sign in"),
		),
	);
}

/**
 * Asks to sign in until somebody does.
 * @param {Session} session @param {ApiError | undefined} refused why the token before is not taken
 * @returns {Promise<string>} a token, or "" for the cookie
 */
export async function ask(session, refused) {
	const { place } = session;
	const program = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="vitrine-signin"]')).content;
	if (program !== "")
		return /** @type {string} */ (
			await show(session.me ? "Sign in again" : "Sign in", programs(program, session), {
				required: true,
				submit: () => "",
			})
		);
	const input = h("textarea", {
		rows: 4,
		required: true,
		autocomplete: "off",
		spellcheck: "false",
		autocapitalize: "off",
		class: "mono",
	});
	const field = labelled("Token", input, [
		"It is kept until you close this tab, and goes to this server alone. ",
		h("code", null, "vitrine token"),
		" makes one.",
	]);
	const passkey = h(
		"form",
		{ class: "ways" },
		h("button", { class: "main", autofocus: true }, "Sign in with a passkey"),
		place?.oidc && provider(session, false),
	);
	const token = h(
		"form",
		null,
		field,
		h("div", { class: "buttons" }, h("button", { class: place?.origin ? "" : "main" }, "Sign in")),
	);
	const other = h("form", { hidden: true });
	const content = h(
		"div",
		{ class: "signin" },
		refused && h("div", { role: "alert", class: "note bad" }, sentence(refused)),
		other,
		place &&
			!place.people &&
			h(
				"p",
				null,
				"Nobody has an account here yet. ",
				h("code", null, "vitrine invite -admin"),
				" on the server prints a link that makes the first one.",
			),
		here(session)
			? [
					passkey,
					place?.people && help("Lost your passkey? Ask an administrator for a new link."),
					h("details", { open: session.byToken }, h("summary", null, "Use a token"), token),
				]
			: [
					place?.origin &&
						h(
							"p",
							null,
							"With a passkey you sign in at ",
							h("a", { href: `${place.base}${location.hash}` }, place.origin),
							".",
						),
					token,
				],
	);
	const quiet = elsewhere(session, other);
	const found = await show(session.me ? "Sign in again" : "Sign in", content, {
		required: true,
		submit: (form) => {
			if (form === passkey) return withOne(session);
			if (form === other) return "";
			const text = input.value.replaceAll(/\s/g, "").replace(/^(bearer|svctoken)/i, "");
			if (text !== "" && !sendable.test(text))
				throw new Error("This is no token. A token has letters, digits, dots, hyphens and underscores.");
			return text || undefined;
		},
	});
	quiet();
	return /** @type {string} */ (found);
}

/** Has the person show again that it is them; it fails if they do not. @param {Session} session */
export async function confirm(session) {
	const byProvider = session.account?.via === "oidc";
	const form = h(
		"form",
		null,
		h(
			"p",
			null,
			"It is more than five minutes since you have shown that this is you. After that it goes on with what " +
				"you were doing.",
		),
		byProvider && provider(session, true),
		byProvider ? buttons() : buttons(h("button", { class: "main", autofocus: true }, "Show the passkey")),
	);
	const quiet = byProvider ? elsewhere(session, form) : () => {};
	const shown = await show("Is it still you?", form, {
		submit: async () => {
			if (!byProvider) await withOne(session, true);
			return true;
		},
	});
	quiet();
	if (!shown) throw new ApiError("Nothing was done.", { status: 403, code: "needs_confirmation" });
}

/**
 * Tells a person that a link to their account was made, until they have read it in this browser.
 * @param {Session} session
 */
export async function tellInvited(session) {
	const anew = session.account?.invitedAnew;
	const read = `vitrine.invited ${session.base.href} ${session.account?.person.urn} ${anew?.at}`;
	if (!anew || localStorage.getItem(read)) return;
	learn([anew.by]);
	await show(
		"There is another link to your account",
		h(
			"form",
			null,
			h(
				"p",
				null,
				anew.by.urn ? person(anew.by.urn) : "The person who runs the server",
				" has invited you anew: ",
				moment(anew.at),
				". Whoever opens that link can sign in as you, with a passkey of their own.",
			),
			h(
				"p",
				null,
				"If you have not asked for it, ask why it was made, and look at the passkeys of your account: ",
				"remove those that are not yours.",
			),
			h(
				"div",
				{ class: "buttons" },
				h("a", { class: "button quiet", href: "#/account", onclick: closeAround }, "Passkeys and sessions"),
				h("button", { class: "main", autofocus: true }, "I have read this"),
			),
		),
		{ submit: () => true },
	);
	localStorage.setItem(read, "yes");
}

/**
 * Follows a link to sign in with: an invitation, or one that signs in at once.
 * @param {Session} session @param {"invite" | "signin"} kind @param {string} secret
 * @returns {Promise<boolean>} whether somebody has signed in with it
 */
export async function follow(session, kind, secret) {
	const { place } = session;
	if (!place?.origin) {
		toast("Nobody can sign in by a link here: this service has no accounts at this address.", { bad: true });
		return false;
	}
	if (!here(session)) {
		location.replace(`${place.base}#${kind}=${encodeURIComponent(secret)}&${location.hash.slice(1)}`);
		return new Promise(() => {});
	}
	const api = session.bare;
	const now =
		session.account?.person.urn ??
		(session.byToken
			? await session.api.me({ session: false }).then(
					(me) => me.urn,
					() => undefined,
				)
			: undefined);
	try {
		if (kind === "signin") {
			if (
				now !== undefined &&
				!(await question(
					"Use the link?",
					h("span", null, "You are ", person(now), ". The link signs you in as somebody else, or anew."),
					"Use the link",
				))
			)
				return false;
			await api.account("POST", "signin/link", { link: secret }, "session");
		} else {
			const invited = await api.account("POST", "signin/invitation", { invitation: secret }, "urn");
			learn(invited.by?.urn ? [invited, invited.by] : [invited]);
			const { input, field } = passkeyName();
			const done = await askWith(
				`Welcome, ${invited.name}`,
				[
					h(
						"p",
						null,
						invited.by?.urn && [person(invited.by.urn), " invites you. "],
						"A passkey is how you sign in from now on: your device or your password manager keeps it, " +
							"and there is no password.",
					),
					now !== undefined &&
						now !== invited.urn &&
						h("p", { class: "note" }, "You are ", person(now), " here until then."),
					field,
				],
				"Make a passkey",
				() => register(session, input.value, secret),
				{ focus: true },
			);
			if (!done) return false;
			toast("Your passkey is stored. You are signed in.");
		}
	} catch (e) {
		if (e instanceof ApiError && e.status === 404)
			e.words =
				kind === "invite"
					? "This invitation is not good any more: it was used, or replaced by a newer one, or is older " +
						"than seven days. Ask for another one."
					: "This link is not good any more.";
		toast(sentence(e), { bad: true });
		return false;
	}
	session.keep("");
	await session.look();
	return true;
}
