import type { Parsed } from "handback/profiles";
import { Ban, CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "../../i18n/i18n.ts";
import { Badge } from "../../ui/badge.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { cx } from "../../ui/cx.ts";
import { markSources } from "./mark-sources.ts";

const MARKS = {
  text: "",
  call: "rounded-sm bg-good-soft text-good underline decoration-good-line underline-offset-4",
  refused: "rounded-sm bg-bad-soft text-bad underline decoration-wavy decoration-bad-line underline-offset-4",
};

/** What a profile found in an answer: where it stands, which calls it makes, and what was refused and why. */
export function ParsedView({ text, parsed }: { text: string; parsed: Parsed }) {
  const t = useT();
  const { calls, refused } = parsed;
  const good = calls.filter(({ refusal }) => !refusal);
  return (
    <div className="flex min-w-0 flex-col gap-4" aria-live="polite">
      <Part title={t("playground.read")}>
        <p
          role="group"
          aria-label={t("playground.read")}
          tabIndex={0}
          className="max-h-72 overflow-auto rounded-lg border border-line bg-sunken px-3.5 py-3 font-mono text-xs leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          {markSources(text, parsed).map(({ kind, text: piece }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a stretch is told by its place
            <span key={index} className={MARKS[kind]}>
              {piece}
            </span>
          ))}
        </p>
      </Part>
      {good.length > 0 && (
        <Part title={t("playground.calls")} badge={<Badge tone="good">{good.length}</Badge>}>
          <ul className="flex flex-col gap-2">
            {good.map(({ id, name, input }) => (
              <li key={id} className="rounded-lg border border-good-line">
                <p className="flex items-center gap-2 px-3 py-2">
                  <CircleCheck aria-hidden className="size-4 shrink-0 text-good" />
                  <code className="font-mono text-sm font-semibold">{name}</code>
                  <span className="truncate font-mono text-xs text-muted">{id}</span>
                </p>
                <CodeBlock
                  className="rounded-t-none border-0 border-t"
                  language="json"
                  label={name}
                  code={JSON.stringify(input, null, 2)}
                />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {refused.length > 0 && (
        <Part title={t("playground.refused")} badge={<Badge tone="bad">{refused.length}</Badge>}>
          <ul className="flex flex-col gap-2">
            {refused.map(({ code, message, source }) => (
              <li key={`${code} ${message} ${source}`} className="rounded-lg border border-bad-line bg-bad-soft px-3 py-2">
                <p className="flex items-center gap-2 font-mono text-sm font-semibold text-bad">
                  <Ban aria-hidden className="size-4 shrink-0" />
                  {code}
                </p>
                <p className="mt-0.5 text-sm">{message}</p>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {(["text", "reasoning"] as const).map(
        (kind) =>
          parsed[kind].trim() !== "" && (
            <Part key={kind} title={t(kind === "text" ? "playground.shown" : "playground.thoughts")}>
              <p
                className={cx(
                  "rounded-lg border border-line px-3.5 py-2.5 text-sm whitespace-pre-wrap",
                  kind === "reasoning" && "text-muted italic",
                )}
              >
                {parsed[kind].trim()}
              </p>
            </Part>
          ),
      )}
    </div>
  );
}

function Part({ title, badge, children }: { title: string; badge?: ReactNode; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1.5 flex items-center gap-2 text-sm font-medium">
        {title}
        {badge}
      </h3>
      {children}
    </div>
  );
}
