import { linesOf, nameOf } from "handback/client";
import { ExternalLink } from "lucide-react";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { to } from "../../app/place.ts";
import { CallActions } from "../../call/actions.tsx";
import { CallCard } from "../../call/call-card.tsx";
import { InterruptCard } from "../../call/interrupt-card.tsx";
import { useToolSpec } from "../../call/use-tool-spec.ts";
import { useCall, useThread } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { JsonTree } from "../../ui/json-tree.tsx";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";

/** One call with what a person needs to decide it: the card, what was said before, and the tool. */
export function Detail({
  callId,
  mode,
  onDone,
}: {
  callId: string;
  mode?: "edit" | "reject" | undefined;
  onDone?: (() => void) | undefined;
}) {
  const t = useT();
  const { call, loading, missing } = useCall(callId);
  if (loading) return <SkeletonRows label={t("ui.loading")} rows={3} className="p-6" />;
  if (!call || missing) return <EmptyState title={t("inbox.gone")} hint={t("inbox.goneHint")} />;
  return <Shown threadId={nameOf(call)} id={call.callId ?? call.id} mode={mode} onDone={onDone} />;
}

function Shown({
  threadId,
  id,
  mode,
  onDone,
}: {
  threadId: string;
  id: string;
  mode: "edit" | "reject" | undefined;
  onDone: (() => void) | undefined;
}) {
  const t = useT();
  const { view, loading } = useThread(threadId);
  const call = view.calls.get(id);
  const spec = useToolSpec(threadId, call?.name ?? "");
  const lines = linesOf(view, id);
  // Answered here: on to the next one. Answered elsewhere: it stays, and says by whom.
  const mine = useRef(false);
  useEffect(() => {
    if (mine.current && call?.settledAt !== undefined) onDone?.();
  }, [call?.settledAt, onDone]);
  if (loading && !call && !view.interrupts.has(id)) return <SkeletonRows label={t("ui.loading")} rows={3} className="p-6" />;
  return (
    <div className="mx-auto flex w-full max-w-2xl flex-col gap-5 p-4 md:p-6">
      <header className="flex flex-wrap items-baseline gap-x-3">
        <h2 className="min-w-0 text-lg font-semibold [overflow-wrap:anywhere]">{view.title ?? t("chat.untitled")}</h2>
        <Link href={to.chat(threadId, { select: id })} className="flex min-h-6 items-center gap-1 text-sm text-link underline">
          {t("runs.openThread")}
          <ExternalLink aria-hidden className="size-3.5" />
        </Link>
      </header>
      {lines.length > 0 && (
        <ul aria-label={t("inbox.context")} className="flex flex-col gap-1.5 border-l-2 border-line pl-3 text-sm text-muted">
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else to be told by
            <li key={index} className="line-clamp-2">
              <span className="font-medium text-fg">{t(line.role === "user" ? "inbox.user" : "inbox.agent")}</span> {line.text}
            </li>
          ))}
        </ul>
      )}
      {call ? (
        <CallCard
          threadId={threadId}
          call={call}
          actions={
            <CallActions
              key={mode ?? "choose"}
              threadId={threadId}
              call={call}
              mode={mode}
              onDone={() => {
                mine.current = true;
                if (call.settledAt !== undefined || call.needsApproval) onDone?.();
              }}
            />
          }
        />
      ) : (
        <InterruptCard threadId={threadId} interruptId={id} onDone={onDone} />
      )}
      {spec && (
        <details className="rounded-xl border border-line bg-surface px-4 py-2">
          <summary className="min-h-7 font-medium">{t("inbox.aboutTool")}</summary>
          <p className="py-1.5 text-sm text-muted">{spec.description}</p>
          <JsonTree value={spec.input} label={t("inbox.schema")} open={2} />
        </details>
      )}
    </div>
  );
}
