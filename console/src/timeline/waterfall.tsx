import { type Segment, type Span, type TimeMap, timeMapOf } from "handback/client";
import { Bot, Cpu, Hourglass, Play, Workflow, Wrench } from "lucide-react";
import { useMemo } from "react";
import { useLanguage, useT } from "../i18n/i18n.ts";
import { cx } from "../ui/cx.ts";
import { durationText, useNow } from "../ui/time.tsx";

const ICONS = { run: Play, model: Cpu, node: Workflow, agent: Bot, tool: Wrench, wait: Hourglass } as const;

const SEGMENTS: Record<Segment["kind"], string> = {
  work: "bg-info",
  args: "bg-info/60",
  queue: "bg-claim",
  exec: "bg-good",
  wait: "hatched border border-wait",
};

type Props = { spans: readonly Span[]; selected?: string | undefined; onSelect: (span: Span) => void; detailed?: boolean };

/** Who worked when, and what was waited for. Waiting looks different from work, and long silences are folded. */
export function Waterfall({ spans, selected, onSelect, detailed = true }: Props) {
  const t = useT();
  const open = spans.some(({ end }) => end === undefined);
  const clock = useNow();
  const now = open ? clock : (spans.at(-1)?.end ?? clock);
  const shown = useMemo(() => (detailed ? spans : spans.filter(({ kind }) => kind !== "model" && kind !== "agent")), [spans, detailed]);
  const map = useMemo(() => timeMapOf(spans, now), [spans, now]);
  const depths = useMemo(() => depthsOf(shown), [shown]);
  return (
    <div className="relative min-w-0" data-testid="waterfall">
      <ul aria-label={t("dock.timeline")}>
        {shown.map((span) => (
          <li key={span.id}>
            <Row span={span} map={map} now={now} depth={depths.get(span.id) ?? 0} selected={span.id === selected} onSelect={onSelect} />
          </li>
        ))}
      </ul>
      <Gaps map={map} />
    </div>
  );
}

function Row({
  span,
  map,
  now,
  depth,
  selected,
  onSelect,
}: {
  span: Span;
  map: TimeMap;
  now: number;
  depth: number;
  selected: boolean;
  onSelect: (span: Span) => void;
}) {
  const t = useT();
  const language = useLanguage();
  const Icon = ICONS[span.kind];
  const took = durationText(Math.max(0, (span.end ?? now) - span.start), language);
  const bad = span.state === "failed" || span.state === "rejected";
  return (
    <button
      type="button"
      aria-pressed={selected}
      onClick={() => onSelect(span)}
      className={cx(
        "grid h-8 w-full grid-cols-[8rem_1fr_4.5rem] sm:grid-cols-[11rem_1fr_4.5rem] items-center gap-2 px-3 text-left text-xs -outline-offset-2 hover:bg-hover",
        selected && "bg-accent-soft",
      )}
    >
      <span className="flex min-w-0 items-center gap-1.5" style={{ paddingLeft: depth * 10 }}>
        <Icon aria-hidden className={cx("size-3.5 shrink-0", bad ? "text-bad" : "text-muted")} />
        <span className="sr-only">{t(`runs.${span.kind}`)}</span>
        <span className="truncate font-mono">{span.kind === "run" ? `#${span.seq}` : span.name}</span>
      </span>
      <span className="relative h-4 rounded bg-quiet-soft">
        {span.segments.map((segment) => (
          <Bar
            key={segment.start + segment.kind}
            segment={segment}
            map={map}
            now={now}
            className={cx(SEGMENTS[segment.kind], bad && segment.kind !== "wait" && "bg-bad")}
          />
        ))}
      </span>
      <span className="text-right text-muted tabular-nums">{took}</span>
    </button>
  );
}

function Bar({ segment, map, now, className }: { segment: Segment; map: TimeMap; now: number; className: string }) {
  const left = map.at(segment.start) * 100;
  const width = Math.max(0.6, map.at(segment.end ?? now) * 100 - left);
  return (
    <span
      data-segment={segment.kind}
      className={cx("absolute inset-y-0.5 rounded-sm", segment.end === undefined && "animate-breathe", className)}
      style={{ left: `${Math.min(left, 99.4)}%`, width: `${width}%` }}
    />
  );
}

/** Where time was folded, drawn through all bars, with how much of it. */
function Gaps({ map }: { map: TimeMap }) {
  const language = useLanguage();
  if (map.gaps.length === 0) return null;
  return (
    <div aria-hidden className="pointer-events-none absolute inset-y-0 right-[5.75rem] left-[9.25rem] sm:left-[12.25rem]">
      {map.gaps.map((gap) => {
        const [left, right] = [map.at(gap.start) * 100, map.at(gap.end) * 100];
        return (
          <span
            key={gap.start}
            data-testid="gap"
            className="absolute inset-y-0 flex items-end justify-center border-x border-dashed border-line-strong/60"
            style={{ left: `${left}%`, width: `${right - left}%` }}
          >
            <span className="translate-y-full pt-0.5 text-2xs whitespace-nowrap text-muted">
              ⌇ {durationText(gap.end - gap.start, language)}
            </span>
          </span>
        );
      })}
    </div>
  );
}

/** How deep each bar lies in others. */
function depthsOf(spans: readonly Span[]): Map<string, number> {
  const depths = new Map<string, number>();
  for (const { id, parent } of spans) depths.set(id, parent === undefined ? 0 : Math.min(4, (depths.get(parent) ?? 0) + 1));
  return depths;
}

/** What colours and patterns mean. */
export function Legend() {
  const t = useT();
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {(["work", "args", "queue", "exec", "wait"] as const).map((kind) => (
        <li key={kind} className="flex items-center gap-1.5">
          <span aria-hidden className={cx("h-2.5 w-4 rounded-sm", SEGMENTS[kind])} />
          {t(`runs.segment_${kind}`)}
        </li>
      ))}
    </ul>
  );
}
