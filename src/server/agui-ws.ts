import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { AppError, toFailure } from "../core/error.ts";
import { type AguiOptions, pathOf } from "./agui-options.ts";
import { run } from "./agui-run.ts";
import { errorFrame, eventsOf } from "./agui-stream.ts";
import { toJson } from "./body.ts";
import { type CorsOptions, isLocalHost } from "./cors.ts";
import { type Door, STATUS } from "./door.ts";
import type { Upgrade } from "./node.ts";
import { type Principal, principalOf } from "./principal.ts";

/** AG-UI over WebSocket: one `RunAgentInput` in, one event per frame out, until the run ends; then the next one may come. */
export type AguiSockets = { upgrade: Upgrade; closeAll(): void };

export function aguiSockets(door: Door, options: AguiOptions, cors: CorsOptions | undefined, heartbeatMs: number): AguiSockets {
  const { routes } = options;
  const path = routes.ws === false ? undefined : pathOf(routes, routes.ws);
  const open = new Set<WebSocket>();
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const url = new URL(request.url ?? "/", `http://${request.headers.host ?? "localhost"}`);
    if (url.pathname !== path) throw new AppError("not_found", `There is no WebSocket ${url.pathname} here`);
    checkOrigin(request, url, door, cors);
    const principal = door.authenticate && (await principalOf(door.authenticate, toRequest(request, url)));
    // Loaded by the first who wants one.
    const { WebSocketServer } = await import("ws");
    const server = new WebSocketServer({ noServer: true, maxPayload: door.limits.bytes });
    server.handleUpgrade(request, socket, head, (ws) => {
      open.add(ws);
      ws.on("close", () => open.delete(ws));
      serve(door, options, ws, { principal, agent: url.searchParams.get("agent") ?? undefined });
      keepAlive(door, ws, heartbeatMs);
    });
  };
  return {
    upgrade: (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      accept(request, socket, head).catch((error: unknown) => refuse(socket, error));
    },
    closeAll() {
      for (const ws of open) ws.close(1001, "The server is shutting down");
    },
  };
}

/** A page of another site can open a WebSocket without asking first: what CORS decides for requests is decided here. */
function checkOrigin({ headers }: IncomingMessage, url: URL, { authenticate }: Door, cors: CorsOptions | undefined): void {
  if (!authenticate && !isLocalHost(url.host)) {
    throw new AppError("forbidden", "Without authentication this server answers to localhost only");
  }
  const { origin } = headers;
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === url.host)) return;
  if (cors?.origins === "*" || cors?.origins.includes(origin)) return;
  throw new AppError("forbidden", `Pages of ${origin} may not call this server`);
}

function toRequest({ headers }: IncomingMessage, url: URL): Request {
  const list = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? value.join(", ") : (value ?? ""),
  ]);
  return new Request(url, { headers: list });
}

function refuse(socket: Duplex, error: unknown): void {
  const failure = toFailure(error);
  const body = JSON.stringify({ error: failure });
  const head = `HTTP/1.1 ${STATUS[failure.code]} ${failure.code}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  socket.end(`${head}Connection: close\r\n\r\n${body}`);
}

/** Requests of one socket are answered one after the other, in their order. */
function serve(
  door: Door,
  options: AguiOptions,
  ws: WebSocket,
  who: { principal: Principal | undefined; agent: string | undefined },
): void {
  const gone = new AbortController();
  let queue: Promise<void> = Promise.resolve();
  const answer = async (data: RawData, binary: boolean) => {
    try {
      if (binary) throw new AppError("unsupported", "A request is a text frame");
      const stream = await run(door, options, { ...who, body: toJson(data.toString(), door.limits) });
      for await (const event of eventsOf(stream, gone.signal)) await send(ws, JSON.stringify(event));
    } catch (error) {
      // There is no status to answer with, so refusals are told in the protocol's own words too.
      if (!gone.signal.aborted) await send(ws, JSON.stringify(errorFrame(error)));
    }
  };
  ws.on("message", (data, binary) => {
    queue = queue.then(() => answer(data, binary)).catch(() => {});
  });
  ws.on("close", () => gone.abort());
  ws.on("error", () => ws.terminate());
}

/** Resolves when the frame is on its way, so that a slow reader is waited for. */
function send(ws: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => ws.send(text, (error) => (error ? reject(error) : resolve())));
}

/** A reader that answers no ping is gone. */
function keepAlive({ engine }: Door, ws: WebSocket, heartbeatMs: number): void {
  let alive = true;
  let cancel = () => {};
  const tick = () => {
    if (!alive) return ws.terminate();
    alive = false;
    ws.ping();
    cancel = engine.clock.after(heartbeatMs, tick);
  };
  cancel = engine.clock.after(heartbeatMs, tick);
  ws.on("pong", () => {
    alive = true;
  });
  ws.on("close", () => cancel());
}
