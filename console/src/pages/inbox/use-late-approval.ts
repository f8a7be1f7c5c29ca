import { useSyncExternalStore } from "react";
import { toast } from "../../app/toast.tsx";
import { type PendingCall, toolOf, useActions } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";

const LATER_MS = 5_000;

/** What goes out in a moment. It outlives the inbox, not the tab: closing the tab approves nothing. */
let waiting: ReadonlyMap<number, readonly PendingCall[]> = new Map();
let ids: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

/** Approvals by a single key go out after five seconds, so that a slip of the finger can be taken back. */
export function useLateApproval(): { ids: ReadonlySet<string>; approve: (calls: readonly PendingCall[]) => () => void; undo: () => void } {
  const t = useT();
  const { approve } = useActions();
  const send = async (call: PendingCall) => {
    const { type } = await approve(call.callId ?? call.id);
    if (type === "ok" || type === "elsewhere") return; // answered, and the list says so
    toast({ text: t("inbox.notApproved", { name: toolOf(call) }), tone: "bad", ms: 10_000 });
  };
  return {
    ids: useSyncExternalStore(subscribe, () => ids),
    approve(calls) {
      const timer = window.setTimeout(
        () => void Promise.all((waiting.get(timer) ?? []).map(send)).finally(() => put(without(timer))),
        LATER_MS,
      );
      put(new Map([...waiting, [timer, calls]]));
      return () => takeBack(timer);
    },
    undo() {
      const last = [...waiting.keys()].at(-1);
      if (last !== undefined) takeBack(last);
    },
  };
}

function takeBack(timer: number): void {
  clearTimeout(timer);
  put(without(timer));
}

function without(timer: number): ReadonlyMap<number, readonly PendingCall[]> {
  return new Map([...waiting].filter(([each]) => each !== timer));
}

function put(next: ReadonlyMap<number, readonly PendingCall[]>): void {
  waiting = next;
  ids = new Set([...next.values()].flatMap((calls) => calls.map(({ id }) => id)));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
