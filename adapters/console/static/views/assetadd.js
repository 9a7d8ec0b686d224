/**
 * Adding assets to a library: one by a form, or several as JSON, pasted or in a file.
 * @module
 */
import { to } from "../address.js";
import { newKey } from "../api.js";
import { button, count, debounce, detail, fill, h, head, icon, newID } from "../dom.js";
import { confirm, sentence, toast } from "../elements/dialog.js";
import { contentOf, counts, dropZone, progress, rejectsOf, save } from "../elements/files.js";
import { field } from "../elements/form.js";
import { choose } from "../elements/pick.js";
import { tabbed } from "../elements/tabs.js";
import { equal, isObject, names } from "../json.js";
import { Adding, faultOf } from "../model/adding.js";
import { items } from "../model/jsontext.js";
import { told } from "../model/told.js";
import { folderLine } from "./folders.js";

/** @typedef {import("../json.js").Value} Value */
/** @typedef {import("../model/adding.js").Refusal} Refusal */
/**
 * @typedef {{name: string, size: number, read: (progress: (read: number) => void) => AsyncIterable<string> |
 *   Promise<AsyncIterable<string>>, show?: (at: number) => void}} Source a text with assets; show selects a place of it
 */

/** @param {string} title @param {string} [description] @param {object} [more] */
const line = (title, description, more) => ({ type: "string", title, description, ...more });
const address = { format: "uri" };

/**
 * The form of one asset. Its members have the names that they have in the content, but for addresses, which are texts.
 */
const form = /** @type {Value} */ ({
	type: "object",
	additionalProperties: false,
	properties: {
		content: line("Text", undefined, { format: "multiline" }),
		attributedTo: {
			type: "object",
			title: "Author",
			additionalProperties: false,
			properties: {
				displayName: line("Name"),
				username: line("User name"),
				url: line("Address of the profile", undefined, address),
				picture: line("Address of a picture of the author", undefined, address),
				description: line("About the author", undefined, { format: "multiline" }),
				location: line("Place"),
			},
		},
		attachment: {
			type: "array",
			title: "Attachments",
			items: {
				type: "object",
				title: "Attachment",
				required: ["type"],
				additionalProperties: false,
				properties: {
					type: {
						title: "Kind",
						default: "photo",
						oneOf: [
							["photo", "Picture"],
							["video", "Video"],
							["audio", "Sound"],
							["link", "Link"],
							["rich", "Embed"],
						].map(([value, title]) => ({ const: value, title })),
					},
					url: line("Address", "Where it is: https://…", address),
					title: line("Title"),
					thumbnail_url: line("Address of a small picture of it", undefined, address),
					html: line("Code of the embed", "HTML. This page shows it as text.", { format: "multiline" }),
					author_name: line("By"),
					provider_name: line("From"),
					width: { type: "integer", title: "Width", minimum: 1 },
					height: { type: "integer", title: "Height", minimum: 1 },
				},
			},
		},
		lang: line("Language", "Its code, such as en, de or pt-BR."),
		origin: {
			type: "object",
			title: "Source and numbers",
			additionalProperties: false,
			properties: {
				generator: line("Source", "The service that it comes from.", { default: "console" }),
				id: line(
					"Id in the source",
					"An asset of the same source and id is replaced. Without one it gets an id of its own.",
				),
				via: { type: "integer", title: "Via", description: "A number for how it was added." },
				rights: {
					type: "integer",
					title: "Rights",
					description: "A number for the state of the rights to it.",
				},
				retweets: { type: "integer", title: "Times shared" },
				favorites: { type: "integer", title: "Times liked" },
			},
		},
	},
});

/** A form that nobody has filled in. @type {Value} */
const empty = { attributedTo: {} };

const example =
	'[\n\t{\n\t\t"id": "post-1",\n\t\t"generator": {"id": "blog"},\n\t\t"content": {' +
	'"content": "Snow at the harbour", "lang": "en", "attributedTo": {"displayName": "Ada"}},' +
	'\n\t\t"safe_tags": ["winter"]\n\t}\n]';

/** @param {Value | undefined} v @param {string} name @returns {Value | undefined} */
const member = (v, name) => (isObject(v) ? v[name] : undefined);

/** An address as the service has it. @param {Value | undefined} href */
const link = (href) => (href === undefined ? undefined : { href });

/**
 * The asset of a form.
 * @param {{[name: string]: Value}} draft @param {string} id unless the form has one @param {string[]} folders
 * @param {string[]} tags
 */
function assetOf(draft, id, folders, tags) {
	const { attributedTo: author, attachment, origin, ...content } = draft;
	const counts = { retweets: member(origin, "retweets"), favorites: member(origin, "favorites") };
	return {
		id: member(origin, "id") ?? id,
		generator: { id: member(origin, "generator") ?? "console" },
		via: member(origin, "via"),
		rights: member(origin, "rights"),
		folders,
		safe_tags: tags,
		content: {
			...content,
			attributedTo:
				isObject(author) && Object.keys(author).length > 0
					? {
							...author,
							picture: undefined,
							url: link(author["url"]),
							icon: author["picture"] && { url: link(author["picture"]) },
						}
					: undefined,
			attachment: Array.isArray(attachment)
				? attachment.map((a) => ({
						version: "1.0",
						.../** @type {object} */ (a),
						url: link(member(a, "url")),
						thumbnail_url: link(member(a, "thumbnail_url")),
					}))
				: undefined,
			socialnet: Object.values(counts).some((n) => n !== undefined) ? counts : undefined,
		},
	};
}

/** Where the form has what the service names by a pointer. @param {string} pointer */
function pathOf(pointer) {
	const path = pointer
		.replace(/^\/add\/0/, "")
		.replace(/^\/content(?=\/)/, "")
		.replace(/\/href$/, "")
		.replace("/icon/url", "/picture");
	return names(
		path
			.replace(/^\/generator\/id$/, "/generator")
			.replace(/^\/socialnet/, "")
			.replace(/^(?=\/(generator|id|via|rights|retweets|favorites)$)/, "/origin"),
	);
}

/** @param {import("../router.js").Context} context @returns {import("../router.js").View} */
export function view({ session, api, params, query, signal, shell }) {
	shell.title("Add assets");
	const [network = "", library = network] = params;
	const lib = api.library(network, library);
	const home = to("assets", network, library);
	/** @type {Adding | undefined} what is under way */
	let adding;
	/** @type {{value: Value | undefined}} what the form has */
	const draft = { value: empty };
	/** What is pasted. */
	const input = h("textarea", { id: newID(), class: "mono whole", spellcheck: "false", autocomplete: "off" });
	/** @type {Map<HTMLElement, object>} the check whose outcome is shown there */
	const checks = new Map();

	const place = folderLine(
		() => lib,
		undefined,
		() => void offer(),
	);
	const wanted = query.get("folder");
	if (wanted)
		lib.folders({ id: wanted }, signal).then(
			({ folders }) => place.into(folders[0]),
			() => {},
		);
	const one = byForm();
	const pasted = byText();
	const dropped = byFile();
	const tabs = ["form", "json", "file"];
	const mayNot = h("p", { class: "note", role: "status", hidden: true });
	const forms = tabbed(
		[
			["One by one", one],
			["As JSON", pasted],
			["From a file", dropped],
		],
		Math.max(0, tabs.indexOf(query.get("by") ?? "form")),
		(i) => {
			const folder = place.folder();
			const into = folder ? `&folder=${encodeURIComponent(folder.id)}` : "";
			history.replaceState(null, "", `${to("assets", network, library, "add")}?by=${tabs[i]}${into}`);
		},
	).node;
	const node = h(
		"div",
		{ class: "page designer" },
		h("p", { class: "crumbs" }, h("a", { href: home }, "Assets")),
		head("Add assets", place.node),
		mayNot,
		forms,
	);
	void offer();

	/** Shows the forms to those who may send them: moderators of the network, and who may edit the folder. */
	async function offer() {
		const folder = place.folder();
		let may = session.moderates(session.networkURN(network));
		if (!may && folder) may = await lib.mayEdit(folder.id, signal);
		if (folder?.id !== place.folder()?.id) return;
		forms.hidden = !may;
		mayNot.hidden = may;
		const other = "You may not edit this folder. Choose another one to add assets to it.";
		const none = "Choose a folder that you may edit. Only moderators of the network add assets to no folder.";
		mayNot.textContent = folder ? other : none;
	}

	function unsaved() {
		if (adding || !equal(draft.value, empty) || input.value.trim() !== "") node.dataset["unsaved"] = "yes";
		else delete node.dataset["unsaved"];
	}

	function draftOf() {
		return isObject(draft.value) ? draft.value : {};
	}

	/** One asset by a form. */
	function byForm() {
		/** @type {Set<string>} */
		const tags = new Set();
		let id = newKey();
		const fields = h("div", null);
		const tagged = h("div", null);
		const trouble = h("div", { class: "note bad", role: "alert", hidden: true });
		const done = h("p", { role: "status" });
		const send = h("button", { class: "main" }, "Add this asset");
		/** @type {string[]} */
		let known = [];
		/** @type {import("../elements/form.js").Widget} */
		let widget;
		function clear() {
			draft.value = empty;
			id = newKey();
			widget = field({
				schema: form,
				root: form,
				name: "Asset",
				required: true,
				bare: true,
				value: draft.value,
				onchange: (value) => {
					draft.value = value;
					unsaved();
				},
			});
			fill(fields, widget.node);
		}
		const showTags = () => fill(tagged, choose("Tags", known, tags, { placeholder: "Another tag" }));
		clear();
		showTags();
		lib.assets({ facets: "tags", limit: "1" }, signal).then(
			(found) => {
				known = (found.facets?.["tags"] ?? []).slice(0, 8).map((t) => t.value);
				showTags();
			},
			() => {},
		);
		return h(
			"form",
			{
				class: "card",
				novalidate: true,
				onsubmit: async (/** @type {Event} */ event) => {
					event.preventDefault();
					if (send.disabled) return;
					trouble.hidden = true;
					widget.faults([]);
					done.textContent = "";
					try {
						const now = draftOf();
						if (
							now["content"] === undefined &&
							!(Array.isArray(now["attachment"]) && now["attachment"].length > 0)
						) {
							widget.faults([
								{
									path: ["content"],
									keyword: "required",
									message: "Write a text, or add an attachment.",
								},
							]);
							/** @type {HTMLElement | null} */ (fields.querySelector("textarea"))?.focus();
							return;
						}
						send.disabled = true;
						const folder = place.folder();
						const { added } = await lib.change({
							add: [assetOf(now, id, folder ? [folder.id] : [], [...tags])],
						});
						if (signal.aborted) return;
						clear();
						unsaved();
						fill(
							done,
							icon("ok"),
							` Added ${folder ? `to ${folder.label}` : ""} at ` +
								`${new Date(added[0]?.updatedAt ?? Date.now()).toLocaleTimeString()}. `,
							h("a", { href: home }, "See it among the assets"),
							", or add another one.",
						);
						/** @type {HTMLElement | null} */ (fields.querySelector("textarea"))?.focus();
					} catch (e) {
						const pointer = /** @type {any} */ (e).pointer;
						const path = typeof pointer === "string" ? pathOf(pointer) : [];
						if (path[0] !== undefined && !["folders", "safe_tags"].includes(path[0]))
							widget.faults([
								{
									path,
									keyword: "",
									message: /** @type {Error} */ (e).message.replace(/^\/\S+: /, ""),
								},
							]);
						fill(trouble, sentence(e));
						trouble.hidden = false;
					} finally {
						send.disabled = false;
					}
				},
			},
			h("div", { class: "body" }, fields, tagged, trouble, done, h("div", { class: "buttons" }, send)),
		);
	}

	/** Assets as JSON that is pasted. */
	function byText() {
		const { id } = input;
		input.setAttribute("aria-describedby", `${id}-help`);
		const outcome = h("div", { role: "status" });
		const check = () =>
			void inspect(outcome, {
				name: "pasted.json",
				size: input.value.length,
				read: async function* () {
					yield input.value;
				},
				show: (at) => {
					input.focus();
					input.setSelectionRange(at, at + 1);
				},
			});
		input.addEventListener("input", unsaved);
		input.addEventListener("input", debounce(300, check));
		return h(
			"div",
			null,
			h(
				"div",
				{ class: "field" },
				h("label", { for: id }, "Assets"),
				input,
				h(
					"p",
					{ class: "help", id: `${id}-help` },
					"One asset, or a list of them, each with id, generator and content. Nothing is added before you " +
						"say so. ",
					button(
						"Show an example",
						() => {
							if (input.value.trim() === "") input.value = example;
							input.focus();
							check();
						},
						{ class: "small bare" },
					),
				),
			),
			outcome,
		);
	}

	/** Assets of a file. */
	function byFile() {
		const outcome = h("div", { role: "status" });
		return h(
			"div",
			null,
			dropZone(
				"File of assets",
				"Drop a file of assets here: a list in JSON, or one asset a line (NDJSON), plain or gzip, of any " +
					"size. It is checked first; nothing is added before you say so.",
				(file) =>
					void inspect(outcome, {
						name: file.name,
						size: file.size,
						read: async (progress) => {
							const content = await contentOf(file, progress);
							return /** @type {any} */ (
								content.pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))
							);
						},
					}),
			),
			outcome,
		);
	}

	/**
	 * Reads a source, shows its first mistakes, and offers to add the rest.
	 * @param {HTMLElement} outcome @param {Source} source
	 */
	async function inspect(outcome, source) {
		if (adding) return;
		const latest = {};
		checks.set(outcome, latest);
		if (source.size === 0) return fill(outcome);
		const bar = progress(outcome, `Checking ${source.name}…`, source.size, () => checks.delete(outcome));
		let good = 0;
		/** @type {Refusal[]} */
		const wrong = [];
		try {
			for await (const item of items(await source.read(bar))) {
				if (checks.get(outcome) !== latest || signal.aborted)
					return void (checks.has(outcome) || fill(outcome, "It was stopped. Nothing was added."));
				const fault = faultOf(item);
				if (!fault) good++;
				else if (wrong.push(fault) >= 1000) break;
			}
		} catch (e) {
			fill(outcome, h("div", { class: "note bad", role: "alert" }, unreadable(e)));
			return;
		}
		if (checks.get(outcome) !== latest) return;
		fill(
			outcome,
			h(
				"p",
				{ class: "strong" },
				good + wrong.length === 0
					? "There is no asset in it."
					: count(good, "asset") +
							(wrong.length === 0
								? "."
								: `, and ${wrong.length.toLocaleString()} that ` +
									(wrong.length === 1 ? "has a mistake." : "have mistakes.")),
			),
			faults(wrong, source, false),
			good > 0 && button(`Add ${count(good, "asset")}`, () => void add(outcome, source), { class: "main" }),
		);
	}

	/** Adds the assets of a source. @param {HTMLElement} outcome @param {Source} source */
	async function add(outcome, source) {
		if (adding) return;
		const text = h("p", { class: "detail" });
		const mine = (adding = new Adding((list) => lib.add(list), {
			folder: place.folder()?.id,
			change: () => {
				const refused = mine.refused.length > 0 && `, ${mine.refused.length.toLocaleString()} refused`;
				const waiting = mine.waiting && ` ${told(mine.waiting)} It is tried again.`;
				fill(text, count(mine.added, "asset"), " added", refused, ".", waiting);
			},
		}));
		signal.addEventListener("abort", () => mine.stop());
		unsaved();
		const bar = progress(outcome, `Adding the assets of ${source.name}…`, source.size, () => mine.stop());
		outcome.append(text);
		/** @type {unknown} */
		let trouble;
		try {
			await mine.run(items(await source.read(bar)));
		} catch (e) {
			trouble = e;
		}
		adding = undefined;
		unsaved();
		const { rest } = mine;
		fill(
			outcome,
			h(
				"h2",
				null,
				rest || trouble ? "Not all are added" : mine.refused.length > 0 ? "Done, but for some" : "Done",
			),
			counts([
				["added", mine.added],
				["refused", mine.refused.length],
			]),
			trouble !== undefined && h("div", { class: "note bad", role: "alert" }, unreadable(trouble)),
			rest &&
				h(
					"p",
					null,
					mine.stopped &&
						(mine.refused.length < 1000 ? "You stopped it. " : "It stopped after 1,000 refusals. "),
					`Nothing from line ${rest.line.toLocaleString()} on was sent. `,
					"Adding the whole file again is safe: what is in already stays as it is.",
				),
			faults(mine.refused, source, true),
			h("p", null, h("a", { href: home }, "See the assets")),
		);
		if (signal.aborted) toast(`${count(mine.added, "asset")} of ${source.name} were added before it was stopped.`);
	}

	return {
		node,
		leave: async () => {
			if (!node.dataset["unsaved"]) return true;
			if (adding)
				return confirm(
					"Stop adding?",
					"What is added so far stays. The rest of the file is not added.",
					"Stop and leave",
					{ danger: true },
				);
			return confirm("Leave without adding it?", "What you have filled in is lost.", "Leave", { danger: true });
		},
	};
}

/** What a person is told about a source that ends the work. @param {unknown} e */
function unreadable(e) {
	return e instanceof TypeError
		? "The file cannot be read on from here: it is damaged, or no text in UTF-8."
		: sentence(e);
}

/** How many refusals are shown; all can be saved. */
const shown = 100;

/**
 * The assets that are not in, each with its place and the reason.
 * @param {Refusal[]} list @param {Source} source @param {boolean} sent
 */
function faults(list, source, sent) {
	return (
		list.length > 0 &&
		h(
			"div",
			null,
			h(
				"ul",
				{ class: "faults" },
				list.slice(0, shown).map((r) =>
					h(
						"li",
						null,
						source.show
							? button(`Line ${r.line}, column ${r.column}`, () => source.show?.(r.at), {
									class: "small bare",
								})
							: h("strong", null, `Line ${r.line}, column ${r.column}`),
						": ",
						r.message,
						r.id && detail(` (id ${r.id})`),
					),
				),
			),
			list.length > shown && h("p", { class: "detail" }, `and ${(list.length - shown).toLocaleString()} more`),
			sent &&
				h(
					"p",
					null,
					button(
						"Save those that were refused as a file",
						() =>
							save(
								list.map((r) => `${r.item.text.replaceAll(/\s*\n\s*/g, " ")}\n`),
								rejectsOf(source.name),
							),
						{ class: "small" },
					),
				),
		)
	);
}
