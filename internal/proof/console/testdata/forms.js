async (text) => {
	const [
		{ field },
		{ fieldOf, addition, begin, chosen },
		{ compare },
		{ parse, stringify, equal, isObject, withAt },
	] = await Promise.all(
		["elements/form.js", "model/schema.js", "model/patch.js", "json.js"].map(
			(f) => import(new URL(`x/console/${f}`, location.origin + location.pathname).href),
		),
	);
	const schema = parse(text);
	const tried = { forms: 0, controls: 0, json: 0, wrong: [] };
	let state = 1;
	const random = (n) => {
		state = (Math.imul(state, 1103515245) + 12345) >>> 0;
		return (state >>> 8) % n;
	};
	// A value that the fields lead to, with members that no field names and numbers whose text matters.
	const sample = (s, depth) => {
		const f = fieldOf(s, schema, undefined);
		switch (f.kind) {
			case "const":
				return f.schema.const;
			case "null":
				return null;
			case "options":
				return f.options[random(f.options.length)]?.value ?? null;
			case "choice":
				return sample(f.options[random(f.options.length)].value, depth + 1);
			case "boolean":
				return random(2) === 0;
			case "number":
				return parse(["1.10", "0", "-2.50", "1e2"][random(4)]);
			case "integer":
				return parse(["7", "9007199254740993", "1"][random(3)]);
			case "time":
				return ["2026-01-05T09:30:00Z", "2026-01-05T09:30:00", "09:30:15.5+02:00", "soon"][random(4)];
			case "text":
			case "long":
				return ["x", "two\nlines", "", "https://example.test/"][random(4)];
			case "list":
				return depth > 3
					? []
					: Array.from({ length: (f.leading?.length ?? 0) + random(3) }, (_, i) =>
							sample(f.leading?.[i] ?? (f.items === false ? {} : (f.items ?? {})), depth + 1),
						);
			case "object": {
				let made = {};
				for (const m of f.members) {
					if (m.schema !== false && (m.required || (depth < 3 && random(3) === 0)))
						made = withAt(made, [m.name], sample(m.schema, depth + 1));
				}
				if (f.more !== false && random(3) === 0) made = withAt(made, ["not named"], parse('{"n":1.10}'));
				return made;
			}
			default:
				return parse(['{"any":[1.10]}', '"text"', "3", "null"][random(4)]);
		}
	};
	const main = document.querySelector("main");
	const shown = () =>
		[...main.querySelectorAll("input, select, textarea, output")]
			.map((x) => (x.tagName === "OUTPUT" ? x.textContent : x.value))
			.join("\n");
	for (let round = 0; round < 6; round++) {
		const value = round === 0 ? (begin(schema, schema) ?? {}) : sample(schema, 0);
		let now = value;
		let changes = 0;
		const form = field({
			schema,
			root: schema,
			name: "Config",
			bare: true,
			required: true,
			value,
			onchange: (v) => {
				now = v;
				changes++;
			},
		});
		main.replaceChildren(form.node);
		tried.forms++;
		tried.json += main.querySelectorAll("textarea.mono").length;
		if (changes > 0) tried.wrong.push(`showing ${stringify(value)} changes it`);
		const first = shown();
		const controls = [...main.querySelectorAll("input:not([type=color]), textarea")].slice(0, 12);
		for (const control of controls) {
			if (!control.isConnected || control.readOnly) continue;
			const before = now;
			changes = 0;
			const typed =
				control.inputMode === "decimal"
					? "42"
					: ({ date: "2026-01-05", time: "09:30", "datetime-local": "2026-01-05T09:30" }[control.type] ??
						(control.classList.contains("mono") ? '"edited"' : `edited ${tried.controls}`));
			if (control.value === typed) continue;
			control.value = typed;
			control.dispatchEvent(new Event("input", { bubbles: true }));
			tried.controls++;
			const operations = [];
			compare(before ?? null, now ?? null, "", operations);
			if (operations.length !== 1)
				tried.wrong.push(
					`typing ${typed} into ${control.id} makes ${stringify(operations)} of ${stringify(before)}`,
				);
		}
		form.faults([
			{ path: [], keyword: "x", message: "wrong" },
			{ path: ["not there", "0"], keyword: "x", message: "wrong" },
		]);
		form.faults([]);
		form.set(value);
		if (shown() !== first)
			tried.wrong.push(
				`after other values ${stringify(value)} is shown as\n${shown()}\nand at first as\n${first}`,
			);
		if (main.querySelector(".bad")) tried.wrong.push("what was wrong stays");
	}
	return tried;
};
