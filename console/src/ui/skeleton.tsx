import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/** Where something will be. With a `label` it says that it is being loaded; give one of several a label. */
export function Skeleton({ className, label }: { className?: string; label?: string }) {
  return (
    <div
      role={label ? "status" : undefined}
      aria-hidden={label ? undefined : true}
      className={cx("rounded-lg bg-quiet-soft animate-shimmer", className)}
    >
      {label && <span className="sr-only">{label}</span>}
    </div>
  );
}

/** A list that is being loaded. */
export function SkeletonRows({ rows = 6, label, className }: { rows?: number; label: string; className?: string }) {
  return (
    <div role="status" className={cx("flex flex-col gap-3", className)}>
      <span className="sr-only">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <div key={row} className="flex items-center gap-3">
          <Skeleton className="size-9 shrink-0" />
          <div className="flex flex-1 flex-col gap-2">
            <Skeleton className={cx("h-3.5", ["w-2/3", "w-1/2", "w-3/5"][row % 3])} />
            <Skeleton className="h-3 w-1/3" />
          </div>
        </div>
      ))}
    </div>
  );
}

/** Nothing there: one sentence, and one thing to do about it. */
export function EmptyState({ icon, title, hint, action }: { icon?: ReactNode; title: string; hint?: string; action?: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-sm flex-col items-center justify-center gap-1.5 px-6 py-16 text-center">
      {icon && (
        <div className="mb-2 flex size-12 items-center justify-center rounded-2xl border border-line bg-surface text-muted shadow-card [&>svg]:size-5.5">
          {icon}
        </div>
      )}
      <p className="text-lg font-semibold">{title}</p>
      {hint && <p className="text-muted">{hint}</p>}
      {action && <div className="mt-3">{action}</div>}
    </div>
  );
}
