import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import type { JsonObject } from "../src/core/json.ts";
import { aisdkRoutes } from "../src/server/aisdk.ts";
import { nativeRoutes } from "../src/server/native.ts";
import { openApi } from "../src/server/openapi.ts";
import { restRoutes, sessionRoutes } from "../src/server/rest.ts";
import { authenticate, obedient } from "./support/native.ts";
import { serve } from "./support/serve.ts";

type Operation = { responses: Record<string, { content?: Record<string, { schema: JsonObject }> }>; operationId: string };
const described = openApi("test") as unknown as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonObject> };
};

/** The schema of an answer, with what it refers to put in its place. */
function schemaOf({ schema }: { schema: JsonObject }): z.ZodType {
  const [, name] = /^#\/components\/schemas\/(.+)$/.exec(String(schema["$ref"] ?? "")) ?? [];
  return z.fromJSONSchema((name === undefined ? schema : described.components.schemas[name]) as Parameters<typeof z.fromJSONSchema>[0]);
}

describe("the description of the doors", () => {
  it("has every route there is, and no other", () => {
    // biome-ignore lint/suspicious/noExplicitAny: routes are only listed, nothing is asked of them
    const door = { engine: {} } as any;
    const routes = [
      ["/v1", nativeRoutes(door)],
      ["/chat", restRoutes(door)],
      ["/api/chat", sessionRoutes(door)],
      ["/api/chat", aisdkRoutes(door, { holdMs: 0, signature: () => assert.fail() })],
    ] as const;
    const served = routes.flatMap(([base, { routes }]) =>
      routes.map(({ method, path }) => `${method} ${(base + path).replace(/\/$/, "").replaceAll(/:(\w+)/g, "{$1}")}`),
    );
    const told = Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    assert.deepEqual([...new Set(told)].sort(), [...new Set(served)].sort());
    const ids = Object.values(described.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    assert.equal(new Set(ids).size, ids.length);
  });

  it("is what the doors really answer, whether they agree or refuse", async () => {
    await using server = await serve({ agents: { default: obedient() }, authenticate });
    const seen = new Set<string>();
    /** Sends a request and holds the answer against what is written about it. */
    const ask = async (who: string, method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
      const headers = {
        ...(who && { authorization: `Bearer ${who}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...more,
      };
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const response = await fetch(`${server.url}${path}`, { method, headers, ...(body !== undefined && { body: text }) });
      const [plain = ""] = path.split("?");
      const template = Object.keys(described.paths)
        .filter((known) => new RegExp(`^${known.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(plain))
        .sort((a, b) => (a.match(/\{/g)?.length ?? 0) - (b.match(/\{/g)?.length ?? 0))[0];
      const operation = described.paths[template ?? ""]?.[method.toLowerCase()];
      assert.ok(operation, `${method} ${path} is not described`);
      const answer = operation.responses[response.status];
      const where = `${method} ${path} ${response.status}`;
      assert.ok(answer, `${where} is not described`);
      seen.add(`${method} ${template} ${response.status}`);
      const said = await response.text();
      const content = answer.content?.["application/json"];
      if (!content) return { status: response.status, json: undefined, text: said };
      const json = JSON.parse(said);
      const verdict = schemaOf(content).safeParse(json);
      assert.ok(verdict.success, `${where}: ${said}\n${verdict.error?.message}`);
      return { status: response.status, json, text: said };
    };
    const ok = { toolResult: { success: true, data: ["espresso"] } };

    await ask("alice", "POST", "/chat", { threadId: "t", message: "call get_menu brew", toolExecutionConfig: { mode: "outside" } });
    const { json: list } = await ask("alice", "GET", "/chat/pending-tools/t");
    const [menu, brew] = list.data.pendingToolCalls.map(({ id }: { id: string }) => id);
    await ask("alice", "POST", "/chat/tool-result", { threadId: "t", toolResult: 7, toolCallId: menu });
    await ask("alice", "POST", "/chat/tool-result", { threadId: "t", ...ok, toolCallId: menu, metadata: { took: 1 } });
    await ask("alice", "POST", "/api/chat/tool-result", { session_id: "t", tool_call_id: brew, result: 1 });
    await ask("alice", "POST", "/chat/tool-result", { threadId: "t", ...ok });
    await ask("alice", "POST", "/chat/tool-result", {});
    await ask("", "POST", "/chat/tool-result", ok);
    await ask("bob", "POST", "/chat/tool-result", { threadId: "t", ...ok });
    await ask("bob", "GET", "/chat/pending-tools/t");
    await ask("alice", "POST", "/chat", { message: "" });
    await ask("alice", "POST", "/chat", "x", { "content-type": "text/plain" });
    await ask("alice", "POST", "/chat", { message: "x".repeat(2_000_000) });
    await ask("alice", "POST", "/chat", { threadId: "t2", message: "fail" });
    await ask("alice", "POST", "/chat", { threadId: "t3", message: "call pay" });
    await ask("alice", "POST", "/chat", { threadId: "t3", message: "again" });
    await ask("alice", "POST", "/chat/tool-heartbeat", { toolCallId: menu, token: "no" });

    const plain = { messages: [{ role: "user", content: "hello" }] };
    await ask("alice", "POST", "/api/chat", plain);
    await ask("alice", "POST", "/api/chat", plain, { accept: "text/plain" });
    await ask("alice", "POST", "/api/chat", { ...plain, config: { mode: "agent" } });
    await ask("alice", "POST", "/api/chat", { messages: [{ role: "user", content: "fail" }] }, { accept: "text/plain" });
    await ask("tools:pay", "POST", "/api/chat", plain);
    await ask("alice", "POST", "/api/chat", { id: "ui", messages: [{ id: "u", role: "user", parts: [{ type: "text", text: "hi" }] }] });
    await ask("alice", "GET", "/api/chat/ui/messages");
    await ask("alice", "GET", "/api/chat/ui/stream");
    await ask("alice", "POST", "/api/chat/ui/stop");

    await ask("alice", "GET", "/v1/threads");
    await ask("op", "GET", "/v1/threads?limit=1");
    await ask("alice", "GET", "/v1/threads?limit=x");
    await ask("alice", "GET", "/v1/threads/t3");
    await ask("bob", "GET", "/v1/threads/t");
    await ask("alice", "PATCH", "/v1/threads/t", { title: "Coffee" });
    await ask("alice", "POST", "/v1/threads/n/runs", { message: "call get_menu get_menu pay" });
    await ask("alice", "POST", "/v1/threads/n/runs", { message: "too soon", agent: "nobody" });
    await ask("alice", "GET", "/v1/threads/n/events?until=run");
    await ask("alice", "GET", "/v1/threads/n/export");
    const { json: waiting } = await ask("alice", "GET", "/v1/calls?status=pending&threadId=n");
    const [first, second, pay] = waiting.calls.map(({ id }: { id: string }) => id);
    await ask("alice", "GET", `/v1/calls/${first}`);
    const { json: lease } = await ask("alice", "POST", `/v1/calls/${first}/claim`, {});
    await ask("alice", "POST", `/v1/calls/${first}/claim`, {});
    await ask("alice", "POST", `/v1/calls/${first}/heartbeat`, { claim: lease.claim });
    await ask("alice", "POST", `/v1/calls/${first}/heartbeat`, { claim: 9 });
    await ask("alice", "POST", `/v1/calls/${first}/release`, { claim: lease.claim });
    await ask("alice", "POST", `/v1/calls/${first}/result`, { output: ["tea"] });
    await ask("alice", "POST", `/v1/calls/${first}/result`, { output: ["milk"] });
    await ask("alice", "POST", `/v1/calls/${second}/result`, { output: 1 });
    await ask("tools:pay", "POST", `/v1/calls/${pay.replace(":approval", "")}/approve`, {});
    await ask("alice", "POST", `/v1/calls/${pay}/reject`, { reason: "no" });
    await ask("alice", "POST", `/v1/calls/${pay}/approve`, {});
    await ask("alice", "POST", "/v1/interrupts/none/answer", { value: 1 });
    await ask("alice", "POST", "/v1/threads/n/cancel", {});
    await ask("alice", "POST", "/v1/threads/n/cancel", {});
    await ask("alice", "POST", `/v1/calls/${second}/result`, { output: ["late"] });
    const { json: grant } = await ask("alice", "POST", "/v1/grants", { tool: "pay" });
    await ask("alice", "GET", "/v1/grants");
    await ask("alice", "DELETE", `/v1/grants/${grant.id}`);
    await ask("alice", "DELETE", `/v1/grants/${grant.id}`);
    await ask("alice", "GET", "/v1/deliveries");
    await ask("alice", "POST", "/v1/deliveries/none/redeliver");
    await ask("alice", "GET", "/v1/meta");
    await ask("alice", "POST", "/v1/threads/import", "{}", { "content-type": "application/x-ndjson" });
    await ask("op", "POST", "/v1/threads/import?user=eve", "{}", { "content-type": "application/x-ndjson" });
    await ask("alice", "GET", "/v1/threads/t/blobs/none");
    await ask("alice", "DELETE", "/v1/threads/t");
    await ask("", "GET", "/v1/meta");
    const statuses = new Set([...seen].map((line) => Number(line.split(" ")[2])));
    for (const status of [200, 201, 202, 204, 400, 401, 403, 404, 409, 410, 413, 415, 422, 502])
      assert.ok(statuses.has(status), `no ${status}`);
  });

  it("is served with a page that loads nothing from elsewhere", async () => {
    await using server = await serve({ agents: { default: obedient() } });
    const page = await fetch(`${server.url}/reference`);
    const html = await page.text();
    assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.doesNotMatch(html, /https?:\/\//);
    for (const [, file] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const response = await fetch(`${server.url}/${file}`);
      assert.equal(response.status, 200);
      assert.doesNotMatch(file === "openapi.json" ? "" : await response.text(), /https?:\/\//);
    }
    const json = (await (await fetch(`${server.url}/openapi.json`)).json()) as { openapi: string };
    assert.equal(json.openapi, "3.1.0");
  });
});
