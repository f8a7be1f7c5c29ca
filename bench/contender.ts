import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Usage } from "./servers/report.ts";

/** A server under test in a process of its own, and how to talk to it. */
export type Contender = {
  name: "handback" | "ai-sdk" | "relay";
  url: string;
  /** The body that asks for what `wish` says, in a new thread. */
  ask(wish: object): object;
  usage(): Promise<Usage>;
  /** The same, after a collection of garbage. */
  settled(): Promise<Usage>;
  stop(): Promise<void>;
};

export const NAMES = ["handback", "ai-sdk", "relay"] as const;

let threads = 0;

/** Starts a server against the fake provider at `upstream`. */
export async function start(name: Contender["name"], upstream: string): Promise<Contender> {
  const data = mkdtempSync(join(tmpdir(), "handback-bench-"));
  const child = fork(`${import.meta.dirname}/servers/${name}.ts`, [upstream, data], { execArgv: execArgv(name) });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  const ask = async (question: string) => {
    child.send(question);
    const [usage] = (await once(child, "message")) as [Usage];
    return usage;
  };
  return {
    name,
    url: name === "handback" ? `${url}/agui` : url,
    ask(wish) {
      const content = JSON.stringify(wish);
      if (name === "handback") return { threadId: `t${++threads}`, runId: "r", messages: [{ id: "m", role: "user", content }] };
      if (name === "ai-sdk") return { messages: [{ id: "m", role: "user", parts: [{ type: "text", text: content }] }] };
      return { messages: [{ role: "user", content }] };
    },
    usage: () => ask("usage"),
    settled: () => ask("settled"),
    async stop() {
      await end(child);
      rmSync(data, { recursive: true });
    },
  };
}

/** The fake provider, in its own process too. */
export async function startUpstream(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/../src/testing/upstream-main.ts`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { url: line.toString().trim(), stop: () => end(child) };
}

/** `PROFILE=handback npm run bench -- --only tokens` writes that server's CPU profile beside where it was started. */
function execArgv(name: string): string[] {
  return process.env["PROFILE"] === name ? ["--cpu-prof", "--cpu-prof-dir=profiles"] : [];
}

async function end(child: ChildProcess): Promise<void> {
  const over = once(child, "exit");
  if (child.connected)
    child.disconnect(); // servers exit by themselves, so that a profile is written
  else child.kill("SIGKILL");
  await over;
}
