import { useEffect, useState } from "react";
import { useActions } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { type CheckedJson, checkJson } from "../ui/check-json.ts";
import { JsonEditor } from "../ui/json-editor.tsx";
import { Segmented } from "../ui/tabs.tsx";

type Props = {
  callId: string;
  sample: unknown;
  busy: boolean;
  onCancel: () => void;
  onResult: (output: never) => void;
  onError: (error: string) => void;
};

/** A result or an error typed by hand. While it is open the call is claimed, so that others see that somebody is at it. */
export function GiveResult({ callId, sample, busy, onCancel, onResult, onError }: Props) {
  const t = useT();
  const { claim } = useActions();
  const [kind, setKind] = useState<"result" | "error">("result");
  const [text, setText] = useState(() => JSON.stringify(sample, null, 2));
  const [error, setError] = useState("");
  const [checked, setChecked] = useState<CheckedJson>(() => checkJson(text));
  const [taken, setTaken] = useState<string>();
  useEffect(() => {
    let release: (() => void) | undefined;
    let left = false;
    void claim(callId).then((got) => {
      if (!got.ok) setTaken(got.by);
      else if (left) got.release();
      else release = got.release;
    });
    return () => {
      left = true;
      release?.();
    };
  }, [callId, claim]);
  const wrong = kind === "result" ? checked.problems.length > 0 : error.trim() === "";
  const submit = () => {
    if (wrong || busy) return;
    if (kind === "result") onResult(checked.value as never);
    else onError(error.trim());
  };
  return (
    <div className="flex flex-col gap-2.5">
      {taken !== undefined && <p className="text-sm text-claim">{t("call.claimedBy", { who: taken })}</p>}
      <Segmented
        label={t("call.resultKind")}
        value={kind}
        onChange={setKind}
        options={[
          { id: "result", label: t("call.resultKindResult") },
          { id: "error", label: t("call.resultKindError") },
        ]}
      />
      <JsonEditor
        key={kind}
        autoFocus
        language={kind === "result" ? "json" : "text"}
        text={kind === "result" ? text : error}
        label={t(kind === "result" ? "call.resultLabel" : "call.errorLabel")}
        onCancel={onCancel}
        onSubmit={submit}
        onChange={(next, result) => {
          if (kind === "error") setError(next);
          else {
            setText(next);
            setChecked(result);
          }
        }}
      />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" busy={busy} disabled={wrong} onClick={submit}>
          {t("call.sendResult")}
        </Button>
        <Button kind="ghost" onClick={onCancel}>
          {t("ui.cancel")}
        </Button>
      </div>
    </div>
  );
}
