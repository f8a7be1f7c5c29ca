import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Hono } from "hono";
import { type Clock, systemClock } from "../core/clock.ts";
import { AppError, toFailure } from "../core/error.ts";
import { type Log, silentLog } from "./log.ts";

/** A server that listens. `close` takes no more requests, waits up to `graceMs` for those it has, then cuts them off. */
export type Listening = { url: string; port: number; close(graceMs: number): Promise<void> };

/** Where to listen. The clock times the grace of `close`. */
export type ListenOptions = { host?: string; port: number; clock?: Clock; log?: Log; upgrade?: Upgrade };

/** Takes over connections that ask to speak another protocol. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Serves an app over HTTP, to this machine only unless another host is named. Port 0 picks a free one. */
export async function listen(app: Pick<Hono, "fetch">, options: ListenOptions): Promise<Listening> {
  const { host = "127.0.0.1", clock = systemClock, log = silentLog } = options;
  const server = createServer(LIMITS, toListener(app, host, log));
  if (options.upgrade) server.on("upgrade", options.upgrade);
  const sockets = trackSockets(server);
  await start(server, host, options.port);
  server.on("error", (error) => log({ event: "server.failed", error: (error as NodeJS.ErrnoException).code ?? error.name }));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${shown(host)}:${port}`,
    port,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const cancel = clock.after(graceMs, sockets.destroyAll);
      await closed;
      cancel();
    },
  };
}

const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000, // to receive a request; an answer may take for ever
  connectionsCheckingInterval: 5_000, // how late the two above may notice
  keepAliveTimeout: 65_000, // longer than the usual 60 s of a proxy, so that it is the proxy that hangs up
};

/** The app as a listener for node:http. */
export function toListener(app: Pick<Hono, "fetch">, hostname: string, log: Log): RequestListener {
  return getRequestListener(
    async (request, env) => {
      const response = await app.fetch(request, env);
      // A middleware that copies the response of a raw stream loses the mark that it is on its way.
      return env.outgoing.headersSent ? RESPONSE_ALREADY_SENT : response;
    },
    {
      hostname, // for HTTP/1.0, which names none
      errorHandler(cause) {
        const malformed = cause instanceof RequestError;
        if (!malformed) log({ event: "request.failed", error: cause instanceof Error ? cause.name : typeof cause });
        const error = malformed ? new AppError("invalid", "The request is malformed", { cause }) : cause;
        return Response.json({ error: toFailure(error) }, { status: malformed ? 400 : 500 });
      },
    },
  );
}

/** Knows which connections are still answering, and hangs up on the others when the server closes. */
function trackSockets(server: Server): { destroyAll(): void } {
  const answering = new Map<Socket, number>();
  let closing = false;
  const hangUpIfIdle = (socket: Socket) => {
    if (closing && answering.get(socket) === 0) socket.destroySoon();
  };
  server.on("connection", (socket) => {
    answering.set(socket, 0);
    socket.on("close", () => answering.delete(socket));
  });
  server.on("request", ({ socket }, outgoing) => {
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    outgoing.on("close", () => {
      if (answering.has(socket)) answering.set(socket, (answering.get(socket) ?? 1) - 1);
      hangUpIfIdle(socket);
    });
  });
  // It answers until it is closed.
  server.on("upgrade", ({ socket }) => answering.set(socket, 1));
  // `server.close` calls this. Node's own destroys a connection whose answer is complete but not yet delivered.
  server.closeIdleConnections = () => {
    closing = true;
    for (const socket of answering.keys()) hangUpIfIdle(socket);
  };
  return {
    destroyAll() {
      for (const socket of answering.keys()) socket.destroy();
    },
  };
}

async function start(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(port, host, resolve);
  try {
    await promise;
  } catch (cause) {
    throw new AppError("unavailable", whyNot(cause as NodeJS.ErrnoException, host, port), { cause });
  } finally {
    server.off("error", reject);
  }
}

function whyNot({ code }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === "EADDRINUSE") return `Port ${port} is in use; choose another with --port`;
  if (code === "EACCES") return `Port ${port} is not ours to use; choose one above 1023 with --port`;
  return `Cannot listen on ${host}:${port} (${code}); choose another with --host`;
}

/** The host as a person would type it into a browser. */
function shown(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
