import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { chatAgent } from "../src/agent/chat.ts";
import { scripted } from "../src/model/scripted.ts";
import { eventually, type Served, serve } from "./support/serve.ts";

const PIECE = "x".repeat(32 * 1024);
const PIECES = 512; // 16 MB: more than all buffers of a socket together

/** The answers this process is giving, as Node knows them. */
const answers: ServerResponse[] = [];
subscribe("http.server.request.start", (message) => void answers.push((message as { response: ServerResponse }).response));

/** A model that says 16 MB once told to go, then waits to be told to end. */
function talkative() {
  const [go, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const said = { pieces: 0 };
  const model = scripted(async function* () {
    yield { type: "text.started", id: "t" };
    await go.promise;
    for (; said.pieces < PIECES; said.pieces += 1) {
      yield { type: "text.delta", id: "t", delta: PIECE };
      await new Promise((resolve) => setImmediate(resolve));
    }
    await end.promise;
    yield { type: "text.ended", id: "t" };
  });
  return { model, said, go: go.resolve, end: end.resolve };
}

/** A reader that follows the thread over a bare socket and reads when told to. */
async function tail({ url }: Served, after = 0): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(`GET /v1/threads/t/events?after=${after} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await eventually(() => text.includes("\r\n\r\n"));
  return { socket, text: () => text };
}

const ask = { threadId: "t", runId: "r", messages: [{ id: "u1", role: "user", content: "talk" }] };

describe("readers of one long stream", () => {
  it("that read nothing, or slowly, delay nobody and cost little; they are cut off, and can go on later", async () => {
    const { model, said, go, end } = talkative();
    await using server = await serve({ agents: { default: chatAgent({ model }) }, coalesce: 0 });
    const asker = await server.open(ask);
    await asker.until("RUN_STARTED");
    const asked = asker.rest();
    const healthy = Array.from({ length: 20 }, async () => {
      const response = await fetch(`${server.url}/agui`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...ask, messages: [] }),
      });
      let [bytes, tail] = [0, ""];
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length;
        tail = (tail + Buffer.from(chunk).toString("latin1")).slice(-300);
      }
      return { bytes, tail };
    });
    const stuck = await Promise.all(Array.from({ length: 10 }, () => tail(server)));
    for (const { socket } of stuck) socket.pause();
    const slow = await tail(server);
    slow.socket.pause();
    const slowAnswer = answers.findLast(({ req }) => req.method === "GET") as ServerResponse;
    await eventually(() => answers.filter((answer) => !answer.writableEnded).length >= 32);

    global.gc?.();
    const before = process.memoryUsage().rss;
    go();
    while (said.pieces < PIECES) await server.clock.advance(25);
    await eventually(() => answers.filter((answer) => answer.writableNeedDrain).length >= 11);
    // Every stuck reader costs what lies in its own buffers, not what the others have read.
    for (const answer of answers) assert.ok(answer.writableLength < 4 * 1024 * 1024, `${answer.writableLength} bytes lie in one answer`);
    const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
    assert.ok(grown < 400, `11 readers that do not read, of 16 MB each: ${Math.round(grown)} MB`);

    // A slow reader that takes a little now and then is not cut off.
    for (let i = 0; i < 3; i += 1) {
      slow.socket.resume();
      await Promise.race([once(slowAnswer, "drain"), eventually(() => !slowAnswer.writableNeedDrain)]);
      slow.socket.pause();
      // What it has missed is read back in small pieces.
      assert.ok(slowAnswer.writableLength < 4 * 1024 * 1024, `${slowAnswer.writableLength} bytes lie in the slow answer`);
      await server.clock.advance(12_000);
    }
    await eventually(() => server.logged.filter(({ event }) => event === "stream.stalled").length === 10);

    end();
    const [first, ...others] = await Promise.all(healthy);
    assert.match(first?.tail ?? "", /RUN_FINISHED/);
    assert.ok((first?.bytes ?? 0) > PIECE.length * PIECES);
    for (const other of others)
      assert.ok(Math.abs(other.bytes - (first?.bytes ?? 0)) < 1024 * 1024, `${other.bytes} and not ${first?.bytes}`);
    await asked;

    // The slow one reads on to the end; a stuck one comes back where it was.
    slow.socket.resume();
    await eventually(() => slow.text().includes("run.ended"));
    slow.socket.destroy();
    const [victim] = stuck;
    assert.ok(victim);
    for (const { socket } of stuck) socket.resume();
    await Promise.all(stuck.map(({ socket }) => (socket.closed ? undefined : once(socket, "close"))));
    const ids = seqs(victim.text());
    const again = await tail(server, ids.at(-1));
    await eventually(() => again.text().includes("run.ended"));
    again.socket.destroy();
    const all = [...ids, ...seqs(again.text())];
    const events = await server.events();
    assert.deepEqual(
      all,
      events.map(({ seq }) => seq).filter((seq) => all.includes(seq)),
    );
    assert.equal(all.at(-1), events.at(-1)?.seq);
    assert.ok(ids.length < events.length / 2, "it was cut off in the middle");
  });
});

/** The ids of the whole frames in what came over a socket. */
function seqs(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)\ndata: [^\n]*\n\n/gm)].map(([, id]) => Number(id));
}
