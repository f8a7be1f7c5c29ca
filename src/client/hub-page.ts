/** The part of Web Locks that is needed: one tab at a time does the work. */
export type Locks = { request(name: string, options: { signal: AbortSignal }, work: () => Promise<void>): Promise<unknown> };

/** The part of a BroadcastChannel that is needed. */
export type Channel = { postMessage(message: unknown): void; onmessage: ((event: { data: unknown }) => void) | null; close(): void };

/** The page this code runs in, as far as it matters here. */
export type Page = {
  locks: Locks | undefined;
  channel: ((name: string) => Channel) | undefined;
  visible(): boolean;
  /** Calls back when the page is shown or hidden. */
  onVisibility(listener: () => void): () => void;
  /** Calls back when the page is left. */
  onLeave(listener: () => void): () => void;
};

type Target = { addEventListener(type: string, listener: () => void): void; removeEventListener(type: string, listener: () => void): void };
type Globals = Target & {
  document?: Target & { visibilityState: string };
  navigator?: { locks?: Locks };
  BroadcastChannel?: new (name: string) => Channel;
};

/** This page. Outside a browser there is one tab, and it is always seen. */
export function thisPage(): Page {
  const window = globalThis as unknown as Globals;
  const { document, navigator, BroadcastChannel } = window;
  const on = (target: Target | undefined, type: string, listener: () => void) => {
    target?.addEventListener(type, listener);
    return () => target?.removeEventListener(type, listener);
  };
  return {
    locks: document && navigator?.locks,
    channel: document && BroadcastChannel && ((name) => new BroadcastChannel(name)),
    visible: () => document?.visibilityState !== "hidden",
    onVisibility: (listener) => on(document, "visibilitychange", listener),
    onLeave: (listener) => on(document && window, "pagehide", listener),
  };
}
