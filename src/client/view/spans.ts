import { remembered } from "./select.ts";
import type { CallView, RunView, StepView, ThreadView } from "./view.ts";

/** A bar of the waterfall. Without `end` it goes on. */
export type Span = {
  readonly id: string;
  readonly kind: "run" | "model" | "node" | "agent" | "tool" | "wait";
  readonly name: string;
  readonly start: number;
  readonly end: number | undefined;
  readonly parent: string | undefined;
  readonly state: string;
  readonly run: number;
  readonly turnId: string;
  readonly seq: number;
  readonly stepId: string | undefined;
  readonly callId: string | undefined;
  readonly interruptId: string | undefined;
  readonly segments: readonly Segment[];
};

/** What was going on in a part of a bar: `wait` is nobody's work, and drawn so. */
export type Segment = {
  readonly kind: "work" | "args" | "queue" | "exec" | "wait";
  readonly start: number;
  readonly end: number | undefined;
};

/** The bars of a thread, or of the turn a run belongs to, by their beginning: runs, steps and calls in them, and what was waited for. */
export function spansOf(view: ThreadView, run?: number): readonly Span[] {
  const all = allSpans(view);
  const turnId = run === undefined ? undefined : view.runs.get(`${run}`)?.turnId;
  return turnId === undefined ? all : all.filter((span) => span.turnId === turnId);
}

const allSpans: (view: ThreadView) => readonly Span[] = remembered((view) => {
  const spans: Span[] = [];
  for (const run of view.runs) spans.push(runSpan(run));
  for (const step of view.steps) spans.push(stepSpan(step));
  for (const call of view.calls) spans.push(callSpan(call));
  for (const { id, reason, askedAt, answeredAt, callId, run, turnId, seq, status } of view.interrupts) {
    if (callId !== undefined) continue; // an approval is part of its call's bar
    spans.push({
      ...NAMELESS,
      id: `wait:${id}`,
      kind: "wait",
      name: reason,
      start: askedAt,
      end: answeredAt,
      parent: `run:${run}`,
      state: status,
      run,
      turnId,
      seq,
      interruptId: id,
      segments: [{ kind: "wait", start: askedAt, end: answeredAt }],
    });
  }
  return spans.sort((a, b) => a.start - b.start || a.seq - b.seq);
});

const NAMELESS = { stepId: undefined, callId: undefined, interruptId: undefined } as const;

function runSpan({ seq, id, turnId, startedAt: start, endedAt: end, state }: RunView): Span {
  const segments: Segment[] = [{ kind: "work", start, end }];
  return { ...NAMELESS, id: `run:${seq}`, kind: "run", name: id, start, end, parent: undefined, state, run: seq, turnId, seq, segments };
}

function stepSpan({ id, kind, name, startedAt: start, endedAt: end, parent, state, run, turnId, seq }: StepView): Span {
  const segments: Segment[] = [{ kind: "work", start, end }];
  const above = parent === undefined ? `run:${run}` : `step:${parent}`;
  return { ...NAMELESS, id: `step:${id}`, kind, name, start, end, parent: above, state, run, turnId, seq, stepId: id, segments };
}

function callSpan(call: CallView): Span {
  const { id, name, startedAt, settledAt, phase, run, turnId, seq, stepId, interruptId } = call;
  return {
    id: `call:${id}`,
    kind: "tool",
    name,
    start: startedAt,
    end: settledAt,
    parent: `step:${stepId}`,
    state: phase,
    run,
    turnId,
    seq,
    stepId,
    callId: id,
    interruptId,
    segments: segmentsOf(call),
  };
}

/** Its arguments being written, the time until somebody had it, waiting for a person and for the outside, and work on this server. */
function segmentsOf({ startedAt, calledAt, askedAt, offeredAt, settledAt, verdict, owner }: CallView): Segment[] {
  const steps: [Segment["kind"], number | undefined][] = [
    ["args", startedAt],
    [owner === "server" && askedAt === undefined ? "exec" : "queue", calledAt],
    ["wait", askedAt],
    [owner === "server" ? "exec" : "queue", askedAt === undefined ? undefined : verdict?.at],
    ["wait", offeredAt],
  ];
  const begun = steps.filter((step): step is [Segment["kind"], number] => step[1] !== undefined);
  const segments = begun.map(([kind, start], i): Segment => ({ kind, start, end: begun[i + 1]?.[1] ?? settledAt }));
  return segments.filter(({ start, end }) => end === undefined || end > start);
}

/** Where times are on a line on which long silences take little room. */
export type TimeMap = {
  /** What was left out, in milliseconds. */
  readonly gaps: readonly { readonly start: number; readonly end: number }[];
  readonly start: number;
  readonly end: number;
  /** A time as a part of the line, from 0 to 1. */
  at(ms: number): number;
};

const LEAST_GAP_MS = 10_000;
/** How much of a line a gap takes. */
const GAP_PART = 0.08;

/** Collapses the times in which nobody worked: those longer than ten seconds and ten times the usual bar. */
export function timeMapOf(spans: readonly Span[], now: number): TimeMap {
  const work = spans.flatMap(({ kind, segments }) =>
    kind === "run" ? [] : segments.filter((segment) => segment.kind !== "wait").map(({ start, end = now }) => ({ start, end })),
  );
  const bars = work.sort((a, b) => a.start - b.start);
  const start = spans[0]?.start ?? now;
  const end = spans.reduce((last, span) => Math.max(last, span.end ?? now), start);
  const lengths = bars.map((bar) => bar.end - bar.start).sort((a, b) => a - b);
  const least = Math.max(LEAST_GAP_MS, 10 * (lengths[lengths.length >> 1] ?? 0));
  const gaps: { start: number; end: number }[] = [];
  let busyUntil = start;
  for (const bar of [...bars, { start: end, end }]) {
    if (bar.start - busyUntil > least) gaps.push({ start: busyUntil, end: bar.start });
    busyUntil = Math.max(busyUntil, bar.end);
  }
  const left = gaps.reduce((sum, gap) => sum + gap.end - gap.start, 0);
  const shown = Math.max(1, end - start - left);
  const gapPart = Math.min(GAP_PART, 0.5 / Math.max(1, gaps.length));
  const scale = 1 - gapPart * gaps.length;
  return {
    gaps,
    start,
    end,
    at(ms) {
      let [out, part] = [0, 0];
      for (const gap of gaps) {
        if (ms <= gap.start) break;
        const inside = Math.min(ms, gap.end) - gap.start;
        out += inside;
        part += gapPart * (inside / (gap.end - gap.start));
      }
      return Math.min(1, Math.max(0, ((ms - start - out) / shown) * scale + part));
    },
  };
}
