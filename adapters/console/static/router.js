/**
 * Which view an address shows. Addresses are fragments, such as #/apps/3b24…/history, so that each view can be shared
 * and reloaded wherever the page is mounted.
 * @module
 */
import { decode } from "./address.js";

/** @typedef {import("./session.js").Session} Session */
/**
 * @typedef {{session: Session, api: import("./api.js").Api, params: string[], query: URLSearchParams,
 *   signal: AbortSignal, live: import("./live.js").Live, shell: Shell}} Context
 */
/** @typedef {{title(text: string): void}} Shell */
/** @typedef {{node: HTMLElement, leave?: () => Promise<boolean>}} View leave says whether the view may be left */
/** @typedef {{view: (context: Context) => View}} Module */

/** The table of views: the pattern of an address, the name in the menu that it belongs to, and the module. */
export const routes = /** @type {[RegExp, string, () => Promise<Module>][]} */ ([
	[/^\/apps$/, "apps", () => import("./views/apps.js")],
	[/^\/apps\/([^/]+)$/, "apps", () => import("./views/designer.js")],
	[/^\/apps\/([^/]+)\/history$/, "apps", () => import("./views/history.js")],
	[/^\/apps\/([^/]+)\/deployments$/, "apps", () => import("./views/deployments.js")],
	[/^\/assets(?:\/([^/]+)(?:\/([^/]+))?)?$/, "assets", () => import("./views/assets.js")],
	[/^\/assets\/([^/]+)\/([^/]+)\/add$/, "assets", () => import("./views/assetadd.js")],
	[/^\/reviews(?:\/([^/]+))?$/, "reviews", () => import("./views/reviews.js")],
	[/^\/components$/, "components", () => import("./views/components.js")],
	[/^\/releases$/, "releases", () => import("./views/releases.js")],
	[/^\/releases\/([^/]+)$/, "releases", () => import("./views/release.js")],
	[/^\/inbox$/, "inbox", () => import("./views/inbox.js")],
	[/^\/account$/, "account", () => import("./views/account.js")],
	[/^\/people$/, "people", () => import("./views/people.js")],
	[/^\/keys$/, "keys", () => import("./views/keys.js")],
	[/^\/components\/([^/]+)$/, "components", () => import("./views/component.js")],
]);

/** @param {string} hash */
export function match(hash) {
	const [path = "", query = ""] = hash.replace(/^#/, "").split("?");
	for (const [pattern, name, load] of routes) {
		const found = pattern.exec(path);
		if (found)
			return {
				name,
				load,
				params: found
					.slice(1)
					.filter((x) => x !== undefined)
					.map(decode),
				query: new URLSearchParams(query),
			};
	}
	return undefined;
}
