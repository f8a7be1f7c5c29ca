import { pendingOf, type ThreadView } from "handback/client";
import { Hourglass, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTry } from "../../call/use-try.ts";
import { useActions } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { ComposerBox } from "./composer-box.tsx";
import { useDraft } from "./use-draft.ts";

type Props = {
  threadId: string;
  view: ThreadView;
  /** Leads to a call or question that waits. */
  onAnswer: (id: string) => void;
};

/** Where a person speaks. It knows what a message would do right now, and says so before it does it. */
export function Composer({ threadId, view, onAnswer }: Props) {
  const t = useT();
  const { send, stop } = useActions();
  const attempt = useTry();
  const [text, setText] = useDraft(threadId);
  const [asking, setAsking] = useState(false);
  const [stopping, setStopping] = useState(false);
  const box = useRef<{ focus(): void }>(null);
  const running = view.status === "running";
  const pending = pendingOf(view);
  const first = pending[0];
  const submit = (said: string) => {
    if (running || first) return setAsking(true);
    setText("");
    void send(threadId, said);
  };
  const close = () => {
    setAsking(false);
    requestAnimationFrame(() => box.current?.focus());
  };
  const endRun = async () => {
    setStopping(true);
    await attempt(stop(threadId));
    setStopping(false);
  };
  return (
    <div className="shrink-0 border-t border-line bg-surface py-3">
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-4 md:px-6">
        {asking ? (
          <Choice
            threadId={threadId}
            text={text.trim()}
            why={running ? "busy" : first ? "waiting" : "free"}
            waits={pending.length}
            onSent={() => {
              setText("");
              close();
            }}
            onClose={close}
            onAnswer={() => {
              setAsking(false);
              if (first) onAnswer(first.id);
            }}
          />
        ) : (
          <>
            {!running && first && (
              <div className="flex flex-wrap items-center gap-x-2 text-sm text-wait">
                <Hourglass aria-hidden className="size-3.5" />
                {t("chat.waitsFor", { n: pending.length })}
                <button type="button" onClick={() => onAnswer(first.id)} className="min-h-6 rounded px-1 font-medium underline">
                  {t("chat.answerInstead")}
                </button>
              </div>
            )}
            <ComposerBox
              ref={box}
              text={text}
              onText={setText}
              onSubmit={submit}
              placeholder={t("chat.placeholder")}
              action={
                running && (
                  <Button
                    className="h-9!"
                    size="sm"
                    busy={stopping}
                    icon={<Square aria-hidden className="size-3.5" />}
                    onClick={() => void endRun()}
                  >
                    {t("chat.stop")}
                  </Button>
                )
              }
            />
          </>
        )}
      </div>
    </div>
  );
}

/** What to do with a message that comes while something else is going on. Enter alone chooses nothing. */
function Choice({
  threadId,
  text,
  why,
  waits,
  onSent,
  onClose,
  onAnswer,
}: {
  threadId: string;
  text: string;
  why: "busy" | "waiting" | "free";
  waits: number;
  onSent: () => void;
  onClose: () => void;
  onAnswer: () => void;
}) {
  const t = useT();
  const { send, queue, stop } = useActions();
  const attempt = useTry();
  const self = useRef<HTMLDivElement>(null);
  useEffect(() => self.current?.focus(), []);
  const question = why === "free" ? t("chat.nowFree") : t(why === "busy" ? "chat.busy" : "chat.waitsFor", { n: waits });
  /** Everything that waits is called off first: a thread that waits for an answer takes no other message. */
  const cancelAndSend = async () => {
    if (!(await attempt(stop(threadId)))) return;
    onSent();
    // The run ends in a moment, and until then it takes no message.
    queue(threadId, text);
  };
  return (
    <div
      ref={self}
      role="alertdialog"
      tabIndex={-1}
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
      className="flex flex-col gap-2.5 rounded-xl border border-wait-line bg-wait-soft px-4 py-3"
    >
      <p className="text-sm font-medium text-wait">{question}</p>
      <p className="line-clamp-3 text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">“{text}”</p>
      <div className="flex flex-wrap gap-2">
        {why === "free" && (
          <Button
            kind="primary"
            size="sm"
            onClick={() => {
              onSent();
              void send(threadId, text);
            }}
          >
            {t("chat.send")}
          </Button>
        )}
        {why === "busy" && (
          <Button
            kind="primary"
            size="sm"
            onClick={() => {
              onSent();
              queue(threadId, text);
            }}
          >
            {t("chat.sendAfter")}
          </Button>
        )}
        {why === "waiting" && (
          <Button kind="primary" size="sm" onClick={onAnswer}>
            {t("chat.answerInstead")}
          </Button>
        )}
        {why !== "free" && (
          <Button size="sm" onClick={() => void cancelAndSend()}>
            {t(why === "busy" ? "chat.stopAndSend" : "chat.cancelAndSend")}
          </Button>
        )}
        <Button kind="ghost" size="sm" onClick={onClose}>
          {t("ui.cancel")}
        </Button>
      </div>
    </div>
  );
}
