import type { Entry } from "../core/thread.ts";

/** Counts what was looked at and keeps what was found, so that a history which has grown is not looked through from its beginning. */
type Looked = { count: number; last: Entry | undefined; found: Entry[] };

const looked = new WeakMap<readonly Entry[], Looked>();

/** What a model may see of a history: messages and completed steps. The array is the caller's own. */
export function completed(history: readonly Entry[]): Entry[] {
  const before = looked.get(history);
  // A history grows, or is cut and grows again with other entries: where the last is in its place, so are the others.
  const { count, found }: Looked = before && history[before.count - 1] === before.last ? before : { count: 0, last: undefined, found: [] };
  let i = count;
  for (let entry = history[i]; entry && isSettled(entry); entry = history[i]) {
    if (isShown(entry)) found.push(entry);
    i += 1;
  }
  looked.set(history, { count: i, last: history[i - 1], found });
  return found.concat(history.slice(i).filter(isShown));
}

function isShown(entry: Entry): boolean {
  return entry.role === "user" || entry.state === "completed";
}

/** Whether it will stay as it is; a step that is open will be completed or abandoned. */
function isSettled(entry: Entry): boolean {
  return entry.role === "user" || entry.state !== "open";
}
