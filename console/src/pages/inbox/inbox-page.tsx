import { ArrowLeft, Inbox } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Page } from "../../app/page.tsx";
import { to } from "../../app/place.ts";
import { toast } from "../../app/toast.tsx";
import { useKeys } from "../../app/use-keys.ts";
import { useMedia } from "../../app/use-media.ts";
import { useParam } from "../../app/use-param.ts";
import { focusCard } from "../../call/focus-card.ts";
import { newThreadId, type PendingCall, toolOf, useActions, useMeta, usePending } from "../../data/hooks.ts";
import { useLanguage, useT } from "../../i18n/i18n.ts";
import { Count } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { VirtualList, type VirtualListHandle } from "../../ui/virtual-list.tsx";
import { Detail } from "./detail.tsx";
import { Filters } from "./filters.tsx";
import { InboxRow } from "./inbox-row.tsx";
import { SettledList } from "./settled-list.tsx";
import { useLateApproval } from "./use-late-approval.ts";

type TabName = "pending" | "answered" | "expired";

/** Who owes the agents a result right now, over all threads, and a place to give it. */
export default function InboxPage({ callId }: { callId?: string }) {
  const t = useT();
  const [tab = "pending", setTab] = useParam("tab");
  const { total } = usePending({});
  return (
    <Page title={t("inbox.title")}>
      <Tabs
        className="flex-1"
        panelClassName="flex"
        label={t("inbox.title")}
        value={tab as TabName}
        onChange={(id) => setTab(id === "pending" ? undefined : id)}
        tabs={[
          { id: "pending", label: t("inbox.pending"), count: <Count n={total} /> },
          { id: "answered", label: t("inbox.answered") },
          { id: "expired", label: t("inbox.expired") },
        ]}
      >
        {tab === "pending" ? (
          <Pending callId={callId} />
        ) : (
          <SettledList status={tab === "expired" ? "expired" : "answered"} callId={callId} />
        )}
      </Tabs>
    </Page>
  );
}

function Pending({ callId }: { callId: string | undefined }) {
  const t = useT();
  const [, go] = useLocation();
  const [owner] = useParam("owner");
  const [tool] = useParam("tool");
  const { calls, total, loading } = usePending({ ...(owner && { owner }), ...(tool && { tool }) });
  const beside = useMedia("(min-width: 900px)");
  const list = useRef<VirtualListHandle>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [mode, setMode] = useState<"edit" | "reject">();
  const late = useLateApproval();
  const waiting = calls.filter(({ id }) => !late.ids.has(id));
  const index = waiting.findIndex(({ id }) => id === callId);
  const current = waiting[index];
  const query = { owner, tool };

  // Where the next one is when this one is answered: in its place.
  const place = useRef(0);
  if (index >= 0) place.current = index;
  const show = (call: PendingCall | undefined, replace = false) => {
    setMode(undefined);
    go(to.inbox(call?.id, query), { replace });
  };
  const step = (by: number) => {
    const next = waiting[Math.min(Math.max((index < 0 ? -1 : index) + by, 0), waiting.length - 1)];
    if (!next) return;
    show(next, true);
    list.current?.toIndex(waiting.indexOf(next));
  };
  const toNext = () => {
    const others = waiting.filter(({ id }) => id !== callId);
    const next = others[place.current] ?? others.at(-1);
    show(next, true);
    if (next && beside) focusCard(next.callId ?? next.id);
  };
  const approveLater = (these: readonly PendingCall[]) => {
    const ready = these.filter(isApproval);
    if (ready.length === 0) return;
    const undo = late.approve(ready);
    setChosen(new Set());
    toast({ text: t("inbox.approving", { n: ready.length }), action: { label: t("chat.undo"), run: undo }, ms: 5_000 });
    if (ready.some(({ id }) => id === callId)) toNext();
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    a: () => current && approveLater([current]),
    e: () => current && isApproval(current) && setMode("edit"),
    r: () => current && isApproval(current) && setMode("reject"),
    x: () => current && toggle(current.id),
    "shift+a": () => approveLater(waiting.filter(({ id }) => chosen.has(id))),
    u: late.undo,
  });
  const toggle = (id: string) =>
    setChosen((before) => (before.has(id) ? new Set([...before].filter((each) => each !== id)) : new Set([...before, id])));
  const first = waiting[0];
  useEffect(() => {
    if (beside && callId === undefined && first) go(to.inbox(first.id, { owner, tool }), { replace: true });
  }, [beside, callId, first, go, owner, tool]);

  if (loading) return <SkeletonRows label={t("ui.loading")} className="flex-1 p-6" />;
  if (total === 0 && callId === undefined) return <Empty />;
  return (
    <>
      {(beside || callId === undefined) && (
        <section aria-label={t("inbox.list")} className="flex w-full min-w-0 flex-col border-line bg-surface md:max-w-md md:border-r">
          <Filters />
          {chosen.size > 0 && (
            <div className="flex items-center gap-2 border-b border-line bg-accent-soft px-3 py-2 text-sm">
              {t("inbox.selected", { n: chosen.size })}
              <span className="flex-1" />
              <Button size="sm" kind="primary" onClick={() => approveLater(waiting.filter(({ id }) => chosen.has(id)))}>
                {t("inbox.approveSelected")}
              </Button>
              <Button size="sm" kind="ghost" onClick={() => setChosen(new Set())}>
                {t("ui.cancel")}
              </Button>
            </div>
          )}
          {waiting.length === 0 ? (
            <EmptyState title={t("inbox.nothingFits")} />
          ) : (
            <VirtualList
              ref={list}
              label={t("inbox.list")}
              items={waiting}
              keyOf={({ id }) => id}
              estimate={77}
              render={(call) => (
                <InboxRow
                  call={call}
                  current={call.id === callId}
                  chosen={chosen.has(call.id)}
                  onChoose={isApproval(call) ? () => toggle(call.id) : undefined}
                  href={to.inbox(call.id, query)}
                />
              )}
            />
          )}
        </section>
      )}
      {(beside || callId !== undefined) && (
        <section aria-label={t("inbox.detail")} tabIndex={0} className="min-w-0 flex-1 overflow-auto bg-canvas -outline-offset-2">
          {!beside && (
            <div className="p-2">
              <Button kind="ghost" size="sm" icon={<ArrowLeft aria-hidden className="size-4" />} onClick={() => show(undefined)}>
                {t("inbox.back")}
              </Button>
            </div>
          )}
          {callId === undefined ? (
            <p className="p-8 text-muted">{t("inbox.choose")}</p>
          ) : (
            <Detail key={callId} callId={callId} mode={mode} onDone={toNext} />
          )}
        </section>
      )}
    </>
  );
}

/** Whether a person decides it with a yes or a no. */
function isApproval(call: PendingCall): boolean {
  return call.kind === "interrupt" && call.callId !== undefined && toolOf(call) !== "";
}

function Empty() {
  const t = useT();
  const language = useLanguage() === "zh-CN" ? "zh" : "en";
  const [, go] = useLocation();
  const { send } = useActions();
  const scenario = useMeta()?.scenarios?.find(({ id }) => id === "approval");
  const begin = () => {
    if (!scenario) return go("/");
    const threadId = newThreadId();
    void send(threadId, scenario.prompt[language], scenario.tools ? { tools: scenario.tools } : {}).then(() => go(to.chat(threadId)));
  };
  return (
    <div className="flex-1">
      <EmptyState
        icon={<Inbox />}
        title={t("inbox.empty")}
        hint={t("inbox.emptyHint")}
        action={
          <Button kind="primary" onClick={begin}>
            {t(scenario ? "inbox.tryDemo" : "shell.newThread")}
          </Button>
        }
      />
    </div>
  );
}
