import { useCallback } from "react";
import { toast } from "../app/toast.tsx";
import type { Done } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";

/** Waits for what was asked for, and says so where it did not work. */
export function useTry(): (work: Promise<Done<unknown>>) => Promise<boolean> {
  const t = useT();
  return useCallback(
    async (work) => {
      const done = await work;
      if (!done.ok) toast({ text: t("chat.didNotWork", { why: done.error.message }), tone: "bad", ms: 10_000 });
      return done.ok;
    },
    [t],
  );
}
