import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantEntry, CallPart, Entry, UserEntry } from "../../core/thread.ts";
import type { ModelRequest } from "../model.ts";
import { chatBody } from "./chat-body.ts";

let ids = 0;

function user(content: UserEntry["content"]): Entry {
  return { role: "user", seq: ++ids, turnId: "t", id: `m${ids}`, content };
}

function assistant(...parts: AssistantEntry["parts"]): AssistantEntry {
  return { role: "assistant", seq: ++ids, turnId: "t", stepId: "s", messageId: "a", state: "completed", parts };
}

const text = (said: string): AssistantEntry["parts"][number] => ({ type: "text", messageId: "a", text: said });
const request = (history: readonly Entry[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  instructions: undefined,
  history,
  tools: [],
  options: {},
  blob: async () => ({ mediaType: "image/png", data: new Uint8Array([1, 2]) }),
  ...more,
});
type Body = { messages: { role: string; content: unknown }[]; [field: string]: unknown };
const read = async (body: Promise<string>) => JSON.parse(await body) as Body;

describe("chatBody", () => {
  it("asks for a stream with usage, and for nothing nobody asked for", async () => {
    assert.deepEqual(await read(chatBody("m")(request([user("hi")]))), {
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "hi" }],
    });
  });

  it("says how the model shall answer, which tools there are and where to stop", async () => {
    const settings = { temperature: 0, topP: 0.5, topK: 3, maxOutputTokens: 9, presencePenalty: 1, frequencyPenalty: 2, seed: 4 };
    const tools = [{ name: "look", description: "Looks", input: {} }];
    const { messages, stream, stream_options, ...rest } = await read(
      chatBody("m")(request([user("hi")], { tools, stop: ["END"], options: { settings }, instructions: "Be brief." })),
    );
    assert.deepEqual(messages[0], { role: "system", content: "Be brief." });
    assert.deepEqual(rest, {
      model: "m",
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      max_tokens: 9,
      presence_penalty: 1,
      frequency_penalty: 2,
      seed: 4,
      stop: ["END"],
      tools: [{ type: "function", function: { name: "look", description: "Looks", parameters: { type: "object", properties: {} } } }],
    });
  });

  it("gives a call its signature back", async () => {
    const settlement = { status: "completed" as const, output: 1, messageId: "r" };
    const call: CallPart = { type: "call", callId: "c", name: "look", input: {}, owner: "client", messageId: "a", settlement };
    const history = [user("hi"), assistant({ ...call, provider: { handback: { thoughtSignature: "s" } } })];
    const { messages } = await read(chatBody("m")(request(history)));
    assert.deepEqual((messages[1] as unknown as { tool_calls: object[] }).tool_calls, [
      {
        id: "c",
        type: "function",
        function: { name: "look", arguments: "{}" },
        extra_content: { google: { thought_signature: "s" } },
      },
    ]);
  });

  it("writes a history that has grown, was cut or got an entry in between as if it were new", async () => {
    const toBody = chatBody("m");
    const all = [user("a"), assistant(text("b")), user("c"), assistant(text("d")), user("e")];
    const cut = [...all.slice(0, 2), user("f"), assistant(text("g")), user("h")];
    const between = [...all.slice(0, 3), assistant(text("i")), ...all.slice(3)];
    for (const history of [all.slice(0, 1), all.slice(0, 3), all, cut, all, between, all.slice(0, 1), []]) {
      const fresh = chatBody("m")(request(history)).catch(String);
      assert.equal(await toBody(request(history)).catch(String), await fresh);
    }
  });

  it("does not remember a step that is not complete", async () => {
    const toBody = chatBody("m");
    const step: AssistantEntry = { ...assistant(text("b")), state: "open" };
    const history = [user("a"), step, user("c")];
    assert.equal((await read(toBody(request(history)))).messages.length, 2);
    step.state = "completed";
    assert.equal((await read(toBody(request(history)))).messages.length, 3);
  });

  it("looks at a long history only once", async () => {
    const toBody = chatBody("m");
    let looks = 0;
    const content = () => {
      looks += 1;
      return "said";
    };
    const watched = (entry: Entry): Entry => Object.defineProperty({ ...entry }, "content", { get: content });
    const history = Array.from({ length: 100 }, () => watched(user("")));
    await toBody(request(history));
    looks = 0;
    await toBody(request([...history, user("new")]));
    assert.equal(looks, 0);
  });
});

describe("files in a chat completion", () => {
  const file = (mediaType: string, more: object = { blob: "b" }) =>
    ({ type: "file", mediaType, ...more }) as Exclude<UserEntry["content"], string>[number];
  const written = async (...parts: Exclude<UserEntry["content"], string>) =>
    (await read(chatBody("m")(request([user(parts)])))).messages[0]?.content;

  it("are sent as what they are", async () => {
    assert.deepEqual(
      await written(
        { type: "text", text: "see" },
        file("image/png"),
        file("image/png", { url: "https://x.test/a.png" }),
        file("video/mp4"),
        file("audio/mpeg"),
        file("audio/wav"),
        file("application/pdf", { blob: "b", name: "a.pdf" }),
        file("application/pdf"),
        file("text/plain"),
        file("text/plain", { url: "data:text/plain;base64,aMOk" }),
      ),
      [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AQI=" } },
        { type: "image_url", image_url: { url: "https://x.test/a.png" } },
        { type: "video_url", video_url: { url: "data:video/mp4;base64,AQI=" } },
        { type: "input_audio", input_audio: { data: "AQI=", format: "mp3" } },
        { type: "input_audio", input_audio: { data: "AQI=", format: "wav" } },
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AQI=" } },
        { type: "file", file: { filename: "document.pdf", file_data: "data:application/pdf;base64,AQI=" } },
        { type: "text", text: "\u0001\u0002" },
        { type: "text", text: "hä" },
      ],
    );
  });

  it("are refused by name where the provider knows none of their kind", async () => {
    await assert.rejects(written(file("application/zip")), {
      code: "model",
      message: "The model provider takes no files of the type application/zip",
    });
    await assert.rejects(written(file("application/pdf", { url: "https://x.test/a.pdf" })), {
      code: "model",
      message: /only with their bytes/,
    });
  });

  it("are read again for each request, and what lies behind them too", async () => {
    const toBody = chatBody("m");
    let reads = 0;
    const blob = async () => {
      reads += 1;
      return { mediaType: "image/png", data: new Uint8Array([reads]) };
    };
    const history = [user("a"), user([file("image/png")]), user("c")];
    const first = await toBody(request(history, { blob }));
    const second = await toBody(request(history, { blob }));
    assert.equal(reads, 2);
    assert.notEqual(first, second);
    assert.equal(JSON.parse(second).messages.length, 3);
  });
});
