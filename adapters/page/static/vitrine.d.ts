// Types of components, of the element <vitrine-app>, and of its event.

/** What the script of a component exports. */
export interface Component<Config = unknown> {
	/** Shows an element of an app in a `<div>` of the page, which is empty unless `rendered` is true. */
	mount(element: HTMLElement, context: Context<Config>): Mounted<Config> | void | Promise<Mounted<Config> | void>;
	/**
	 * Returns the HTML of an element where there is no document, for readers without script and for search engines. It
	 * escapes what it writes. May be left out.
	 */
	render?(context: RenderContext<Config>): string | Promise<string>;
}

/** What the script of a component exports whose manifest says `"headless": true`. */
export interface HeadlessComponent<Config = unknown> {
	mount(element: null, context: Context<Config>): Mounted<Config> | void | Promise<Mounted<Config> | void>;
}

export interface Context<Config = unknown> {
	/** The configuration of the element, with the defaults of its schema. It is a copy for this element alone. */
	config: Config;
	/** The app as it was when the element was mounted. */
	app: AppInfo;
	/** The key of the element. It stays the same while the element is edited or moved. */
	key: string;
	/** The base URL of the service. */
	server: string;
	/** The public key with which the page asks for the app. */
	pageKey: string;
	/** Is aborted when the element goes away. */
	signal: AbortSignal;
	/** Whether the `<div>` has what `render` has returned for this configuration. */
	rendered: boolean;
}

/** What render gets. */
export interface RenderContext<Config = unknown> extends Pick<
	Context<Config>,
	"config" | "app" | "key" | "server" | "pageKey"
> {
	/** The address of the component's script. */
	main: string;
}

export interface AppInfo {
	id: string;
	tag: string;
	/** The number of the version. */
	version: string;
	title: string;
	/** When the tag was moved to this version, and when the version was made: milliseconds since 1970. */
	publishedAt: number;
	updatedAt: number;
	/**
	 * Of an app with texts in several languages: that of these texts, how many of them are in another one because they
	 * lack it, and the languages that there are.
	 */
	lang?: string;
	fallbacks?: number;
	languages?: string[];
}

/** What mount returns. Both functions may be left out. */
export interface Mounted<Config = unknown> {
	/** Shows another configuration. Without it, the element is unmounted and mounted anew. */
	update?(config: Config): void | Promise<void>;
	/** Is called when the element goes away. */
	unmount?(): void;
}

/**
 * The detail of the event `vitrine-error`, which bubbles. preventDefault keeps the error out of the browser's console.
 * key and component are undefined for an error of the app.
 */
export interface VitrineError {
	app: string;
	key?: string;
	component?: string;
	/** What was thrown. An Error with the `code` of the service where that refuses the app. */
	error: unknown;
}

/** The detail of the event `vitrine-shown`, which bubbles: once an app and page, when its elements are mounted. */
export interface VitrineShown extends Pick<AppInfo, "tag" | "version" | "lang"> {
	app: string;
}

/**
 * The element `<vitrine-app app tag page-key live server lang>`. Each property is the attribute. `lang`, or that of the
 * nearest element around, is the language of an app that has several.
 */
export class VitrineApp extends HTMLElement {
	/** The id of the app. */
	app: string | null;
	/** The name of the tag whose version is shown. */
	tag: string | null;
	/** The public key. It is the attribute `page-key`, or `pagekey`, or `key`. */
	pageKey: string | null;
	/** The base URL of the service; the one that the script comes from unless it is given. */
	server: string | null;
	/** Seconds between two requests, true for ten of them, false to ask once. */
	get live(): boolean | number;
	set live(live: Live | null | undefined);
	/** Shows an app as the service delivers it. */
	show(app: DeliveredApp): Promise<void>;
}

/** An app as `GET x/public/{tag}` answers it. */
export type DeliveredApp = (AppInfo & { elements: DeliveredElement[] }) | { id: string; error: string; code: string };

export interface DeliveredElement {
	key: string;
	/** The name and the version of the component. */
	name: string;
	version: string;
	/** The address of its script. */
	main: string;
	headless?: true;
	config: unknown;
}

type Live = boolean | number | string;

/** What templates and JSX may give to `<vitrine-app>`, apart from the attributes of every element. */
export interface VitrineAppAttributes {
	app?: string | undefined;
	tag?: string | undefined;
	"page-key"?: string | undefined;
	pageKey?: string | undefined;
	live?: Live | undefined;
	server?: string | undefined;
}

// The element in JSX and in templates. A framework that is not installed has no module to augment.

// @ts-ignore
declare module "react" {
	namespace JSX {
		interface IntrinsicElements {
			"vitrine-app": VitrineAppAttributes &
				// @ts-ignore
				import("react").DetailedHTMLProps<import("react").HTMLAttributes<VitrineApp>, VitrineApp>;
		}
	}
}

// @ts-ignore
declare module "preact" {
	namespace createElement.JSX {
		interface IntrinsicElements {
			// @ts-ignore
			"vitrine-app": VitrineAppAttributes & import("preact").HTMLAttributes<VitrineApp>;
		}
	}
}

// @ts-ignore
declare module "vue" {
	interface GlobalComponents {
		// @ts-ignore
		"vitrine-app": new () => { $props: VitrineAppAttributes & import("vue").HTMLAttributes };
	}
}

// @ts-ignore
declare module "svelte/elements" {
	interface SvelteHTMLElements {
		// @ts-ignore
		"vitrine-app": VitrineAppAttributes & import("svelte/elements").HTMLAttributes<VitrineApp>;
	}
}

declare global {
	interface HTMLElementTagNameMap {
		"vitrine-app": VitrineApp;
	}
	interface HTMLElementEventMap {
		"vitrine-error": CustomEvent<VitrineError>;
		"vitrine-shown": CustomEvent<VitrineShown>;
	}
	interface DocumentEventMap {
		"vitrine-error": CustomEvent<VitrineError>;
		"vitrine-shown": CustomEvent<VitrineShown>;
	}
}
