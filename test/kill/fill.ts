import { fork } from "node:child_process";
import { once } from "node:events";

/** Makes a data directory in which `count` threads wait for a call each; the process that did it is killed. */
export async function fillWithWaiting(data: string, count: number): Promise<void> {
  const child = fork(`${import.meta.dirname}/crowd.ts`, [data, String(count)], { execArgv: [] });
  const over = once(child, "exit");
  const [said] = await Promise.race([once(child, "message"), over]);
  if (said !== "filled") throw new Error(`Filling ${data} ended with ${said}`);
  child.kill("SIGKILL");
  await over;
}
