import { type KeyboardEvent, type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

export type Tab<Id extends string = string> = { id: Id; label: string; icon?: ReactNode; count?: ReactNode };

/** A row of tabs and the panel of the one that is chosen. Where the choice lives (best: in the URL) is the caller's. */
export function Tabs<Id extends string>({
  tabs,
  value,
  onChange,
  label,
  after,
  children,
  className,
  panelClassName,
}: {
  tabs: Tab<Id>[];
  value: Id;
  onChange: (id: Id) => void;
  label: string;
  after?: ReactNode;
  children: ReactNode;
  className?: string;
  panelClassName?: string;
}) {
  const id = useId();
  const press = (event: KeyboardEvent) => {
    const here = tabs.findIndex((tab) => tab.id === value);
    const next = { ArrowRight: (here + 1) % tabs.length, ArrowLeft: (here - 1 + tabs.length) % tabs.length, Home: 0, End: tabs.length - 1 }[
      event.key
    ];
    const tab = next === undefined ? undefined : tabs[next];
    if (!tab) return;
    event.preventDefault();
    onChange(tab.id);
    document.getElementById(`${id}-${tab.id}`)?.focus();
  };
  return (
    <div className={cx("flex min-h-0 flex-col", className)}>
      <div className="flex shrink-0 items-center gap-2 border-b border-line">
        <div role="tablist" aria-label={label} onKeyDown={press} className="flex min-w-0 flex-1 gap-1 overflow-x-auto px-2">
          {tabs.map(({ id: name, label: text, icon, count }) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`${id}-${name}`}
              aria-selected={name === value}
              aria-controls={`${id}-panel`}
              tabIndex={name === value ? 0 : -1}
              onClick={() => onChange(name)}
              className="relative flex h-10 shrink-0 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium text-muted transition-colors -outline-offset-2 after:absolute after:inset-x-2 after:bottom-0 after:h-0.5 after:rounded-full hover:text-fg aria-selected:text-link aria-selected:after:bg-accent"
            >
              {icon}
              {text}
              {count}
            </button>
          ))}
        </div>
        {after}
      </div>
      <div
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${value}`}
        tabIndex={0}
        className={cx("min-h-0 flex-1 -outline-offset-2", panelClassName)}
      >
        {children}
      </div>
    </div>
  );
}

/** A few alternatives side by side, one of them chosen. */
export function Segmented<Id extends string>({
  options,
  value,
  onChange,
  label,
}: {
  options: { id: Id; label: ReactNode }[];
  value: Id;
  onChange: (id: Id) => void;
  label: string;
}) {
  return (
    <div role="radiogroup" aria-label={label} className="inline-flex flex-wrap rounded-lg border border-line bg-sunken p-0.5">
      {options.map(({ id, label: name }) => (
        <label
          key={id}
          className={cx(
            "relative flex h-7 cursor-pointer items-center gap-1.5 rounded-md px-3 text-sm font-medium transition-colors has-focus-visible:outline-2 has-focus-visible:outline-accent",
            value === id ? "bg-raised text-fg shadow-card" : "text-muted hover:text-fg",
          )}
        >
          <input type="radio" className="sr-only" name={label} checked={value === id} onChange={() => onChange(id)} />
          {name}
        </label>
      ))}
    </div>
  );
}
