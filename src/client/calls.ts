import type { Json, JsonObject } from "../core/json.ts";
import { watchCalls } from "./follow.ts";
import type { Wire } from "./request.ts";
import { queryOf } from "./thread-path.ts";
import type { Call, CallDetail, CallNews, Lease, Settlement } from "./wire.ts";

/** Which calls: by state, tools, thread, kind, and page by page. */
export type CallQuery = {
  /** `pending`, or how they were settled; several with commas between. */
  status?: string;
  tools?: readonly string[];
  threadId?: string;
  kind?: "call" | "interrupt";
  limit?: number;
  after?: string;
  order?: "oldest" | "newest";
  user?: string;
};

/** The claim a result was worked out under, and what to note beside it. */
export type ResultOptions = { claim?: number; metadata?: JsonObject };

/** Calls that wait for somebody outside, and questions. */
export type Calls = {
  /** Calls and questions, oldest first unless asked otherwise. */
  list(query?: CallQuery): Promise<{ calls: Call[]; next?: string }>;
  /** One of them, its tool and what was said before. */
  get(id: string): Promise<CallDetail>;
  /** Open calls as they come and go, over broken connections; those that are open now come first. */
  watch(query?: Omit<CallQuery, "status" | "limit" | "after"> & { signal?: AbortSignal | undefined }): AsyncGenerator<CallNews, void>;
  /** Hands a result back. */
  result(id: string, output: Json, options?: ResultOptions): Promise<Settlement>;
  /** Hands back that it did not work, and why. */
  fail(id: string, error: string, options?: ResultOptions): Promise<Settlement>;
  /** Allows a call, perhaps with another input. */
  approve(id: string, options?: { input?: JsonObject; reason?: string }): Promise<Settlement>;
  /** Refuses a call. */
  reject(id: string, reason?: string): Promise<Settlement>;
  /** Answers in place of the tool, which is then not run. */
  respond(id: string, output: Json): Promise<Settlement>;
  /** Takes a call for oneself. The others get a `conflict`. */
  claim(id: string, options?: { by?: string; seconds?: number }): Promise<Lease>;
  /** Keeps a claim. A `conflict` means it is lost. */
  heartbeat(id: string, claim: number, seconds?: number): Promise<Lease>;
  /** Gives a claim back. */
  release(id: string, claim: number): Promise<void>;
};

/** The calls of one server. */
export function callsOf(wire: Wire): Calls {
  const post = <T>(id: string, verb: string, body: object, again: boolean): Promise<T> =>
    wire.send("POST", `/calls/${encodeURIComponent(id)}/${verb}`, { body, again });
  const query = ({ tools, ...rest }: CallQuery) => queryOf({ ...rest, tool: tools?.join(",") });
  return {
    list: (asked = {}) => wire.send("GET", `/calls${query(asked)}`),
    get: (id) => wire.send("GET", `/calls/${encodeURIComponent(id)}`),
    watch: ({ signal = new AbortController().signal, ...asked } = {}) => watchCalls(wire, `/calls/events${query(asked)}`, signal),
    // Settlements may arrive twice: the second time nothing happens, and the answer is the same.
    result: (id, output, options = {}) => post(id, "result", { output, ...options }, true),
    fail: (id, error, options = {}) => post(id, "result", { error, ...options }, true),
    approve: (id, options = {}) => post(id, "approve", options, true),
    reject: (id, reason) => post(id, "reject", { reason }, true),
    respond: (id, output) => post(id, "respond", { output }, true),
    claim: (id, options = {}) => post(id, "claim", options, false),
    heartbeat: (id, claim, seconds) => post(id, "heartbeat", { claim, seconds }, false),
    async release(id, claim) {
      await post(id, "release", { claim }, false);
    },
  };
}
