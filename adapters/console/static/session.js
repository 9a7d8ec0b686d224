/**
 * Who uses the page: the token in sessionStorage, or a cookie that the page never sees.
 * @module
 */
import { Api, ApiError } from "./api.js";
import { button, count, h, labelled } from "./dom.js";
import { askWith, confirm, sentence, toast } from "./elements/dialog.js";
import { time } from "./elements/time.js";
import { decode } from "./router.js";

/** @typedef {import("./api.js").Me} Me */

const storage = "vitrine.token";

/** What can be sent as a token. */
const sendable = /^[\x21-\x7e]+$/;

export class Session {
	/** @param {URL} base the address of the API's base path */
	constructor(base) {
		this.api = new Api(base, { token: () => sessionStorage.getItem(storage) ?? "", renew: (refused, token) => this.#renew(refused, token), wait: (seconds) => this.#wait(seconds) });
		/** @type {Me | undefined} */
		this.me = undefined;
		/** @type {Promise<void> | undefined} */
		this.renewing = undefined;
		/** @type {HTMLElement | undefined} */
		this.waiting = undefined;
		/** Ends the view that is open, before the page begins anew without its caller. */
		this.onend = () => {};
		/** Whether the view that is open has something that is not saved. */
		this.unsaved = () => false;
		this.base = base;
	}

	/**
	 * Finds out who the caller is: by the token of the address, of the tab, by a cookie, or by asking for a token.
	 * @returns {Promise<Me>}
	 */
	async begin() {
		const offered = takeFragment();
		if (offered) await this.#offer(offered);
		for (;;) {
			try {
				return this.me = await this.api.me({ session: false });
			} catch (e) {
				if (!(e instanceof ApiError) || e.status !== 401 && e.status !== 403) throw e;
				sessionStorage.setItem(storage, await this.#ask(this.byToken || e.status === 403 ? e : undefined));
			}
		}
	}

	/**
	 * Takes the token of a link. Where somebody is signed in, by a token or a cookie, it is taken only if the person says so.
	 * @param {string} token
	 */
	async #offer(token) {
		const before = sessionStorage.getItem(storage) ?? "";
		if (before === token) return;
		const now = sendable.test(token) ? await this.#whose(before) : undefined;
		const then = (now || this.me) && await this.#whose(token);
		if (now && !then || !sendable.test(token)) toast("The link has no token that you can sign in with.", { bad: true });
		else if (!now || await confirm("Use the token of the link?", `You are ${now}. The link has a token of ${then}.`, `Continue as ${then}`)) await this.#take(token, then);
	}

	/** Tells that the service is busy, once at a time. @param {number} seconds */
	#wait(seconds) {
		if (!this.waiting?.isConnected) this.waiting = toast(`The service is busy. It is asked again in ${count(seconds, "second")}.`);
	}

	/**
	 * Takes a token from now on. If it is another caller's, the page begins anew: nothing of the one before is sent or shown for them.
	 * @param {string} token
	 * @param {string | undefined} urn its caller
	 */
	async #take(token, urn) {
		const other = this.me && this.me.urn !== urn;
		if (other) this.onend();
		sessionStorage.setItem(storage, token);
		if (!other) return;
		location.reload();
		this.renewing = new Promise(() => {}); // what waits for a token ends with the page
		await this.renewing;
	}

	/** Who the caller with a token is, or with "" by a cookie. @param {string} token */
	#meWith(token) {
		return new Api(this.base, { token: () => token, renew: () => Promise.reject() }).me({ session: false });
	}

	/** The URN of that caller, or undefined if nobody can sign in so. @param {string} token */
	async #whose(token) {
		try {
			return (await this.#meWith(token)).urn;
		} catch (e) {
			if (!(e instanceof ApiError) || e.status !== 401 && e.status !== 403) throw e;
			return undefined;
		}
	}

	/** Takes the token of a link that was followed while the page was open. */
	async follow() {
		const token = takeFragment();
		if (!token) return;
		const before = sessionStorage.getItem(storage);
		await this.#offer(token);
		if (sessionStorage.getItem(storage) !== before) this.me = await this.api.me();
	}

	/** Whether the caller has a token. Otherwise a cookie that the page does not see says who they are. */
	get byToken() {
		return !!sessionStorage.getItem(storage);
	}

	/**
	 * @param {ApiError} refused
	 * @param {string} token what was refused; if there is another one by now, it is tried first
	 */
	async #renew(refused, token) {
		if (this.renewing) return this.renewing;
		if ((sessionStorage.getItem(storage) ?? "") !== token) return;
		this.renewing = this.#again(refused).finally(() => {
			this.renewing = undefined;
		});
		return this.renewing;
	}

	/** @param {ApiError} refused */
	async #again(refused) {
		for (;;) {
			const token = await this.#ask(refused);
			try {
				const me = await this.#meWith(token);
				await this.#take(token, me.urn);
				this.me = me;
				return;
			} catch (e) {
				if (!(e instanceof ApiError) || e.status !== 401) throw e;
				refused = e;
			}
		}
	}

	/**
	 * Asks for a token until there is one.
	 * @param {ApiError | undefined} refused why the one before is not taken
	 * @returns {Promise<string>}
	 */
	async #ask(refused) {
		const input = h("textarea", { rows: 4, required: true, autocomplete: "off", spellcheck: "false", autocapitalize: "off", class: "mono" });
		if (refused?.status === 403) refused.words = "This token is for a page that shows an app. Nobody can sign in with it.";
		const note = refused && h("div", { role: "alert", class: "note bad" }, sentence(refused));
		const field = labelled("Token", input, ["It is kept until you close this tab, and goes to this server alone. ", h("code", null, "vitrine token"), " makes one."]);
		const token = await askWith(this.me ? "Sign in again" : "Sign in", [note, field], "Sign in",
			() => {
				const token = input.value.replaceAll(/\s/g, "").replace(/^(bearer|svctoken)/i, "");
				if (token !== "" && !sendable.test(token)) throw new Error("This is no token. A token has letters, digits, dots, hyphens and underscores.");
				return token || undefined;
			}, { required: true });
		return /** @type {string} */ (token);
	}

	/** Forgets the token and what is kept in this browser of the caller's changes, and starts anew. */
	async signOut() {
		const { forget, kept } = await import("./model/local.js");
		const whose = [this.base.href, this.me?.urn ?? ""];
		if ((this.unsaved() || kept(whose).length > 0) && !await confirm("Sign out and lose changes?", "Some of your changes are not saved. They are in this browser alone, and are deleted from it when you sign out.", "Sign out", { danger: true })) return;
		this.onend();
		forget(whose);
		sessionStorage.removeItem(storage);
		location.replace(location.pathname + location.search);
		location.reload();
	}

	/** Whether the caller may change an app. @param {import("./api.js").App} app */
	mayWrite(app) {
		return app.owner?.urn === this.me?.urn || app.groups.some((g) => this.moderates(g));
	}

	/** Whether the caller may create, move and delete a tag of an app. @param {import("./api.js").App} app @param {import("./api.js").Tag} tag */
	mayMove(app, tag) {
		return this.mayWrite(app) && (!tag.protected || app.groups.every((g) => this.moderates(g)));
	}

	/** Whether the caller moderates a network or a site. @param {string} group */
	moderates(group) {
		return !!this.me?.moderates.some((m) => contains(m, group));
	}
}

/** Whether a URN is another one, or contains it. @param {string} outer @param {string} inner */
export function contains(outer, inner) {
	return inner === outer || inner.startsWith(`${outer}:`);
}

/** The last part of a URN, which is what people call it by. @param {string} urn */
export function shortURN(urn) {
	const parts = urn.split(":");
	const last = parts.at(-1) ?? urn;
	return parts.length > 3 ? last.replace(/^(user|site)=/, "") : last;
}

/** Takes #token=… out of the address, so that it is in no history and in no link. */
function takeFragment() {
	const match = location.hash.match(/^#token=([^&]+)(?:&(.*))?$/);
	if (!match) return undefined;
	history.replaceState(null, "", `${location.pathname}${location.search}#${match[2] ?? ""}`);
	return decode(match[1]);
}

/** What stands in the corner: who I am, what I may, until when. @param {Session} session */
export function whoami(session) {
	const me = /** @type {Me} */ (session.me);
	/** @param {string} name @param {readonly (string | Node)[]} list */
	const row = (name, list) => list.length > 0 && [h("dt", null, name), h("dd", null, list.map((x) => h("div", null, x)))];
	return h("div", { class: "whoami" },
		h("dl", null,
			row("You are", [me.urn]), row("You moderate", me.moderates), row("You may read", me.reads), row("Roles", me.roles), row("Groups", me.groups),
			row("Components", me.components ? ["You may create and delete them."] : []),
			row("Until", me.expires === null ? [] : [h("span", null, `${new Date(Number(me.expires)).toLocaleString()}, `, time(Number(me.expires)))])),
		session.byToken && h("div", { class: "buttons" }, button("Sign out", () => session.signOut())));
}

