import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import type { Engine } from "../engine/engine.ts";
import { importThread } from "../engine/transfer.ts";
import { project, type Reader } from "../protocol/native/project.ts";
import { atLine, blobsOf, decodeTransfer, encodeBlob, type Header } from "../protocol/native/transfer.ts";
import type { ThreadRow } from "../store/store.ts";
import { readText, toJson } from "./body.ts";
import { type Door, threadKey } from "./door.ts";
import { member, namedThread } from "./native-member.ts";
import { iso, threadRow } from "./native-row.ts";

const PAGE = 500;

/** Threads as files: one JSON value per line. */
export function transferRoutes(door: Door, importBytes: number): Hono {
  const { engine, limits } = door;
  const app = new Hono();

  app.get("/:id/export", async (c) => {
    const principal = await member(door, c);
    const row = await threadRow(engine, namedThread(principal, c));
    const lines = exported(door, row, principal.kind, c.req.query("deltas") !== "false");
    return c.body(readable(lines), 200, {
      "content-type": "application/x-ndjson",
      "content-disposition": 'attachment; filename="thread.jsonl"',
      "x-content-type-options": "nosniff",
    });
  });

  app.post("/import", async (c) => {
    const principal = await member(door, c);
    // A file can say anything, also what a model never said: where users are told apart, only operators may bring one.
    if (principal.kind === "user" && door.authenticate) throw new AppError("forbidden", "Only operators may import threads");
    const text = await readText(c.req.raw, "application/x-ndjson", importBytes);
    const transfer = decodeTransfer(values(text, (line) => toJson(line, limits)));
    const key = threadKey(principal, c.req.query("threadId") ?? transfer.threadId, c.req.query("user"));
    const kept = new Set(transfer.blobs.map(({ id }) => id));
    for (const { line, event } of transfer.events) {
      const missing = blobsOf(event).find((id) => !kept.has(id));
      if (missing !== undefined)
        throw new AppError("invalid", `line ${line}: the file ${missing} is not in this export`, { field: `line ${line}` });
    }
    const events = transfer.events.map(({ event }) => event);
    const { seq } = await importThread(engine, key, { ...transfer, events }, (i, work) => atLine(transfer.events[i]?.line ?? 0, work));
    return c.json({ threadId: key.threadId, seq }, 201);
  });

  return app;
}

/** The lines of a thread up to where it is now, read page by page. A file stands before the event that refers to it. */
async function* exported({ engine, version }: Door, row: ThreadRow, reader: Reader, deltas: boolean): AsyncGenerator<string> {
  const { threadId, title, metadata, seq: last } = row;
  const header: Header = {
    handback: version,
    threadId,
    ...(title !== undefined && { title }),
    metadata,
    exportedAt: iso(engine.clock.now()),
  };
  yield line(header);
  const sent = new Set<string>();
  for (let after = 0; after < last; ) {
    const events = await engine.store.read(row, { after, limit: PAGE, deltas });
    let text = "";
    for (const event of events) {
      if (event.seq > last) break;
      for (const id of blobsOf(event)) {
        if (!sent.has(id)) text += await blobLine(engine, row, id);
        sent.add(id);
      }
      text += line(project(event, reader));
    }
    if (text !== "") yield text;
    after = events.at(-1)?.seq ?? last;
  }
}

async function blobLine({ store }: Engine, row: ThreadRow, id: string): Promise<string> {
  const blob = await store.blob(row, id);
  return blob ? line(encodeBlob({ type: "blob", id, ...blob })) : "";
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function* values(text: string, read: (line: string) => unknown): Generator<{ line: number; value: unknown }> {
  let number = 0;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    const piece = text.slice(from, end < 0 ? text.length : end);
    from = end < 0 ? text.length : end + 1;
    number += 1;
    if (piece.trim() !== "") yield { line: number, value: atLine(number, () => read(piece)) };
  }
}

function readable(lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(Buffer.from(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}
