/**
 * Sharing an app: with somebody who has an account, or with somebody who gets one by an invitation.
 * @module
 */
import { to } from "../address.js";
import { button, h, labelled } from "../dom.js";
import { everybody, forget, groupName } from "../model/names.js";
import { invite, refused } from "../views/people.js";
import { askWith, closeAround, show, toast } from "./dialog.js";
import { nameLine } from "./pick.js";
import { lacks, moderated, none } from "./rights.js";
import { copyable } from "./secret.js";

/** @param {import("../session.js").Session} session @param {{id: string, title: string, groups: string[]}} app */
export async function share(session, { id, title, groups }) {
	const { api } = session;
	const address = copyable(
		"Address of the app, for those who may see it",
		`${location.origin}${location.pathname}${to("apps", id)}`,
	);
	const mine = session.managesPeople ? moderated(session, groups) : [];
	if (mine.length === 0) {
		await show(
			`Share ${title}`,
			h("form", null, address, h("div", { class: "buttons" }, button("Close", closeAround))),
		);
		return;
	}
	const who = nameLine({ required: true, maxlength: 128 });
	/** Whether the caller may give somebody rights. @param {import("../api.js").Person} p */
	const changeable = (p) => !p.provider && !p.disabled && lacks(session, p) === "";
	void everybody().then((all) => who.offer(all.filter(changeable).map(({ name, urn }) => [name, urn])));
	/** @type {["moderates" | "reads", string, string][]} */
	const rights = mine.flatMap((g) => [
		["moderates", g, `may change all apps of ${groupName(g)}`],
		["reads", g, `may read all apps of ${groupName(g)}`],
	]);
	const right = h(
		"select",
		null,
		rights.map(([, , text], i) => h("option", { value: i }, text)),
	);
	const shared = await askWith(
		`Share ${title}`,
		[
			address,
			labelled(
				"With",
				who.input,
				"The name of somebody who has an account, or of somebody new, who gets an invitation.",
			),
			who.list,
			labelled("What they may do", right),
		],
		"Share",
		async () => {
			const [kind, group] = rights[Number(right.value)];
			const value = who.value();
			const all = await everybody();
			const other = all.find((p) => (p.urn === value || p.name === value) && !changeable(p));
			const known = all.find((p) => p.urn === value);
			if (other && (!known || known === other))
				throw new Error(`You cannot change what ${other.name} may: ask somebody who may do all of it.`);
			if (known)
				return api
					.account("PATCH", `people/${known.id}`, { [kind]: [...new Set([...known[kind], group])] }, "id")
					.catch(refused);
			return api.account("POST", "people/", { ...none(), name: value, [kind]: [group] }, "id").catch(refused);
		},
	);
	if (!shared) return;
	forget();
	if (shared.passkeys > 0 || shared.provider) toast(`${shared.name} ${rights[Number(right.value)][2]} now.`);
	else await invite(session, shared, `/apps/${id}`);
}
