import type { CallView } from "handback/client";
import { latencyOf } from "handback/client";
import { useLanguage, useT } from "../i18n/i18n.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Diff } from "../ui/diff.tsx";
import { durationText, RelativeTime } from "../ui/time.tsx";
import { jsonText } from "./json-text.ts";
import { TooBig } from "./too-big.tsx";

/** What came of a call: who answered, how long it took, what was changed and what came back. */
export function Settlement({ call }: { call: CallView }) {
  const t = useT();
  const language = useLanguage();
  const { verdict, edited, error, output } = call;
  const latency = latencyOf(call);
  const who = verdict && !verdict.approved ? verdict : { by: call.by ?? "", via: call.via ?? "" };
  // What the server runs itself nobody has answered.
  const by =
    call.via === "engine" && call.phase === "done"
      ? t("call.by_server")
      : t(`call.by_${call.phase}` as "call.by_done", { who: nameOf(who.by), via: who.via });
  return (
    <div className="flex flex-col gap-2.5">
      {edited !== undefined && (
        <div className="flex flex-col gap-1.5">
          <p className="text-sm text-muted">{t("call.edited", { who: nameOf(verdict?.by ?? "") })}</p>
          <Diff before={call.input} after={edited} label={t("call.diff")} />
        </div>
      )}
      {error !== undefined && (
        <p className="rounded-lg border border-bad-line bg-bad-soft px-3.5 py-2.5 text-sm text-bad whitespace-pre-wrap [overflow-wrap:anywhere]">
          {error}
        </p>
      )}
      {call.invalid !== undefined && error !== call.invalid && <p className="text-sm text-bad">{call.invalid}</p>}
      {output !== undefined && <Output value={output} name={call.name} />}
      <p className="flex flex-wrap items-center gap-x-1.5 text-xs text-muted">
        <span>{by}</span>
        {verdict?.approved && who.by !== verdict.by && <span>· {t("call.approvedBy", { who: nameOf(verdict.by) })}</span>}
        {verdict?.approved && verdict.reason && <span>· “{verdict.reason}”</span>}
        {latency !== undefined && <span>· {t("call.after", { time: durationText(latency, language) })}</span>}
        {call.settledAt !== undefined && (
          <span>
            · <RelativeTime at={call.settledAt} />
          </span>
        )}
      </p>
    </div>
  );
}

/** A result as a person reads it: a text as a text, anything else as JSON. */
export function Output({ value, name }: { value: unknown; name: string }) {
  const t = useT();
  const text = typeof value === "string" ? value : jsonText(value);
  return (
    <TooBig text={text} name={`${name}-result.${typeof value === "string" ? "txt" : "json"}`}>
      <CodeBlock code={text} language={typeof value === "string" ? "text" : "json"} label={t("call.result", { name })} wrap />
    </TooBig>
  );
}

/** `user:alice` is alice to everyone who reads it. */
function nameOf(by: string): string {
  return by.replace(/^(user|executor|operator|grant):/, "") || "–";
}
