import type { Channel, Locks, Page } from "../../src/client/client.ts";

/** A browser without a browser: tabs that share locks and channels, and can be hidden, closed and killed. */
export function fakeBrowser(options: { locks?: boolean } = {}): { tab(): FakeTab } {
  const queues = new Map<string, { run: () => void; tab: FakeTab }[]>();
  const channels = new Set<{ name: string; tab: FakeTab; channel: Channel }>();
  return {
    tab() {
      const visibility = new Set<() => void>();
      const leaving = new Set<() => void>();
      const locks: Locks = {
        request(name, { signal }, work) {
          return new Promise((resolve, reject) => {
            const queue = queues.get(name) ?? [];
            queues.set(name, queue);
            const entry = {
              tab,
              run: () => {
                void work().then(resolve, reject).finally(leave);
              },
            };
            const leave = () => {
              if (!queue.includes(entry)) return;
              const first = queue[0] === entry;
              queue.splice(queue.indexOf(entry), 1);
              if (first) queue[0]?.run();
            };
            tab.freed.add(leave);
            signal.addEventListener("abort", () => {
              if (queue[0] !== entry && queue.includes(entry)) {
                leave();
                reject(signal.reason);
              }
            });
            queue.push(entry);
            if (queue[0] === entry) queueMicrotask(entry.run);
          });
        },
      };
      const tab: FakeTab = {
        freed: new Set(),
        dead: false,
        hidden: false,
        sent: 0,
        page: {
          locks: options.locks === false ? undefined : locks,
          channel: (name) => {
            const channel: Channel = {
              onmessage: null,
              postMessage(message) {
                if (tab.dead) return;
                tab.sent += 1;
                const copy = structuredClone(message);
                for (const other of channels) {
                  if (other.channel === channel || other.name !== name || other.tab.dead) continue;
                  setImmediate(() => !other.tab.dead && other.channel.onmessage?.({ data: copy }));
                }
              },
              close: () => channels.delete(entry),
            };
            const entry = { name, tab, channel };
            channels.add(entry);
            return channel;
          },
          visible: () => !tab.hidden,
          onVisibility: (listener) => {
            visibility.add(listener);
            return () => visibility.delete(listener);
          },
          onLeave: (listener) => {
            leaving.add(listener);
            return () => leaving.delete(listener);
          },
        },
        hide(hidden) {
          tab.hidden = hidden;
          for (const listener of visibility) listener();
        },
        kill() {
          tab.dead = true;
          for (const leave of [...tab.freed]) leave();
        },
      };
      return tab;
    },
  };
}

export type FakeTab = {
  page: Page;
  hidden: boolean;
  dead: boolean;
  /** Messages it has sent to other tabs. */
  sent: number;
  freed: Set<() => void>;
  hide(hidden: boolean): void;
  /** Ends as a crashed tab does: without a word, its locks free. */
  kill(): void;
};
