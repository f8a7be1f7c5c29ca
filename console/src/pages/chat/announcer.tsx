import { pendingOf, type ThreadView } from "handback/client";
import { useEffect, useRef } from "react";
import { announce } from "../../app/announce.tsx";
import { useT } from "../../i18n/i18n.ts";

/** Says to those who hear the page what now waits and how runs ended; never single tokens. */
export function Announcer({ view }: { view: ThreadView }) {
  const t = useT();
  const said = useRef<{ waiting: Set<string>; status: string } | undefined>(undefined);
  useEffect(() => {
    const pending = pendingOf(view);
    const before = said.current;
    said.current = { waiting: new Set(pending.map(({ id }) => id)), status: view.status };
    if (!before) return; // what was there when the page opened is read, not announced
    const fresh = pending.filter(({ id }) => !before.waiting.has(id));
    for (const each of fresh) {
      const name = "name" in each ? each.name : (each.place?.key ?? each.reason);
      const human = !("waitingFor" in each) || each.waitingFor === "human";
      announce(t(human ? "chat.sayApproval" : "chat.sayWaiting", { name }));
    }
    if (before.status === "running" && view.status !== "running" && fresh.length === 0)
      announce(t(view.status === "failed" ? "chat.sayFailed" : view.status === "cancelled" ? "chat.sayCancelled" : "chat.sayFinished"));
  }, [view, t]);
  return null;
}
