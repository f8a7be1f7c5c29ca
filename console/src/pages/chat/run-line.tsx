import type { RunView } from "handback/client";
import { CircleX, RotateCcw } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { to } from "../../app/place.ts";
import { useTry } from "../../call/use-try.ts";
import { useActions } from "../../data/hooks.ts";
import { useLanguage, useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { durationText } from "../../ui/time.tsx";

/** Where a run ended, and how. What failed says why, and offers another try. */
export const RunLine = memo(function RunLine({
  threadId,
  run,
  regenerate,
}: {
  threadId: string;
  run: RunView;
  regenerate: string | undefined;
}) {
  const t = useT();
  const language = useLanguage();
  const actions = useActions();
  const attempt = useTry();
  const { outcome } = run;
  const again = regenerate === undefined ? undefined : () => void attempt(actions.regenerate(threadId, regenerate));
  const took = run.endedAt === undefined ? "" : durationText(run.endedAt - run.startedAt, language);
  const how =
    outcome?.type === "waiting"
      ? t("chat.runWaiting", { n: outcome.for.length })
      : outcome?.type === "cancelled"
        ? t("chat.runCancelled")
        : outcome?.type === "failed"
          ? t("chat.runFailed")
          : t("chat.runDone");
  if (outcome?.type === "failed")
    return (
      <div role="alert" className="my-1 flex flex-col gap-2 rounded-xl border border-bad-line bg-bad-soft px-4 py-3">
        <p className="flex items-center gap-2 font-medium text-bad">
          <CircleX aria-hidden className="size-4 shrink-0" />
          {t("chat.runFailed")} · <span className="font-mono text-sm">{outcome.error.code}</span>
        </p>
        <p className="text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">{outcome.error.message}</p>
        <div className="flex flex-wrap gap-2">
          {again && (
            <Button size="sm" icon={<RotateCcw aria-hidden className="size-3.5" />} onClick={again}>
              {t("chat.retry")}
            </Button>
          )}
          <CopyButton
            withText
            label={t("shell.copyDetails")}
            text={() => JSON.stringify({ threadId, run: run.seq, ...outcome.error }, null, 2)}
          />
          <Link
            href={to.chat(threadId, { dock: "events", event: run.endSeq })}
            className="flex h-7 items-center rounded-md px-2 text-sm text-link underline"
          >
            {t("call.event", { n: run.endSeq ?? run.seq })}
          </Link>
        </div>
      </div>
    );
  return (
    <div className="flex min-h-7 items-center gap-2 text-xs text-muted">
      <span aria-hidden className="h-px flex-1 bg-line" />
      <Link href={to.run(`${threadId}:${run.seq}`)} className="rounded px-1 py-1 hover:text-fg hover:underline">
        {t("chat.run")} #{run.seq} · {took} · {how}
        {run.recovered > 0 && ` · ${t("chat.recovered")}`}
      </Link>
      {again && outcome?.type !== "waiting" && (
        <Button size="sm" kind="ghost" icon={<RotateCcw aria-hidden className="size-3.5" />} onClick={again}>
          {t("chat.regenerate")}
        </Button>
      )}
      <span aria-hidden className="h-px flex-1 bg-line" />
    </div>
  );
});
