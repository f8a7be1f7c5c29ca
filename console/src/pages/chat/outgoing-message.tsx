import { Clock, RotateCcw, X } from "lucide-react";
import { useTry } from "../../call/use-try.ts";
import { type Outgoing, useActions } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button, Spinner } from "../../ui/button.tsx";

/** A message on its way: it is kept and sent again until it is in the log. */
export function OutgoingMessage({ message, threadId }: { message: Outgoing; threadId: string }) {
  const t = useT();
  const { retry, requeue, discard, stop } = useActions();
  const attempt = useTry();
  const busy = message.error?.code === "conflict";
  return (
    <div className="flex flex-col items-end gap-1 py-1.5" data-testid="outgoing" data-state={message.state}>
      <div className="max-w-[85%] rounded-2xl rounded-br-md border border-accent bg-accent-soft px-4 py-2.5 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {message.text}
      </div>
      <div className="flex flex-wrap items-center justify-end gap-1.5 text-sm text-muted">
        {message.state === "sending" && (
          <>
            <Spinner /> {t("chat.sending")}
          </>
        )}
        {message.state === "queued" && (
          <>
            <Clock aria-hidden className="size-3.5" /> {t("chat.queued")}
            <Button size="sm" kind="ghost" onClick={() => void attempt(stop(threadId))}>
              {t("chat.stopNow")}
            </Button>
            <Button size="sm" kind="ghost" onClick={() => discard(message.id)}>
              {t("ui.cancel")}
            </Button>
          </>
        )}
        {message.state === "failed" && (
          <>
            <span className="text-bad">{busy ? t("chat.busyNow") : message.error?.message}</span>
            {busy && (
              <Button size="sm" onClick={() => requeue(message.id)}>
                {t("chat.sendAfter")}
              </Button>
            )}
            <Button size="sm" icon={<RotateCcw aria-hidden className="size-3.5" />} onClick={() => retry(message.id)}>
              {t("chat.retry")}
            </Button>
            <Button size="sm" kind="ghost" icon={<X aria-hidden className="size-3.5" />} onClick={() => discard(message.id)}>
              {t("chat.discard")}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
