import { useState } from "react";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { type CheckedJson, checkJson } from "../ui/check-json.ts";
import { Diff } from "../ui/diff.tsx";
import { JsonEditor } from "../ui/json-editor.tsx";

type Props = {
  input: unknown;
  schema?: object | undefined;
  busy: boolean;
  onCancel: () => void;
  onSubmit: (input: never) => void;
};

/** Another input in place of the model's: checked against the tool's schema, shown as a diff, sent with its types. */
export function EditArguments({ input, schema, busy, onCancel, onSubmit }: Props) {
  const t = useT();
  const [text, setText] = useState(() => JSON.stringify(input, null, 2));
  const [checked, setChecked] = useState<CheckedJson>(() => checkJson(text, schema));
  const wrong = checked.problems.length > 0;
  const submit = () => {
    if (!wrong && !busy) onSubmit(checked.value as never);
  };
  return (
    <div className="flex flex-col gap-2.5">
      <JsonEditor
        autoFocus
        text={text}
        schema={schema}
        label={t("call.editLabel")}
        onCancel={onCancel}
        onSubmit={submit}
        onChange={(next, result) => {
          setText(next);
          setChecked(result);
        }}
      />
      {!wrong && <Diff before={input} after={checked.value} label={t("call.diff")} />}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" busy={busy} disabled={wrong} onClick={submit}>
          {t("call.approveEdited")}
        </Button>
        <Button kind="ghost" onClick={onCancel}>
          {t("ui.cancel")}
        </Button>
      </div>
    </div>
  );
}
