// Checks a file of records as a user of ajv would: line by line from the disk, bytes decoded as strict
// UTF-8, JSON.parse, and the record schema with formats. For each line on standard input, the name
// of a file, it prints how many lines the file has and how many of them are refused.
//
//   node ajv.mjs DIRECTORY-WITH-node_modules SCHEMA
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(path.join(process.argv[2], "here.js"));
const Ajv = require("ajv/dist/2020").default;
const addFormats = require("ajv-formats").default;

const schema = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
// What the package of formats can say of the rules, beyond the schema: real dates, Base64, addresses.
schema.$defs.time.format = "iso-date-time";
schema.properties.id.format = "byte";
schema.$defs.review.properties.imported_url.format = "uri";
const ajv = new Ajv({ strict: false });
addFormats(ajv);
const validate = ajv.compile(schema);
const decoder = new TextDecoder("utf-8", { fatal: true });

function accepts(line) {
	try {
		return validate(JSON.parse(decoder.decode(line)));
	} catch {
		return false;
	}
}

async function check(file) {
	let lines = 0,
		refused = 0,
		begun = null;
	for await (const chunk of fs.createReadStream(file, { highWaterMark: 1 << 20 })) {
		let from = 0;
		for (let end; (end = chunk.indexOf(10, from)) >= 0; from = end + 1) {
			let line = chunk.subarray(from, end);
			if (begun) line = Buffer.concat([begun, line]);
			begun = null;
			lines++;
			if (!accepts(line)) refused++;
		}
		const rest = chunk.subarray(from);
		begun = begun ? Buffer.concat([begun, rest]) : rest;
	}
	return `${lines} ${refused}`;
}

for await (const file of readline.createInterface({ input: process.stdin })) {
	console.log(await check(file));
}
