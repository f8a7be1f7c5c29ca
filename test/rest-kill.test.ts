import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { receiver } from "./support/receiver.ts";
import { backend } from "./support/rest.ts";
import { eventually } from "./support/serve.ts";
import { scratch, startServer } from "./support/server-process.ts";

const start = (data: string, allow: string) =>
  startServer(["start", "--port=0", "--data", data, "--config", "test/support/rest-config.ts"], {
    env: { HANDBACK_WEBHOOK_SECRET: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", HANDBACK_WEBHOOK_ALLOW: allow },
  });

describe("kill -9", () => {
  it("between a delivery and its record delivers again, under the same id, and settles once", async () => {
    const data = scratch();
    await using to = await receiver(() => {}); // has it, and says nothing
    const first = await start(data, to.origin);
    const config = { toolExecutionConfig: { mode: "outside", outsideConfig: { callbackUrl: to.url, timeout: 600_000 } } };
    await backend(first.url).chat({ message: "call get_menu", ...config });
    await eventually(() => to.received.length === 1);
    await first.stop("SIGKILL");
    to.answer({ status: 200, body: { success: true, data: "menu" } });
    const second = await start(data, to.origin);
    await eventually(async () => (await backend(second.url).send("GET", "/v1/threads/t")).json.status === "idle");
    assert.equal(to.received.length, 2);
    assert.equal(to.received[0]?.id, to.received[1]?.id);
    const [delivery] = (await backend(second.url).send("GET", "/v1/deliveries")).json.deliveries;
    assert.deepEqual([delivery.status, delivery.attempts], ["delivered", 1]);
    await second.stop();
  });

  it("while a chat is held and a result is on its way loses neither, under their keys", async () => {
    const data = scratch();
    const first = await start(data, "https://hooks.example.com");
    const body = {
      message: "call get_menu",
      toolExecutionConfig: { mode: "outside", outsideConfig: { waitForResult: true, timeout: 600_000 } },
    };
    const key = { "idempotency-key": "chat-1" };
    const held = backend(first.url).chat(body, key);
    held.catch(() => {});
    await eventually(async () => (await backend(first.url).pending()).json.data?.count === 1);
    await first.stop("SIGKILL");
    await assert.rejects(held);
    const second = await start(data, "https://hooks.example.com");
    const { chat, result } = backend(second.url);
    const again = chat(body, key);
    const sent = { toolResult: { success: true, data: "menu" } };
    const once = await result(sent, { "idempotency-key": "result-1" });
    const twice = await result(sent, { "idempotency-key": "result-1" });
    assert.deepEqual(twice.json, once.json);
    assert.equal((await again).json.data.content, '这是我们的咖啡菜单：["menu"]');
    await second.stop();
  });
});
