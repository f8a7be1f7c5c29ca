import { useEffect, useRef } from "react";
import { toolOf, usePending } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { announce } from "./announce.tsx";
import { usePreferences } from "./preferences.ts";

/** Says that a new call waits for somebody: to those who hear the page, and on the desktop where that was asked for. */
export function Notifier() {
  const t = useT();
  const { notify } = usePreferences();
  const { calls, loading } = usePending({});
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    if (loading) return;
    const fresh = known.current ? calls.filter(({ id }) => !known.current?.has(id)) : [];
    known.current = new Set(calls.map(({ id }) => id));
    const [first] = fresh;
    if (!first) return;
    announce(t(first.role === "human" ? "chat.sayApproval" : "chat.sayWaiting", { name: toolOf(first) }));
    if (notify && document.hidden && "Notification" in globalThis && Notification.permission === "granted") {
      new Notification(t("shell.notifyTitle"), { body: `${toolOf(first)} · ${first.title ?? first.threadId}`, tag: first.id });
    }
  }, [calls, loading, notify, t]);
  return null;
}
