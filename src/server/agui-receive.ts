import { AppError, toFailure } from "../core/error.ts";
import type { RunOptions } from "../core/event.ts";
import { type AguiInput, readInput } from "../protocol/agui/decode.ts";
import type { AguiOptions, RunOption } from "./agui-options.ts";
import type { Door } from "./door.ts";
import { DEFAULT_APP, type Principal } from "./principal.ts";

/** What went wrong in the app's own hook or resolver. Its client is told in the stream, as seed 003 has it. */
export class HookFailed extends Error {
  readonly failure: AppError;

  constructor(where: string, cause: unknown) {
    super(`${where} failed`, { cause });
    this.name = "HookFailed";
    const { code, message } = toFailure(cause);
    this.failure = new AppError(code, message, { cause });
  }
}

/** A request as it came: who sent it, where that is known already, and its body. */
export type Asked = { principal: Principal | undefined; body: unknown };

/** A request after the app's hook and resolvers have had their say. */
export async function receive(
  door: Door,
  options: AguiOptions,
  { principal, body }: Asked,
): Promise<{ input: AguiInput; sender: Principal }> {
  const { onInput } = options;
  const read = readInput(body);
  const input = onInput ? readInput((await ownCode(door, "onInput", () => onInput(read))) ?? read) : read;
  return { input, sender: principal ?? (await resolveSender(door, options, input)) };
}

/** Where nobody is authenticated, the app may read from the request whose threads it is about. It never overrides who somebody is. */
async function resolveSender(door: Door, { resolveUser, resolveApp, appName }: AguiOptions, input: AguiInput): Promise<Principal> {
  const app = await ownCode(door, "resolveApp", () => resolveApp?.(input));
  const user = await ownCode(door, "resolveUser", () => resolveUser?.(input));
  return { kind: "user", app: app || appName || DEFAULT_APP, user: user || "user" };
}

/** How this turn differs from its agent's configuration: the request's context, then what the app's resolvers say. */
export async function resolveRun(door: Door, options: AguiOptions, input: AguiInput, own: RunOptions): Promise<RunOptions> {
  const { resolveOptions, resolveState, timeout } = options;
  const given = (await ownCode(door, "resolveOptions", () => resolveOptions?.(input))) ?? [];
  const run: RunOptions = { ...own, ...(timeout !== undefined && { timeout }) };
  for (const option of [given].flat() as RunOption[]) {
    const { values, attributes, ...rest } = option;
    Object.assign(run, rest);
    if (values) run.values = { ...run.values, ...values };
    if (attributes) run.attributes = { ...run.attributes, ...attributes };
  }
  const state = await ownCode(door, "resolveState", () => resolveState?.(input));
  return state ? { ...run, values: state } : run;
}

async function ownCode<T>({ engine }: Door, where: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    engine.log({ event: "hook.failed", hook: where, error: error instanceof Error ? error.name : typeof error });
    throw new HookFailed(where, error);
  }
}
