import { useSyncExternalStore } from "react";

type Said = { text: string; turn: number };

const KEPT = 4;
let said: Said[] = [];
let turn = 0;
const listeners = new Set<() => void>();

/** Says a change of state to those who hear the page. Not for tokens: one sentence for each thing that happened. */
export function announce(text: string): void {
  turn += 1;
  said = [...said, { text, turn }].slice(-KEPT);
  for (const listener of listeners) listener();
}

/** Once in the page. What is added is read aloud: two things at once one after the other, and the same thing twice twice. */
export function LiveRegion() {
  const lines = useSyncExternalStore(subscribe, () => said);
  return (
    <div role="log" aria-live="polite" aria-relevant="additions" data-testid="live-region" className="sr-only">
      {lines.map((line) => (
        <p key={line.turn}>{line.text}</p>
      ))}
    </div>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
