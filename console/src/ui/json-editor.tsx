import { lazy, Suspense, useId } from "react";
import { useT } from "../i18n/i18n.ts";
import type { CheckedJson } from "./check-json.ts";
import { Skeleton } from "./skeleton.tsx";

export type JsonEditorProps = {
  text: string;
  onChange: (text: string, checked: CheckedJson) => void;
  /** What the value must look like. */
  schema?: object | undefined;
  label: string;
  /** Ctrl/⌘+Enter, when nothing is wrong. */
  onSubmit?: () => void;
  onCancel?: () => void;
  readOnly?: boolean;
  autoFocus?: boolean;
  /** Code of another language, unchecked. */
  language?: "json" | "text";
  minHeight?: number;
  className?: string;
};

const Editor = lazy(() => import("./json-editor-view.tsx"));

/** Edits JSON and says where it is wrong, by line and by path. Its 100 KB come when the first one opens. */
export function JsonEditor(props: JsonEditorProps) {
  const t = useT();
  const id = useId();
  return (
    <Suspense fallback={<Skeleton label={t("ui.loading")} className="h-28" />}>
      <Editor key={id} {...props} />
    </Suspense>
  );
}
