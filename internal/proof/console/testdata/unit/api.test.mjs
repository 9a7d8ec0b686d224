import assert from "node:assert/strict";
import test from "node:test";
import { Api, ApiError } from "../static/api.js";

const base = new URL("http://127.0.0.1/v4/");
globalThis.location = base;
const api = () => new Api(base, { token: () => "x", renew: async () => {} });

/** Every method that reads a success, with arguments. */
const calls = {
	collections: [api().collections, "n"],
	reviews: [api().reviews, "c", {}],
	me: [api().me],
	apps: [api().apps, {}],
	app: [api().app, "a"],
	bin: [api().bin, "a", "undelete"],
	createApp: [api().createApp, { title: "x", groups: [], elements: [] }, "k"],
	patch: [api().patch, "a", []],
	restore: [api().restore, "a", "0", "k"],
	tags: [api().tags, "a"],
	history: [api().history, "a"],
	moves: [api().moves, "a", "t", {}],
	putTag: [api().putTag, "a", "t", { appVersion: "0", from: null }, "k"],
	deleteTag: [api().deleteTag, "a", "t", "k"],
	components: [api().components],
	componentVersions: [api().componentVersions, "c"],
	languages: [api().languages],
	manifest: [api().manifest, "c", "1"],
	check: [api().check, "c", "{}"],
	createComponent: [api().createComponent, "{}", "k"],
	deleteComponent: [api().deleteComponent, "c", "k"],
	erase: [api().erase, {}],
	rollBack: [api().rollBack, "a", "t", "1", "k"],
	releases: [api().releases, {}],
	release: [api().release, "r"],
	createRelease: [api().createRelease, { name: "n", moves: [] }, "k"],
	updateRelease: [api().updateRelease, "r", {}],
	actOnRelease: [api().actOnRelease, "r", "run", "1"],
	tagged: [api().tagged, "a", "t", "r"],
	upgrade: [api().upgrade, "c", {}, true],
	place: [api().place],
	account: [api().account, "POST", "signin/begin", {}, "ceremony"],
	previews: [api().previews, "a"],
	createPreview: [api().createPreview, "a", { version: "0", days: 1, note: "" }],
	revokePreview: [api().revokePreview, "a", "1"],
	comments: [api().comments, "a"],
	comment: [api().comment, "a", {}],
	reply: [api().reply, "a", "1", {}],
	resolve: [api().resolve, "a", "1"],
	removeComment: [api().removeComment, "a", "1"],
	readers: [api().readers, "a"],
	approvers: [api().approvers, "r"],
	inbox: [api().inbox],
	seen: [api().seen, 1],
	replace: [api().replace, {}, true],
	names: [api().names, ["u"]],
	people: [api().people, {}],
	keys: [api().keys],
	folderKeys: [api().folderKeys, "n/l/1"],
};
// The page says where the assets are.
globalThis.document = { querySelector: () => ({ content: "/services/frontline/api/v4/assetManager/" }) };
const library = api().library("n", "l");
const inLibrary = {
	assets: [library.assets, {}],
	asset: [library.asset, "a"],
	assetNow: [library.assetNow, "a"],
	upload: [library.upload, new File([], "a"), [], () => {}, new AbortController().signal],
	replaceFile: [library.replaceFile, "a", '"e"', new File([], "a"), () => {}, new AbortController().signal],
	editFile: [library.editFile, "a", '"e"', {}],
	folders: [library.folders, {}],
	explain: [library.explain, {}],
	folder: [library.folder, "f"],
	change: [library.change, {}],
	add: [library.add, ["{}"]],
	changeFolders: [library.changeFolders, {}],
	changePermissions: [library.changePermissions, "f", {}],
	assign: [library.assign, "f", {}],
	values: [library.values, "k"],
	attributes: [library.attributes, { assets: [] }],
};
/** What these are made of, and what is tested apart. */
const others = ["send", "ask", "get", "page", "change", "library", "upload", "report"];

for (const body of [`{}`, `{"status":"ok"}`, `<html>Please log in</html>`, ``]) {
	/** @param {unknown} e */
	const refused = (e) =>
		e instanceof ApiError &&
		e.passing &&
		e.message.includes("something else has answered") &&
		e.message.includes(body.slice(0, 20));
	test(`no success is made of ${body}`, async () => {
		globalThis.fetch = async () => new Response(body, { status: 200 });
		for (const [name, [method, ...args]] of Object.entries(calls))
			await assert.rejects(async () => method.apply(api(), args), refused, name);
		for (const [name, [method, ...args]] of Object.entries(inLibrary))
			await assert.rejects(async () => method.apply(library, args), refused, name);
	});
	test(`no report and no asset is made of ${body}`, async () => {
		globalThis.fetch = async () => new Response(`{"urn":"u"}`, { status: 200 });
		globalThis.XMLHttpRequest = class extends EventTarget {
			upload = new EventTarget();
			status = 200;
			response = new Blob([body]);
			open() {}
			setRequestHeader() {}
			getResponseHeader() {
				return null;
			}
			send() {
				this.dispatchEvent(new Event("load"));
			}
		};
		await assert.rejects(
			async () =>
				api().report(
					await api().upload("x/reviews/import", {}, new Blob(["x"]), () => {}, new AbortController().signal),
				),
			refused,
		);
		for (const name of ["upload", "replaceFile"]) {
			const [method, ...args] = inLibrary[name];
			await assert.rejects(async () => method.apply(library, args), refused, name);
		}
	});
}

test("every method is tested", () => {
	const names = (/** @type {object} */ of) =>
		Object.getOwnPropertyNames(of)
			.filter((name) => name !== "constructor")
			.sort();
	assert.deepEqual(
		names(Object.getPrototypeOf(api())).filter((name) => !others.includes(name)),
		Object.keys(calls).sort(),
	);
	assert.deepEqual(
		names(Object.getPrototypeOf(library)).filter((name) => name !== "mayEdit"), // it asks explain
		Object.keys(inLibrary).sort(),
	);
});

test("a success without a body, and one with an empty list", async () => {
	globalThis.fetch = async () => new Response(null, { status: 204 });
	await api().deleteTag("a", "t", "k");
	globalThis.fetch = async () => new Response(`{"tags":[]}`, { status: 200 });
	assert.deepEqual(await api().tags("a"), { tags: [], next: undefined });
});
