import type { AguiEvent, AguiOptions } from "./agui-options.ts";
import { cancel, history, run } from "./agui-run.ts";
import { type AguiStream, eventsOf } from "./agui-stream.ts";
import type { Door } from "./door.ts";
import { principalOf } from "./principal.ts";

/**
 * AG-UI without a transport. `request` is looked at only by `authenticate`; the body is a `RunAgentInput`. Each answer is opened
 * with a signal that aborts when its reader is gone, and yields one event after the other. Refusals are thrown as `AppError`.
 */
export type AguiSeam = {
  run(body: unknown, asked: { request: Request; agent?: string; hold?: boolean }): Promise<Events>;
  history(body: unknown, asked: { request: Request; follow?: "run" | "forever" | false }): Promise<Events>;
  cancel(body: unknown, asked: { request: Request }): Promise<void>;
};

type Events = (signal: AbortSignal) => AsyncIterable<AguiEvent>;

export function aguiSeam(door: Door, options: AguiOptions): AguiSeam {
  const sender = async (request: Request) => door.authenticate && (await principalOf(door.authenticate, request));
  const opened = (stream: AguiStream): Events =>
    async function* (signal) {
      // Copies: an event may hold what the thread itself holds.
      for await (const event of eventsOf(stream, signal)) yield structuredClone(event);
    };
  return {
    run: async (body, { request, agent, hold }) =>
      opened(await run(door, options, { principal: await sender(request), body, agent, hold })),
    history: async (body, { request, follow }) => opened(await history(door, options, { principal: await sender(request), body, follow })),
    async cancel(body, { request }) {
      await cancel(door, options, { principal: await sender(request), body });
    },
  };
}
