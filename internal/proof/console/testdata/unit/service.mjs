import assert from "node:assert/strict";
import { mock } from "node:test";
import { ApiError } from "../static/api.js";
import { equal, parse, stringify } from "../static/json.js";

// random is a generator of numbers below n that begins with a seed.
export function random(seed) {
	let state = (seed * 2654435761) >>> 0 || 1;
	return (n) => {
		state ^= state << 13;
		state >>>= 0;
		state ^= state >>> 17;
		state ^= state << 5;
		state >>>= 0;
		return state % n;
	};
}

// Service is what editors save to: an app with its versions, on a network that loses requests and answers.
export class Service {
	constructor(r, elements) {
		this.r = r;
		this.bad = 0; // one of so many requests is lost; 0 = none
		this.fits = (config) => true; // whether a config fits its schema
		this.versions = [
			this.made({
				id: "a",
				version: "0",
				title: "t",
				groups: ["g"],
				updatedBy: { urn: "u" },
				elements: elements.map((config) => ({ component: { name: "c", version: "1" }, config })),
			}),
		];
		this.patches = [];
	}

	made(app) {
		return parse(
			stringify({
				...app,
				elements: app.elements.map((e, i) => ({
					id: String(i),
					key: e.key ?? `${app.version}.${i}`,
					component: e.component,
					config: e.config,
				})),
			}),
		);
	}

	get latest() {
		return this.versions.at(-1);
	}

	async lose() {
		await undefined;
		if (this.bad > 0 && this.r(this.bad) === 0) throw new ApiError("lost", { code: "offline" });
	}

	async patch(id, operations) {
		await this.lose();
		if (operations[0].value !== this.latest.version)
			throw new ApiError("stale", { status: 409, code: "stale_version", version: this.latest.version });
		const root = parse(stringify({ apps: [this.latest] }));
		for (const o of operations.slice(1)) {
			const names = (p) =>
				p
					.slice(1)
					.split("/")
					.map((n) => n.replaceAll("~1", "/").replaceAll("~0", "~"));
			const parent = (p) =>
				names(p)
					.slice(0, -1)
					.reduce((v, n) => v[n], root);
			const last = (p) => names(p).at(-1);
			const take = (p) =>
				Array.isArray(parent(p))
					? parent(p).splice(Number(last(p)), 1)[0]
					: (() => {
							const was = parent(p)[last(p)];
							delete parent(p)[last(p)];
							return was;
						})();
			const put = (p, v) =>
				Array.isArray(parent(p)) ? parent(p).splice(Number(last(p)), 0, v) : (parent(p)[last(p)] = v);
			if (o.op === "remove") take(o.path);
			else if (o.op === "add") put(o.path, o.value);
			else if (o.op === "move") put(o.path, take(o.from));
			else parent(o.path)[last(o.path)] = o.value;
		}
		const app = this.made({ ...root.apps[0], version: String(Number(this.latest.version) + 1) });
		const wrong = app.elements.findIndex(
			(e) => !this.fits(e.config) && !this.latest.elements.some((x) => equal(x.config, e.config)),
		);
		if (wrong >= 0)
			throw new ApiError("no", {
				status: 422,
				code: "schema",
				pointer: `/apps/0/elements/${wrong}/config`,
				violations: [{ pointer: "", keyword: "x", message: "no" }],
			});
		if (!equal({ ...app, version: "" }, { ...this.latest, version: "" })) {
			this.versions.push(app);
			this.patches.push(operations.slice(1));
		}
		await this.lose(); // kept, and nobody is told
		return this.latest;
	}

	async app(id, version) {
		await this.lose();
		return version === undefined ? this.latest : this.versions[Number(version)];
	}
}

export const settle = async () => {
	for (let i = 0; i < 50; i++) await Promise.resolve();
};

// quiet lets time pass until nothing is left to save.
export async function quiet(editors) {
	for (let i = 0; i < 400; i++) {
		mock.timers.tick(500);
		await settle();
		if (editors.every((e) => !e.unsaved && e.state.kind === "saved")) return;
	}
	assert.fail(`not quiet: ${editors.map((e) => e.state.kind)}`);
}

// haveAll fails unless the elements are those with the numbers in config.n, each once, and have what was typed: a value
// for each "number field".
export function haveAll(elements, typed, numbers, seed) {
	for (const [place, value] of typed) {
		const [n, field] = place.split(" ");
		const element = elements.find((x) => String(x.config.n) === n);
		assert.equal(element?.config[field], value, `seed ${seed}: ${place} is lost: ${stringify(elements)}`);
	}
	assert.deepEqual(elements.map((x) => x.config.n).sort(), numbers.sort(), `seed ${seed}`);
}
