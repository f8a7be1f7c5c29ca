import { Braces } from "lucide-react";
import { useT } from "../i18n/i18n.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { EmptyState } from "../ui/skeleton.tsx";
import type { PanelProps } from "./panels.tsx";

/** What the thread's agent keeps, as of now or of the moment that is being replayed. */
export default function StatePanel({ view }: PanelProps) {
  const t = useT();
  const { state } = view;
  const empty = typeof state === "object" && state !== null && Object.keys(state).length === 0;
  if (empty) return <EmptyState icon={<Braces />} title={t("dock.noState")} hint={t("dock.noStateHint")} />;
  return (
    <div tabIndex={0} role="region" aria-label={t("dock.state")} className="min-h-0 flex-1 overflow-auto p-3 -outline-offset-2">
      <div className="flex justify-end">
        <CopyButton text={() => JSON.stringify(state, null, 2)} />
      </div>
      <JsonTree value={state} open={3} label={t("dock.state")} />
    </div>
  );
}
