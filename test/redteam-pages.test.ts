import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { asker, authenticate, obedient } from "./support/native.ts";
import { eventually, type Served, serve } from "./support/serve.ts";

/** Writes a request as it stands: `fetch` would tidy paths and hosts. */
function raw({ url }: Served, path: string, host = "localhost", more = ""): Promise<{ status: number; head: string; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.setEncoding("utf8").on("error", reject);
    let text = "";
    socket.on("data", (piece: string) => {
      text += piece;
    });
    socket.on("close", () => {
      const [head = "", ...rest] = text.split("\r\n\r\n");
      resolve({ status: Number(head.split(" ")[1]), head: head.toLowerCase(), body: rest.join("\r\n\r\n") });
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`);
  });
}

describe("red team: the console's files", () => {
  it("are those that were built, however a path is written", async () => {
    await using server = await serve({ agents: { default: obedient() }, authenticate });
    for (const path of [
      "/assets/..%2findex.html",
      "/assets/%2e%2e%2f%2e%2e%2fpackage.json",
      "/assets/..%5c..%5cpackage.json",
      "/assets/..\\..\\package.json",
      "/assets/..%252f..%252fpackage.json",
      "/assets/../../package.json",
      "/assets/%c0%ae%c0%ae%2fpackage.json",
      "/assets/%2fetc%2fpasswd",
      "/assets//etc/passwd",
      "/assets/%00.js",
      "/assets/%ff.js",
      "/assets/__proto__.js",
      "/assets/.js",
      "/assets/",
      "/theme.js/..%2f..%2fpackage.json",
      "/licenses.md.br",
    ]) {
      const { status, head, body } = await raw(server, path);
      assert.ok(status === 404 || status === 400, path);
      assert.doesNotMatch(head, /content-type: text\/(html|javascript|markdown)/);
      assert.doesNotMatch(body, /"dependencies"|root:/);
    }
  });

  it("say nothing that a host or a path said", async () => {
    await using server = await serve({ agents: { default: obedient() }, authenticate });
    const plain = await raw(server, "/t/x", "localhost:1");
    for (const [path, host] of [
      ["/t/x", "evil.example"],
      ["/t/x", "localhost.evil.example"],
      ["/t/x", "localhost:1@evil.example"],
      ["/t/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E", "localhost:1"],
      ["/t/x?base=//evil.example/", "localhost:1"],
    ] as const) {
      const { head, body } = await raw(server, path, host, "X-Forwarded-Host: evil.example\r\nX-Forwarded-Prefix: //evil.example\r\n");
      assert.doesNotMatch(head + body, /evil\.example|<script>alert/, `${path} ${host}`);
      if (body !== "") assert.ok(body.startsWith("{") || body === plain.body, `${path} ${host}`);
    }
    for (const host of ["localhost; script-src *", "localhost:1 evil.example", "localhost\tx"]) {
      const { head } = await raw(server, "/t/x", host);
      assert.doesNotMatch(head, /script-src \*|evil/);
    }
    const [one, other] = [await raw(server, "/sandbox"), await raw(server, "/sandbox", "evil.example")];
    assert.equal(one.head.replace(/date: .*/, ""), other.head.replace(/date: .*/, ""));
  });
});

describe("red team: pages of other sites", () => {
  const stopIt = (server: Served, headers: Record<string, string>, path = "/api/chat/t/stop") =>
    fetch(server.url + path, { method: "POST", headers });
  const hanging = async (server: Served) => {
    const ask = asker(server.url);
    await ask("POST", "/threads/t/runs", { message: "hang" });
    await eventually(async () => (await ask("GET", "/threads/t")).json.status === "running");
    return async () => (await ask("GET", "/threads/t/log")).text.includes("cancel.requested");
  };

  it("cannot stop or redeliver anything by a form, which no preflight announces", async () => {
    await using server = await serve({ agents: { default: obedient() } });
    const stopped = await hanging(server);
    for (const site of ["cross-site", "same-site"])
      for (const type of [undefined, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
        const headers = { "sec-fetch-site": site, origin: "https://evil.example", ...(type && { "content-type": type }) };
        for (const path of ["/api/chat/t/stop", "/v1/deliveries/call_1/redeliver"])
          assert.equal((await stopIt(server, headers, path)).status, 403, `${site} ${type} ${path}`);
      }
    assert.equal(await stopped(), false);
    for (const site of ["same-origin", "none"]) assert.equal((await stopIt(server, { "sec-fetch-site": site })).status, 200);
    assert.equal(await stopped(), true);
  });

  it("may where CORS lists them, and only there", async () => {
    await using server = await serve({ agents: { default: obedient() }, cors: { origins: ["https://shop.example"] } });
    const stopped = await hanging(server);
    const from = (origin: string) => stopIt(server, { "sec-fetch-site": "cross-site", origin });
    for (const origin of ["https://evil.example", "null", "https://shop.example.evil.example"])
      assert.equal((await from(origin)).status, 403, origin);
    assert.equal(await stopped(), false);
    assert.equal((await from("https://shop.example")).status, 200);
    assert.equal(await stopped(), true);
  });

  it("read nothing of the new routes without CORS", async () => {
    await using server = await serve({ agents: { default: obedient() } });
    for (const path of ["/v1/meta", "/v1/events", "/v1/threads", "/v1/calls", "/v1/grants", "/sandbox", "/theme.js"]) {
      const stop = new AbortController();
      const response = await fetch(server.url + path, { headers: { origin: "https://evil.example" }, signal: stop.signal });
      assert.equal(response.headers.get("access-control-allow-origin"), null, path);
      stop.abort();
    }
    for (const path of ["/v1/threads/t/fork", "/v1/calls/c/respond", "/v1/grants"]) {
      const headers = { origin: "https://evil.example", "access-control-request-method": "POST", "access-control-request-headers": "x" };
      const response = await fetch(server.url + path, { method: "OPTIONS", headers });
      assert.equal(response.headers.get("access-control-allow-origin"), null, path);
      const post = await fetch(server.url + path, { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" });
      assert.ok(post.status === 415 || post.status === 404, `${path} ${post.status}`);
    }
  });
});
