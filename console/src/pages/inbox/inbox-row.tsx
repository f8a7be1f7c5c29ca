import { Monitor, Plug, User } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { type PendingCall, toolOf } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { cx } from "../../ui/cx.ts";
import { Countdown, RelativeTime } from "../../ui/time.tsx";

const ICONS = { browser: Monitor, external: Plug, human: User } as const;

/** A call that waits: what, whose, since when and until when. */
export const InboxRow = memo(function InboxRow({
  call,
  current,
  chosen,
  onChoose,
  href,
}: {
  call: PendingCall;
  current: boolean;
  chosen: boolean;
  onChoose: (() => void) | undefined;
  href: string;
}) {
  const t = useT();
  const Icon = ICONS[call.role];
  const question = call.kind === "interrupt" && call.callId === undefined ? asText(call.input) : undefined;
  return (
    <div className={cx("flex items-stretch border-b border-line", current && "bg-accent-soft")} data-testid="inbox-row">
      <span className="flex w-10 shrink-0 items-center justify-center">
        {onChoose ? (
          <input
            type="checkbox"
            className="size-4 accent-(--accent)"
            aria-label={t("inbox.select", { name: toolOf(call) })}
            checked={chosen}
            onChange={onChoose}
          />
        ) : (
          <Icon aria-hidden className="size-4 text-muted" />
        )}
      </span>
      <Link href={href} aria-current={current ? "true" : undefined} className="min-w-0 flex-1 py-2.5 pr-3 -outline-offset-2">
        <span className="flex items-center gap-2">
          <span className="min-w-0 flex-1 truncate font-mono text-sm font-semibold">{toolOf(call)}</span>
          {call.expiresAt ? (
            <Countdown to={call.expiresAt} className="text-xs" />
          ) : (
            <RelativeTime at={call.createdAt} className="text-xs text-muted" />
          )}
        </span>
        <span className="block truncate text-sm text-muted">{call.title ?? call.threadId}</span>
        {question !== undefined && <span className="block truncate text-sm">{question}</span>}
        <span className="flex items-center gap-1.5 text-xs text-muted">
          <Icon aria-hidden className="size-3" />
          {t(`status.${call.role}`)}
          {call.user && <span>· {call.user}</span>}
          {call.claim && <span className="text-claim">· {t("call.claimedBy", { who: call.claim.by })}</span>}
        </span>
      </Link>
    </div>
  );
});

/** What is asked, in one line. */
function asText(prompt: unknown): string | undefined {
  if (typeof prompt === "string") return prompt;
  const message = typeof prompt === "object" && prompt !== null && "message" in prompt ? prompt.message : undefined;
  return typeof message === "string" ? message : undefined;
}
