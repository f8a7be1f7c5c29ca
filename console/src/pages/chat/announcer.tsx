import type { ThreadView } from "handback/client";
import { useEffect, useRef } from "react";
import { announce } from "../../app/announce.tsx";
import { useT } from "../../i18n/i18n.ts";

const ENDS = { idle: "chat.sayFinished", failed: "chat.sayFailed", cancelled: "chat.sayCancelled" } as const;

/** Says to those who hear the page how runs ended; never single tokens. What waits is said for all threads by the shell. */
export function Announcer({ view: { status } }: { view: ThreadView }) {
  const t = useT();
  const before = useRef(status);
  useEffect(() => {
    if (before.current === "running" && status in ENDS) announce(t(ENDS[status as keyof typeof ENDS]));
    before.current = status;
  }, [status, t]);
  return null;
}
