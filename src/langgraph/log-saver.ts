import type { RunnableConfig } from "@langchain/core/runnables";
import { BaseCheckpointSaver, type Checkpoint, type CheckpointMetadata, type CheckpointTuple } from "@langchain/langgraph";
import { fromBase64, toBase64 } from "../core/base64.ts";
import { AppError } from "../core/error.ts";
import type { Json } from "../core/json.ts";
import { ranBetween } from "./breakpoint.ts";
import { inert, live } from "./inert.ts";
import type { Kept, SavedCheckpoint } from "./memory.ts";

type PendingWrites = NonNullable<CheckpointTuple["pendingWrites"]>;
type PendingWrite = [channel: string, value: unknown];

/** LangGraph's own places for writes that replace each other; all others stay as they were first written. */
const REPLACED: Record<string, number> = { __error__: -1, __scheduled__: -2, __interrupt__: -3, __resume__: -4 };

/**
 * LangGraph's checkpointer for one step of one thread. It keeps the latest checkpoint of each namespace, and `saved` writes what changed
 * into the thread's log: every method resolves when that is on disk.
 */
export class LogSaver extends BaseCheckpointSaver {
  kept: Kept;
  /** Tasks that have failed, and why: the stream reports them as it reports the finished ones. */
  readonly failed: Map<string, string> = new Map();
  readonly #turn: string;
  readonly #stopsAfter: boolean;
  readonly #saved: () => Promise<void>;
  readonly #broken: (error: unknown) => void;
  #tail: Promise<unknown> = Promise.resolve();

  /** `saved` resolves when `kept` is on disk as it is now; `broken` hears of what cannot be saved. */
  constructor(
    kept: Kept,
    {
      turn,
      stopsAfter,
      saved,
      broken,
    }: { turn: string; stopsAfter: boolean; saved: () => Promise<void>; broken: (error: unknown) => void },
  ) {
    super();
    this.kept = kept;
    this.#turn = turn;
    this.#stopsAfter = stopsAfter;
    this.#saved = saved;
    this.#broken = broken;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { namespace, checkpointId, threadId } = placeOf(config);
    await this.#tail;
    const found = this.kept.checkpoints[namespace];
    if (!found || (checkpointId !== undefined && checkpointId !== found.id)) return undefined;
    return this.#tuple(threadId, namespace, found);
  }

  async *list(config: RunnableConfig): AsyncGenerator<CheckpointTuple> {
    const tuple = await this.getTuple(config);
    if (tuple) yield tuple;
  }

  async put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata): Promise<RunnableConfig> {
    const { namespace, checkpointId: parent, threadId } = placeOf(config);
    const { id } = checkpoint;
    await this.#inTurn(async () => {
      // The stream is read first: what it said of the tasks that led here belongs to the checkpoint before.
      await new Promise((resolve) => setImmediate(resolve));
      const [json, more] = [await this.#encode(checkpoint), await this.#encode(metadata)];
      const ran = namespace === "" && this.#stopsAfter && { ran: ranBetween(this.kept.checkpoints[""]?.checkpoint, json) };
      const saved: SavedCheckpoint = { id, ...(parent && { parent }), checkpoint: json, metadata: more, writes: {}, ...ran };
      const checkpoints = { ...withoutFinished(this.kept.checkpoints, namespace), [namespace]: saved };
      const begins = namespace === "" && metadata.source === "input";
      this.kept = begins ? { turn: this.#turn, checkpoints, questions: {}, calls: {} } : { ...this.kept, checkpoints };
    });
    return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: id } };
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { namespace, checkpointId } = placeOf(config);
    for (const [channel, value] of writes) if (channel === "__error__") this.failed.set(taskId, messageIn(value));
    await this.#inTurn(async () => {
      const before = this.kept.checkpoints[namespace];
      if (!before || before.id !== checkpointId) return; // its barrier is past: what it wrote is in there
      const own = { ...before.writes[taskId] };
      for (const [i, [channel, value]] of writes.entries()) {
        const index = REPLACED[channel] ?? i;
        if (index < 0 || !Object.hasOwn(own, index)) own[index] = { channel, value: await this.#encode(value) };
      }
      const changed = { ...before, writes: { ...before.writes, [taskId]: own } };
      this.kept = { ...this.kept, checkpoints: { ...this.kept.checkpoints, [namespace]: changed } };
    });
  }

  async deleteThread(): Promise<void> {
    throw new AppError("unsupported", "A thread's checkpoints go with its log: delete the thread");
  }

  /** One change after the other, in the order LangGraph asks for them: writes must find the checkpoint they belong to. */
  async #inTurn(change: () => Promise<void>): Promise<void> {
    // LangGraph looks at these promises late: a rejection nobody waits for yet would end the process.
    this.#tail = this.#tail.then(change).catch(this.#broken);
    await this.#tail;
    await this.#saved();
  }

  async #tuple(thread_id: string, checkpoint_ns: string, saved: SavedCheckpoint): Promise<CheckpointTuple> {
    const place = (checkpoint_id: string) => ({ configurable: { thread_id, checkpoint_ns, checkpoint_id } });
    const pendingWrites: PendingWrites = [];
    for (const [taskId, writes] of Object.entries(saved.writes)) {
      const inOrder = Object.entries(writes).toSorted(([a], [b]) => Number(a) - Number(b));
      for (const [, { channel, value }] of inOrder) pendingWrites.push([taskId, channel, await this.#decode(value)]);
    }
    return {
      config: place(saved.id),
      checkpoint: (await this.#decode(saved.checkpoint)) as Checkpoint,
      metadata: (await this.#decode(saved.metadata)) as CheckpointMetadata,
      pendingWrites,
      ...(saved.parent && { parentConfig: place(saved.parent) }),
    };
  }

  async #encode(value: unknown): Promise<Json> {
    const [type, bytes] = await this.serde.dumpsTyped(inert(value));
    if (type !== "json") return { [BYTES]: toBase64(bytes) };
    const json = JSON.parse(new TextDecoder().decode(bytes)) as Json;
    // LangGraph writes this in the place of the whole, and goes on.
    if (typeof json === "string" && json !== value && json.startsWith("[unable to serialize"))
      throw new AppError("unprocessable", "A value in the graph's state cannot be kept: it is no JSON, like a BigInt");
    return json;
  }

  async #decode(value: Json): Promise<unknown> {
    const bytes = typeof value === "object" && value !== null && !Array.isArray(value) ? value[BYTES] : undefined;
    if (typeof bytes === "string") return this.serde.loadsTyped("bytes", fromBase64(bytes) ?? new Uint8Array());
    return live(await this.serde.loadsTyped("json", JSON.stringify(value)));
  }
}

const BYTES = "handback:bytes";

function messageIn(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}

/** Sub-graphs that ran inside the tasks of a superstep are over when its barrier is reached; only those with a name of their own stay. */
function withoutFinished(checkpoints: Kept["checkpoints"], namespace: string): Kept["checkpoints"] {
  const inside = namespace === "" ? "" : `${namespace}|`;
  const over = (name: string) => name !== namespace && name.startsWith(inside) && name.slice(inside.length).includes(":");
  return Object.fromEntries(Object.entries(checkpoints).filter(([name]) => !over(name)));
}

function placeOf({ configurable = {} }: RunnableConfig): { namespace: string; checkpointId: string | undefined; threadId: string } {
  const { checkpoint_ns = "", checkpoint_id, thread_id = "" } = configurable;
  return { namespace: checkpoint_ns, checkpointId: checkpoint_id, threadId: thread_id };
}
