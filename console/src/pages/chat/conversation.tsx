import type { ThreadView } from "handback/client";
import { memo, type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { useParam } from "../../app/use-param.ts";
import { focusCard } from "../../call/focus-card.ts";
import { InterruptCard } from "../../call/interrupt-card.tsx";
import type { Outgoing } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { VirtualList, type VirtualListHandle } from "../../ui/virtual-list.tsx";
import { ActivityCard, UnknownCard } from "./any-card.tsx";
import { AssistantMessage } from "./assistant-message.tsx";
import { holds, type Item, itemsOf, keyOf } from "./items.ts";
import { OutgoingMessage } from "./outgoing-message.tsx";
import { RunLine } from "./run-line.tsx";
import { UserMessage } from "./user-message.tsx";
import { WorkingLine } from "./working-line.tsx";

export type ConversationHandle = {
  /** Scrolls to a call or question and puts the focus on it. */
  focus(id: string): void;
};

type Props = {
  threadId: string;
  view: ThreadView;
  /** Whether what is shown can be answered: it is now, and on a server. */
  live: boolean;
  outgoing: readonly Outgoing[];
  ref?: Ref<ConversationHandle>;
};

const HEIGHTS: Record<Item["kind"], number> = { user: 80, assistant: 140, question: 220, run: 40, activity: 80, unknown: 80 };

/** Everything that was said and done, of which only what is seen is in the page. */
export function Conversation({ threadId, view, live, outgoing, ref }: Props) {
  const t = useT();
  const { messages, interrupts, runs, activities, customs } = view;
  const items = useMemo(
    () => itemsOf({ messages, interrupts, runs, activities, customs }),
    [messages, interrupts, runs, activities, customs],
  );
  const [list, setList] = useState<VirtualListHandle | null>(null);
  const [selected] = useParam("select");
  const shown = useRef<string>(undefined);
  // Once for each thing that is selected, as soon as it is there: later events must not move the reader.
  useEffect(() => {
    if (!list || shown.current === selected) return;
    if (selected === undefined) {
      shown.current = undefined;
      return;
    }
    const index = items.findIndex((item) => holds(view, item, selected));
    if (index < 0) return;
    shown.current = selected;
    list.toIndex(index);
  }, [list, selected, items, view]);
  useImperativeHandle(
    ref,
    () => ({
      focus(id) {
        const index = items.findIndex((item) => holds(view, item, id));
        if (index >= 0) list?.toIndex(index);
        focusCard(id);
      },
    }),
    [items, view, list],
  );
  const lastUser = view.messages.findLast((message) => message.role === "user")?.id;
  const lastRun = view.runs.at(-1)?.seq;
  const editable = live && view.status !== "running";
  return (
    <VirtualList
      ref={setList}
      role="log"
      stick
      label={t("chat.conversation")}
      items={items}
      keyOf={keyOf}
      estimate={(item) => HEIGHTS[item.kind]}
      render={(item) => (
        <Row
          threadId={threadId}
          item={item}
          live={live}
          editable={editable}
          regenerate={editable && item.kind === "run" && item.run.seq === lastRun ? lastUser : undefined}
        />
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

type RowProps = { threadId: string; item: Item; live: boolean; editable: boolean; regenerate: string | undefined };

const Row = memo(function Row(props: RowProps) {
  return (
    <div className="mx-auto w-full max-w-3xl px-4 py-1.5 md:px-6">
      <ItemView {...props} />
    </div>
  );
});

function ItemView({ threadId, item, live, editable, regenerate }: RowProps) {
  switch (item.kind) {
    case "user":
      return <UserMessage threadId={threadId} message={item.message} editable={editable} />;
    case "assistant":
      return <AssistantMessage threadId={threadId} message={item.message} live={live} />;
    case "question":
      return <InterruptCard threadId={threadId} interruptId={item.id} readOnly={!live} />;
    case "run":
      return <RunLine threadId={threadId} run={item.run} regenerate={regenerate} />;
    case "activity":
      return <ActivityCard threadId={threadId} id={item.id} />;
    case "unknown":
      return <UnknownCard custom={item.custom} />;
    default:
      return item satisfies never;
  }
}
