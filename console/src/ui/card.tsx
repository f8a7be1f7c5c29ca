import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/** A card with a heading, a sentence, and what it is about. */
export function Section({
  title,
  hint,
  actions,
  children,
  id,
  className,
}: {
  title: string;
  hint?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  id?: string;
  className?: string;
}) {
  return (
    <section id={id} aria-label={title} className={cx("rounded-xl border border-line bg-surface shadow-card", className)}>
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-5 pt-4">
        <div className="min-w-0">
          <h2 className="text-lg font-semibold">{title}</h2>
          {hint && <p className="mt-0.5 max-w-prose text-sm text-muted">{hint}</p>}
        </div>
        {actions}
      </header>
      <div className="px-5 pt-4 pb-5">{children}</div>
    </section>
  );
}
