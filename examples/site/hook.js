// hook.js builds the site again when the service says that a tag has moved. See README.md for the webhook.
//
//   SERVER=… KEY=… SECRET=whsec_… PORT=8090 node hook.js

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { build } from "./build.js";
import { setting } from "./settings.js";

const secret = Buffer.from(setting("SECRET").replace(/^whsec_/, ""), "base64");

/**
 * Reports whether a message is signed as Standard Webhooks says, within five minutes.
 * @param {import("node:http").IncomingHttpHeaders} headers
 * @param {string} body
 */
function genuine(headers, body) {
	const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signatures } = headers;
	if (!(Math.abs(Date.now() / 1000 - Number(at)) < 300)) return false;
	const want = createHmac("sha256", secret).update(`${id}.${at}.${body}`).digest();
	return String(signatures)
		.split(" ")
		.map((signature) => Buffer.from(signature.replace(/^v1,/, ""), "base64"))
		.some((have) => have.length === want.length && timingSafeEqual(have, want));
}

// rebuild builds until it succeeds: the service may be away, and it does not send a message again that was accepted.
async function rebuild() {
	for (let pause = 1; ; pause = Math.min(2 * pause, 300)) {
		try {
			return await build();
		} catch (error) {
			console.error(error);
			await setTimeout(1000 * pause);
		}
	}
}

let building = Promise.resolve(); // one build after the other

createServer(async (request, response) => {
	let body = "";
	for await (const chunk of request.setEncoding("utf8")) body += chunk;
	const ok = genuine(request.headers, body);
	response.writeHead(ok ? 204 : 401).end();
	if (ok) building = building.then(rebuild);
}).listen(Number(setting("PORT")), "127.0.0.1", () => console.log("waiting for webhooks"));
