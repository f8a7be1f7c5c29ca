import { lazy, Suspense, useMemo } from "react";
import { useParam } from "../app/use-param.ts";
import { useMeta } from "../data/hooks.ts";
import { LOOP } from "../graph/loop.ts";
import { NodeList } from "../graph/node-list.tsx";
import { overlayOf } from "../graph/overlay.ts";
import { useT } from "../i18n/i18n.ts";
import { Skeleton } from "../ui/skeleton.tsx";
import type { PanelProps } from "./panels.tsx";

const Flow = lazy(() => import("../graph/flow.tsx"));

/** The agent of this thread as a graph, and where it is. What waits opens its card. */
export default function GraphPanel({ view }: PanelProps) {
  const t = useT();
  const [selected, select] = useParam("select");
  const agents = useMeta()?.agents ?? [];
  const graph = agents.find(({ name }) => name === view.agent)?.graph ?? LOOP;
  const states = useMemo(() => overlayOf(view), [view]);
  const idOf = (id: string) => states.get(id)?.waitsFor ?? states.get(id)?.stepId ?? id;
  const choose = (id: string) => select(idOf(id));
  const node = selected && graph.nodes.find(({ id }) => idOf(id) === selected)?.id;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="min-h-72 flex-1">
        <Suspense fallback={<Skeleton label={t("ui.loading")} className="m-4 h-64" />}>
          <Flow graph={graph} states={states} selected={node} onSelect={choose} />
        </Suspense>
      </div>
      <div
        tabIndex={0}
        role="region"
        aria-label={t("graph.nodes")}
        className="max-h-[40%] shrink-0 overflow-auto border-t border-line -outline-offset-2"
      >
        <NodeList graph={graph} states={states} selected={node} onSelect={choose} />
      </div>
    </div>
  );
}
