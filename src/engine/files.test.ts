import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyOf, startEngine } from "../../test/support/engine.ts";
import { chatAgent } from "../agent/chat.ts";
import type { RunCommand } from "../core/command.ts";
import { hangs, says, scripted } from "../model/scripted.ts";
import { memoryStore } from "../store/memory.ts";
import { type IncomingMessage, nameFiles } from "./files.ts";
import { submit } from "./submit.ts";

const image = (...bytes: number[]) => ({ type: "file" as const, mediaType: "image/png", data: new Uint8Array(bytes) });
const said = (id: string, ...files: ReturnType<typeof image>[]): IncomingMessage => ({
  id,
  content: [{ type: "text", text: id }, ...files],
});

describe("files of messages", () => {
  it("are named by their content and leave the message", async () => {
    const { messages, files } = await nameFiles([said("a", image(1), image(2)), { id: "b", content: "text" }, said("c", image(1))]);
    const names = messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.flatMap((part) => ("blob" in part ? [part.blob] : [])),
    );
    assert.equal(names[0], names[2]);
    assert.notEqual(names[0], names[1]);
    assert.deepEqual(
      files.map(({ id }) => id),
      names,
    );
    assert.ok(!JSON.stringify(messages).includes("data"));
  });

  it("are kept once, with the message that is new, and never for a request that is refused", async () => {
    const store = memoryStore();
    const saved: string[] = [];
    const { engine, idle } = startEngine({
      agents: { default: chatAgent({ model: scripted(says("Nice."), hangs()) }) },
      store: {
        ...store,
        saveBlob(key, blob) {
          saved.push(String(blob.data[0]));
          return store.saveBlob(key, blob);
        },
      },
    });
    const send = async (runId: string, ...incoming: IncomingMessage[]) => {
      const { messages, files } = await nameFiles(incoming);
      const who = { by: "user:user", via: "test", now: 0 };
      const command: RunCommand = { type: "run", runId, turnId: runId, messages, results: [], answers: [], door: "history", ...who };
      return submit(engine, keyOf(), command, files);
    };
    await send("r1", said("u1", image(1), image(1)));
    await idle();
    assert.deepEqual(saved, ["1"]);
    await send("r2", said("u1", image(1)), said("u2", image(2)));
    assert.deepEqual(saved, ["1", "2"]);
    await assert.rejects(send("r3", said("u1", image(1)), said("u3", image(3))), { code: "conflict" });
    assert.deepEqual(saved, ["1", "2"]);
  });
});
