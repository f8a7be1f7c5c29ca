import { mint } from "../time.ts";
import { type Evaluation, failed, readEvaluation } from "./evaluation.ts";
import type { Page, PageMessage } from "./page.ts";

export type Limits = { timeoutMs: number; maxOutput: number };

/** How much later than the frame's own watchdog this one bites: then the frame is stuck, or its process is dead. */
const PATIENCE_MS = 3_000;
/** A frame that has loaded and does not say so is an error page, or somebody else's. */
const SILENCE_MS = 2_000;

/**
 * Runs code in a frame of its own, which is removed whatever happens. The frame gets one message and one port; the first thing it says on
 * that port is the evaluation, and nothing after it is read.
 */
export function runInFrame(
  page: Page,
  url: string,
  code: string,
  { timeoutMs, maxOutput }: Limits,
  signal: AbortSignal,
): Promise<Evaluation> {
  const { promise, resolve } = Promise.withResolvers<Evaluation>();
  if (signal.aborted) return Promise.resolve(STOPPED);
  const nonce = mint("run");
  const frame = page.document.createElement("iframe");
  const { port1: port, port2: theirs } = new page.MessageChannel();
  const startBy = (ms: number) => setTimeout(() => started || end(unreachable(url)), ms);
  const timers = [startBy(timeoutMs + PATIENCE_MS)];
  let started = false;

  const end = (evaluation: Evaluation) => {
    for (const timer of timers) clearTimeout(timer);
    page.removeEventListener("message", hear);
    signal.removeEventListener("abort", stop);
    port.close();
    theirs.close(); // if it never went out
    frame.remove();
    resolve(evaluation);
  };
  const stop = () => end(STOPPED);
  const hear = ({ source, data }: PageMessage) => {
    if (source === null || source !== frame.contentWindow) return;
    page.removeEventListener("message", hear);
    if (data !== `${READY} ${nonce}`) return end(unreachable(url));
    started = true;
    timers.push(setTimeout(() => end(dead(timeoutMs)), timeoutMs + PATIENCE_MS));
    // Its origin is opaque, so there is no better target; it is our frame, and the code is no secret.
    frame.contentWindow?.postMessage({ code, timeoutMs, maxOutput }, "*", [theirs]);
  };

  page.addEventListener("message", hear);
  signal.addEventListener("abort", stop);
  port.onmessage = ({ data }) => end(readEvaluation(data, maxOutput));
  port.onmessageerror = () => end(readEvaluation(undefined, maxOutput));
  frame.setAttribute("sandbox", "allow-scripts"); // and never allow-same-origin
  frame.setAttribute("aria-hidden", "true");
  frame.title = "Sandbox";
  frame.hidden = true;
  frame.referrerPolicy = "no-referrer";
  frame.src = `${url}#${nonce}`;
  frame.addEventListener("load", () => {
    if (!started) timers.push(startBy(SILENCE_MS));
  });
  page.document.documentElement.append(frame);
  return promise;
}

/** What a frame says first, with the nonce of its address. */
const READY = "handback sandbox";

const STOPPED = failed("AbortError", "The run was stopped");

function unreachable(url: string): Evaluation {
  return failed("SandboxError", `The sandbox at ${url} did not start: is the server there, and may this page embed it?`);
}

function dead(timeoutMs: number): Evaluation {
  return failed("SandboxError", `The sandbox gave no answer, not even that ${timeoutMs} ms were over; it may have run out of memory`);
}
