import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, describe, it } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { AppError } from "../../core/error.ts";
import type { Entry } from "../../core/thread.ts";
import { aiSdkModel } from "../ai-sdk.ts";
import type { Model, ModelEvent, ModelRequest } from "../model.ts";
import { openAiCompatible } from "../openai-compatible.ts";
import { ProviderFailure } from "../provider-failure.ts";
import { poster } from "./post.ts";

type Asked = { path: string; headers: IncomingHttpHeaders; body: string; socket: Socket };
type Answer = (response: ServerResponse, asked: Asked, count: number) => void;

const servers: { close(): void; closeAllConnections(): void }[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A provider that answers as it is told, byte by byte. */
async function provider(answer: Answer): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { url = "", headers, socket } = request;
    asked.push({ path: url, headers, body: Buffer.concat(pieces).toString(), socket });
    answer(response, asked.at(-1) as Asked, asked.length);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const USER: Entry = { role: "user", seq: 1, turnId: "t1", id: "m1", content: "hi" };
const REQUEST: ModelRequest = { instructions: undefined, history: [USER], tools: [], options: {}, blob: async () => assert.fail() };
const ask = (model: Model, signal = new AbortController().signal): Promise<ModelEvent[]> => Array.fromAsync(model(REQUEST, signal));
const textOf = (events: readonly ModelEvent[]) => events.map((event) => (event.type === "text.delta" ? event.delta : "")).join("");
const data = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const say = (content: string) => data({ model: "real", choices: [{ delta: { content } }] });
const STOP = data({ choices: [{ delta: {}, finish_reason: "stop" }] });
const DONE = "data: [DONE]\n\n";
const SSE = { "content-type": "text/event-stream" };
const stream =
  (...pieces: (string | Uint8Array)[]): Answer =>
  (response) => {
    response.writeHead(200, SSE);
    for (const piece of pieces) response.write(piece);
    response.end();
  };

async function given(answer: Answer, more: object = {}): Promise<{ model: Model; asked: Asked[]; url: string }> {
  const { url, asked } = await provider(answer);
  return { model: openAiCompatible({ model: "m", baseUrl: url, apiKey: "secret-key", ...more }), asked, url };
}

async function failureOf(answer: Promise<unknown>): Promise<{ message: string; failure: ProviderFailure }> {
  const error = (await answer.then(
    () => assert.fail("it did not fail"),
    (thrown) => thrown,
  )) as AppError;
  assert.equal(error.code, "model");
  assert.ok(error.cause instanceof ProviderFailure);
  return { message: error.message, failure: error.cause };
}

describe("an answer over the wire", () => {
  it("is the same wherever its bytes are cut", async () => {
    const bytes = Buffer.from(`: wait\r\n\r\n${say("Grüße ")}${say("aus 北京 👋")}${STOP}${DONE}`.replaceAll("\n", "\r\n"));
    const { model } = await given((response) => {
      response.writeHead(200, SSE);
      let at = 0;
      const next = () => {
        if (at >= bytes.length) return void response.end();
        response.write(bytes.subarray(at, ++at), () => setImmediate(next));
      };
      next();
    });
    assert.equal(textOf(await ask(model)), "Grüße aus 北京 👋");
  });

  it("may come in one piece, from a server that does not stream", async () => {
    const message = {
      role: "assistant",
      content: "all",
      tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
    };
    const { model } = await given((response) => {
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
      response.end(JSON.stringify({ model: "real", choices: [{ message, finish_reason: "tool_calls" }], usage: { prompt_tokens: 1 } }));
    });
    const events = await ask(model);
    assert.deepEqual(
      events.map(({ type }) => type),
      ["text.started", "text.delta", "text.ended", "tool.started", "tool.delta", "tool.called", "finished"],
    );
    assert.equal((events.at(-1) as { usage: { model: string } }).usage.model, "real");
  });

  it("is over with its last word, though the connection stays open", async () => {
    const { model } = await given((response) => {
      response.writeHead(200, SSE);
      response.write(say("a") + STOP + DONE); // and never ends
    });
    assert.equal(textOf(await ask(model)), "a");
  });

  it("may end without that word, if it has a reason to end", async () => {
    const { model } = await given(stream(say("a"), STOP));
    assert.equal((await ask(model)).at(-1)?.type, "finished");
  });

  it("fails where it ends for no reason, or is no JSON, behind what was said", async () => {
    for (const [rest, words] of [
      ["", /could not be read: it ended without a finish reason/],
      [DONE, /could not be read: it ended without a finish reason/],
      ["data: <html>\n\n", /could not be read: it is not JSON: <html>/],
    ] as const) {
      const { model } = await given(stream(say("a"), rest));
      const heard: ModelEvent[] = [];
      const { message } = await failureOf(
        (async () => {
          for await (const event of model(REQUEST, new AbortController().signal)) heard.push(event);
        })(),
      );
      assert.match(message, words);
      assert.equal(textOf(heard), "a");
    }
  });

  it("fails with the provider's own words where these are an error, in the stream or in place of it", async () => {
    const error = { message: "Overloaded, sk-12345678", type: "overloaded_error", code: 503 };
    const inStream = await failureOf(ask((await given(stream(say("a"), data({ error })))).model));
    assert.equal(inStream.failure.trouble, "busy");
    assert.match(inStream.message, /Overloaded, \[redacted\]$/);
    const inPlace = await given((response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ error })),
    );
    assert.equal((await failureOf(ask(inPlace.model))).failure.trouble, "busy");
  });

  it("holds the provider back when nobody takes what it says", async () => {
    let written = 0;
    const piece = say("x".repeat(1000));
    const { model } = await given((response) => {
      response.writeHead(200, SSE);
      const write = () => {
        while (!response.destroyed && response.write(piece)) written += 1;
      };
      response.on("drain", write);
      write();
    });
    const answer = model(REQUEST, new AbortController().signal)[Symbol.asyncIterator]();
    await answer.next();
    let before = -1;
    while (before !== written) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(written < 50_000, `${written} pieces lie about`);
    await answer.return?.();
  });
});

describe("a request over the wire", () => {
  it("goes to the base URL's path, with its query, and asks for nothing packed", async () => {
    const { url, asked } = await provider(stream(STOP));
    const headers = { "X-Own": "1", Authorization: "Basic x" };
    await ask(openAiCompatible({ model: "m", baseUrl: `${url}/?api-version=1`, apiKey: "k", headers }));
    assert.equal(asked[0]?.path, "/v1/chat/completions?api-version=1");
    const { authorization, "x-own": own, "accept-encoding": packed, "content-type": type } = asked[0]?.headers ?? {};
    assert.deepEqual(
      { authorization, own, packed, type },
      { authorization: "Basic x", own: "1", packed: "identity", type: "application/json" },
    );
  });

  it("uses the connection of the last one", async () => {
    const { model, asked } = await given(stream(say("a"), STOP, DONE));
    for (let i = 0; i < 3; i += 1) {
      await ask(model);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal(new Set(asked.map(({ socket }) => socket)).size, 1);
  });

  it("is sent again at once where that connection was hung up meanwhile", async () => {
    let hungUp = 0;
    const { model, asked } = await given((response, { socket }, count) => {
      if (count === 2 && hungUp++ === 0) socket.destroy();
      else stream(say("a"), STOP, DONE)(response, { socket } as Asked, count);
    });
    await ask(model);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(textOf(await ask(model)), "a");
    assert.equal(asked.length, 3);
  });

  it("follows the provider to another path of its own, and nowhere else", async () => {
    const { model, asked } = await given((response, { path, socket }, count) => {
      if (path.endsWith("/there")) stream(say("a"), STOP)(response, { socket } as Asked, count);
      else response.writeHead(308, { location: "/there" }).end();
    });
    assert.equal(textOf(await ask(model)), "a");
    assert.equal(asked[1]?.body, asked[0]?.body);
    const stranger = await provider(stream(STOP));
    const away = await given((response) => response.writeHead(307, { location: stranger.url }).end());
    assert.match((await failureOf(ask(away.model))).message, /refused the request \(307\)/);
    assert.equal(stranger.asked.length, 0);
    const circle = await given((response) => response.writeHead(307, { location: "/v1/chat/completions" }).end());
    assert.equal((await failureOf(ask(circle.model))).failure.status, 307);
  });

  it("is refused with the provider's words, but not with all of them", async () => {
    const { model } = await given((response) => {
      response.writeHead(500, { "content-type": "text/plain" });
      const more = () => {
        while (!response.destroyed && response.write("blah ".repeat(1000)));
      };
      response.on("drain", more);
      more();
    });
    const { message, failure } = await failureOf(ask(model));
    assert.equal(failure.trouble, "broken");
    assert.ok(message.startsWith("The model provider failed (500): blah blah"));
    assert.ok(message.length < 600);
  });

  it("says when to ask again, by the provider's own clock", async () => {
    const { model } = await given((response) => {
      response.sendDate = false;
      response.writeHead(429, { date: "Sun, 15 Nov 2026 10:00:00 GMT", "retry-after": "Sun, 15 Nov 2026 10:00:09 GMT" }).end();
    });
    assert.equal((await failureOf(ask(model))).failure.retryAfter, 9_000);
  });

  it("is not sent to what is no server", () => {
    assert.throws(() => openAiCompatible({ model: "m", baseUrl: "ftp://x.test/v1" }), { code: "invalid" });
  });

  it("gives up on a provider that says nothing", async () => {
    const { url } = await provider(() => {});
    const post = poster(new URL(url), {}, { connectMs: 1_000, silenceMs: 30 });
    await assert.rejects(
      post("{}", new AbortController().signal),
      (error: Error) => (error.cause as { code: string }).code === "ETIMEDOUT",
    );
  });

  it("is called off before, while and after it is answered", async () => {
    const { model, asked } = await given((response, _, count) => {
      if (count === 1) return;
      response.writeHead(200, SSE);
      response.write(say("a"));
    });
    const reason = new Error("enough");
    await assert.rejects(ask(model, AbortSignal.abort(reason)), (error) => error === reason);
    assert.equal(asked.length, 0);
    for (const heard of [0, 1]) {
      const stop = new AbortController();
      const answer = ask(model, stop.signal);
      while (asked.length === heard) await new Promise((resolve) => setTimeout(resolve, 1));
      if (heard === 1) await new Promise((resolve) => setTimeout(resolve, 5));
      stop.abort(reason);
      await assert.rejects(answer, (error) => error === reason);
      const { socket } = asked[heard] as Asked;
      if (!socket.destroyed) await new Promise((resolve) => socket.on("close", resolve));
    }
  });
});

describe("beside the AI SDK's own provider", () => {
  const call = (piece: object) => data({ model: "real", choices: [{ delta: { tool_calls: [piece] } }] });
  const usage = data({
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 1 } },
  });
  const end = (reason: string) => data({ choices: [{ delta: {}, finish_reason: reason }] });
  const streams: Record<string, string[]> = {
    "a text": [say("a"), say("b"), STOP, usage, DONE],
    "thoughts and text": [
      data({ choices: [{ delta: { reasoning_content: "hm" } }] }),
      say("a"),
      data({ choices: [{ delta: { reasoning: "so" } }] }),
      STOP,
      DONE,
    ],
    "a last word with its reason": [data({ model: "real", choices: [{ delta: { content: "a" }, finish_reason: "length" }] }), usage],
    "a refusal": [data({ choices: [{ delta: { refusal: "no" } }] }), STOP],
    "calls by the book": [
      call({ index: 0, id: "a", type: "function", function: { name: "one", arguments: "" } }),
      call({ index: 0, function: { arguments: '{"x":' } }),
      call({ index: 1, id: "b", function: { name: "two", arguments: "{}" } }),
      call({ index: 0, function: { arguments: "1}" } }),
      end("tool_calls"),
    ],
    "a text, then a call": [say("a"), call({ index: 0, id: "a", function: { name: "one", arguments: "{}" } }), end("tool_calls")],
    "calls without an index": [
      call({ id: "a", function: { name: "one", arguments: "{}" } }),
      call({ id: "b", function: { name: "one", arguments: "{}" } }),
      end("stop"),
    ],
    "a name that comes late": [
      call({ index: 0, id: "a", function: { arguments: '{"x"' } }),
      call({ index: 0, function: { name: "one", arguments: ":1}" } }),
      end("stop"),
    ],
    "names that come again": [
      call({ index: 0, id: "a", function: { name: "one", arguments: '{"x":' } }),
      call({ index: 0, id: "a", function: { name: "one", arguments: '{"y":1}}' } }),
      end("tool_calls"),
    ],
    "one index for all": [
      call({ index: 0, id: "a", function: { name: "one", arguments: "{}" } }),
      call({ index: 0, id: "b", function: { name: "one", arguments: '{"x":1}' } }),
      call({ index: 0, id: "c", function: { name: "two", arguments: "{}" } }),
      end("tool_calls"),
    ],
    "a signature": [
      call({ index: 0, id: "a", function: { name: "one", arguments: "{}" }, extra_content: { google: { thought_signature: "s" } } }),
      end("tool_calls"),
    ],
    parts: [
      data({
        choices: [
          {
            delta: {
              content: [
                { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
                { type: "text", text: "a" },
              ],
            },
          },
        ],
      }),
      STOP,
    ],
    "no usage": [say("a"), end("stop")],
  };

  for (const [name, pieces] of Object.entries(streams)) {
    it(`hears the same in ${name}, and has asked the same`, async () => {
      const { url, asked } = await provider(stream(...pieces));
      const settings = { temperature: 0.5, maxOutputTokens: 9, seed: 1 };
      const options = { name: "handback", baseURL: url, apiKey: "k", includeUsage: true };
      const theirs = aiSdkModel(createOpenAICompatible(options).chatModel("m"), { settings });
      const ours = openAiCompatible({ model: "m", baseUrl: url, apiKey: "k" });
      const tools = [{ name: "one", description: "One", input: { type: "object", properties: { x: {} } } }];
      const settled = { status: "completed" as const, output: { ok: true }, messageId: "r" };
      const history: Entry[] = [
        USER,
        {
          role: "assistant",
          seq: 2,
          turnId: "t1",
          stepId: "s",
          messageId: "a",
          state: "completed",
          parts: [
            { type: "reasoning", messageId: "a", text: "hm" },
            { type: "text", messageId: "a", text: "so" },
            { type: "call", callId: "c", name: "one", input: { x: "ü" }, owner: "client", messageId: "a", settlement: settled },
          ],
        },
        {
          ...USER,
          id: "m2",
          content: [
            { type: "text", text: "see" },
            { type: "file", mediaType: "image/png", blob: "b" },
          ],
        },
      ];
      const blob = async () => ({ mediaType: "image/png", data: new Uint8Array([1]) });
      const request = { ...REQUEST, instructions: "Be brief.", history, tools, blob, stop: ["X"] };
      const signal = new AbortController().signal;
      const expected = endingTextFirst(await Array.fromAsync(theirs(request, signal)));
      assert.deepEqual(await Array.fromAsync(ours({ ...request, options: { settings } }, signal)), expected);
      const [first, second] = asked.map(({ body }) => JSON.parse(body));
      assert.deepEqual(second, first);
    });
  }
});

/** Theirs leaves a text open to the end of the answer, ours ends it before a call. */
function endingTextFirst(events: readonly ModelEvent[]): ModelEvent[] {
  const call = events.findIndex(({ type }) => type === "tool.started");
  const end = events.findIndex(({ type }) => type === "text.ended");
  if (call < 0 || end < call) return [...events];
  return [...events.slice(0, call), events[end] as ModelEvent, ...events.slice(call, end), ...events.slice(end + 1)];
}
