import { useSyncExternalStore } from "react";

const NAME = "handback.token";
const listeners = new Set<() => void>();
let current = read();

/** Sets the key this tab speaks with, where a server wants one. Kept for this tab only: not in another tab, not on disk, not in a URL. */
export function setToken(value: string | undefined): void {
  current = value;
  try {
    if (value === undefined) sessionStorage.removeItem(NAME);
    else sessionStorage.setItem(NAME, value);
  } catch {
    // Storage is off: it holds until the page is closed.
  }
  for (const listener of listeners) listener();
}

export function useToken(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

/** What goes with every request. */
export function authorization(): Record<string, string> {
  return current === undefined ? {} : { authorization: `Bearer ${current}` };
}

function read(): string | undefined {
  try {
    return sessionStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}
