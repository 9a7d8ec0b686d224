// Types of components, of the element <vitrine-app>, and of its event.

/** What the script of a component exports. */
export interface Component<Config = unknown> {
	/** Shows an element of an app in an empty `<div>` of the page. */
	mount(element: HTMLElement, context: Context<Config>): Mounted<Config> | void | Promise<Mounted<Config> | void>;
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
	/** Is aborted when the element goes away. */
	signal: AbortSignal;
}

export interface AppInfo {
	id: string;
	tag: string;
	/** The number of the version. */
	version: string;
	title: string;
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

/** The element `<vitrine-app app tag key live>`. */
export class VitrineApp extends HTMLElement {
	/** Seconds between two requests; 0 without the attribute, when the page asks once. */
	readonly live: number;
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

declare global {
	interface HTMLElementTagNameMap {
		"vitrine-app": VitrineApp;
	}
	interface HTMLElementEventMap {
		"vitrine-error": CustomEvent<VitrineError>;
	}
	interface DocumentEventMap {
		"vitrine-error": CustomEvent<VitrineError>;
	}
}
