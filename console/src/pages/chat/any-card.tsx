import type { CustomView } from "handback/client";
import { Activity, HelpCircle } from "lucide-react";
import type { ReactNode } from "react";
import { useThreadPart } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { JsonTree } from "../../ui/json-tree.tsx";

/** What an agent shows beside what it says. We know nothing of its shape, so it is shown as it is. */
export function ActivityCard({ threadId, id }: { threadId: string; id: string }) {
  const activity = useThreadPart(threadId, (view) => view.activities.get(id));
  if (!activity) return null;
  return <AnyCard name={activity.activityType} value={activity.content} icon={<Activity aria-hidden className="size-3.5" />} />;
}

/** An event this console does not know. It is never hidden. */
export function UnknownCard({ custom }: { custom: CustomView }) {
  return <AnyCard name={custom.name} value={custom.value} icon={<HelpCircle aria-hidden className="size-3.5" />} unknown />;
}

function AnyCard({ name, value, icon, unknown = false }: { name: string; value: unknown; icon: ReactNode; unknown?: boolean }) {
  const t = useT();
  return (
    <details className="rounded-lg border border-line bg-surface px-3 py-1.5 text-sm">
      <summary className="flex min-h-6 items-center gap-1.5 text-muted hover:text-fg">
        {icon}
        <span className="font-mono">{name}</span>
        {unknown && <span>· {t("chat.unknownEvent")}</span>}
      </summary>
      <div className="overflow-auto py-1.5">
        <JsonTree value={value} label={name} open={2} />
      </div>
    </details>
  );
}
