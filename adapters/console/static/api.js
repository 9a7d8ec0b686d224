/**
 * The HTTP API, one function an endpoint. The types are those of openapi.json.
 * @module
 */
import { parse, stringify } from "./json.js";

/** @typedef {import("./openapi").components["schemas"]} Schemas */
/** @typedef {import("./json.js").Value} Value */
/** @typedef {Schemas["Me"]} Me */
/** @typedef {{urn: string}} Party */
/**
 * @typedef {{at: number, by: Party, from: string | null, to: string | null, rollback?: boolean, release?: string,
 *   note?: string}} Move a tag was moved
 */
/** @typedef {Schemas["Release"]} Release */
/** @typedef {Schemas["ReleaseConflict"]} ReleaseConflict */
/** @typedef {{app: string, tag: string, from?: string | null, to: string | null}} NewMove of a release */
/**
 * @typedef {{app: string, title: string, version: string, elements: string[], violations: Violation[],
 *   diff: Operation[], tags: string[]}} Upgraded an app that gets another version of a component
 */
/**
 * @typedef {{version: string, updatedAt: number, updatedBy: Party | null, agent?: string, restoredFrom: string | null,
 *   note?: string, tags: string[], changes: {op: string, path: string, from?: string}[], changesTruncated: boolean}} Entry
 *   of a history
 */
/** @typedef {Schemas["Comment"]} Comment */
/** @typedef {Schemas["Preview"]} Preview a link that shows an app */
/** @typedef {Schemas["InboxItem"]} InboxItem */
/** @typedef {{urn: string, name: string}} Named somebody to choose */
/** @typedef {Schemas["Tag"]} Tag */
/** @typedef {Schemas["TagRule"]} TagRule */
/** @typedef {Schemas["Violation"]} Violation */
/** @typedef {{name: string, version: string}} Ref */
/**
 * @typedef {Ref & {id: string, main: string, description: string | null, configSchema: Value}} Manifest the members
 * that every manifest has
 */
/** @typedef {{id: string, key: string, component: Manifest, config: Value}} Element */
/**
 * @typedef {{id: string, version: string, createdAt: number, updatedAt: number, title: string, groups: string[],
 *   owner: Party | null, updatedBy: Party | null, elements: Element[]}} App as Schemas["App"], with configs that keep
 * their numbers
 */
/**
 * @typedef {{op: "test" | "add" | "replace", path: string, value: Value} | {op: "remove", path: string} | {op: "move" |
 *   "copy", from: string, path: string}} Operation
 */

/**
 * @typedef {{admin: boolean, moderates: string[], reads: string[], roles: string[], groups: string[],
 *   components: boolean}} Rights
 */
/**
 * @typedef {Rights & {id: string, urn: string, name: string, email: string, disabled: boolean, createdAt: number,
 *   lastSeenAt: number | null, passkeys: number, mayOwn: boolean, invitation: {by: Party | null, expires: number} |
 *   null, provider: {issuer: string, values: string[]} | null}} Person with an account
 */
/**
 * @typedef {{id: string, via: "passkey" | "oidc" | "link", expires: number, confirmedUntil: number | null,
 *   invitedAnew: {by: {urn: string, name: string}, at: number} | null, mail?: {off: boolean}, person: Person}} SignedIn
 *   a session; mail is there if the service sends mails
 */
/**
 * @typedef {{origin: string | null, base: string, people: boolean, oidc: {name: string} | null, session: SignedIn |
 *   null}} Place where and how people sign in
 */
/** @typedef {{id: string, name: string, createdAt: number, lastUsedAt: number | null, synced: boolean}} Passkey */
/**
 * @typedef {{id: string, current: boolean, via: string, browser: string, createdAt: number, lastSeenAt: number,
 *   expires: number}} OwnSession
 */
/**
 * @typedef {Omit<Rights, "admin"> & {id: string, name: string, kind: "secret" | "public", prefix: string,
 *   owner: boolean, agent: boolean, tags: string[], reviews: boolean, list: boolean, folders: string[],
 *   expires: number | null, createdAt: number, by: Party, lastUsedAt: number | null, key?: string}} Key
 */

/** What the service, or the way to it, has said no with. */
export class ApiError extends Error {
	/**
	 * @param {string} message
	 * @param {{status?: number, code?: string, pointer?: string, parameter?: string, version?: string,
	 *   pointsTo?: string | null, violations?: Violation[], conflicts?: ReleaseConflict[], requestID?: string,
	 *   retryAfter?: number}} more
	 */
	constructor(message, more) {
		super(message);
		this.name = "ApiError";
		/** The status, or 0 if there was no answer. */
		this.status = more.status ?? 0;
		this.code = more.code ?? "";
		this.pointer = more.pointer;
		this.parameter = more.parameter;
		this.version = more.version;
		this.pointsTo = more.pointsTo;
		this.violations = more.violations ?? [];
		this.conflicts = more.conflicts ?? [];
		this.requestID = more.requestID ?? "";
		/** @type {string | undefined} what a person is told, where the words for the code are too general */
		this.words = undefined;
		/** In seconds, if the service said when to try again. */
		this.retryAfter = more.retryAfter;
	}

	/** Whether the same request may succeed in a while. */
	get passing() {
		return (
			this.status === 0 ||
			this.status === 429 ||
			this.status === 503 ||
			this.status === 507 ||
			(this.status >= 500 && this.code === "")
		);
	}
}

/** The media type of a file whose type the service finds in its bytes. */
const anyFile = "application/octet-stream";

/** What can be sent as a token. */
export const sendable = /^[\x21-\x7e]+$/;

/**
 * @typedef {object} Session what requests are sent with
 * @property {() => string} token the person's token, or ""
 * @property {(refused: ApiError, token: string, first: boolean) => Promise<void>} renew asks for another
 * token after a 401, the first one of a request or a later one; it fails if there is none
 * @property {() => Promise<void>} [confirm] has the person show again who they are; it fails if they do not
 * @property {(seconds: number) => void} [wait] tells that the service asks for this long until a request is sent again
 */

/**
 * @typedef {{query?: Record<string, string | string[] | undefined>, member?: string, body?: string | Blob,
 *   type?: string, headers?: Record<string, string>, signal?: AbortSignal, session?: boolean}} Options
 */

/**
 * @typedef {{id: string, path: string, label: string, children: string[], inherit: boolean, deleted: boolean,
 *   permissions?: Permission[], unseen?: boolean}} Folder
 */
/**
 * @typedef {{id: string, operation: string, user?: {id: string, name?: string}, role?: {id: string, name?: string},
 *   group?: string}} Permission
 */
/**
 * @typedef {{id: string, createdAt: string, updatedAt: string, folders: {id: string, label: string}[],
 *   content: {[name: string]: Value}, safe_tags?: string[], attributes?: {key: string, value: string}[]}} Asset
 */
/** @typedef {{allowed: boolean, rule: string, folder?: string, grant?: Permission}} Verdict */
/**
 * @typedef {{view: Verdict, edit: Verdict, manage?: Verdict, folders?: {id: string, view: Verdict, edit: Verdict}[]}}
 * Explanation
 */

/** The library of a network. */
export class Library {
	/** @param {Api} api @param {string} network @param {string} id */
	constructor(api, network, id) {
		this.api = api;
		/** What the names of its folders on pages begin with. */
		this.path = `${network}/${id}/`;
		const prefix = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="vitrine-assets"]')).content;
		this.base = `${prefix}/${s(network)}/assetLibrary/${s(id)}`;
	}

	/**
	 * @param {Options["query"]} query @param {AbortSignal} [signal]
	 * @returns {Promise<{assets: Asset[], paging: {prev: string, hasPrev: boolean, next: string, hasNext: boolean,
	 *   total: number}, facets?: Record<string, {value: string, count: number}[]>}>}
	 */
	assets(query, signal) {
		return this.api.get(`${this.base}/assets`, "assets", query, signal);
	}

	/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<Asset>} */
	asset(id, signal) {
		return this.api.get(`${this.base}/asset/${s(id)}`, "id", undefined, signal);
	}

	/**
	 * An asset with its ETag.
	 * @param {string} id @param {AbortSignal} [signal] @returns {Promise<{asset: Asset, etag: string}>}
	 */
	async assetNow(id, signal) {
		const { value, headers } = await this.api.ask("GET", `${this.base}/asset/${s(id)}`, { member: "id", signal });
		return { asset: value, etag: headers.get("ETag") ?? "" };
	}

	/**
	 * Adds an asset with a file.
	 * @param {File} file @param {string[]} folder @param {(bytes: number) => void} progress @param {AbortSignal} signal
	 * @returns {Promise<Asset>}
	 */
	async upload(file, folder, progress, signal) {
		const query = { name: file.name || undefined, folder };
		return this.#sent(await this.api.upload(`${this.base}/files`, query, file, progress, signal, anyFile));
	}

	/**
	 * Replaces the bytes of an asset's file.
	 * @param {string} id @param {string} etag of the asset as it was read
	 * @param {File} file @param {(bytes: number) => void} progress @param {AbortSignal} signal
	 * @returns {Promise<Asset>}
	 */
	async replaceFile(id, etag, file, progress, signal) {
		const path = `${this.base}/asset/${s(id)}/file`;
		return this.#sent(await this.api.upload(path, {}, file, progress, signal, anyFile, { "If-Match": etag }));
	}

	/** @param {Blob} answer */
	async #sent(answer) {
		return success(200, await answer.text(), "asset").asset;
	}

	/**
	 * Changes what is said about a file.
	 * @param {string} id @param {string} etag
	 * @param {{title?: string, alt?: string, focus?: {x: number, y: number}}} change
	 * @returns {Promise<Asset>}
	 */
	async editFile(id, etag, change) {
		return (
			await this.api.ask("PATCH", `${this.base}/asset/${s(id)}`, {
				member: "asset",
				body: stringify(change),
				headers: { "If-Match": etag },
			})
		).value.asset;
	}

	/**
	 * @param {Options["query"]} query @param {AbortSignal} [signal]
	 * @returns {Promise<{folders: Folder[], ancestors?: {id: string, path: string}[]}>}
	 */
	folders(query, signal) {
		return this.api.get(`${this.base}/folders`, "folders", query, signal);
	}

	/** @param {Options["query"]} query @param {AbortSignal} [signal] @returns {Promise<Explanation>} */
	explain(query, signal) {
		return this.api.get(`${this.base}/explain`, "view", query, signal);
	}

	/**
	 * Whether the person may edit a folder, and so add assets to it.
	 * @param {string} folder @param {AbortSignal} signal
	 */
	mayEdit(folder, signal) {
		return this.explain({ folder }, signal).then(
			({ edit }) => edit.allowed,
			() => false,
		);
	}

	/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<Folder>} */
	async folder(id, signal) {
		return (await this.api.get(`${this.base}/folder/${s(id)}`, "folder", undefined, signal)).folder;
	}

	/** @param {string} path @param {string} member @param {object} body */
	async #post(path, member, body) {
		return (await this.api.ask("POST", `${this.base}/${path}`, { member, body: stringify(body) })).value;
	}

	/** @param {{add?: object[], remove?: string[]}} change @returns {Promise<{added: Asset[], removed: string[]}>} */
	change(change) {
		return this.#post("assets", "added", change);
	}

	/** Adds the assets with these texts, all or none. @param {string[]} texts JSON */
	add(texts) {
		return this.api.ask("POST", `${this.base}/assets`, { member: "added", body: `{"add":[${texts.join(",")}]}` });
	}

	/**
	 * @param {{create?: object[], update?: object[], delete?: string[], purge?: string[]}} change
	 * @returns {Promise<{folders: Folder[], purged?: {folders: number, assets: number}}>} purged after a purge
	 */
	changeFolders(change) {
		return this.#post("folders", "folders", change);
	}

	/**
	 * @param {string} folder @param {{create?: object[], remove?: object[]}} change @returns {Promise<Permission[]>}
	 */
	async changePermissions(folder, change) {
		return (await this.#post(`folder/${s(folder)}/permissions`, "permissions", change)).permissions;
	}

	/**
	 * @param {string} folder @param {{assign?: string[], remove?: string[]}} change
	 * @returns {Promise<{assign: {id: string, status: number}[], remove: {id: string, status: number}[]}>}
	 */
	assign(folder, change) {
		return this.#post(`folder/${s(folder)}/assets`, "assign", change);
	}

	/** The values that assets have for a key. @param {string} key @returns {Promise<{value: string}[]>} */
	async values(key) {
		return (await this.api.get(`${this.base}/attributes`, "attributes", { key })).attributes;
	}

	/**
	 * @param {{assets: string[], add?: object[], set?: object[], remove?: object[]}} change
	 * @returns {Promise<{result: number[]}>}
	 */
	attributes(change) {
		return this.#post("attributes", "result", change);
	}
}

export class Api {
	/**
	 * @param {URL} base the address of the API's base path
	 * @param {Session} session
	 */
	constructor(base, session) {
		this.base = base;
		this.session = session;
	}

	/** @param {string} path @param {Options["query"]} [query] */
	#url(path, query = {}) {
		const url = new URL(path, this.base);
		for (const [name, value] of Object.entries(query)) {
			for (const v of [value].flat()) if (v !== undefined) url.searchParams.append(name, v);
		}
		return url;
	}

	/**
	 * Sends a request and returns its response, whatever the status is. A 401 asks to sign in again, unless
	 * the request has its own session, and a request that needs a confirmation is sent again after it. Where the
	 * service says when to read again, that is waited for, a few times.
	 * @param {string} method
	 * @param {string} path below the base path without a slash in front, or from the root with one
	 * @param {Options} [options]
	 * @returns {Promise<Response>}
	 */
	async send(method, path, options = {}) {
		const url = this.#url(path, options.query);
		for (let tries = 1; ; tries++) {
			const token = this.session.token();
			/** @type {Record<string, string>} */
			const headers = { ...options.headers };
			if (token) headers["Authorization"] = `Bearer ${token}`;
			if (options.body !== undefined) headers["Content-Type"] = options.type ?? "application/json";
			/** @type {Response} */
			let response;
			try {
				response = await fetch(url, {
					method,
					headers,
					body: options.body,
					signal: options.signal,
					redirect: "error",
					cache: "no-cache",
					referrerPolicy: "no-referrer",
				});
			} catch (e) {
				if (options.signal?.aborted) throw e;
				throw new ApiError("The service cannot be reached.", { code: "offline" });
			}
			const seconds = waitOf(response);
			if (response.status === 401 && options.session !== false) {
				await this.session.renew(await problem(response), token, tries === 1);
				continue;
			}
			if (
				response.status === 403 &&
				this.session.confirm &&
				(await problem(response.clone())).code === "needs_confirmation"
			)
				await this.session.confirm();
			else if (method === "GET" && seconds !== undefined && tries < patience) {
				this.session.wait?.(seconds);
				await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
				options.signal?.throwIfAborted();
			} else return response;
		}
	}

	/**
	 * Sends a request and returns its JSON, or fails with an ApiError. options.member is one that every success of the
	 * service has; without it, a success has no JSON that is read.
	 * @param {string} method
	 * @param {string} path
	 * @param {Options} [options]
	 * @returns {Promise<{value: any, headers: Headers}>}
	 */
	async ask(method, path, options) {
		const response = await this.send(method, path, options);
		if (!response.ok) throw await problem(response);
		return { value: success(response.status, await response.text(), options?.member), headers: response.headers };
	}

	/** @param {string} path @param {string} member @param {Options["query"]} [query] @param {AbortSignal} [signal] */
	async get(path, member, query, signal) {
		return (await this.ask("GET", path, { member, query, signal })).value;
	}

	/**
	 * A page of a list with its members as the service names them, and the cursor of the next one.
	 * @param {string} path @param {string} member @param {Options["query"]} [query] @param {AbortSignal} [signal]
	 * @returns {Promise<any>}
	 */
	async page(path, member, query, signal) {
		const { value, headers } = await this.ask("GET", path, { member, query, signal });
		return { ...value, next: cursorOf(headers.get("Link")) };
	}

	/**
	 * Changes something, at most once for each key.
	 * @param {string} method @param {string} path @param {string} key @param {string} [member]
	 * @param {string} [body] JSON
	 * @returns {Promise<any>}
	 */
	async change(method, path, key, member, body) {
		return (await this.ask(method, path, { member, body, headers: { "Idempotency-Key": key } })).value;
	}

	/** @param {string} network @param {string} id */
	library(network, id) {
		return new Library(this, network, id);
	}

	/**
	 * Sends a file and tells how much of it is sent.
	 * @param {string} path @param {Options["query"]} query @param {Blob} file
	 * @param {(bytes: number) => void} progress @param {AbortSignal} signal
	 * @param {string} [type] media type of the file
	 * @param {{"If-Match": string}} [match] the state that the file is to replace something of
	 * @returns {Promise<Blob>} the answer, which may be as large as the file
	 */
	async upload(path, query, file, progress, signal, type = "application/x-ndjson", match) {
		await this.me(); // a token that has run out is asked for before anything is sent
		const url = this.#url(path, query);
		return new Promise((resolve, reject) => {
			const request = new XMLHttpRequest(); // fetch does not tell how much is sent
			request.open(match ? "PUT" : "POST", url);
			if (match) request.setRequestHeader("If-Match", match["If-Match"]);
			const token = this.session.token();
			if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
			request.setRequestHeader("Content-Type", type);
			request.responseType = "blob";
			request.upload.addEventListener("progress", (event) => progress(event.loaded));
			request.addEventListener("load", () => {
				if (request.status === 200) resolve(request.response);
				else
					problem(
						new Response(request.response, {
							status: request.status,
							headers: { "X-Request-Id": request.getResponseHeader("X-Request-Id") ?? "" },
						}),
					).then(reject);
			});
			request.addEventListener("error", () =>
				reject(new ApiError("The connection to the service is lost.", { code: "offline" })),
			);
			signal.addEventListener("abort", () => {
				request.abort();
				reject(signal.reason);
			});
			request.send(file);
		});
	}

	/** Reads a report of an import. @param {Blob} answer @returns {Promise<any>} */
	async report(answer) {
		return success(200, await answer.text(), "problems");
	}

	/**
	 * @param {string} network @param {string} [after] @param {AbortSignal} [signal]
	 * @returns {Promise<{collections: any[], next: string | undefined}>}
	 */
	collections(network, after, signal) {
		return this.page("x/reviews/collections", "collections", { network, after, limit: "500" }, signal);
	}

	/**
	 * Erases reviews, or says what would be erased.
	 * @param {Record<string, string | undefined>} query
	 * @returns {Promise<{collections: number, reviews: number, replies: number}>}
	 */
	async erase(query) {
		return (await this.ask("DELETE", "x/reviews", { query, member: "reviews" })).value;
	}

	/**
	 * @param {string} id @param {Record<string, string | undefined>} query @param {AbortSignal} [signal]
	 * @returns {Promise<{reviews: {[name: string]: Value}[], next: string | undefined}>}
	 */
	reviews(id, query, signal) {
		return this.page(`x/reviews/collections/${s(id)}/reviews`, "reviews", query, signal);
	}

	/** @param {{session?: boolean}} [options] @returns {Promise<Me>} */
	async me(options) {
		return (await this.ask("GET", "x/me", { ...options, member: "urn" })).value;
	}

	/**
	 * Apps without their elements.
	 * @param {{q?: string, in?: string, sort?: string, usingComponent?: string, deleted?: "true", after?: string,
	 *   limit?: string, view?: string}} query
	 * @param {AbortSignal} [signal]
	 * @returns {Promise<{apps: Schemas["AppSummary"][], next: string | undefined}>}
	 */
	apps(query, signal) {
		return this.page("apps", "apps", { ...query, view: "summary" }, signal);
	}

	/** @param {AbortSignal} [signal] @returns {Promise<{languages: string[]}>} */
	languages(signal) {
		return this.get("x/languages", "languages", undefined, signal);
	}

	/** @param {string} id @param {string} [version] @param {AbortSignal} [signal] @returns {Promise<App>} */
	async app(id, version, signal) {
		const value = await this.get(
			version === undefined ? `apps/${s(id)}` : `apps/${s(id)}/versions/${s(version)}`,
			"apps",
			undefined,
			signal,
		);
		return value.apps[0];
	}

	/**
	 * Deletes an app, brings it back, or removes it for good.
	 * @param {string} id @param {"" | "undelete" | "erase"} what
	 */
	async bin(id, what) {
		await this.ask(what ? "POST" : "DELETE", `apps/${s(id)}${what && `/${what}`}`, {
			member: what === "undelete" ? "apps" : undefined,
		});
	}

	/**
	 * @param {{title: string, groups: string[], elements: {component: Ref, config: Value}[]}} app @param {string} key
	 * @returns {Promise<{id: string}>}
	 */
	createApp(app, key) {
		return this.change("POST", "apps", key, "id", stringify(app));
	}

	/** @param {string} id @param {Operation[]} operations @returns {Promise<App>} */
	async patch(id, operations) {
		const { value } = await this.ask("PATCH", `apps/${s(id)}`, {
			member: "apps",
			body: stringify(operations),
			type: "application/json-patch+json",
		});
		return value.apps[0];
	}

	/** @param {string} id @param {string} version @param {string} note @param {string} key @returns {Promise<App>} */
	async restore(id, version, note, key) {
		return (
			await this.change(
				"POST",
				"apps/versions/restore",
				key,
				"apps",
				stringify({ appId: id, appVersion: version, note }),
			)
		).apps[0];
	}

	/**
	 * @param {string} id @param {{after?: string}} [query] @param {AbortSignal} [signal]
	 * @returns {Promise<{tags: Tag[], rules?: TagRule[], next: string | undefined}>}
	 */
	tags(id, query, signal) {
		return this.page(`apps/${s(id)}/tags`, "tags", { ...query, limit: "500" }, signal);
	}

	/**
	 * @param {string} id @param {string} [before] @param {AbortSignal} [signal]
	 * @returns {Promise<{history: Entry[], next: string | undefined}>}
	 */
	history(id, before, signal) {
		return this.page(`apps/${s(id)}/history`, "history", { before }, signal);
	}

	/**
	 * @param {string} id @param {string} tag @param {{before?: string, limit?: string}} query
	 * @param {AbortSignal} [signal] @returns {Promise<{moves: Move[], next: string | undefined}>}
	 */
	moves(id, tag, query, signal) {
		return this.page(`apps/${s(id)}/tags/${s(tag)}/history`, "moves", query, signal);
	}

	/**
	 * @param {string} id @param {string} tag @param {{appVersion: string, from: string | null, note?: string}} move
	 * @param {string} key @returns {Promise<Tag>}
	 */
	async putTag(id, tag, move, key) {
		return (await this.change("PUT", `apps/${s(id)}/tags/${s(tag)}`, key, "tags", stringify(move))).tags[0];
	}

	/**
	 * Goes back to where a tag pointed before its last move.
	 * @param {string} id @param {string} tag @param {{from: string, note: string}} move @param {string} key
	 */
	rollBack(id, tag, move, key) {
		return this.change("PUT", `apps/${s(id)}/tags/${s(tag)}`, key, "tags", stringify({ rollback: true, ...move }));
	}

	/**
	 * The open comments of an app, newest first.
	 * @param {string} id @param {AbortSignal} [signal] @returns {Promise<Comment[]>}
	 */
	async comments(id, signal) {
		return (await this.get(`apps/${s(id)}/comments`, "comments", { open: "true", limit: "500" }, signal)).comments;
	}

	/**
	 * @param {string} id
	 * @param {{text: string, element?: string, pointer?: string, mentions?: string[]}} comment
	 */
	comment(id, comment) {
		return this.ask("POST", `apps/${s(id)}/comments`, { member: "id", body: stringify(comment) });
	}

	/** @param {string} id @param {string} comment @param {{text: string}} reply */
	reply(id, comment, reply) {
		return this.ask("POST", `apps/${s(id)}/comments/${s(comment)}/replies`, {
			member: "id",
			body: stringify(reply),
		});
	}

	/** @param {string} id @param {string} comment */
	resolve(id, comment) {
		return this.ask("PATCH", `apps/${s(id)}/comments/${s(comment)}`, {
			member: "id",
			body: stringify({ resolved: true }),
		});
	}

	/** @param {string} id @param {string} comment */
	removeComment(id, comment) {
		return this.ask("DELETE", `apps/${s(id)}/comments/${s(comment)}`, {});
	}

	/**
	 * The links that show an app to people without an account, newest first.
	 * @param {string} id @returns {Promise<Preview[]>}
	 */
	async previews(id) {
		return (await this.get(`apps/${s(id)}/previews`, "previews")).previews;
	}

	/**
	 * Makes a link that shows an app; its url is told this once.
	 * @param {string} id @param {{version?: string, release?: string, days: number, note: string}} preview
	 */
	createPreview(id, preview) {
		return this.ask("POST", `apps/${s(id)}/previews`, { member: "url", body: stringify(preview) });
	}

	/** @param {string} id @param {string} preview */
	revokePreview(id, preview) {
		return this.ask("DELETE", `apps/${s(id)}/previews/${s(preview)}`, {});
	}

	/** Whom a comment on an app can mention. @param {string} id @returns {Promise<Named[]>} */
	async readers(id) {
		return (await this.get(`apps/${s(id)}/people`, "people")).people;
	}

	/** Who could approve a release. @param {string} id @param {AbortSignal} [signal] @returns {Promise<Named[]>} */
	async approvers(id, signal) {
		return (await this.get(`x/releases/${s(id)}/approvers`, "people", undefined, signal)).people;
	}

	/**
	 * What waits for the person, newest first.
	 * @param {string} [after] @param {AbortSignal} [signal]
	 * @returns {Promise<{items: InboxItem[], next: string | undefined, until: number}>}
	 */
	async inbox(after, signal) {
		const page = await this.get("x/inbox", "items", { after }, signal);
		return { ...page, next: page.next ?? undefined };
	}

	/** Notes what the person has seen of it. @param {number} until */
	seen(until) {
		return this.ask("POST", "x/inbox/seen", { body: stringify({ until }) });
	}

	/**
	 * @param {{state?: string, app?: string, after?: string, limit?: string}} query @param {AbortSignal} [signal]
	 * @returns {Promise<{releases: Release[], next: string | undefined}>}
	 */
	releases(query, signal) {
		return this.page("x/releases", "releases", query, signal);
	}

	/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<Release>} */
	release(id, signal) {
		return this.get(`x/releases/${s(id)}`, "id", undefined, signal);
	}

	/**
	 * @param {{name: string, note?: string, moves: NewMove[], at?: number | null, until?: number | null}} release
	 * @param {string} key @returns {Promise<Release>}
	 */
	createRelease(release, key) {
		return this.change("POST", "x/releases", key, "id", stringify(release));
	}

	/**
	 * @param {string} id
	 * @param {{version: string, name: string, note: string, moves: NewMove[], at: number | null, until: number | null,
	 *   ask: string[]}} release
	 * @returns {Promise<Release>}
	 */
	async updateRelease(id, release) {
		return (await this.ask("PUT", `x/releases/${s(id)}`, { member: "id", body: stringify(release) })).value;
	}

	/**
	 * @param {string} id @param {"approve" | "run" | "cancel" | "undo"} action @param {string} version that was seen
	 * @returns {Promise<Release>}
	 */
	async actOnRelease(id, action, version) {
		return (await this.ask("POST", `x/releases/${s(id)}/${action}`, { member: "id", body: stringify({ version }) }))
			.value;
	}

	/**
	 * An app as it would be if a release had run.
	 * @param {string} id @param {string} tag @param {string} release @param {AbortSignal} [signal]
	 * @returns {Promise<App>}
	 */
	async tagged(id, tag, release, signal) {
		return (await this.get(`apps/${s(id)}/tagged/${s(tag)}`, "apps", { release }, signal)).apps[0];
	}

	/**
	 * Brings a version of a component to the apps that use it.
	 * @param {string} name @param {{to: string, patch?: Value, after?: string}} body
	 * @param {boolean} dryRun only says what it would do
	 * @returns {Promise<{apps: Upgraded[], next: string | null}>}
	 */
	async upgrade(name, body, dryRun) {
		return (
			await this.ask("POST", `components/${s(name)}/upgrade`, {
				member: "apps",
				body: stringify(body),
				query: { dryRun: String(dryRun) },
			})
		).value;
	}

	/**
	 * Replaces a text in all apps.
	 * @param {{find: string, replace: string, group?: string, component?: string, after?: string}} body
	 * @param {boolean} dryRun only says what it would do
	 * @returns {Promise<{apps: Upgraded[], next: string | null}>}
	 */
	async replace(body, dryRun) {
		return (
			await this.ask("POST", "x/replace", {
				member: "apps",
				body: stringify(body),
				query: { dryRun: String(dryRun) },
			})
		).value;
	}

	/** @param {string} id @param {string} tag @param {string} key */
	deleteTag(id, tag, key) {
		return this.change("DELETE", `apps/${s(id)}/tags/${s(tag)}`, key);
	}

	/** Where and how people sign in. @returns {Promise<Place>} */
	async place() {
		return (await this.ask("GET", "x/signin", { member: "origin", session: false })).value;
	}

	/**
	 * A step of signing in, or a change of accounts and keys.
	 * @param {string} method @param {string} path below x/ @param {object} [body]
	 * @param {string} [member] that every answer has, unless there is none
	 * @returns {Promise<any>}
	 */
	async account(method, path, body, member) {
		return (await this.ask(method, `x/${path}`, { member, body: body && stringify(body) })).value;
	}

	/** The names of people. @param {string[]} urns @returns {Promise<{urn: string, name: string}[]>} */
	async names(urns) {
		return (await this.ask("GET", "x/people/", { member: "people", query: { urn: urns }, session: false })).value
			.people;
	}

	/**
	 * @param {{after?: string, q?: string}} query @param {AbortSignal} [signal]
	 * @returns {Promise<{people: Person[], next: string | undefined}>}
	 */
	people(query, signal) {
		return this.page("x/people/", "people", query, signal);
	}

	/**
	 * @param {string} [after] @param {AbortSignal} [signal] @returns {Promise<{keys: Key[], next: string | undefined}>}
	 */
	keys(after, signal) {
		return this.page("x/keys/", "keys", { after }, signal);
	}

	/**
	 * The public keys that show a folder.
	 * @param {string} folder as network/library/id
	 * @returns {Promise<Key[]>}
	 */
	folderKeys(folder) {
		return this.get("x/keys/", "keys", { folder }).then((page) => page.keys);
	}

	/**
	 * @param {string} [after] @param {AbortSignal} [signal]
	 * @returns {Promise<{components: Schemas["ListedComponent"][], next: string | undefined}>}
	 */
	components(after, signal) {
		return this.page("components", "components", { after }, signal);
	}

	/**
	 * @param {string} name @param {string} [after] @param {AbortSignal} [signal]
	 * @returns {Promise<{components: (Schemas["ListedComponent"] & {description: string | null})[], next: string |
	 *   undefined}>}
	 */
	componentVersions(name, after, signal) {
		return this.page(`components/${s(name)}/versions`, "components", { after, limit: "500" }, signal);
	}

	/**
	 * @param {string} name @param {string} version @param {AbortSignal} [signal]
	 * @returns {Promise<Manifest & {[name: string]: Value}>}
	 */
	manifest(name, version, signal) {
		return this.get(`components/${s(name)}/versions/${s(version)}`, "name", undefined, signal);
	}

	/**
	 * What a new version of a component would break.
	 * @param {string} name @param {string} manifest JSON
	 * @returns {Promise<{apps: number, elements: number, warnings: {pointer: string, message: string}[],
	 *   broken: {app: string, version: string, tags: string[], element: string, violations: Violation[]}[],
	 *   next: string | null}>}
	 */
	async check(name, manifest) {
		return (await this.ask("POST", `components/${s(name)}/check`, { member: "broken", body: manifest })).value;
	}

	/** @param {string} manifest JSON @param {string} key */
	createComponent(manifest, key) {
		return this.change("POST", "components", key, undefined, manifest);
	}

	/** @param {string} name @param {string} key */
	deleteComponent(name, key) {
		return this.change("DELETE", `components/${s(name)}`, key);
	}
}

/** One segment of a path. @param {string} text */
function s(text) {
	return text === "." || text === ".." ? text.replaceAll(".", "%2E") : encodeURIComponent(text);
}

/** A key that makes a request safe to repeat. */
export function newKey() {
	return (
		crypto.randomUUID?.() ??
		Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("")
	);
}

/** The keys of one dialog: the same request has the same key, so that sending it again does nothing twice. */
export function keys() {
	let last = { text: "", key: "" };
	return (/** @type {string} */ text) => {
		if (last.text !== text || last.key === "") last = { text, key: newKey() };
		return last.key;
	};
}

/** The cursor of the next page in a Link header. @param {string | null} link */
function cursorOf(link) {
	const url = link?.match(/<([^>]*)>\s*;\s*rel="?next"?/)?.[1];
	if (url === undefined) return undefined;
	const query = new URL(url, location.href).searchParams;
	return query.get("after") ?? query.get("before") ?? undefined;
}

/** How many times something is read that the service has no room for at the moment. */
const patience = 4;

/** In how many seconds the service wants to be asked again, if it said so. @param {Response} response */
function waitOf(response) {
	const seconds = Number(response.headers.get("Retry-After") ?? "");
	return seconds > 0 ? Math.min(seconds, 60) : undefined;
}

/**
 * The JSON of a success. A proxy or a login page may answer with one that is not from the service: that is an ApiError,
 * as if the service could not be reached, since it is not known whether the request has come to it.
 * @param {number} status @param {string} text
 * @param {string} [member] one that every success of the service has; without it a success is 201 or 204, and is not
 * read
 * @returns {any}
 */
function success(status, text, member) {
	if (member === undefined && (status === 201 || status === 204)) return undefined;
	/** @type {any} */
	let value;
	try {
		value = parse(text);
	} catch {
		// not JSON
	}
	if (member !== undefined && typeof value === "object" && value !== null && Object.hasOwn(value, member))
		return value;
	const want = member === undefined ? "status 201 or 204" : `JSON with the member ${member}`;
	throw new ApiError(
		`The service cannot be reached: something else has answered with status ${status} and ` +
			`“${text.slice(0, 100)}”. The service would answer with ${want}.`,
		{ code: "offline" },
	);
}

/** The error that a response carries. @param {Response} response @returns {Promise<ApiError>} */
export async function problem(response) {
	const requestID = response.headers.get("X-Request-Id") ?? "";
	const retryAfter = waitOf(response);
	try {
		const body = /** @type {any} */ (parse(await response.text()));
		if (typeof body.error === "string")
			return new ApiError(body.error, { ...body, status: response.status, requestID, retryAfter });
	} catch {
		// what stands between has answered
	}
	return new ApiError(`The service answered with status ${response.status}.`, {
		status: response.status,
		requestID,
		retryAfter,
	});
}
