import { useSyncExternalStore } from "react";

/** The layers that any part of the page may open. */
export type LayerName = "palette" | "shortcuts";

let open: LayerName | undefined;
const listeners = new Set<() => void>();

export const openPalette = () => show("palette");
export const openShortcuts = () => show("shortcuts");
export const closeLayer = () => show(undefined);

export function useLayer(): LayerName | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open,
  );
}

function show(name: LayerName | undefined): void {
  open = name;
  for (const listener of listeners) listener();
}
