import type { Json } from "../../core/json.ts";
import { type Evaluation, failed } from "./evaluation.ts";
import { frameUrl } from "./frame-url.ts";
import { thisPage } from "./page.ts";
import { runInFrame } from "./run-in-frame.ts";

export type { Json } from "../../core/json.ts";
export type { Evaluation, EvaluationError } from "./evaluation.ts";

export type SandboxOptions = {
  /** Where the frame comes from: another site than the page's. Default: on this machine the page's origin under its other name. `meta()` says it. */
  origin?: string | undefined;
  /** Where it is there. Default `/sandbox`. */
  path?: string | undefined;
  /** How long code may run. Default 5000. */
  timeoutMs?: number;
  /** How long a result may be, in characters of JSON. Default 65 536. */
  maxOutput?: number;
};

/** A place for code that nobody has read. */
export type Sandbox = {
  /** Runs code and says what came of it; never throws. Each run has a frame, a worker and a global of its own. */
  run(code: string, options?: { signal?: AbortSignal | undefined }): Promise<Evaluation>;
  /** The same as a handler of `browser_js_eval`: what goes wrong is thrown, and so told to the model. */
  tool(input: { code: string }, context?: { signal?: AbortSignal | undefined }): Promise<Json>;
  /** Stops what runs, and takes no more. */
  dispose(): void;
};

/**
 * Makes a sandbox. Nothing is loaded before something runs.
 *
 * @example
 * const sandbox = createSandbox((await handback.meta()).sandbox);
 * await handback.execute({ threadId, tools: { browser_js_eval: sandbox.tool } });
 */
export function createSandbox({ origin, path, timeoutMs = 5_000, maxOutput = 65_536 }: SandboxOptions = {}): Sandbox {
  for (const [name, value] of Object.entries({ timeoutMs, maxOutput })) {
    if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} ${value}: give a whole number above 0`);
  }
  const disposed = new AbortController();

  const run: Sandbox["run"] = async (code, { signal } = {}) => {
    try {
      const page = thisPage();
      const url = frameUrl(page.location.href, { origin, path });
      const stop = signal ? AbortSignal.any([signal, disposed.signal]) : disposed.signal;
      return await runInFrame(page, url, code, { timeoutMs, maxOutput }, stop);
    } catch (error) {
      return failed("SandboxError", error instanceof Error ? error.message : String(error));
    }
  };
  return {
    run,
    async tool({ code }, context = {}) {
      const evaluation = await run(code, context);
      if (evaluation.ok) return evaluation.value;
      const { name, message } = evaluation.error;
      throw new Error(message === "" ? name : `${name}: ${message}`);
    },
    dispose: () => disposed.abort(),
  };
}
