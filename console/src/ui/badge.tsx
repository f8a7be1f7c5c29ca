import type { ReactNode } from "react";
import { cx } from "./cx.ts";

export type Tone = "info" | "wait" | "good" | "bad" | "claim" | "quiet" | "accent";

export const TONES: Record<Tone, string> = {
  info: "bg-info-soft text-info border-info-line",
  wait: "bg-wait-soft text-wait border-wait-line",
  good: "bg-good-soft text-good border-good-line",
  bad: "bg-bad-soft text-bad border-bad-line",
  claim: "bg-claim-soft text-claim border-claim-line",
  quiet: "bg-quiet-soft text-muted border-line",
  accent: "bg-accent-soft text-link border-transparent",
};

/** A short word on a coloured ground. */
export function Badge({
  tone = "quiet",
  icon,
  children,
  className,
  title,
}: {
  tone?: Tone;
  icon?: ReactNode;
  children: ReactNode;
  className?: string;
  title?: string;
}) {
  return (
    <span
      title={title}
      className={cx(
        "inline-flex max-w-full shrink-0 items-center gap-1 rounded-full border px-2 py-px text-xs font-medium whitespace-nowrap",
        TONES[tone],
        className,
      )}
    >
      {icon}
      {children}
    </span>
  );
}

/** How many, on an icon or beside a word. Nothing for none. */
export function Count({ n, label }: { n: number; label?: string }) {
  if (n === 0) return null;
  return (
    <span className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-full bg-wait px-1 text-2xs font-semibold text-surface tabular-nums">
      <span aria-hidden={label !== undefined}>{n > 99 ? "99+" : n}</span>
      {label && <span className="sr-only">{label}</span>}
    </span>
  );
}
