import { activeOf, type ThreadView } from "handback/client";
import { useConnection } from "../../data/hooks.ts";
import { useLanguage, useT } from "../../i18n/i18n.ts";
import { Spinner } from "../../ui/button.tsx";
import { Duration, durationText, useNow } from "../../ui/time.tsx";

const QUIET_MS = 3_000;
const LONG_MS = 10_000;

/** What is being done, since when, and when something was last heard of it. */
export function WorkingLine({ view }: { view: ThreadView }) {
  const t = useT();
  const language = useLanguage();
  const { state } = useConnection();
  const now = useNow();
  const active = activeOf(view);
  if (!active) return null;
  const { step, lastAt, run } = active;
  const quiet = now - lastAt;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5 py-2 text-sm text-muted" data-testid="working">
      <Spinner />
      <Duration since={run.startedAt} />
      {step && <span>· {step.name}</span>}
      {quiet > QUIET_MS && <span>· {t("chat.lastEvent", { time: durationText(Math.floor(quiet / 1_000) * 1_000, language) })}</span>}
      {now - run.startedAt > LONG_MS && <span>· {t(state === "live" ? "chat.safeToClose" : "shell.offlineHint")}</span>}
    </p>
  );
}
