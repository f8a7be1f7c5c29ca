import { type Decision, facts } from "./begin.ts";
import { claim, release } from "./claim.ts";
import type { Command, Known } from "./command.ts";
import { NOTHING_KNOWN } from "./command.ts";
import { AppError } from "./error.ts";
import { EVENT_VERSION } from "./event.ts";
import { cancel, expire, recover } from "./lapse.ts";
import { decideRun } from "./run.ts";
import type { Thread } from "./thread.ts";

export type { Decision } from "./begin.ts";

/** The rules, with no I/O: which facts follow from this command in this thread? Throws what the sender should hear. */
export function decide(thread: Thread, command: Command, known: Known = NOTHING_KNOWN): Decision {
  if (thread.newest > EVENT_VERSION) {
    throw new AppError("unavailable", "This thread was written by a newer release of Handback; upgrade this server to go on with it");
  }
  switch (command.type) {
    case "run":
      return decideRun(thread, command, known);
    case "cancel":
      return cancel(thread, command);
    case "expire":
      return expire(thread, command);
    case "claim":
      return claim(thread, command, known);
    case "release":
      return release(thread, command);
    case "recover":
      return recover(thread, command);
    case "change": {
      const { title, metadata } = command;
      return facts(thread, [{ type: "thread.changed", ...(title !== undefined && { title }), ...(metadata && { metadata }) }]);
    }
    default:
      return command satisfies never;
  }
}
