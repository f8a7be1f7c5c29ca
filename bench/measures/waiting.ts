import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCommand } from "../../test/kill/command.ts";
import { fillWithWaiting } from "../../test/kill/fill.ts";
import type { Row } from "../row.ts";

const COUNT = 10_000;

/** What threads cost that wait for somebody outside, and how soon they are served after kill -9. */
export async function waiting(): Promise<Row[]> {
  const [empty, full] = [await served(0), await served(COUNT)];
  const extra = full.megabytes - empty.megabytes;
  const label = "10,000 waiting threads";
  return [
    {
      what: `${label}: start after kill -9 to a call listed and settled`,
      unit: "ms",
      values: { handback: full.settled },
      bar: { text: "< 1,000 ms", holds: full.settled < 1_000 },
    },
    {
      what: `${label}: memory beyond a server without threads (${empty.megabytes.toFixed(0)} MB)`,
      unit: "MB",
      values: { handback: extra },
      bar: { text: "none (± 10 %)", holds: extra < empty.megabytes * 0.1 },
    },
  ];
}

async function served(count: number): Promise<{ settled: number; megabytes: number }> {
  const data = mkdtempSync(join(tmpdir(), "handback-bench-"));
  await fillWithWaiting(data, Math.max(1, count));
  const command = startCommand(data);
  try {
    const url = await command.url;
    const { calls } = (await (await fetch(`${url}/v1/calls?status=pending`)).json()) as { calls: { id: string }[] };
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ output: "done" });
    const response = await fetch(`${url}/v1/calls/${calls[0]?.id}/result`, { method: "POST", headers, body });
    const settled = command.age();
    if (response.status !== 200) throw new Error(`Settling got ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return { settled, megabytes: command.megabytes() };
  } finally {
    command.child.kill("SIGKILL");
    rmSync(data, { recursive: true, force: true });
  }
}
