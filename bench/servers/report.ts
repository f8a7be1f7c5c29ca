import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a server process has used up so far. */
export type Usage = { cpuMs: number; rss: number };

/** Tells the bench where this server listens, and on demand what it has used. */
export function report(url: string): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  process.send?.({ url });
  process.on("message", (question: "usage" | "settled") => {
    if (question === "settled") collect(); // memory without garbage
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1000, rss: process.memoryUsage.rss() } satisfies Usage);
  });
  process.once("disconnect", () => process.exit());
}
