import { useSyncExternalStore } from "react";

/** Whether the screen is like this, as it changes. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}

/** Room for a dock beside the page. */
export const WIDE = "(min-width: 1024px)";
