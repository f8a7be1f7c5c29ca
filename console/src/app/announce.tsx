import { useSyncExternalStore } from "react";

/** How long a sentence is left alone when another follows at once. */
const TOGETHER_MS = 500;

let said: { texts: readonly [string, string]; turn: number; at: number } = { texts: ["", ""], turn: 0, at: 0 };
const listeners = new Set<() => void>();

/** Says a change of state to those who hear the page. Not for tokens: one sentence for each thing that happened. */
export function announce(text: string): void {
  const [turn, at] = [said.turn + 1, performance.now()];
  const before = at - said.at < TOGETHER_MS ? (said.texts[(turn + 1) % 2] ?? "") : "";
  said = { texts: turn % 2 === 0 ? [text, before] : [before, text], turn, at };
  for (const listener of listeners) listener();
}

/** Once in the page. Two regions take turns, so that the same sentence twice is said twice, and two at once are both said. */
export function LiveRegion() {
  const { texts } = useSyncExternalStore(subscribe, () => said);
  return (
    <div className="sr-only">
      {[0, 1].map((region) => (
        <p key={region} role="status" aria-live="polite" data-testid="live-region">
          {texts[region]}
        </p>
      ))}
    </div>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
