import type { InterruptView } from "handback/client";
import { Hash, MessageCircleQuestion } from "lucide-react";
import { useRef, useState } from "react";
import { Link } from "wouter";
import { to } from "../app/place.ts";
import { useParam } from "../app/use-param.ts";
import { type Answered, useActionState, useActions, useThreadPart } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { type CheckedJson, checkJson } from "../ui/check-json.ts";
import { cx } from "../ui/cx.ts";
import { JsonEditor } from "../ui/json-editor.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { type Status, StatusPill } from "../ui/status-pill.tsx";
import { Countdown, RelativeTime } from "../ui/time.tsx";
import { notByEnter } from "./not-by-enter.ts";
import { Output } from "./settlement.tsx";
import { TextAnswer } from "./text-answer.tsx";

const STATES: Record<InterruptView["status"], Status> = { open: "waiting", resolved: "done", cancelled: "cancelled", expired: "expired" };

/** A question a graph or an agent asks: whatever its reason and its shape, it can be read and answered here. */
export function InterruptCard({
  threadId,
  interruptId,
  readOnly = false,
  onDone,
}: {
  threadId: string;
  interruptId: string;
  readOnly?: boolean;
  /** After an answer; without it the card takes the focus. */
  onDone?: (() => void) | undefined;
}) {
  const interrupt = useThreadPart(threadId, (view) => view.interrupts.get(interruptId));
  return interrupt ? <InterruptCardOf threadId={threadId} interrupt={interrupt} readOnly={readOnly} onDone={onDone} /> : null;
}

function InterruptCardOf({
  threadId,
  interrupt,
  readOnly,
  onDone,
}: {
  threadId: string;
  interrupt: InterruptView;
  readOnly: boolean;
  onDone: (() => void) | undefined;
}) {
  const t = useT();
  const { place, prompt, status } = interrupt;
  const open = status === "open";
  const card = useRef<HTMLElement>(null);
  const [selected] = useParam("select");
  return (
    <article
      ref={card}
      tabIndex={-1}
      id={`interrupt-${interrupt.id}`}
      data-testid="interrupt-card"
      data-status={status}
      aria-label={t("call.question")}
      className={cx(
        "my-2 min-w-0 scroll-my-24 overflow-hidden rounded-xl border bg-surface shadow-card focus-visible:outline-2",
        open ? "border-wait-line" : "border-line",
        selected === interrupt.id && "ring-2 ring-accent",
      )}
    >
      <header
        className={cx(
          "flex min-h-11 flex-wrap items-center gap-x-2.5 gap-y-1 border-b px-3.5 py-2",
          open ? "border-wait-line bg-wait-soft" : "border-line",
        )}
      >
        <MessageCircleQuestion aria-hidden className="size-4 shrink-0 text-muted" />
        <h2 className="min-w-0 font-mono text-sm font-semibold [overflow-wrap:anywhere]">{place?.key ?? interrupt.reason}</h2>
        <StatusPill status={STATES[status]} waitingFor={open ? "human" : undefined} />
        {place && <Badge title={t("call.inNode")}>{place.path.join(" › ")}</Badge>}
        <span className="ml-auto flex items-center gap-2.5 text-xs text-muted">
          {open && interrupt.deadline !== undefined && <Countdown to={interrupt.deadline} />}
          <Link
            href={to.chat(threadId, { event: interrupt.seq, dock: "events" })}
            className="flex min-h-6 items-center gap-0.5 rounded px-0.5 font-mono hover:text-fg"
            aria-label={t("call.event", { n: interrupt.seq })}
          >
            <Hash aria-hidden className="size-3" />
            {interrupt.seq}
          </Link>
        </span>
      </header>
      <div className="flex flex-col gap-3 p-3.5">
        {typeof prompt === "string" ? <Markdown text={prompt} /> : <Prompt value={prompt} />}
        {open && !readOnly && <AnswerForm interrupt={interrupt} onDone={onDone ?? (() => card.current?.focus())} />}
        {!open && (
          <>
            {interrupt.value !== undefined && <Output value={interrupt.value} name={place?.key ?? interrupt.reason} />}
            <p className="text-xs text-muted">
              {t(status === "resolved" ? "call.answeredBy" : status === "expired" ? "call.by_expired" : "call.by_cancelled", {
                who: (interrupt.by ?? "").replace(/^\w+:/, ""),
                via: interrupt.via ?? "",
              })}
              {interrupt.answeredAt !== undefined && (
                <>
                  {" · "}
                  <RelativeTime at={interrupt.answeredAt} />
                </>
              )}
            </p>
          </>
        )}
      </div>
    </article>
  );
}

/** What an agent asks in a shape of its own: its message as a text, the rest as it is. */
function Prompt({ value }: { value: unknown }) {
  const t = useT();
  const message = typeof value === "object" && value !== null && "message" in value ? value.message : undefined;
  return (
    <>
      {typeof message === "string" && <Markdown text={message} />}
      <div className="overflow-auto rounded-lg border border-line bg-sunken px-2 py-2">
        <JsonTree value={value} label={t("call.question")} open={2} />
      </div>
    </>
  );
}

function AnswerForm({ interrupt, onDone }: { interrupt: InterruptView; onDone: () => void }) {
  const t = useT();
  const { answer, dismiss } = useActions();
  const busy = useActionState(interrupt.id).state === "sending";
  const [problem, setProblem] = useState<string>();
  const send = async (sent: Promise<Answered>) => {
    setProblem(undefined);
    const got = await sent;
    if (got.type === "ok") onDone();
    else if (got.type === "elsewhere") setProblem(t("call.elsewhere"));
    else if (got.type === "expired") setProblem(t("call.tooLate"));
    else if (got.type === "invalid") setProblem(got.message);
    else if (got.type === "failed") setProblem(got.error.message);
  };
  const give = (value: unknown) => void send(answer(interrupt.id, value as never));
  const drop = () => void send(dismiss(interrupt.id));
  const choices = choicesOf(interrupt.schema);
  const type = interrupt.schema?.["type"];
  return (
    <div className="flex flex-col gap-2.5">
      {choices ? (
        <div className="flex flex-wrap gap-2">
          {choices.map((choice, index) => (
            <Button
              key={String(choice)}
              kind={index === 0 ? "primary" : "secondary"}
              busy={busy}
              onKeyDown={notByEnter(() => give(choice))}
              onClick={() => give(choice)}
            >
              {choice === true ? t("call.yes") : choice === false ? t("call.no") : String(choice)}
            </Button>
          ))}
          <Button kind="ghost" disabled={busy} onClick={drop}>
            {t("call.dismiss")}
          </Button>
        </div>
      ) : type === "string" ? (
        <TextAnswer label={t("call.answerLabel")} action={t("call.answer")} busy={busy} onCancel={drop} onSubmit={give} />
      ) : (
        <JsonAnswer schema={interrupt.schema} busy={busy} onSubmit={give} onCancel={drop} />
      )}
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
    </div>
  );
}

/** The few answers there are, where a schema names them. */
function choicesOf(schema: InterruptView["schema"]): unknown[] | undefined {
  if (schema?.["type"] === "boolean") return [true, false];
  const values = schema?.["enum"];
  return Array.isArray(values) && values.length <= 6 ? values : undefined;
}

function JsonAnswer({
  schema,
  busy,
  onSubmit,
  onCancel,
}: {
  schema: object | undefined;
  busy: boolean;
  onSubmit: (value: unknown) => void;
  onCancel: () => void;
}) {
  const t = useT();
  const [text, setText] = useState("{}");
  const [checked, setChecked] = useState<CheckedJson>(() => checkJson(text, schema));
  const wrong = checked.problems.length > 0;
  const submit = () => {
    if (!wrong && !busy) onSubmit(checked.value);
  };
  return (
    <div className="flex flex-col gap-2.5">
      <JsonEditor
        text={text}
        schema={schema}
        label={t("call.answerLabel")}
        minHeight={64}
        onSubmit={submit}
        onChange={(next, result) => {
          setText(next);
          setChecked(result);
        }}
      />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" busy={busy} disabled={wrong} onClick={submit}>
          {t("call.answer")}
        </Button>
        <Button kind="ghost" disabled={busy} onClick={onCancel}>
          {t("call.dismiss")}
        </Button>
      </div>
    </div>
  );
}
