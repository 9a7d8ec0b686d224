// views.js shows nothing. It tells the page that an app was seen, with the event "app-view" (detail {app, property}),
// so that the page can count it wherever it likes. See views.json for its configuration.

export function mount(element, { config, app }) {
	document.dispatchEvent(new CustomEvent("app-view", { detail: { app: app.id, property: config.property } }));
}

// render returns nothing: a page without scripts counts nothing.
export const render = () => "";
