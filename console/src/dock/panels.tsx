import type { ThreadView } from "handback/client";
import { lazy, Suspense, useMemo } from "react";
import type { DockPanels } from "../app/dock.tsx";
import { useT } from "../i18n/i18n.ts";
import { SkeletonRows } from "../ui/skeleton.tsx";

export type PanelProps = { threadId: string; view: ThreadView };

const PANELS = {
  events: lazy(() => import("./events-panel.tsx")),
  timeline: lazy(() => import("./timeline-panel.tsx")),
  graph: lazy(() => import("./graph-panel.tsx")),
  state: lazy(() => import("./state-panel.tsx")),
  document: lazy(() => import("./document-panel.tsx")),
};

type PanelName = keyof typeof PANELS;

/** What lies beside a thread: its log, its time, its graph, its state and what it writes. */
export function useThreadDock(threadId: string, view: ThreadView): DockPanels {
  const t = useT();
  return useMemo(
    () => ({
      tabs: (Object.keys(PANELS) as PanelName[]).map((id) => ({ id, label: t(`dock.${id}`) })),
      render(id) {
        const Panel = PANELS[id as PanelName] ?? PANELS.events;
        return (
          <Suspense fallback={<SkeletonRows label={t("ui.loading")} className="p-4" />}>
            <Panel threadId={threadId} view={view} />
          </Suspense>
        );
      },
    }),
    [t, threadId, view],
  );
}
