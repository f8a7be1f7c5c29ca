import type { CallView } from "handback/client";
import { useT } from "../i18n/i18n.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { jsonText } from "./json-text.ts";
import { TooBig } from "./too-big.tsx";

/** Of arguments that are still being written only the end moves. */
const MOST_SHOWN = 20_000;

/** What the agent wants: raw while it is written, read once it is whole. Code looks like code. */
export function Arguments({ call }: { call: CallView }) {
  const t = useT();
  const label = t("call.arguments", { name: call.name });
  if (call.input === undefined) {
    if (call.argsText === "") return <p className="text-sm text-muted">{t("call.writing")}</p>;
    return (
      <pre
        aria-label={label}
        className="max-h-72 overflow-auto rounded-lg border border-line bg-sunken px-3.5 py-3 font-mono text-xs leading-5 whitespace-pre-wrap text-muted [overflow-wrap:anywhere]"
      >
        {call.argsText.slice(-MOST_SHOWN)}
        <span aria-hidden className="ml-0.5 inline-block h-3.5 w-1.5 translate-y-0.5 bg-accent animate-breathe" />
      </pre>
    );
  }
  const code = codeOf(call);
  if (code !== undefined)
    return (
      <TooBig text={code} name={`${call.name}.js`}>
        <CodeBlock code={code} language="js" label={label} wrap />
      </TooBig>
    );
  const text = jsonText(call.input);
  if (text === "{}") return <p className="text-sm text-muted">{t("call.noArguments")}</p>;
  return (
    <TooBig text={text} name={`${call.name}-input.json`}>
      <CodeBlock code={text} language="json" label={label} wrap />
    </TooBig>
  );
}

/** The code of a call that is nothing but code. */
export function codeOf({ input }: Pick<CallView, "input">): string | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  return typeof input["code"] === "string" && Object.keys(input).length === 1 ? input["code"] : undefined;
}
