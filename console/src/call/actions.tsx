import type { CallView } from "handback/client";
import { useState } from "react";
import { type Answered, useActionState } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { BrowserActions } from "./browser-actions.tsx";
import { ExternalActions } from "./external-actions.tsx";
import { HumanActions } from "./human-actions.tsx";

export type ActionProps = {
  threadId: string;
  call: CallView;
  /** Sends an answer and says below the buttons what became of it. */
  send: (answer: Promise<Answered>) => Promise<void>;
  busy: boolean;
  /** Opens with this, where a key asked for it. */
  mode?: "edit" | "reject" | undefined;
};

/** What can be done about a call that waits, by whom it waits for. */
export function CallActions({
  threadId,
  call,
  mode,
  onDone,
}: Pick<ActionProps, "threadId" | "call" | "mode"> & { onDone?: (() => void) | undefined }) {
  const t = useT();
  const { state } = useActionState(call.id);
  const [problem, setProblem] = useState<string>();
  const send = async (answer: Promise<Answered>) => {
    setProblem(undefined);
    const result = await answer;
    if (result.type === "ok") onDone?.();
    else if (result.type === "elsewhere") setProblem(t("call.elsewhere"));
    else if (result.type === "expired") setProblem(t("call.tooLate"));
    else setProblem(result.type === "invalid" ? result.message : result.error.message);
  };
  const props: ActionProps = { threadId, call, send, busy: state === "sending", mode };
  return (
    <div className="flex flex-col gap-2.5">
      {call.phase === "claimed" && call.claim && <p className="text-sm text-claim">{t("call.claimedBy", { who: call.claim.by })}</p>}
      {call.waitingFor === "human" && <HumanActions {...props} />}
      {call.waitingFor === "browser" && <BrowserActions {...props} />}
      {call.waitingFor === "external" && <ExternalActions {...props} />}
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
      {call.onTimeout && call.deadline !== undefined && <p className="text-xs text-muted">{t(`call.onTimeout_${call.onTimeout.type}`)}</p>}
    </div>
  );
}
