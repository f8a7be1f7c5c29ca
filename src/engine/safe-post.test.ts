import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../core/clock.ts";
import { type Lookup, safePost } from "./safe-post.ts";
import { webhooks } from "./webhooks.ts";

const SECRET = "a secret of more than 24 characters";

/** What must never be reached: this machine, its network, its cloud, and every disguise of them. */
const INSIDE = [
  "127.0.0.1",
  "127.1.2.3",
  "0.0.0.0",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::1",
  "::",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::127.0.0.1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "2001:0:7f00:1::",
  "fc00::1",
  "fd12::1",
  "fe80::1",
  "ff02::1",
];

describe("callbackUrl", () => {
  const { check } = webhooks({ secrets: [SECRET] });
  const refused = (url: string) => assert.throws(() => check(url), { code: "invalid", field: "callbackUrl" }, url);

  it("takes public https", () => {
    for (const url of [
      "https://hooks.example.com/a?b=c",
      "https://hooks.example.com:8443/",
      "https://93.184.216.34/",
      "https://[2606:4700::1]/",
    ]) {
      assert.equal(check(url).href, url);
    }
  });

  it("takes nothing that leads inside, however it is written", () => {
    for (const address of INSIDE) refused(`https://${address.includes(":") ? `[${address}]` : address}/`);
    for (const host of ["localhost", "localhost.", "a.localhost", "printer.local", "vault.internal", "intranet", "intranet."])
      refused(`https://${host}/`);
    for (const host of ["0x7f.1", "2130706433", "0177.0.0.1", "127.1", "①②⑦.⓪.⓪.①", "0x7f000001"]) refused(`https://${host}/`);
  });

  it("takes no other protocol, port or password", () => {
    for (const url of [
      "http://hooks.example.com/",
      "ftp://a.example",
      "file:///etc/passwd",
      "gopher://a.example",
      "data:,x",
      "nonsense",
      "",
    ])
      refused(url);
    for (const url of ["https://user:pw@hooks.example.com/", "https://user@hooks.example.com/", "https://hooks.example.com:22/"])
      refused(url);
  });

  it("takes what the operator has listed, and then nothing else", () => {
    const { check, trusts } = webhooks({ secrets: [SECRET], allow: ["http://127.0.0.1:9000", "https://hooks.example.com"] });
    assert.ok(trusts(check("http://127.0.0.1:9000/hook")));
    assert.ok(trusts(check("https://hooks.example.com/x")));
    for (const url of ["http://127.0.0.1:9001/", "https://other.example.com/", "http://hooks.example.com/"])
      assert.throws(() => check(url));
    assert.throws(() => check("http://me:secret@127.0.0.1:9000/"));
  });

  it("needs a secret that nobody guesses", () => {
    for (const secrets of [[], ["short"], ["whsec_c2hvcnQ="]]) assert.throws(() => webhooks({ secrets }), { code: "invalid" });
  });
});

describe("a hostile resolver", () => {
  let server: Server;
  let port = 0;
  let visits = 0;
  before(async () => {
    server = createServer((_, response) => {
      visits += 1;
      response.end("secret");
    });
    server.on("connection", () => {
      visits += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, "::", resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const post = (host: string, lookup: Lookup, trusted = false) =>
    safePost(new URL(`http://${host}:${port}/`), {
      headers: {},
      body: "{}",
      trusted,
      lookup,
      clock: systemClock,
      signal: new AbortController().signal,
      timeoutMs: 500,
    });

  it("cannot lead a name inside, alone or among public addresses", async () => {
    for (const address of INSIDE) {
      for (const answer of [[address], ["93.184.216.34", address], [address, "93.184.216.34"]]) {
        await assert.rejects(
          post("hooks.example.com", async () => answer),
          { code: "forbidden" },
          String(answer),
        );
      }
    }
    for (const answer of [[], ["not an address"]]) await assert.rejects(post("hooks.example.com", async () => answer));
    assert.equal(visits, 0);
  });

  it("is asked once: what is dialled is the address that was looked at", async () => {
    let asked = 0;
    const rebinding: Lookup = async () => (++asked === 1 ? ["192.31.196.1"] : ["127.0.0.1"]);
    await assert.rejects(post("hooks.example.com", rebinding));
    assert.deepEqual([asked, visits], [1, 0]);
  });

  it("is not asked about addresses, which are looked at all the same", async () => {
    for (const host of ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"]) {
      await assert.rejects(
        post(host, () => assert.fail("asked")),
        { code: "forbidden" },
        host,
      );
    }
    assert.equal(visits, 0);
  });

  it("reaches what the operator trusts", async () => {
    const { status, body } = await post("inside.example.com", async () => ["127.0.0.1"], true);
    assert.deepEqual([status, body], [200, "secret"]);
  });

  it("that never answers is not waited for", async () => {
    await assert.rejects(
      post("hooks.example.com", () => new Promise(() => {})),
      { code: "timeout" },
    );
  });
});
