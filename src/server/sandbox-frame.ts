import { createHash } from "node:crypto";
import { WORKER } from "./sandbox-worker.ts";

/**
 * What runs in the sandbox's frame: it takes one message from its parent, gives the code to a worker, and says the first thing the worker
 * says, or that time is up. The code itself never runs here, where it could navigate.
 */
const SCRIPT = `(() => {
  const WORKER = ${JSON.stringify(WORKER).replaceAll("<", "\\u003c")};
  const failed = (name, message) => JSON.stringify({ ok: false, error: { name, message } });

  addEventListener("message", ({ source, data: { code, timeoutMs, maxOutput }, ports: [parentPort] }) => {
    if (source !== parent) return;
    const worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    const { port1: port, port2: theirs } = new MessageChannel();
    const end = (said) => {
      clearTimeout(watchdog);
      worker.terminate();
      port.close();
      parentPort.postMessage(said);
    };
    const watchdog = setTimeout(() => end(failed("TimeoutError", "Stopped after " + timeoutMs + " ms")), timeoutMs);
    port.onmessage = ({ data }) => {
      const fits = typeof data === "string" && data.length <= maxOutput + 16384;
      end(fits ? data : failed("ResultError", "The result is longer than " + maxOutput + " characters"));
    };
    // What the code throws later, from a timer, is not what it returns.
    worker.onerror = (event) => event.preventDefault();
    worker.postMessage({ code, maxOutput }, [theirs]);
  }, { once: true });

  parent.postMessage("handback sandbox " + location.hash.slice(1), "*");
})();`;

/** The page around it. */
export const FRAME = `<!doctype html>\n<meta charset="utf-8">\n<title>Sandbox</title>\n<script>${SCRIPT}</script>\n`;

/** The one script the frame may run, as CSP names it. */
export const SCRIPT_HASH: string = `'sha256-${createHash("sha256").update(SCRIPT).digest("base64")}'`;
