import { FileJson, Play, Square, X } from "lucide-react";
import { useState } from "react";
import { useActions, useMeta } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { Duration } from "../ui/time.tsx";
import type { ActionProps } from "./actions.tsx";
import { codeOf } from "./arguments.tsx";
import { GiveResult } from "./give-result.tsx";
import { notByEnter } from "./not-by-enter.ts";
import { PAGE_TOOLS } from "./page-tools.ts";
import { runOnce, useRun } from "./sandbox-runs.ts";

/** A call this browser may run: code in the sandbox, a tool of this page after a yes. Nothing runs by itself. */
export function BrowserActions({ call, send, busy }: ActionProps) {
  const t = useT();
  const { result, fail, claim } = useActions();
  const place = useMeta()?.sandbox;
  const running = useRun(call.id);
  const [taken, setTaken] = useState<string>();
  const [byHand, setByHand] = useState(false);
  const code = codeOf(call);
  const ours = PAGE_TOOLS[call.name];

  const inSandbox = async (signal: AbortSignal) => {
    const { createSandbox } = await import("handback/client/sandbox");
    const evaluation = await createSandbox(place).run(code ?? "", { signal });
    if (evaluation.ok) return result(call.id, evaluation.value);
    return fail(call.id, `${evaluation.error.name}: ${evaluation.error.message}`);
  };
  const inPage = async () => {
    try {
      return await result(call.id, (await ours?.(call.input as never)) as never);
    } catch (error) {
      return fail(call.id, error instanceof Error ? error.message : String(error));
    }
  };
  const run = () =>
    runOnce(call.id, async (signal) => {
      setTaken(undefined);
      // Short: a tab that is closed in the middle must not keep the others from it for long.
      const claimed = await claim(call.id, 15);
      if (!claimed.ok) return setTaken(claimed.by ?? "");
      await send(code === undefined ? inPage() : inSandbox(signal));
      claimed.release();
    });

  if (byHand)
    return (
      <GiveResult
        callId={call.id}
        sample={null}
        busy={busy}
        onCancel={() => setByHand(false)}
        onResult={(output) => void send(result(call.id, output))}
        onError={(error) => void send(fail(call.id, error))}
      />
    );
  const runnable = code !== undefined || ours !== undefined;
  return (
    <div className="flex flex-col gap-2.5">
      <p className="text-sm text-muted">{t(code !== undefined ? "call.sandboxHint" : ours ? "call.pageHint" : "call.otherBrowserHint")}</p>
      {taken !== undefined && <p className="text-sm text-claim">{t("call.claimedBy", { who: taken })}</p>}
      <div className="flex flex-wrap items-center gap-2">
        {runnable && (
          <Button
            kind="primary"
            busy={running !== undefined || busy}
            icon={<Play aria-hidden className="size-4" />}
            onKeyDown={notByEnter(() => void run())}
            onClick={() => void run()}
          >
            {t(code === undefined ? "call.runInPage" : "call.runInSandbox")}
          </Button>
        )}
        {running && (
          <>
            <Button icon={<Square aria-hidden className="size-3.5" />} onClick={running.stop}>
              {t("call.stop")}
            </Button>
            <Duration since={running.since} className="text-sm text-muted" />
          </>
        )}
        {!running && (
          <>
            <Button
              disabled={busy}
              icon={<X aria-hidden className="size-4" />}
              onClick={() => void send(fail(call.id, t("call.refusedText")))}
            >
              {t("call.refuse")}
            </Button>
            <Button kind="ghost" disabled={busy} icon={<FileJson aria-hidden className="size-4" />} onClick={() => setByHand(true)}>
              {t("call.giveResult")}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
