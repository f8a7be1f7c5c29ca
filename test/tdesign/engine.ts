import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { install } from "../aisdk/setup.ts";

/** A call as TDesign's mapper keeps it. */
export type ToolCall = { toolCallId: string; toolCallName: string; args?: string; result?: string };
export type Content = { type: string; data: unknown; status?: string };
export type ChatMessage = { id: string; role: string; status?: string; content?: Content[] };

/** As much of TDesign's `ChatEngine` as the tests use. */
export type ChatEngine = {
  messages: ChatMessage[];
  status: string;
  init(config: object, messages?: ChatMessage[]): void;
  sendUserMessage(params: { prompt: string; [field: string]: unknown }): Promise<void>;
  sendAIMessage(options: { params: object; content: Content[]; sendRequest: boolean }): Promise<void>;
  getToolcallByName(name: string): ToolCall | undefined;
};

type Module = {
  default: new () => ChatEngine;
  AGUIAdapter: { convertHistoryMessages(messages: object[]): ChatMessage[] };
};

/** TDesign Chat without its widgets: the unmodified engine, its own SSE reader and its own AG-UI mapper. */
export async function loadEngine(): Promise<Module> {
  const folder = import.meta.dirname;
  install(folder);
  // As bundlers do: the package's ES module, which Node does not find by itself.
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === "fast-json-patch" ? "fast-json-patch/index.mjs" : specifier, context),
  });
  const path = join(folder, "node_modules/tdesign-web-components/esm/chat-engine/index.js");
  return (await import(pathToFileURL(path).href)) as Module;
}

/** A chat of an app that sends only what is new, as TDesign's own example does. */
export type Chat = {
  engine: ChatEngine;
  /** What the last run ended with: TDesign hands it to the app as it came. */
  ended: { outcome?: { interrupts?: { id: string; message: string; toolCallId: string }[] } } | undefined;
  errors: unknown[];
  /** Every event as it came: what the mapper has no words for, apps read here. */
  heard: { type: string; activityType?: string; patch?: { op: string; path: string; value: unknown }[] }[];
  say(text: string): Promise<void>;
  /** Goes on in a message of its own, with results or answers in the request. */
  goOn(request: object): Promise<void>;
};

export async function openChat(url: string, module: Module): Promise<Chat> {
  const engine = new module.default();
  const errors: unknown[] = [];
  let done = () => {};
  const chat: Chat = {
    engine,
    ended: undefined,
    errors,
    heard: [],
    async say(prompt) {
      const { promise, resolve } = Promise.withResolvers<void>();
      done = resolve;
      await engine.sendUserMessage({ prompt, request: { messages: [{ role: "user", content: prompt }] } });
      await promise;
    },
    goOn: (request) => engine.sendAIMessage({ params: { request }, content: [], sendRequest: true }),
  };
  engine.init({
    endpoint: `${url}/agui`,
    protocol: "agui",
    stream: true,
    onRequest: ({ request }: { request: object }) => ({
      body: JSON.stringify({ threadId: "t", runId: crypto.randomUUID(), messages: [], ...request }),
    }),
    onMessage({ data }: { data: Chat["heard"][number] }) {
      chat.heard.push(data);
    },
    onError(error: unknown) {
      errors.push(error);
      done();
    },
    onComplete(_aborted: boolean, _params: object, event: Chat["ended"]) {
      chat.ended = event;
      done();
    },
  });
  return chat;
}
