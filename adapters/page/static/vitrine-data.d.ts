// Types of vitrine-data.js, which reads published apps and renders them without a document.

import type { AppInfo, Component, DeliveredElement } from "./vitrine.js";

export interface Source {
	/** The base URL of the service. */
	server: string | URL;
	/** The name of the tag whose versions are read. */
	tag: string;
	/** The public key, or a delivery token. */
	key: string;
	/** What is called instead of the global fetch, to cache responses for instance. */
	fetch?: (url: string, init: { credentials: "omit"; signal: AbortSignal }) => Promise<Response>;
}

/** An app with its elements, and where it was read. */
export interface PublishedApp extends AppInfo {
	elements: DeliveredElement[];
	server: string;
	key: string;
	error?: undefined;
}

/** What getApps returns for an app that cannot be read. */
export interface MissingApp {
	id: string;
	/** Why, as a sentence, and the code of the service, such as `not_found`. */
	error: string;
	code: string;
	server: string;
	key: string;
}

/** What is thrown if the service refuses a request. 429 and 503 are repeated a few times before. */
export interface ServiceError extends Error {
	status: number;
	code?: string;
}

/**
 * Yields every app that the tag publishes and that the key may read, by title. The key must be a public key that may
 * list.
 */
export function listApps(source: Source & { limit?: number }): AsyncGenerator<AppInfo, void, undefined>;

/**
 * Returns apps as pages get them, in the order of their ids. `lang` is a language tag such as `de-AT`: texts are in
 * this language as far as they have it. Without it they are in the base of the service.
 */
export function getApps(
	source: Source & { apps: readonly string[]; lang?: string | undefined },
): Promise<(PublishedApp | MissingApp)[]>;

/**
 * Returns the HTML of an app: a `<vitrine-app>` whose elements have what the modules of their components, by name,
 * render. Those without a module, or without `render`, are empty until vitrine.js mounts them.
 */
export function renderApp(app: PublishedApp, components: Record<string, Partial<Component<any>>>): Promise<string>;
