import type { ThreadView } from "handback/client";
import { useEffect, useMemo, useRef } from "react";
import { useParam } from "../../app/use-param.ts";
import { InterruptCard } from "../../call/interrupt-card.tsx";
import type { Outgoing } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { VirtualList, type VirtualListHandle } from "../../ui/virtual-list.tsx";
import { ActivityCard, UnknownCard } from "./any-card.tsx";
import { AssistantMessage } from "./assistant-message.tsx";
import { type Item, itemsOf, keyOf } from "./items.ts";
import { OutgoingMessage } from "./outgoing-message.tsx";
import { RunLine } from "./run-line.tsx";
import { UserMessage } from "./user-message.tsx";
import { WorkingLine } from "./working-line.tsx";

type Props = { threadId: string; view: ThreadView; live: boolean; outgoing: readonly Outgoing[] };

const HEIGHTS: Record<Item["kind"], number> = { user: 64, assistant: 140, question: 220, run: 32, activity: 80, unknown: 80 };

/** Everything that was said and done, of which only what is seen is in the page. */
export function Conversation({ threadId, view, live, outgoing }: Props) {
  const t = useT();
  const items = useMemo(() => itemsOf(view), [view]);
  const list = useRef<VirtualListHandle>(null);
  const [selected] = useParam("select");
  const latest = useRef(items);
  latest.current = items;
  // Only when another thing is selected: later events must not move the reader.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const index = selected === undefined ? -1 : latest.current.findIndex((item) => holds(view, item, selected));
    if (index >= 0) list.current?.toIndex(index);
  }, [selected]);
  const lastUser = view.messages.findLast((message) => message.role === "user")?.id;
  const lastRun = view.runs.at(-1)?.seq;
  return (
    <VirtualList
      ref={list}
      role="log"
      stick
      label={t("chat.conversation")}
      items={items}
      keyOf={keyOf}
      estimate={(item) => HEIGHTS[item.kind]}
      render={(item) => (
        <div className="mx-auto w-full max-w-3xl px-4 py-1.5 md:px-6">
          <ItemView threadId={threadId} view={view} item={item} live={live} lastUser={lastUser} lastRun={lastRun} />
        </div>
      )}
      before={<div className="h-4" />}
      after={
        <div className="mx-auto w-full max-w-3xl px-4 pb-5 md:px-6">
          {outgoing.map((message) => (
            <OutgoingMessage key={message.id} message={message} threadId={threadId} />
          ))}
          {live && view.status === "running" && <WorkingLine view={view} />}
        </div>
      }
    />
  );
}

function ItemView({
  threadId,
  view,
  item,
  live,
  lastUser,
  lastRun,
}: {
  threadId: string;
  view: ThreadView;
  item: Item;
  live: boolean;
  lastUser: string | undefined;
  lastRun: number | undefined;
}) {
  switch (item.kind) {
    case "user":
      return <UserMessage threadId={threadId} message={item.message} editable={live && view.status !== "running"} />;
    case "assistant":
      return <AssistantMessage threadId={threadId} view={view} message={item.message} live={live} />;
    case "question":
      return <InterruptCard threadId={threadId} interruptId={item.id} readOnly={!live} />;
    case "run":
      return <RunLine threadId={threadId} run={item.run} regenerate={live && item.run.seq === lastRun ? lastUser : undefined} />;
    case "activity":
      return <ActivityCard threadId={threadId} id={item.id} />;
    case "unknown":
      return <UnknownCard custom={item.custom} />;
    default:
      return item satisfies never;
  }
}

/** Whether an item shows the call, question or step of this id. */
function holds(view: ThreadView, item: Item, id: string): boolean {
  if (item.kind === "question") return item.id === id;
  if (item.kind === "run") return String(item.run.seq) === id;
  if (item.kind === "user") return item.message.id === id;
  if (item.kind !== "assistant") return false;
  return item.message.id === id || view.calls.get(id)?.stepId === item.message.id;
}
