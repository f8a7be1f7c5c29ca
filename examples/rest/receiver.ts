import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

// A receiver of webhooks: checks the signature and answers with the result. The server needs the same HANDBACK_WEBHOOK_SECRET.

const secret = Buffer.from((process.env["HANDBACK_WEBHOOK_SECRET"] ?? "").replace("whsec_", ""), "base64");
const seen = new Map<string, string>();

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { "webhook-id": id = "", "webhook-timestamp": at = "", "webhook-signature": signatures = "" } = request.headers;
  const expected = `v1,${createHmac("sha256", secret).update(`${id}.${at}.${body}`).digest("base64")}`;
  const fresh = Math.abs(Date.now() / 1000 - Number(at)) < 300;
  if (
    !fresh ||
    !String(signatures)
      .split(" ")
      .some((signature) => same(signature, expected))
  )
    return response.writeHead(401).end();
  // Sent at least once: the same id is the same call, so it is executed once.
  const { data } = JSON.parse(body) as { data: { name: string; args: { category: string } } };
  const result = seen.get(String(id)) ?? JSON.stringify({ success: true, data: { category: data.args.category, menu: ["美式咖啡"] } });
  seen.set(String(id), result);
  response.writeHead(200, { "content-type": "application/json" }).end(result);
});

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

server.listen(Number(process.env["PORT"] ?? 9000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`receiving on http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
});
