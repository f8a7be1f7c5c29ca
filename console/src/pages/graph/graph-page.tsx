import { nameOf } from "handback/client";
import { lazy, Suspense, useMemo } from "react";
import { useLocation } from "wouter";
import { Page } from "../../app/page.tsx";
import { to } from "../../app/place.ts";
import { useParam } from "../../app/use-param.ts";
import { useMeta, useThread, useThreads } from "../../data/hooks.ts";
import { LOOP } from "../../graph/loop.ts";
import { NodeList } from "../../graph/node-list.tsx";
import { overlayOf } from "../../graph/overlay.ts";
import { useT } from "../../i18n/i18n.ts";
import { Field, Select } from "../../ui/field.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

const Flow = lazy(() => import("../../graph/flow.tsx"));

/** An agent's graph, and what one of its threads is doing in it. */
export default function GraphPage() {
  const t = useT();
  const meta = useMeta();
  const agents = meta?.agents ?? [];
  const [name, setName] = useParam("agent");
  const [threadId = "", setThread] = useParam("thread");
  const agent = agents.find((each) => each.name === name) ?? agents.find(({ graph }) => graph) ?? agents[0];
  const { threads } = useThreads();
  const its = threads.filter((thread) => thread.agent === agent?.name);
  const shown = threadId !== "" ? threadId : its[0] && nameOf(its[0]);
  return (
    <Page title={t("graph.title")}>
      <div className="flex shrink-0 flex-wrap items-end gap-4 border-b border-line bg-surface px-4 py-3 md:px-6">
        <Field label={t("graph.agent")}>
          {(ids) => (
            <Select {...ids} className="w-auto! min-w-40" value={agent?.name ?? ""} onChange={(event) => setName(event.target.value)}>
              {agents.map((each) => (
                <option key={each.name}>{each.name}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t("graph.thread")}>
          {(ids) => (
            <Select {...ids} className="w-auto! max-w-72 min-w-40" value={shown ?? ""} onChange={(event) => setThread(event.target.value)}>
              {its.length === 0 && <option value="">{t("graph.noThread")}</option>}
              {its.map((thread) => (
                <option key={nameOf(thread)} value={nameOf(thread)}>
                  {thread.title ?? thread.threadId}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {agent && !agent.graph && <p className="pb-2 text-sm text-muted">{t("graph.implicit")}</p>}
      </div>
      {shown === undefined ? <Drawn graph={agent?.graph ?? LOOP} /> : <Live key={shown} graph={agent?.graph ?? LOOP} threadId={shown} />}
    </Page>
  );
}

type Info = typeof LOOP;

function Live({ graph, threadId }: { graph: Info; threadId: string }) {
  const [, go] = useLocation();
  const { view } = useThread(threadId);
  const states = useMemo(() => overlayOf(view), [view]);
  return (
    <Drawn
      graph={graph}
      states={states}
      onSelect={(id) => go(to.chat(threadId, { select: states.get(id)?.waitsFor ?? states.get(id)?.stepId, dock: "graph" }))}
    />
  );
}

const NOTHING = new Map();

function Drawn({
  graph,
  states = NOTHING,
  onSelect = () => {},
}: {
  graph: Info;
  states?: ReturnType<typeof overlayOf>;
  onSelect?: (id: string) => void;
}) {
  const t = useT();
  return (
    <div className="grid min-h-0 flex-1 grid-rows-[minmax(18rem,1fr)_minmax(0,16rem)] md:grid-cols-[1fr_20rem] md:grid-rows-1">
      <Suspense fallback={<Skeleton label={t("ui.loading")} className="m-6" />}>
        <Flow graph={graph} states={states} onSelect={onSelect} />
      </Suspense>
      <div
        tabIndex={0}
        role="region"
        aria-label={t("graph.nodes")}
        className="overflow-auto border-line bg-surface -outline-offset-2 max-md:border-t md:border-l"
      >
        <NodeList graph={graph} states={states} onSelect={onSelect} />
      </div>
    </div>
  );
}
