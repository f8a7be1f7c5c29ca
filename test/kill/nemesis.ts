import type { Event } from "../../src/core/event.ts";
import type { KillPoint } from "./killable.ts";
import type { Lives } from "./lives.ts";
import type { Random } from "./random.ts";
import { pause } from "./world.ts";

/** Tells the nemesis what clients see, so that it can strike at that moment. */
export type Nemesis = { saw(what: Sight): void; run(): Promise<Record<string, number>> };
export type Sight = Event["type"] | "2xx";

/** Moments worth dying at. Each is tried from outside, as a client sees it, and from inside, around the write that makes it so. */
const SIGHTS = [
  "run.started", // the turn has just begun
  "text.delta", // streaming
  "tool.called",
  "call.offered", // pending
  "call.claimed", // executing
  "tool.returned", // settling
  "interrupt.answered",
  "step.ended",
  "run.ended", // a snapshot follows
  "run.recovered",
] as const satisfies Sight[];

/** Longest it waits for the moment it has chosen. */
const PATIENCE_MS = 300;

/** Starts servers on the same data and kills each, `kills` times. Returns how often it struck in which way. */
export function nemesis(lives: Lives, data: string, chance: Random, kills: number): Nemesis {
  const tally: Record<string, number> = {};
  let awaited: { sight: Sight; left: number; strike: () => void } | undefined;

  const strike = async () => {
    const { how, point, sight, inStart, after } = someWay(chance);
    const life = lives.start({ data, ...(point && { point }) });
    const late = inStart ? pause(after) : life.up.then(() => pause(after));
    const seen = new Promise<void>((resolve) => {
      if (sight) awaited = { sight, left: chance.between(0, 6), strike: resolve };
    });
    const hit = await Promise.race([late.then(() => !point && !sight), seen.then(() => true), life.over.then(() => true)]);
    awaited = undefined;
    life.kill();
    await life.over;
    const name = hit ? how : "at any time";
    tally[name] = (tally[name] ?? 0) + 1;
  };
  return {
    saw(what) {
      if (awaited?.sight === what && awaited.left-- === 0) awaited.strike();
    },
    async run() {
      for (let i = 0; i < kills; i += 1) await strike();
      return tally;
    },
  };
}

type Way = { how: string; after: number; inStart?: boolean; point?: KillPoint; sight?: Sight };

function someWay(chance: Random): Way {
  const kind = chance.next();
  if (kind < 0.2) return { how: "at any time", after: chance.between(0, 300) };
  // A server that has not come up yet is recovering, and the one after it recovers from that.
  if (kind < 0.35) return { how: "while starting", inStart: true, after: chance.between(0, 60) };
  if (kind < 0.45) return { how: "on a 2xx", sight: "2xx", after: PATIENCE_MS };
  if (kind < 0.7) {
    const sight = chance.pick(SIGHTS);
    return { how: `on seeing ${sight}`, sight, after: PATIENCE_MS };
  }
  const on = chance.chance(0.2) ? "snapshot" : chance.pick(SIGHTS);
  const when = chance.pick(["before", "during", "after"] as const);
  return { how: `${when} writing ${on}`, point: { on, when, skip: chance.between(0, 5) }, after: PATIENCE_MS };
}
