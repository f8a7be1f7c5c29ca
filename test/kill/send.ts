import type { Act, Wish } from "./history.ts";
import { type Frame, frames } from "./sse.ts";
import { isCutOff, pause, type World } from "./world.ts";

/** Sends something until the answer is definite, as a careful client does: a broken connection says nothing. Returns the status. */
export async function send(world: World, wish: Wish): Promise<number> {
  const label = `run-${crypto.randomUUID()}`; // the same for every attempt
  for (;;) {
    try {
      const url = await world.url();
      const status = await (wish.door === "agui" ? sendAgui(world, url, wish, label) : sendNative(url, wish, label));
      if (status !== 503 && status !== undefined) {
        world.history.acts.push({ ...wish, status } satisfies Act);
        if (status < 300) world.saw("2xx");
        return status;
      }
    } catch (error) {
      if (!isCutOff(error)) throw new Error(`${wish.type} to ${wish.threadId}`, { cause: error });
    }
    await pause(2);
  }
}

async function sendNative(url: string, wish: Wish, runId: string): Promise<number> {
  const { threadId } = wish;
  switch (wish.type) {
    case "message":
      return statusOf(`${url}/v1/threads/${threadId}/runs`, { runId, message: { id: wish.id, content: wish.text } });
    case "result":
      return statusOf(`${url}/v1/calls/${wish.id}/result`, { output: wish.output });
    case "answer": {
      const { id, approved, input } = wish;
      return statusOf(`${url}/v1/calls/${id}/${approved ? "approve" : "reject"}`, input === undefined ? {} : { input });
    }
    case "cancel":
      return statusOf(`${url}/v1/threads/${threadId}/cancel`, {});
    default:
      return wish satisfies never;
  }
}

async function sendAgui(world: World, url: string, wish: Wish, runId: string): Promise<number | undefined> {
  const { threadId } = wish;
  const run = (input: object) => stream(world, threadId, `${url}/agui`, { threadId, runId, protocolVersion: "1.0", ...input });
  switch (wish.type) {
    case "message":
      return run({ messages: [{ id: wish.id, role: "user", content: wish.text }] });
    case "result":
      return run({ messages: [{ id: `${wish.id}-result`, role: "tool", toolCallId: wish.id, content: wish.output }] });
    case "answer": {
      const { id, approved, input } = wish;
      const payload = input === undefined ? { approved } : { approved, editedArgs: input };
      return run({ messages: [], resume: [{ interruptId: `${id}:approval`, status: "resolved", payload }] });
    }
    case "cancel":
      return statusOf(`${url}/agui/cancel`, { threadId });
    default:
      return wish satisfies never;
  }
}

/** The first frame says whether it was taken; the others are read as long as they come. */
async function stream(world: World, threadId: string, url: string, body: object): Promise<number | undefined> {
  const response = await post(url, body);
  if (!response.ok) return response.status;
  const seen: Frame[] = [];
  world.history.streams.push({ threadId, frames: seen });
  const { promise, resolve } = Promise.withResolvers<Frame | undefined>();
  void (async () => {
    for await (const frame of frames(response)) {
      seen.push(frame);
      resolve(frame);
    }
  })()
    .catch(() => {})
    .then(() => resolve(undefined));
  const first = await promise;
  if (!first) return undefined;
  return first.id === undefined && JSON.parse(first.data).type === "RUN_ERROR" ? 409 : response.status;
}

async function statusOf(url: string, body: object): Promise<number> {
  const response = await post(url, body);
  await response.text();
  return response.status;
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}
