import { useT } from "../i18n/i18n.ts";
import { cx } from "./cx.ts";
import { type DiffLine, diffLines } from "./diff-lines.ts";

/** What was changed, line by line: signs, words for those who hear it, and colour. */
export function Diff({ before, after, label }: { before: unknown; after: unknown; label: string }) {
  const t = useT();
  const lines = diffLines(textOf(before), textOf(after));
  if (lines.every(({ kind }) => kind === "same")) return <p className="text-sm text-muted">{t("ui.unchanged")}</p>;
  return (
    <div
      role="group"
      aria-label={label}
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-lg border border-line bg-sunken py-1.5 font-mono text-xs leading-5"
    >
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is told by its place
        <Line key={index} {...line} />
      ))}
    </div>
  );
}

const LOOKS = { same: ["", "text-muted"], added: ["+", "bg-good-soft text-good"], removed: ["−", "bg-bad-soft text-bad"] } as const;

function Line({ kind, text }: DiffLine) {
  const t = useT();
  const [sign, look] = LOOKS[kind];
  return (
    <div className={cx("flex px-3 whitespace-pre-wrap [overflow-wrap:anywhere]", look)}>
      <span aria-hidden className="w-4 shrink-0 select-none">
        {sign}
      </span>
      {kind !== "same" && <span className="sr-only">{t(kind === "added" ? "ui.added" : "ui.removed")} </span>}
      <span className="min-w-0">{text}</span>
    </div>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
