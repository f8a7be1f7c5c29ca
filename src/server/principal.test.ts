import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { exportJWK, type JWTPayload, SignJWT } from "jose";
import {
  type Authenticate,
  anyOf,
  apiKeys,
  byLabel,
  hashApiKey,
  type Identity,
  jwt,
  mayReach,
  mayReachCall,
  newApiKey,
  type Principal,
  principalOf,
} from "./principal.ts";

const alice: Principal = { kind: "user", app: "shop", user: "alice" };
const worker: Principal = { kind: "executor", app: "shop", name: "w1", tools: ["mail"] };
const bob: Principal = { kind: "operator", app: "shop", name: "bob" };

describe("a principal", () => {
  it("has a label for the log", () => {
    assert.deepEqual([alice, worker, bob].map(byLabel), ["user:alice", "executor:w1", "operator:bob"]);
  });

  it("reaches only what is its own", () => {
    const own = { app: "shop", user: "alice" };
    const others = { app: "shop", user: "eve" };
    const elsewhere = { app: "bank", user: "alice" };
    const reach = (principal: Principal) => [own, others, elsewhere].map((key) => mayReach(principal, key));
    assert.deepEqual(reach(alice), [true, false, false]);
    assert.deepEqual(reach(bob), [true, true, false]);
    assert.deepEqual(reach(worker), [false, false, false]);
    const calls = (principal: Principal, tool: string) => [own, others, elsewhere].map((key) => mayReachCall(principal, key, tool));
    assert.deepEqual(calls(worker, "mail"), [true, true, false]);
    assert.deepEqual(calls(worker, "pay"), [false, false, false]);
    assert.deepEqual(calls(alice, "pay"), [true, false, false]);
    assert.deepEqual(calls(bob, "pay"), [true, true, false]);
  });
});

describe("principalOf", () => {
  it("completes a bare user and refuses an empty one", async () => {
    assert.deepEqual(await principalOf(() => ({ user: "alice" }), bearer("")), { kind: "user", app: "default", user: "alice" });
    assert.deepEqual(await principalOf(async () => bob, bearer("")), bob);
    const nobodies = [
      undefined,
      { user: "" },
      { user: undefined },
      { user: 7 },
      { user: "a", app: "" },
      { kind: "operator", app: "a" },
      { user: "x".repeat(201) },
    ];
    for (const nobody of nobodies) await unknown(() => nobody as Identity, bearer(""));
  });
});

describe("apiKeys", () => {
  const secret = "correct-horse-battery";
  const fresh = newApiKey();
  const keys = apiKeys({
    keys: [
      { id: "alice", secret, principal: alice },
      { id: "w_1", hash: hashApiKey("another-long-secret"), principal: worker },
      { id: fresh.id, hash: fresh.hash, principal: { user: "carol" } },
    ],
  });

  it("knows its keys, kept as secrets or as hashes", async () => {
    assert.deepEqual(await principalOf(keys, bearer(`hb_alice.${secret}`)), alice);
    assert.deepEqual(await principalOf(keys, bearer("hb_w_1.another-long-secret")), worker);
    assert.deepEqual(await principalOf(keys, bearer(fresh.key)), { kind: "user", app: "default", user: "carol" });
    assert.notEqual(newApiKey().key, newApiKey().key);
  });

  it("gives every failure the same answer", async () => {
    const tokens = [
      "",
      `hb_alice.${secret}x`,
      "hb_alice.",
      "hb_alice",
      `hb_eve.${secret}`,
      `hb_w_1.${secret}`,
      `hb_alice.${hashApiKey(secret)}`,
      secret,
      `x_alice.${secret}`,
    ];
    for (const token of tokens) await unknown(keys, bearer(token));
    await unknown(keys, new Request("http://x/"));
    await unknown(keys, new Request(`http://x/?key=hb_alice.${secret}&access_token=hb_alice.${secret}`));
    await unknown(keys, new Request("http://x/", { headers: { authorization: `Basic hb_alice.${secret}` } }));
    await unknown(
      keys,
      new Request("http://x/", {
        headers: [
          ["authorization", "Bearer x"],
          ["authorization", `Bearer hb_alice.${secret}`],
        ],
      }),
    );
  });

  it("refuses a configuration that is not safe", () => {
    const one = (key: { id: string; secret: string } | { id: string; hash: string }) => () =>
      apiKeys({ keys: [{ ...key, principal: alice }] });
    assert.throws(one({ id: "a.b", secret }), /malformed/);
    assert.throws(one({ id: "a", secret: "short" }), /shorter/);
    assert.throws(one({ id: "a", hash: secret }), /SHA-256/);
    assert.throws(() => apiKeys({ keys: [1, 2].map(() => ({ id: "a", secret, principal: alice })) }), /twice/);
  });
});

describe("jwt", () => {
  const shared = "0123456789abcdef0123456789abcdef";
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = rsa.publicKey.export({ type: "spki", format: "pem" }) as string;
  const expected = { issuer: "https://id.example", audience: "handback" };
  const good = { iss: expected.issuer, aud: expected.audience, sub: "alice", exp: seconds(60) };
  const bySecret = jwt({ ...expected, secret: shared, algorithms: ["HS256"] });
  const byKey = jwt({ ...expected, publicKey: pem, algorithms: ["RS256"] });
  const hs = (claims: JWTPayload, key = shared) =>
    new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(key));
  const rs = (claims: JWTPayload, header = {}) => new SignJWT(claims).setProtectedHeader({ alg: "RS256", ...header }).sign(rsa.privateKey);

  it("takes the user from the token's subject, or whatever the app makes of its claims", async () => {
    const user = { kind: "user", app: "default", user: "alice" };
    assert.deepEqual(await principalOf(bySecret, bearer(await hs(good))), user);
    assert.deepEqual(await principalOf(byKey, bearer(await rs({ ...good, aud: ["other", "handback"] }))), user);
    const operators = jwt({
      ...expected,
      secret: shared,
      algorithms: ["HS256"],
      principal: ({ sub }) => ({ kind: "operator", app: "shop", name: String(sub) }),
    });
    assert.deepEqual(await principalOf(operators, bearer(await hs(good))), { kind: "operator", app: "shop", name: "alice" });
  });

  it("allows clocks to differ by half a minute and no more", async () => {
    await principalOf(bySecret, bearer(await hs({ ...good, exp: seconds(-20), nbf: seconds(20) })));
    await unknown(bySecret, bearer(await hs({ ...good, exp: seconds(-61) })));
    await unknown(bySecret, bearer(await hs({ ...good, nbf: seconds(61) })));
  });

  it("refuses wrong and missing claims", async () => {
    const { exp: _, ...forever } = good;
    const { sub: __, ...nobody } = good;
    const { aud: ___, ...anywhere } = good;
    const { iss: ____, ...anyones } = good;
    const wrong = [
      forever,
      nobody,
      anywhere,
      anyones,
      { ...good, iss: "https://evil.example" },
      { ...good, aud: "other" },
      { ...good, sub: "" },
    ];
    for (const claims of wrong) await unknown(bySecret, bearer(await hs(claims)));
  });

  it("refuses tokens that choose their own algorithm or key", async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = (header: object, key: string) => {
      const head = `${part(header)}.${part(good)}`;
      return `${head}.${createHmac("sha256", key).update(head).digest("base64url")}`;
    };
    await principalOf(bySecret, bearer(signed({ alg: "HS256" }, shared))); // so these are refused for what they say
    const unsigned = `${part({ alg: "none" })}.${part(good)}.`;
    const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = await exportJWK(own.publicKey);
    const self = await new SignJWT(good)
      .setProtectedHeader({ alg: "RS256", jwk, jku: "http://127.0.0.1:1/", x5u: "http://127.0.0.1:1/" })
      .sign(own.privateKey);
    for (const token of [unsigned, `${part({ alg: "None" })}.${part(good)}.x`, signed({ alg: "HS256" }, pem), self, "a.b.c", ".."]) {
      await unknown(byKey, bearer(token));
      await unknown(bySecret, bearer(token));
    }
    await unknown(bySecret, bearer(await rs(good)));
    await unknown(bySecret, bearer(await hs(good, `${shared}x`)));
    const [head, claims, signature = ""] = (await hs(good)).split(".");
    await unknown(bySecret, bearer(`${head}.${claims}.${signature.startsWith("x") ? "y" : "x"}${signature.slice(1)}`));
    await unknown(bySecret, bearer(signed({ alg: "HS256", crit: ["b64"], b64: false }, shared)));
  });

  it("refuses a configuration that leaves something unchecked", () => {
    const base = { ...expected, secret: shared, algorithms: ["HS256"] };
    for (const part of [
      { issuer: "" },
      { audience: "" },
      { audience: [] },
      { algorithms: [] },
      { algorithms: ["none"] },
      { algorithms: ["HS256", "RS256"] },
      { secret: "short" },
    ]) {
      assert.throws(() => jwt({ ...base, ...part }), /JWT/);
    }
    assert.throws(() => jwt({ ...expected, publicKey: pem, algorithms: ["HS256"] }), /JWT/);
  });

  describe("with a key set", () => {
    let asked = 0;
    let keys: object[] = [];
    const server = createServer((_, response) => {
      asked++;
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys }));
    });
    let bySet: Authenticate;
    before(async () => {
      keys = [{ ...(await exportJWK(rsa.publicKey)), kid: "k1", alg: "RS256", use: "sig" }];
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      bySet = jwt({ ...expected, jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`, algorithms: ["RS256"] });
    });
    after(() => server.close());

    it("knows tokens by their key id and asks for the set once, whatever ids it is flooded with", async () => {
      assert.equal((await principalOf(bySet, bearer(await rs(good, { kid: "k1" })))).app, "default");
      for (const kid of ["k2", "../k1", "' or 1=1", "k1\0"]) await unknown(bySet, bearer(await rs(good, { kid })));
      assert.equal(asked, 1);
    });

    it("lets nobody in while the set cannot be had", async () => {
      const down = jwt({ ...expected, jwksUrl: "http://127.0.0.1:1/keys", algorithms: ["RS256"] });
      await unknown(down, bearer(await rs(good, { kid: "k1" })));
    });
  });
});

describe("anyOf", () => {
  it("is the first that knows the sender", async () => {
    const both = anyOf(
      () => undefined,
      async () => alice,
      () => assert.fail("not asked"),
    );
    assert.deepEqual(await principalOf(both, bearer("")), alice);
    await unknown(anyOf(), bearer(""));
  });
});

function bearer(token: string): Request {
  return new Request("http://x/", { headers: { authorization: `Bearer ${token}` } });
}

function unknown(authenticate: Authenticate, request: Request): Promise<void> {
  return assert.rejects(principalOf(authenticate, request), { code: "unauthorized", message: "Unauthorized", field: undefined });
}

function seconds(from: number): number {
  return Math.floor(Date.now() / 1000) + from;
}
