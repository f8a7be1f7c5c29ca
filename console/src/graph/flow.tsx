import "@xyflow/react/dist/style.css";
import { BaseEdge, type Edge, type EdgeProps, Handle, MarkerType, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import type { GraphInfo } from "handback/client";
import { Bot, Circle, Workflow, Wrench } from "lucide-react";
import { useMemo } from "react";
import { useShownTheme } from "../app/preferences.ts";
import { useT } from "../i18n/i18n.ts";
import { cx } from "../ui/cx.ts";
import { STATUS } from "../ui/status-pill.tsx";
import { Duration } from "../ui/time.tsx";
import { endName, type Point, pathOf, place } from "./layout.ts";
import type { NodeState } from "./overlay.ts";

type Props = { graph: GraphInfo; states: ReadonlyMap<string, NodeState>; selected?: string | undefined; onSelect: (id: string) => void };
type Shown = { id: string; kind: string; end: boolean; state: NodeState | undefined; selected: boolean };

const ICONS: Record<string, typeof Bot> = { agent: Bot, tool: Wrench, graph: Workflow, node: Circle };

/** A graph drawn from its definition, with what its nodes are doing on top. */
export default function Flow({ graph, states, selected, onSelect }: Props) {
  const t = useT();
  const theme = useShownTheme();
  const { placed, lines } = useMemo(() => place(graph), [graph]);
  const nodes = useMemo(
    () =>
      placed.map(
        ({ id, x, y, width, height, end }): Node => ({
          id,
          type: "shown",
          position: { x, y },
          width,
          height,
          selectable: !end,
          focusable: false,
          data: {
            id,
            end,
            kind: graph.nodes.find((node) => node.id === id)?.kind ?? "node",
            state: states.get(id),
            selected: id === selected,
          } satisfies Shown,
        }),
      ),
    [placed, graph, states, selected],
  );
  const edges = useMemo(
    () =>
      graph.edges.map(
        ({ from, to, kind, label }, index): Edge => ({
          id: `${from}-${to}-${index}`,
          source: from,
          target: to,
          type: "line",
          focusable: false,
          animated: states.get(to)?.status === "running",
          markerEnd: { type: MarkerType.ArrowClosed, color: "var(--line-strong)" },
          style: { stroke: "var(--line-strong)", strokeWidth: 1.5, ...(kind === "when" && { strokeDasharray: "5 4" }) },
          data: { points: lines[index] ?? [], label },
        }),
      ),
    [graph, states, lines],
  );
  return (
    <div className="h-full min-h-72" role="img" aria-label={t("graph.drawing")}>
      <ReactFlow
        key={placed.map(({ id }) => id).join()}
        nodes={nodes}
        edges={edges}
        nodeTypes={TYPES}
        edgeTypes={LINES}
        style={{ background: "transparent" }}
        colorMode={theme}
        fitView
        fitViewOptions={{ maxZoom: 1.1, padding: 0.12 }}
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, node) => onSelect(node.id)}
      />
    </div>
  );
}

const TYPES = { shown: ShownNode };
const LINES = { line: Line };

/** An edge on the way the layout found for it, which goes around the nodes. */
function Line({ data, style, markerEnd }: EdgeProps) {
  const { points, label } = data as { points: Point[]; label: string | undefined };
  const middle = points[points.length >> 1];
  return (
    <BaseEdge
      path={pathOf(points)}
      {...(style && { style })}
      {...(markerEnd !== undefined && { markerEnd })}
      {...(label !== undefined && middle && { label, labelX: middle.x, labelY: middle.y })}
      labelStyle={{ fill: "var(--muted)", fontSize: 11 }}
      labelBgStyle={{ fill: "var(--canvas)" }}
    />
  );
}

const BORDERS: Record<string, string> = {
  running: "border-info",
  waiting: "border-wait",
  done: "border-good",
  failed: "border-bad",
  cancelled: "border-line-strong",
};

function ShownNode({ data }: NodeProps) {
  const t = useT();
  const { id, kind, end, state, selected } = data as Shown;
  if (end)
    return (
      <div className="flex size-full items-center justify-center rounded-full border border-line-strong bg-surface text-xs text-muted">
        <Handle type="target" position={Position.Top} className="opacity-0" />
        {endName(id)}
        <Handle type="source" position={Position.Bottom} className="opacity-0" />
      </div>
    );
  const Icon = ICONS[kind] ?? Circle;
  const look = state && STATUS[state.status];
  const Sign = look?.icon;
  return (
    <div
      data-testid={`node-${id}`}
      data-status={state?.status ?? "idle"}
      className={cx(
        "flex size-full flex-col justify-center rounded-xl border-2 bg-surface px-3 shadow-card",
        BORDERS[state?.status ?? ""] ?? "border-line",
        selected && "ring-2 ring-accent",
      )}
    >
      <Handle type="target" position={Position.Top} className="opacity-0" />
      <span className="flex min-w-0 items-center gap-1.5 text-sm font-medium">
        <Icon aria-hidden className="size-3.5 shrink-0 text-muted" />
        <span className="truncate">{id}</span>
        {(state?.visits ?? 0) > 1 && <span className="ml-auto text-xs text-muted">×{state?.visits}</span>}
      </span>
      {state && look && Sign && (
        <span className="flex items-center gap-1 text-xs text-muted">
          <Sign aria-hidden className={cx("size-3", look.moves && "animate-breathe")} />
          {t(look.key)}
          {state.status === "running" || state.status === "waiting" ? (
            <Duration since={state.startedAt} />
          ) : (
            state.ms !== undefined && <Duration ms={state.ms} />
          )}
        </span>
      )}
      <Handle type="source" position={Position.Bottom} className="opacity-0" />
    </div>
  );
}
