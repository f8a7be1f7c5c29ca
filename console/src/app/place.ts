/** Where this page lies and where its server's API begins, both without a slash at the end. The page's `<base>` says it. */
const base = new URL(".", document.baseURI);
const api = document.querySelector<HTMLMetaElement>('meta[name="handback-api"]')?.content ?? "./";

/** The path all views are below: `""` or `"/console"`. */
export const BASE = trimmed(base.pathname);

/** What `connect` takes as `url`, and what snippets show. */
export const API_ROOT = trimmed(new URL(api === "api-root" ? "/" : api, base).href);

function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

/** A view's address, for links. */
export const to = {
  chat: (threadId?: string, query: Record<string, string | number | undefined> = {}) =>
    (threadId === undefined ? "/" : `/t/${encodeURIComponent(threadId)}`) + search(query),
  inbox: (call?: string, query: Record<string, string | undefined> = {}) =>
    (call === undefined ? "/inbox" : `/inbox/${encodeURIComponent(call)}`) + search(query),
  threads: (query: Record<string, string | undefined> = {}) => `/threads${search(query)}`,
  run: (run?: string, query: Record<string, string | undefined> = {}) =>
    (run === undefined ? "/runs" : `/runs/${encodeURIComponent(run)}`) + search(query),
  graph: (query: Record<string, string | undefined> = {}) => `/graph${search(query)}`,
  playground: (query: Record<string, string | undefined> = {}) => `/playground${search(query)}`,
  settings: (section?: string) => `/settings${section ? `?section=${section}` : ""}`,
};

function search(query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, String(value)]]));
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
