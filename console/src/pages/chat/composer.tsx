import { pendingOf, type ThreadView } from "handback/client";
import { ArrowUp, Hourglass, Square } from "lucide-react";
import { useState } from "react";
import { type Outgoing, useActions } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { ComposerBox } from "./composer-box.tsx";

/** Where a person speaks. It knows what a message would do right now, and says so before it does it. */
export function Composer({ threadId, view, outgoing }: { threadId: string; view: ThreadView; outgoing: readonly Outgoing[] }) {
  const t = useT();
  const { send, queue, stop } = useActions();
  const [asked, setAsked] = useState<{ text: string; why: "busy" | "waiting" }>();
  const [stopping, setStopping] = useState(false);
  const running = view.status === "running";
  const pending = pendingOf(view);
  const submit = (text: string): boolean => {
    if (running) setAsked({ text, why: "busy" });
    else if (pending.length > 0) setAsked({ text, why: "waiting" });
    else {
      void send(threadId, text);
      return true;
    }
    return false;
  };
  const first = pending[0];
  const choose = (act: () => void) => {
    setAsked(undefined);
    localStorage.removeItem(`handback.draft.${threadId}`);
    act();
  };
  /** Everything that waits is called off first: a thread that waits for an answer takes no other message. */
  const cancelAndSend = async (text: string) => {
    await stop(threadId);
    await send(threadId, text);
  };
  return (
    <div className="shrink-0 border-t border-line bg-surface py-3">
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-4 md:px-6">
        {asked ? (
          <div
            role="alertdialog"
            aria-label={t(asked.why === "busy" ? "chat.busy" : "chat.waitsFor", { n: pending.length })}
            className="flex flex-col gap-2.5 rounded-xl border border-wait-line bg-wait-soft px-4 py-3"
          >
            <p className="text-sm font-medium text-wait">
              {t(asked.why === "busy" ? "chat.busy" : "chat.waitsFor", { n: pending.length })}
            </p>
            <p className="line-clamp-3 text-sm whitespace-pre-wrap">“{asked.text}”</p>
            <div className="flex flex-wrap gap-2">
              {asked.why === "busy" && (
                <Button kind="primary" size="sm" onClick={() => choose(() => queue(threadId, asked.text))}>
                  {t("chat.sendAfter")}
                </Button>
              )}
              <Button size="sm" onClick={() => choose(() => void cancelAndSend(asked.text))}>
                {t(asked.why === "busy" ? "chat.stopAndSend" : "chat.cancelAndSend")}
              </Button>
              {asked.why === "waiting" && first && (
                <Button
                  size="sm"
                  onClick={() => {
                    setAsked(undefined);
                    document.getElementById(`call-${first.id}`)?.focus();
                  }}
                >
                  {t("chat.answerInstead")}
                </Button>
              )}
              <Button kind="ghost" size="sm" onClick={() => setAsked(undefined)}>
                {t("ui.cancel")}
              </Button>
            </div>
          </div>
        ) : (
          !running &&
          pending.length > 0 && (
            <p className="flex items-center gap-1.5 text-sm text-wait">
              <Hourglass aria-hidden className="size-3.5" />
              {t("chat.waitsFor", { n: pending.length })}
            </p>
          )
        )}
        <ComposerBox
          key={threadId}
          name={threadId}
          hidden={asked !== undefined}
          onSubmit={submit}
          placeholder={t("chat.placeholder")}
          action={
            running && outgoing.length === 0 ? (
              <Button
                size="sm"
                busy={stopping}
                icon={<Square aria-hidden className="size-3.5" />}
                onClick={() => {
                  setStopping(true);
                  void Promise.resolve(stop(threadId)).finally(() => setStopping(false));
                }}
              >
                {t("chat.stop")}
              </Button>
            ) : null
          }
          icon={<ArrowUp aria-hidden className="size-4.5" />}
        />
      </div>
    </div>
  );
}
