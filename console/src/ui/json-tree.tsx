import { ChevronRight } from "lucide-react";
import { memo, useState } from "react";
import { useT } from "../i18n/i18n.ts";
import { cx } from "./cx.ts";

const PAGE = 100;

/** Any JSON, as a tree. Big arrays and long texts come in pages, so that nothing freezes. */
export const JsonTree = memo(function JsonTree({ value, open = 1, label }: { value: unknown; open?: number; label: string }) {
  return (
    <div role="group" aria-label={label} className="font-mono text-xs leading-5">
      <Node value={value} open={open} />
    </div>
  );
});

function Node({ name, value, open }: { name?: string | number; value: unknown; open: number }) {
  const t = useT();
  const [expanded, setExpanded] = useState(open > 0);
  const [shown, setShown] = useState(PAGE);
  if (typeof value !== "object" || value === null)
    return (
      <div className="flex gap-1.5 py-px pl-5">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    );
  const list = Array.isArray(value);
  const entries = list ? value.map((item, index) => [index, item] as const) : Object.entries(value);
  const summary = entries.length === 0 ? t("ui.empty") : t(list ? "ui.items" : "ui.fields", { n: entries.length });
  return (
    <div>
      <button
        type="button"
        aria-expanded={expanded}
        onClick={() => setExpanded(!expanded)}
        className="flex min-h-6 w-full items-center gap-1.5 rounded pr-2 text-left hover:bg-hover"
      >
        <ChevronRight aria-hidden className={cx("size-3.5 shrink-0 text-muted transition-transform", expanded && "rotate-90")} />
        <Name name={name} />
        <span className="text-muted">
          {list ? "[ ]" : "{ }"} {summary}
        </span>
      </button>
      {expanded && entries.length > 0 && (
        <div className="ml-[6px] border-l border-line pl-2">
          {entries.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} open={open - 1} />
          ))}
          {entries.length > shown && (
            <button type="button" onClick={() => setShown(shown + PAGE * 10)} className="min-h-6 pl-5 text-link underline">
              {t("ui.showMore", { n: entries.length - shown })}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Name({ name }: { name: string | number | undefined }) {
  return name === undefined ? null : <span className="shrink-0 text-(--code-key)">{name}:</span>;
}

function Leaf({ value }: { value: unknown }) {
  const t = useT();
  const [whole, setWhole] = useState(false);
  if (typeof value !== "string")
    return <span className={typeof value === "number" ? "text-(--code-number)" : "text-(--code-word)"}>{String(value)}</span>;
  const cut = value.length > 500 && !whole;
  return (
    <span className="min-w-0 whitespace-pre-wrap text-(--code-string) [overflow-wrap:anywhere]">
      {JSON.stringify(cut ? value.slice(0, 500) : value)}
      {cut && (
        <button type="button" onClick={() => setWhole(true)} className="ml-1 min-h-6 font-sans text-link underline">
          {t("ui.showMore", { n: value.length - 500 })}
        </button>
      )}
    </span>
  );
}
