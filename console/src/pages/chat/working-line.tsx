import { activeOf, type ThreadView } from "handback/client";
import { useConnection } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Spinner } from "../../ui/button.tsx";
import { Duration, useNow } from "../../ui/time.tsx";

/** What is being done, since when, and when something was last heard of it. */
export function WorkingLine({ view }: { view: ThreadView }) {
  const t = useT();
  const { state } = useConnection();
  const now = useNow();
  const active = activeOf(view);
  if (!active) return null;
  const { step, lastAt } = active;
  const { startedAt } = active.run;
  const quiet = now - lastAt;
  const long = now - startedAt > 10_000;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5 py-2 text-sm text-muted" data-testid="working">
      <Spinner />
      <Duration since={startedAt} />
      {step && <span>· {step.name}</span>}
      {quiet > 3_000 && (
        <span>
          · {t("chat.lastEvent")} <Duration since={lastAt} />
        </span>
      )}
      {long && <span>· {t(state === "live" ? "chat.safeToClose" : "shell.offlineHint")}</span>}
    </p>
  );
}
