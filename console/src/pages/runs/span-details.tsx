import { type Span, type ThreadView, usageOf } from "handback/client";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { to } from "../../app/place.ts";
import { CallCard } from "../../call/call-card.tsx";
import { InterruptCard } from "../../call/interrupt-card.tsx";
import { useLanguage, useT } from "../../i18n/i18n.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { durationText, RelativeTime } from "../../ui/time.tsx";

/** What a bar stands for: what went in, what came out, what went wrong. */
export function SpanDetails({ threadId, view, span }: { threadId: string; view: ThreadView; span: Span }) {
  const t = useT();
  const language = useLanguage();
  const call = span.callId === undefined ? undefined : view.calls.get(span.callId);
  const step = span.stepId === undefined ? undefined : view.steps.get(span.stepId);
  const run = view.runs.get(String(span.run));
  const usage = span.kind === "run" ? usageOf(view, span.run) : step?.usage;
  return (
    <div className="flex flex-col gap-3 p-4 md:px-5">
      <h2 className="flex flex-wrap items-baseline gap-2 font-semibold">
        <span className="font-mono">{span.kind === "run" ? `#${span.seq}` : span.name}</span>
        <span className="text-sm font-normal text-muted">{t(`runs.${span.kind}`)}</span>
      </h2>
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        <Fact name={t("runs.started")}>
          <RelativeTime at={span.start} />
        </Fact>
        {span.end !== undefined && <Fact name={t("runs.took")}>{durationText(span.end - span.start, language)}</Fact>}
        {usage?.totalTokens !== undefined && <Fact name={t("runs.tokens")}>{usage.totalTokens.toLocaleString(language)}</Fact>}
        {span.kind === "run" && run && <Fact name={t("runs.cause")}>{run.cause}</Fact>}
        {span.kind === "run" && run && <Fact name={t("runs.through")}>{`${run.by} · ${run.via}`}</Fact>}
        {step && step.attempt > 1 && <Fact name={t("runs.attempt")}>{String(step.attempt)}</Fact>}
      </dl>
      {step?.error && <p className="text-sm text-bad">{step.error.message}</p>}
      {step?.writes !== undefined && (
        <CodeBlock code={JSON.stringify(step.writes, null, 2)} language="json" label={t("runs.output")} wrap />
      )}
      {call && span.kind === "tool" && <CallCard threadId={threadId} call={call} />}
      {span.kind === "wait" && span.interruptId !== undefined && <InterruptCard threadId={threadId} interruptId={span.interruptId} />}
      <p className="flex flex-wrap gap-4 text-sm">
        <Link className="min-h-6 text-link underline" href={to.chat(threadId, { select: span.callId ?? span.stepId ?? span.run })}>
          {t("runs.showInThread")}
        </Link>
        <Link className="min-h-6 text-link underline" href={to.chat(threadId, { dock: "events", event: span.seq })}>
          {t("runs.showEvents")}
        </Link>
      </p>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
