// Calls tools with the official client: the plan is a list of {name, arguments}. It prints the results in order.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { url, token, plan } = JSON.parse(readFileSync(0, "utf8"));
const client = new Client({ name: "test", version: "1" });
const headers = { Authorization: `Bearer ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const { tools } = await client.listTools();
const results = [];
for (const call of plan) results.push(await client.callTool(call)); // which checks them against their schemas
const many = await Promise.all(Array.from({ length: 100 }, () => client.callTool(plan[0])));
console.log(JSON.stringify({ tools: tools.map((t) => t.name), results, many: many.filter((r) => !r.isError).length }));
await client.close();
