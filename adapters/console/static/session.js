/**
 * Who uses the page: the person of a session, whose cookie the page never sees, or the token in sessionStorage.
 * @module
 */
import { decode } from "./address.js";
import { Api, ApiError, sendable } from "./api.js";
import { count, h } from "./dom.js";
import { confirm, toast } from "./elements/dialog.js";
import { person } from "./elements/person.js";
import { askFor, nameOf, begin as namesFrom, learn } from "./model/names.js";

/** @typedef {import("./api.js").Me} Me */

const storage = "vitrine.token";

/** How somebody signs in, and how they show again that it is them; loaded when it is needed. */
const signin = () => import("./elements/signin.js");

export class Session {
	/** @param {URL} base the address of the API's base path */
	constructor(base) {
		this.api = new Api(base, {
			token: () => sessionStorage.getItem(storage) ?? "",
			renew: (refused, token, first) => this.#renew(refused, token, first),
			confirm: () => this.#confirm(),
			wait: (seconds) => this.#wait(seconds),
		});
		/** @type {Me | undefined} */
		this.me = undefined;
		/** Sends no token, so that the cookie counts, and asks nobody to sign in. */
		this.bare = new Api(base, { token: () => "", renew: (refused) => Promise.reject(refused) });
		/** @type {import("./api.js").Place | undefined} how people sign in; undefined where nobody has an account */
		this.place = undefined;
		/** @type {Promise<void> | undefined} */
		this.renewing = undefined;
		/** @type {Promise<void> | undefined} */
		this.confirming = undefined;
		/** Tells the other tabs of this browser that somebody has signed in. */
		this.channel = new BroadcastChannel(`vitrine signed in ${base.href}`);
		/** Is fulfilled when it is known how people sign in. */
		this.placing = Promise.resolve();
		/** Is called when it is known, or known anew, who the caller is and how people sign in. */
		this.placed = () => {};
		/** @type {HTMLElement | undefined} */
		this.waiting = undefined;
		/** Ends the view that is open, before the page begins anew without its caller. */
		this.onend = () => {};
		/** Whether the view that is open has something that is not saved. */
		this.unsaved = () => false;
		this.base = base;
	}

	/**
	 * Finds out who the caller is: by the link that was followed, by the token of the tab, by a cookie, or by asking.
	 * @returns {Promise<Me>}
	 */
	async begin() {
		namesFrom(this.api);
		const link = takeFragment();
		const placed = (this.placing = this.look());
		if (link?.kind === "token") await this.#offer(link.secret);
		else if (link) {
			await placed;
			await (await signin()).follow(this, link.kind, link.secret);
		}
		for (;;) {
			try {
				this.me = await this.api.me({ session: false });
				if (!this.byToken) this.channel.postMessage("");
				return this.me;
			} catch (e) {
				if (!(e instanceof ApiError) || (e.status !== 401 && e.status !== 403)) throw e;
				await placed;
				this.keep(await this.#ask(this.byToken || e.status === 403 ? e : undefined));
				this.placing = this.look();
			}
		}
	}

	/** Finds out how people sign in here, and who has the session of this browser. */
	async look() {
		const place = await this.bare.place().catch(() => undefined);
		this.place = place && this.byToken ? { ...place, session: null } : place; // with a token, no cookie counts
		if (this.account) learn([this.account.person]);
		this.placed();
	}

	/** The session of this browser, if there is one and no token. */
	get account() {
		return this.place?.session ?? undefined;
	}

	/**
	 * Whether the caller may list people and public keys: administrators and moderators of a whole network may, where
	 * there are accounts.
	 */
	get managesPeople() {
		// A secret key may not, whatever its rights are.
		if (!this.place || this.byKey) return false;
		return !!this.account?.person.admin || !!this.me?.moderates.some((urn) => !urn.includes(":site="));
	}

	/** Whether a key of a program has signed in. */
	get byKey() {
		return !!sessionStorage.getItem(storage)?.startsWith("vt_");
	}

	/** The URN of a network, by its name. @param {string} network */
	networkURN(network) {
		return `${(this.me?.urn ?? "").split(":").slice(0, 2).join(":")}:${network}`;
	}

	/** The networks whose libraries the caller may see. */
	get networks() {
		const urns = [this.me?.urn ?? "", ...(this.me?.moderates ?? [])];
		return [...new Set(urns.map((urn) => urn.split(":")[2] ?? ""))].filter((n) => n !== "");
	}

	/** The groups that the caller has to do with. */
	get groups() {
		return [...new Set([...(this.me?.moderates ?? []), ...(this.me?.reads ?? []), ...(this.me?.groups ?? [])])];
	}

	/** Sends a token from now on, or with "" the cookie. @param {string} token */
	keep(token) {
		if (token === "") sessionStorage.removeItem(storage);
		else sessionStorage.setItem(storage, token);
	}

	/**
	 * Asks the service who the caller is by now.
	 * @returns {Promise<boolean>} whether something else is known of them
	 */
	async changed() {
		const was = JSON.stringify({ ...this.me, expires: 0 });
		this.me = await this.api.me();
		if (JSON.stringify({ ...this.me, expires: 0 }) === was) return false;
		await this.look();
		return true;
	}

	/**
	 * Takes the token of a link. Where somebody is signed in, by a token or a cookie, it is taken only if the person
	 * says so.
	 * @param {string} token
	 */
	async #offer(token) {
		const before = sessionStorage.getItem(storage) ?? "";
		if (before === token) return;
		const now = sendable.test(token) ? await this.#whose(before) : undefined;
		const then = (now || this.me) && (await this.#whose(token));
		if ((now && !then) || !sendable.test(token))
			toast("The link has no token that you can sign in with.", { bad: true });
		else {
			await askFor([now ?? "", then ?? ""]);
			if (
				!now ||
				(await confirm(
					"Use the token of the link?",
					h("span", null, "You are ", person(now), ". The link has a token of ", person(then), "."),
					`Continue as ${nameOf(then ?? "")}`,
				))
			)
				await this.#take(token, then);
		}
	}

	/** Tells that the service is busy, once at a time. @param {number} seconds */
	#wait(seconds) {
		if (!this.waiting?.isConnected)
			this.waiting = toast(`The service is busy. It is asked again in ${count(seconds, "second")}.`);
	}

	/**
	 * Takes a token from now on. If it is another caller's, the page begins anew: nothing of the one before is sent or
	 * shown for them.
	 * @param {string} token
	 * @param {string | undefined} urn its caller
	 */
	async #take(token, urn) {
		const other = this.me && this.me.urn !== urn;
		if (other) this.onend();
		this.keep(token);
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
			if (!(e instanceof ApiError) || (e.status !== 401 && e.status !== 403)) throw e;
			return undefined;
		}
	}

	/** Follows a link to sign in with that was opened in the page. */
	async follow() {
		const link = takeFragment();
		if (!link) return;
		const before = sessionStorage.getItem(storage);
		if (link.kind === "token") await this.#offer(link.secret);
		else if (await (await signin()).follow(this, link.kind, link.secret)) {
			this.onend();
			location.reload();
		}
		if (sessionStorage.getItem(storage) !== before) this.me = await this.api.me();
	}

	/** Whether the caller has a token. Otherwise a cookie that the page does not see says who they are. */
	get byToken() {
		return !!sessionStorage.getItem(storage);
	}

	/**
	 * @param {ApiError} refused
	 * @param {string} token what was refused; if there is another one by now, it is tried first
	 * @param {boolean} first whether the request is refused for the first time
	 */
	async #renew(refused, token, first) {
		if (this.renewing) return this.renewing;
		if ((sessionStorage.getItem(storage) ?? "") !== token) return;
		this.renewing = this.#again(refused, first && token === "").finally(() => {
			this.renewing = undefined;
		});
		return this.renewing;
	}

	/**
	 * @param {ApiError} refused
	 * @param {boolean} byCookie whether a cookie was refused, which that of another session may have replaced by now
	 */
	async #again(refused, byCookie) {
		for (const later of byCookie ? [0, 500] : []) {
			await new Promise((resolve) => setTimeout(resolve, later));
			if (this.me && (await this.#whose("").catch(() => undefined)) === this.me.urn) return;
		}
		for (;;) {
			const token = await this.#ask(refused);
			try {
				const me = await this.#meWith(token);
				await this.#take(token, me.urn);
				this.me = me;
				await this.look();
				return;
			} catch (e) {
				if (!(e instanceof ApiError) || e.status !== 401) throw e;
				refused = e;
			}
		}
	}

	/**
	 * Asks to sign in until somebody does.
	 * @param {ApiError | undefined} refused why the token before is not taken
	 * @returns {Promise<string>} a token, or "" for the cookie
	 */
	async #ask(refused) {
		if (refused?.status === 403)
			refused.words = "This token is for a page that shows an app. Nobody can sign in with it.";
		return (await signin()).ask(this, refused);
	}

	/** Has the person show again that it is them, once for all that waits for it. */
	#confirm() {
		this.confirming ??= signin()
			.then((m) => m.confirm(this))
			.finally(() => {
				this.confirming = undefined;
			});
		return this.confirming;
	}

	/**
	 * Ends the session, or forgets the token, with what is kept in this browser of the caller's changes, and starts
	 * anew.
	 * @param {boolean} [everywhere] all sessions of the person
	 */
	async signOut(everywhere = false) {
		const { forget, kept } = await import("./model/local.js");
		const whose = [this.base.href, this.me?.urn ?? ""];
		if (
			(this.unsaved() || kept(whose).length > 0) &&
			!(await confirm(
				"Sign out and lose changes?",
				"Some of your changes are not saved. They are in this browser alone, and are deleted from it when " +
					"you sign out.",
				"Sign out",
				{ danger: true },
			))
		)
			return;
		if (this.account) {
			await this.bare.account("DELETE", `signin/sessions/${everywhere ? "" : this.account.id}`).catch((e) => {
				if (e.status !== 401) throw e; // the session has ended by itself
			});
		}
		this.onend();
		forget(whose);
		sessionStorage.removeItem(storage);
		location.replace(location.pathname + location.search);
		location.reload();
	}

	/** Whether the caller may change an app. @param {Pick<import("./api.js").App, "owner" | "groups">} app */
	mayWrite(app) {
		return (!!this.me?.owner && app.owner?.urn === this.me.urn) || app.groups.some((g) => this.moderates(g));
	}

	/**
	 * Whether the caller may make links that show an app.
	 * @param {Pick<import("./api.js").App, "owner" | "groups">} app
	 */
	mayShow(app) {
		return !this.byKey && this.mayWrite(app);
	}

	/**
	 * Whether the caller may create, move and delete a tag of an app.
	 * @param {import("./api.js").App} app @param {{protected?: boolean}} tag
	 */
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

/** Takes #token=…, #invite=… or #signin=… out of the address, so that it is in no history and in no link. */
function takeFragment() {
	const match = location.hash.match(/^#(token|invite|signin)=([^&]+)(?:&(.*))?$/);
	if (!match) return undefined;
	history.replaceState(null, "", `${location.pathname}${location.search}#${match[3] ?? ""}`);
	return { kind: /** @type {"token" | "invite" | "signin"} */ (match[1]), secret: decode(match[2]) };
}
