import type { ThreadView } from "handback/client";
import { useEffect, useRef } from "react";
import { announce } from "../../app/announce.tsx";
import { useT } from "../../i18n/i18n.ts";

const ENDS = { done: "chat.sayFinished", failed: "chat.sayFailed", cancelled: "chat.sayCancelled" } as const;

/** Says to those who hear the page how runs ended; never single tokens. What waits, in whichever thread, is said by the shell. */
export function Announcer({ view, loading }: { view: ThreadView; loading: boolean }) {
  const t = useT();
  const run = view.runs.at(-1);
  const heard = useRef<number>(undefined);
  useEffect(() => {
    if (loading) return;
    const before = heard.current;
    heard.current = run?.endSeq ?? before ?? 0;
    // What had ended when the page opened is read, not announced.
    if (before === undefined || run?.endSeq === undefined || run.endSeq === before) return;
    if (run.state in ENDS) announce(t(ENDS[run.state as keyof typeof ENDS]));
  }, [run, loading, t]);
  return null;
}
