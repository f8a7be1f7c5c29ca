import { useState } from "react";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { Field, TextArea } from "../ui/field.tsx";

type Props = {
  label: string;
  hint?: string;
  action: string;
  danger?: boolean;
  optional?: boolean;
  busy: boolean;
  onCancel: () => void;
  onSubmit: (text: string) => void;
};

/** A few words for an answer. Ctrl/⌘+Enter sends, Esc closes and sends nothing. */
export function TextAnswer({ label, hint, action, danger = false, optional = false, busy, onCancel, onSubmit }: Props) {
  const t = useT();
  const [text, setText] = useState("");
  const ready = optional || text.trim() !== "";
  const submit = () => {
    if (ready && !busy) onSubmit(text.trim());
  };
  return (
    <div className="flex flex-col gap-2.5">
      <Field label={label} hint={hint} optional={optional}>
        {(ids) => (
          <TextArea
            {...ids}
            autoFocus
            rows={2}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return;
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                submit();
              }
              if (event.key === "Escape") {
                event.stopPropagation();
                onCancel();
              }
            }}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button kind={danger ? "danger" : "primary"} busy={busy} disabled={!ready} onClick={submit}>
          {action}
        </Button>
        <Button kind="ghost" onClick={onCancel}>
          {t("ui.cancel")}
        </Button>
      </div>
    </div>
  );
}
