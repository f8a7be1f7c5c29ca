/** As much of a browser's page as the sandbox needs. */
export type Page = {
  location: { href: string };
  MessageChannel: new () => { port1: Port; port2: Port };
  document: { createElement(name: "iframe"): Frame; documentElement: { append(frame: Frame): void } };
  addEventListener(type: "message", listener: (event: PageMessage) => void): void;
  removeEventListener(type: "message", listener: (event: PageMessage) => void): void;
};

export type PageMessage = { source: unknown; data: unknown };

export type Port = { onmessage: (event: { data: unknown }) => void; onmessageerror: () => void; close(): void };

export type Frame = {
  src: string;
  title: string;
  hidden: boolean;
  referrerPolicy: string;
  contentWindow: { postMessage(message: unknown, target: string, transfer: unknown[]): void } | null;
  setAttribute(name: string, value: string): void;
  addEventListener(type: "load", listener: () => void): void;
  remove(): void;
};

/** The page this code runs in. Refuses workers and servers: there is no frame to put the sandbox in. */
export function thisPage(): Page {
  if (!("document" in globalThis)) throw new Error("The sandbox needs a page: it cannot run in a worker or on a server");
  return globalThis as unknown as Page;
}
