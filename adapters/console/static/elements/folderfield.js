/**
 * The folder that a text names, as network/library/id: its name, and a button to choose another one.
 * @module
 */
import { button, detail, fill, h, icon } from "../dom.js";
import { pickFolder } from "../views/folders.js";
import { trouble } from "./dialog.js";
import { pick } from "./pick.js";

/**
 * @param {import("../session.js").Session} session @param {string} name of the field
 * @param {(text: string) => void} [take] takes the folder that is chosen; without it none can be
 */
export function folderfield(session, name, take) {
	const named = h("span", { role: "status" });
	let shown = "";
	const choose =
		take &&
		button("Choose a folder", () => void ask().catch(trouble), {
			class: "small",
			"aria-label": `Choose a folder: ${name}`,
		});

	async function ask() {
		const { networks } = session;
		const network =
			networks.length > 1
				? await pick("Which library?", networks, (n) => ({ name: n }), "There is no library.")
				: networks[0];
		if (network === undefined) return;
		const found = await pickFolder(session.api.library(network, network), "Which folder?");
		if (found) take?.(`${network}/${network}/${found.id}`);
	}

	return {
		node: h("div", { class: "row" }, named, choose || ""),
		/** Shows the name of a folder, as far as the person may see it. @param {string} text */
		show(text) {
			if (text === shown) return;
			shown = text;
			fill(named);
			const [network, library, id, more] = text.split("/");
			if (!network || !library || !id || more !== undefined) return;
			session.api
				.library(network, library)
				.folders({ id })
				.then(
					({ folders: [f] }) => f,
					() => undefined,
				)
				.then((f) => {
					if (shown === text)
						fill(
							named,
							f ? [icon("folder"), " ", h("bdi", null, f.label)] : detail("no folder that you may see"),
						);
				});
		},
	};
}
