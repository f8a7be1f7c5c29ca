import { CopyButton } from "./copy-button.tsx";
import { cx } from "./cx.ts";
import { type CodeLanguage, highlight } from "./highlight.tsx";

/** Code to read and copy. Scrolls on its own; long lines wrap where `wrap` says so. */
export function CodeBlock({
  code,
  language = "text",
  label,
  wrap = false,
  copy = true,
  fill = false,
  className,
}: {
  code: string;
  language?: CodeLanguage;
  label: string;
  wrap?: boolean;
  copy?: boolean;
  /** As high as its place, instead of as high as its text. */
  fill?: boolean;
  className?: string;
}) {
  return (
    <div className={cx("group relative min-w-0 rounded-lg border border-line bg-sunken", className)}>
      <pre
        tabIndex={0}
        role="group"
        aria-label={label}
        className={cx(
          "overflow-auto rounded-lg px-3.5 py-3 font-mono text-xs leading-5 -outline-offset-2",
          fill ? "absolute inset-0" : "max-h-96",
          wrap ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : "whitespace-pre",
          copy && "pr-11",
        )}
      >
        <code>{highlight(code, language)}</code>
      </pre>
      {copy && (
        <div className="absolute top-1.5 right-1.5 rounded-md bg-sunken">
          <CopyButton text={code} />
        </div>
      )}
    </div>
  );
}
