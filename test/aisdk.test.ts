import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { chatAgent } from "../src/agent/chat.ts";
import { tool } from "../src/agent/tool.ts";
import { calls, says, scripted } from "../src/model/scripted.ts";
import { openChat, RELEASES } from "./aisdk/chat.ts";
import { serve } from "./support/serve.ts";

const paint = tool({ name: "paint", description: "Paints the page", input: z.object({ colour: z.string() }), owner: "client" });

for (const release of RELEASES) {
  describe(`AI SDK: ${release}`, () => {
    it("shows a text as it was said", async () => {
      await using server = await serve({ agents: { default: chatAgent({ model: scripted(says("Good ", "day.")) }) } });
      const { chat, requests } = await openChat(release, { url: server.url });
      await chat.sendMessage({ text: "hello" });
      assert.equal(chat.error, undefined);
      assert.deepEqual(
        chat.messages.map(({ role, parts }) => [role, parts.map(({ type, text }) => text ?? type)]),
        [
          ["user", ["hello"]],
          ["assistant", ["step-start", "Good day."]],
        ],
      );
      assert.equal(requests.length, 1);
    });

    it("runs a client tool and goes on with its result", async () => {
      const model = scripted([...says("Let me."), ...calls("paint", { colour: "red" }, { id: "c1", chunks: 3 })], says("Done."));
      await using server = await serve({ agents: { default: chatAgent({ model, tools: [paint] }) } });
      const { chat, requests, settled, streams } = await openChat(release, { url: server.url, onToolCall: () => "painted" });
      await chat.sendMessage({ text: "red" });
      await settled();
      console.log(streams.join("-----\n"));
      assert.equal(chat.error, undefined);
      assert.deepEqual(
        chat.messages[1]?.parts.map(({ type, text }) => text ?? type),
        ["step-start", "Let me.", "tool-paint", "step-start", "Done."],
      );
      assert.equal(requests.length, 2);
      assert.equal(chat.messages.length, 2);
    });
  });
}
