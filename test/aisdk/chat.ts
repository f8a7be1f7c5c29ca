import { load } from "./setup.ts";

/** The releases that judge this door: the first and the last of each major. */
export const RELEASES = ["ai500", "ai5", "ai600", "ai6", "ai700", "ai7"] as const;
export type Release = (typeof RELEASES)[number];

export type Part = { type: string; state?: string; toolCallId?: string; text?: string; [field: string]: unknown };
export type Message = { id: string; role: string; metadata?: Record<string, unknown>; parts: Part[] };

/** The chat class of a release, as far as the tests use it. */
export type Chat = {
  messages: Message[];
  status: string;
  error: Error | undefined;
  sendMessage(message?: { text: string; messageId?: string }, options?: { body?: object }): Promise<void>;
  regenerate(options?: { messageId?: string }): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
  addToolOutput?(result: { tool: string; toolCallId: string; output?: unknown; state?: string; errorText?: string }): Promise<void>;
  addToolResult?(result: { tool: string; toolCallId: string; output?: unknown }): Promise<void>;
  addToolApprovalResponse?(response: { id: string; approved: boolean; reason?: string }): Promise<void>;
};

export type Options = {
  url: string;
  id?: string;
  messages?: Message[];
  /** Runs calls as they come; what it returns is handed back. */
  onToolCall?: (call: { toolCallId: string; toolName: string; input: unknown }) => unknown;
  /** Sends by itself when everything is answered; on by default. */
  automatic?: boolean;
  /** Names the version in the URL; off for the portable core. */
  version?: boolean;
  /** Adds to the query. */
  query?: string;
  transport?: object;
};

export type Opened = { chat: Chat; requests: Request[]; streams: string[]; tools: string[]; settled(): Promise<void> };
export type Request = { method: string; url: string; body: Record<string, unknown> };

type Module = {
  AbstractChat: new (options: object) => Chat;
  DefaultChatTransport: new (options: object) => object;
  lastAssistantMessageIsCompleteWithToolCalls: (options: { messages: Message[] }) => boolean;
  lastAssistantMessageIsCompleteWithApprovalResponses?: (options: { messages: Message[] }) => boolean;
};

/** Requests without end are a bug of ours: nobody here needs more. */
const MOST_REQUESTS = 25;

/** The unmodified chat class of a release with its own transport, against a real server. */
export async function openChat(release: Release, options: Options): Promise<Opened> {
  const sdk = await load<Module>(release);
  const requests: Request[] = [];
  const streams: string[] = [];
  const tools: string[] = [];
  const pending = new Set<Promise<unknown>>();
  const spy = async (input: string | URL, init: RequestInit = {}) => {
    const method = init.method ?? "GET";
    requests.push({ method, url: String(input), body: typeof init.body === "string" ? JSON.parse(init.body) : {} });
    if (requests.length > MOST_REQUESTS) return new Response("too many requests", { status: 429 });
    const response = await fetch(input, init);
    const [mine, theirs] = response.body?.tee() ?? [];
    if (!mine) return response;
    const index = streams.push("") - 1;
    const text = new Response(mine).text().then(
      (all) => {
        streams[index] = all;
      },
      () => {},
    );
    pending.add(text);
    return new Response(theirs, { status: response.status, headers: response.headers });
  };
  const api = `${options.url}/api/chat${query(release, options)}`;
  const transport = new sdk.DefaultChatTransport({
    api,
    fetch: spy,
    prepareReconnectToStreamRequest: ({ id }: { id: string }) => ({
      api: `${options.url}/api/chat/${id}/stream${query(release, options)}`,
    }),
    ...options.transport,
  });
  const { lastAssistantMessageIsCompleteWithToolCalls: complete, lastAssistantMessageIsCompleteWithApprovalResponses: decided } = sdk;
  const chat: Chat = new (class extends sdk.AbstractChat {})({
    id: options.id ?? "t",
    transport,
    state: stateOf(options.messages ?? []),
    ...(options.automatic !== false && {
      sendAutomaticallyWhen: (state: { messages: Message[] }) => complete(state) || (decided?.(state) ?? false),
    }),
    onToolCall: ({ toolCall }: { toolCall: { toolCallId: string; toolName: string; input: unknown } }) => {
      tools.push(toolCall.toolCallId);
      if (!options.onToolCall || toolCall.toolName === "ask_approval") return;
      const output = options.onToolCall(toolCall);
      if (output !== undefined)
        pending.add(Promise.resolve(output).then((value) => answer(chat, toolCall.toolName, toolCall.toolCallId, value)));
    },
  });
  const settled = async () => {
    for (let quiet = 0, seen = -1; quiet < 6; ) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const still = (chat.status === "ready" || chat.status === "error") && requests.length === seen;
      quiet = still ? quiet + 1 : 0;
      seen = requests.length;
    }
    await Promise.allSettled(pending);
  };
  return { chat, requests, streams, tools, settled };
}

/** Hands a result back, by the name this release has for it. */
export async function answer(chat: Chat, tool: string, toolCallId: string, output: unknown): Promise<void> {
  const add = chat.addToolOutput ?? chat.addToolResult;
  await add?.call(chat, { tool, toolCallId, output });
}

function query(release: Release, { version, query }: Options): string {
  const v = version === false ? undefined : `v=${release.charAt(2)}`;
  const all = [v, query].filter((part) => part !== undefined).join("&");
  return all === "" ? "" : `?${all}`;
}

/** What React's state does, without React. */
function stateOf(messages: Message[]) {
  return {
    status: "ready",
    error: undefined,
    messages,
    pushMessage(message: Message) {
      this.messages = [...this.messages, message];
    },
    popMessage() {
      this.messages = this.messages.slice(0, -1);
    },
    replaceMessage(index: number, message: Message) {
      this.messages = this.messages.map((old, i) => (i === index ? structuredClone(message) : old));
    },
    snapshot: <T>(value: T): T => structuredClone(value),
  };
}
