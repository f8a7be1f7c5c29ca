import { type Span, spansOf } from "handback/client";
import { MessageSquare, RotateCcw, Square } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { Page } from "../../app/page.tsx";
import { to } from "../../app/place.ts";
import { useParam } from "../../app/use-param.ts";
import { useTry } from "../../call/use-try.ts";
import { isFile, useActions, useThread } from "../../data/hooks.ts";
import { useThreadDock } from "../../dock/panels.tsx";
import { useT } from "../../i18n/i18n.ts";
import { Scrubber } from "../../timeline/scrubber.tsx";
import { Legend, Waterfall } from "../../timeline/waterfall.tsx";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { Segmented } from "../../ui/tabs.tsx";
import { SpanDetails } from "./span-details.tsx";

/** One run and the turn it belongs to: where the time went. Its id is the thread's and the place where it began. */
export default function RunPage({ runId }: { runId: string }) {
  const t = useT();
  const [, go] = useLocation();
  const cut = runId.lastIndexOf(":");
  const threadId = cut < 0 ? runId : runId.slice(0, cut);
  const named = runId.slice(cut + 1);
  const { view, live, loading, missing } = useThread(threadId);
  const { stop, regenerate } = useActions();
  const attempt = useTry();
  const [selected, select] = useParam("span");
  const [level, setLevel] = useState<"compact" | "full">("full");
  const dock = useThreadDock(threadId, view);
  const run = view.runs.get(named) ?? view.runs.at(-1);
  if (missing)
    return (
      <Page title={t("runs.missing")}>
        <EmptyState title={t("runs.missing")} hint={t("chat.missingHint")} />
      </Page>
    );
  if (!run)
    return (
      <Page title={t("runs.title")}>
        {loading ? <SkeletonRows label={t("ui.loading")} className="p-6" /> : <EmptyState title={t("runs.none")} />}
      </Page>
    );
  const spans = spansOf(view, run.seq);
  const span = spans.find(({ id }) => id === selected);
  const lastUser = live.messages.findLast((message) => message.role === "user")?.id;
  return (
    <Page
      title={`${live.title ?? t("chat.untitled")} · #${run.seq}`}
      status={<StatusPill status={run.state} className="max-sm:hidden" />}
      dock={dock}
      actions={
        <div className="flex gap-2 max-md:[&_button]:size-8 max-md:[&_button]:px-0 max-md:[&_button>span]:sr-only">
          {live.status === "running" && (
            <Button size="sm" icon={<Square aria-hidden className="size-3.5" />} onClick={() => void attempt(stop(threadId))}>
              <span>{t("runs.cancel")}</span>
            </Button>
          )}
          {live.status !== "running" && lastUser !== undefined && !isFile(threadId) && (
            <Button
              size="sm"
              icon={<RotateCcw aria-hidden className="size-3.5" />}
              onClick={() => void attempt(regenerate(threadId, lastUser))}
            >
              <span>{t("runs.again")}</span>
            </Button>
          )}
          <Button size="sm" icon={<MessageSquare aria-hidden className="size-3.5" />} onClick={() => go(to.chat(threadId))}>
            <span>{t("runs.openThread")}</span>
          </Button>
        </div>
      }
    >
      <div className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-surface px-4 py-2">
        <Select
          className="h-8 w-auto!"
          aria-label={t("runs.turns")}
          value={String(run.seq)}
          onChange={(event) => go(to.run(`${threadId}:${event.target.value}`))}
        >
          {view.runs.map(({ seq, cause }) => (
            <option key={seq} value={String(seq)}>
              #{seq} · {cause}
            </option>
          ))}
        </Select>
        <Segmented
          label={t("runs.level")}
          value={level}
          onChange={setLevel}
          options={[
            { id: "compact", label: t("runs.compact") },
            { id: "full", label: t("runs.full") },
          ]}
        />
        <div className="min-w-64 flex-1">
          <Scrubber threadId={threadId} />
        </div>
      </div>
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)_minmax(0,auto)]">
        <div tabIndex={0} role="region" aria-label={t("dock.timeline")} className="min-h-0 overflow-auto pt-2 pb-8 -outline-offset-2">
          <Waterfall spans={spans} selected={selected} detailed={level === "full"} onSelect={(chosen: Span) => select(chosen.id)} />
          <div className="px-4 pt-6">
            <Legend />
          </div>
        </div>
        <div className="max-h-[45vh] min-h-24 overflow-auto border-t border-line bg-surface">
          {span ? (
            <SpanDetails threadId={threadId} view={view} span={span} />
          ) : (
            <p className="p-5 text-muted">{t("runs.nothingSelected")}</p>
          )}
        </div>
      </div>
    </Page>
  );
}
