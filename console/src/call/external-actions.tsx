import { FileJson, FlaskConical } from "lucide-react";
import { useState } from "react";
import { API_ROOT } from "../app/place.ts";
import { useToken } from "../app/token.ts";
import { curlFor, useActions } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import type { ActionProps } from "./actions.tsx";
import { GiveResult } from "./give-result.tsx";
import { sampleFor } from "./sample.ts";

/** A call another system owes: the curl that answers it, or an answer by hand. */
export function ExternalActions({ call, send, busy }: ActionProps) {
  const t = useT();
  const { result, fail } = useActions();
  const [mode, setMode] = useState<"choose" | "result">("choose");
  const sample = sampleFor(call.name, call.edited ?? call.input);
  const curl = curlFor(call, API_ROOT, sample, { secured: useToken() !== undefined });
  if (mode === "result")
    return (
      <GiveResult
        callId={call.id}
        sample={sample}
        busy={busy}
        onCancel={() => setMode("choose")}
        onResult={(output) => void send(result(call.id, output))}
        onError={(error) => void send(fail(call.id, error))}
      />
    );
  return (
    <div className="flex flex-col gap-2.5">
      <p className="text-sm text-muted">{t("call.externalHint")}</p>
      <CodeBlock code={curl} language="sh" label={t("call.curl")} wrap copy={false} />
      <div className="flex flex-wrap gap-2">
        <CopyButton withText size="md" kind="primary" label={t("call.copyCurl")} text={curl} />
        <Button disabled={busy} icon={<FlaskConical aria-hidden className="size-4" />} onClick={() => void send(result(call.id, sample))}>
          {t("call.simulate")}
        </Button>
        <Button kind="ghost" disabled={busy} icon={<FileJson aria-hidden className="size-4" />} onClick={() => setMode("result")}>
          {t("call.giveResult")}
        </Button>
      </div>
    </div>
  );
}
