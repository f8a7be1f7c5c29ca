import type { CallView } from "handback/client";
import { latencyOf } from "handback/client";
import { Bot, Globe, Hash, Monitor, Plug, Server, User } from "lucide-react";
import { memo, type ReactNode, useRef } from "react";
import { Link } from "wouter";
import { to } from "../app/place.ts";
import { useParam } from "../app/use-param.ts";
import { useT } from "../i18n/i18n.ts";
import { Badge } from "../ui/badge.tsx";
import { cx } from "../ui/cx.ts";
import { type Role, StatusPill } from "../ui/status-pill.tsx";
import { Countdown, Duration } from "../ui/time.tsx";
import { CallActions } from "./actions.tsx";
import { Arguments } from "./arguments.tsx";
import { Settlement } from "./settlement.tsx";

const ICONS = { browser: Monitor, external: Plug, human: User, server: Server } as const;

/** Who runs or decides a call, whatever became of it. */
export function roleOf(call: CallView): Role {
  if (call.waitingFor) return call.waitingFor;
  if (call.needsApproval) return "human";
  return call.owner === "client" ? "browser" : call.owner;
}

/**
 * One call from its first letter to its result: what the agent wants, who owes it, what can be done about it now, and who did.
 * `readOnly` is for the past: replays and imported logs.
 */
export const CallCard = memo(function CallCard({
  threadId,
  call,
  readOnly = false,
  actions,
}: {
  threadId: string;
  call: CallView;
  readOnly?: boolean;
  actions?: ReactNode;
}) {
  const t = useT();
  const card = useRef<HTMLElement>(null);
  const [selected] = useParam("select");
  const role = roleOf(call);
  const Icon = ICONS[role] ?? Bot;
  const open = call.phase === "waiting" || call.phase === "claimed";
  const latency = latencyOf(call);
  return (
    <article
      ref={card}
      id={`call-${call.id}`}
      data-testid="call-card"
      data-phase={call.phase}
      aria-label={t("call.card", { name: call.name })}
      tabIndex={-1}
      className={cx(
        "my-2 min-w-0 scroll-my-24 overflow-hidden rounded-xl border bg-surface shadow-card transition-colors focus-visible:outline-2",
        open ? "border-wait-line" : call.phase === "failed" || call.phase === "rejected" ? "border-bad-line" : "border-line",
        selected === call.id && "ring-2 ring-accent",
      )}
    >
      <header
        className={cx(
          "flex min-h-11 flex-wrap items-center gap-x-2.5 gap-y-1 border-b px-3.5 py-2",
          open ? "border-wait-line bg-wait-soft" : "border-line",
        )}
      >
        <Icon aria-hidden className="size-4 shrink-0 text-muted" />
        <h2 className="min-w-0 font-mono text-sm font-semibold [overflow-wrap:anywhere]">{call.name}</h2>
        <StatusPill status={call.phase} waitingFor={call.waitingFor} />
        {call.place && <Badge title={t("call.inNode")}>{call.place.path.join(" › ")}</Badge>}
        <span className="ml-auto flex items-center gap-2.5 text-xs text-muted">
          {open && call.deadline !== undefined && <Countdown to={call.deadline} />}
          {open && call.deadline === undefined && <Duration since={call.offeredAt ?? call.askedAt ?? call.startedAt} />}
          {latency !== undefined && <Duration ms={latency} />}
          <Link
            href={to.chat(threadId, { event: call.settledSeq ?? call.seq, dock: "events" })}
            className="flex min-h-6 items-center gap-0.5 rounded px-0.5 font-mono hover:text-fg"
            aria-label={t("call.event", { n: call.settledSeq ?? call.seq })}
          >
            <Hash aria-hidden className="size-3" />
            {call.settledSeq ?? call.seq}
          </Link>
        </span>
      </header>
      <div className="flex flex-col gap-3 p-3.5">
        <Arguments call={call} />
        {call.source !== undefined && <Source text={call.source} />}
        {open && !readOnly && (actions ?? <CallActions threadId={threadId} call={call} onDone={() => card.current?.focus()} />)}
        {call.phase === "dispatched" && (
          <p className="flex items-center gap-1.5 text-sm text-muted">
            <Globe aria-hidden className="size-3.5" />
            {t("call.runsAtServer")}
          </p>
        )}
        {!open && call.settledAt !== undefined && <Settlement call={call} />}
      </div>
    </article>
  );
});

/** What a model without calls of its own wrote, where a profile made a call of it. */
function Source({ text }: { text: string }) {
  const t = useT();
  return (
    <details className="text-sm">
      <summary className="min-h-6 text-muted hover:text-fg">{t("call.showSource")}</summary>
      <pre className="mt-1.5 overflow-auto rounded-lg border border-line bg-sunken px-3.5 py-3 font-mono text-xs leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {text}
      </pre>
    </details>
  );
}
