import { type Span, spansOf } from "handback/client";
import { Clock } from "lucide-react";
import { useParam } from "../app/use-param.ts";
import { useT } from "../i18n/i18n.ts";
import { Scrubber } from "../timeline/scrubber.tsx";
import { Legend, Waterfall } from "../timeline/waterfall.tsx";
import { EmptyState } from "../ui/skeleton.tsx";
import type { PanelProps } from "./panels.tsx";

/** The latest turn as it went; a bar selects what it stands for in the conversation. */
export default function TimelinePanel({ threadId, view }: PanelProps) {
  const t = useT();
  const [selected, select] = useParam("select");
  const spans = spansOf(view, view.runs.at(-1)?.seq);
  if (spans.length === 0) return <EmptyState icon={<Clock />} title={t("dock.noEvents")} />;
  const current = spans.find((span) => idOf(span) === selected);
  return (
    <>
      <div className="shrink-0 border-b border-line px-3 py-2">
        <Scrubber threadId={threadId} />
      </div>
      <div tabIndex={0} role="region" aria-label={t("dock.timeline")} className="min-h-0 flex-1 overflow-auto pt-2 pb-8 -outline-offset-2">
        <Waterfall spans={spans} selected={current?.id} onSelect={(span) => select(idOf(span))} />
      </div>
      <div className="shrink-0 border-t border-line px-3 py-2">
        <Legend />
      </div>
    </>
  );
}

/** What the conversation knows a bar by. */
export function idOf(span: Span): string {
  return span.callId ?? span.stepId ?? span.interruptId ?? String(span.run);
}
