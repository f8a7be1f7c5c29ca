import type { GraphInfo } from "handback/client";
import { useT } from "../i18n/i18n.ts";
import { cx } from "../ui/cx.ts";
import { StatusPill } from "../ui/status-pill.tsx";
import { Duration } from "../ui/time.tsx";
import { endName } from "./layout.ts";
import type { NodeState } from "./overlay.ts";

/** The same graph as a list: for those who hear it, and for those who want to know which comes next. */
export function NodeList({
  graph,
  states,
  selected,
  onSelect,
}: {
  graph: GraphInfo;
  states: ReadonlyMap<string, NodeState>;
  selected?: string | undefined;
  onSelect: (id: string) => void;
}) {
  const t = useT();
  return (
    <ul aria-label={t("graph.nodes")} className="flex flex-col">
      {graph.nodes.map(({ id, kind, description }) => {
        const state = states.get(id);
        const next = [...new Set(graph.edges.filter(({ from }) => from === id).map(({ to }) => endName(to)))].join(", ");
        return (
          <li key={id}>
            <button
              type="button"
              aria-pressed={id === selected}
              onClick={() => onSelect(id)}
              className={cx(
                "flex w-full flex-wrap items-center gap-x-2.5 gap-y-0.5 border-b border-line px-4 py-2 text-left -outline-offset-2 hover:bg-hover",
                id === selected && "bg-accent-soft",
              )}
            >
              <span className="font-medium">{id}</span>
              <span className="text-xs text-muted">{t(`graph.kind_${kind}`)}</span>
              <span className="flex-1" />
              {state && <StatusPill status={state.status} />}
              {state?.status === "waiting" && <Duration since={state.startedAt} className="text-xs text-muted" />}
              {state?.status !== "waiting" && state?.ms !== undefined && <Duration ms={state.ms} className="text-xs text-muted" />}
              <span className="w-full text-sm text-muted">
                {description && <>{description} · </>}
                {t("graph.next", { names: next || "–" })}
              </span>
              {state?.error !== undefined && <span className="w-full text-sm text-bad [overflow-wrap:anywhere]">{state.error}</span>}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
