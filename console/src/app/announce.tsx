import { useSyncExternalStore } from "react";

let said = { text: "", turn: 0 };
const listeners = new Set<() => void>();

/** Says a change of state to those who hear the page. Not for tokens: one sentence for each thing that happened. */
export function announce(text: string): void {
  said = { text, turn: said.turn + 1 };
  for (const listener of listeners) listener();
}

/** Once in the page. Two regions take turns, so that the same sentence twice is said twice. */
export function LiveRegion() {
  const { text, turn } = useSyncExternalStore(subscribe, () => said);
  return (
    <div className="sr-only">
      {[0, 1].map((region) => (
        <p key={region} role="status" aria-live="polite" data-testid="live-region">
          {turn % 2 === region ? text : ""}
        </p>
      ))}
    </div>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
