import { useCallback, useEffect, useRef, useState } from "react";
import { type PendingCall, useActions } from "../../data/hooks.ts";

const LATER_MS = 5_000;

/** Approvals by a single key go out after five seconds, so that a slip of the finger can be taken back. Leaving the page sends nothing. */
export function useLateApproval(): { ids: ReadonlySet<string>; approve: (calls: readonly PendingCall[]) => () => void; undo: () => void } {
  const { approve } = useActions();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const timers = useRef(new Map<number, string[]>());
  const forget = useCallback((gone: readonly string[]) => setIds((before) => new Set([...before].filter((id) => !gone.includes(id)))), []);
  const takeBack = (timer: number) => {
    const held = timers.current.get(timer);
    if (!held) return;
    clearTimeout(timer);
    timers.current.delete(timer);
    forget(held);
  };
  useEffect(() => {
    const open = timers.current;
    return () => {
      for (const timer of open.keys()) clearTimeout(timer);
    };
  }, []);
  return {
    ids,
    approve(calls) {
      const held = calls.map(({ id }) => id);
      setIds((before) => new Set([...before, ...held]));
      const timer = window.setTimeout(() => {
        timers.current.delete(timer);
        void Promise.all(calls.map(({ callId, id }) => approve(callId ?? id))).finally(() => forget(held));
      }, LATER_MS);
      timers.current.set(timer, held);
      return () => takeBack(timer);
    },
    undo() {
      const last = [...timers.current.keys()].at(-1);
      if (last !== undefined) takeBack(last);
    },
  };
}
