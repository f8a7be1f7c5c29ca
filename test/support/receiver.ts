import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One delivery as it arrived. */
export type Received = {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look where they like
  data: any;
};

export type Receiver = AsyncDisposable & { origin: string; url: string; received: Received[]; answer(how: Answer): void };

/** How a receiver answers: with a status and perhaps a body, or in a way of its own. */
export type Answer = number | { status: number; body?: unknown; headers?: Record<string, string> } | ((response: ServerResponse) => void);

/** Somebody else's server, on loopback. It answers as it was last told to. */
export async function receiver(answer: Answer = 200): Promise<Receiver> {
  const received: Received[] = [];
  let how = answer;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ id: String(request.headers["webhook-id"]), headers: request.headers, body, data: JSON.parse(body).data });
    if (typeof how === "function") return how(response);
    const { status, body: said, headers = {} } = typeof how === "number" ? { status: how } : how;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(said === undefined ? "" : JSON.stringify(said));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/hook`,
    received,
    answer(next) {
      how = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether a delivery is signed with this secret, as standardwebhooks.com says. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const mac = createHmac("sha256", key).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`).digest("base64");
  return String(headers["webhook-signature"]).split(" ").includes(`v1,${mac}`);
}
