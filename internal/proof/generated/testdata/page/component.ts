// A typed component, and a page that uses the element and its event.
import type { Component, DeliveredApp, HeadlessComponent, VitrineError } from "./vitrine.js";

interface Poll {
	question: string;
	answers: { text: string; color?: string }[];
}

const poll: Component<Poll> = {
	mount(element, { config, app, key, signal }) {
		element.textContent = config.question;
		const show = (config: Poll) => {
			element.textContent = [config.question, ...config.answers.map((a) => a.text)].join() + app.title + key;
		};
		signal.addEventListener("abort", () => {});
		show(config);
		return { update: show, unmount() {} };
	},
};
export const mount = poll.mount;

export const silent: HeadlessComponent = {
	mount(element) {
		// @ts-expect-error: it is null
		element.remove();
	},
};

// None of what mount may return is required, and it may come later.
export const plain: Component = { mount() {} };
export const later: Component<Poll> = {
	async mount() {
		return {
			async update(config) {
				config.question.trim();
			},
		};
	},
};

// @ts-expect-error: mount is required
export const none: Component = {};
// @ts-expect-error: update gets a Poll
export const wrong: Component<Poll> = { mount: () => ({ update(config: number) {} }) };

const host = document.querySelector("vitrine-app");
const seconds: number | boolean | undefined = host?.live;
host?.addEventListener("vitrine-error", (event) => {
	const { app, key, component, error }: VitrineError = event.detail;
	console.log(app.length, key?.length, component?.length, error, seconds);
});
document.addEventListener("vitrine-error", (event) => console.log(event.detail.app.length));
const app: DeliveredApp = {
	id: "a",
	tag: "t",
	version: "1",
	title: "T",
	publishedAt: 1,
	updatedAt: 0,
	elements: [{ key: "0.0", name: "poll", version: "1", main: "https://cdn.example.test/poll.js", config: {} }],
};
void host?.show(app);
void host?.show({ id: "a", error: "it is gone", code: "not_found" });
if (host) {
	host.app = host.tag = host.pageKey = host.server = null;
	host.live = "5";
	// @ts-expect-error: it is a text
	host.app = 1;
}
