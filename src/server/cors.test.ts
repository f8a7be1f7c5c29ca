import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import { type CorsOptions, cors, localHostOnly } from "./cors.ts";

const SHOP = "https://shop.example";

describe("cors", () => {
  it("lets nobody in unless configured", async () => {
    for (const response of await all(undefined, SHOP)) {
      assert.equal(response.headers.get("access-control-allow-origin"), null);
    }
    assert.equal((await preflight(appWith(undefined), SHOP)).status, 404);
  });

  it("marks every answer for a listed origin, errors and plain responses included", async () => {
    for (const response of await all({ origins: [SHOP, "http://localhost:5173"], credentials: true }, SHOP)) {
      assert.equal(response.headers.get("access-control-allow-origin"), SHOP);
      assert.equal(response.headers.get("access-control-allow-credentials"), "true");
      assert.equal(response.headers.get("vary"), "Origin");
    }
  });

  it("knows origins exactly", async () => {
    for (const origin of ["null", "http://shop.example", `${SHOP}:444`, `${SHOP}.evil.example`, "https://evilshop.example", "*", ""]) {
      for (const response of await all({ origins: [SHOP] }, origin)) {
        assert.equal(response.headers.get("access-control-allow-origin"), null);
        assert.equal(response.headers.get("vary"), "Origin");
      }
    }
  });

  it("answers a preflight without asking the route", async () => {
    const response = await preflight(appWith({ origins: [SHOP] }), SHOP);
    assert.equal(response.status, 204);
    assert.equal(response.headers.get("access-control-allow-origin"), SHOP);
    assert.match(response.headers.get("access-control-allow-methods") ?? "", /PATCH, DELETE/);
    assert.equal(response.headers.get("access-control-allow-headers"), "authorization,content-type");
    assert.equal(response.headers.get("vary"), "Origin, Access-Control-Request-Headers");

    const refused = await preflight(appWith({ origins: [SHOP] }), "https://evil.example");
    assert.deepEqual([refused.status, [...refused.headers.keys()]], [204, ["vary"]]);
  });

  it("opens to all without cookies", async () => {
    for (const response of await all({ origins: "*" }, "https://any.example")) {
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
      assert.equal(response.headers.get("vary"), null);
    }
  });

  it("refuses a configuration that cannot mean what it says", () => {
    assert.throws(() => cors({ origins: "*", credentials: true }), /list of origins/);
    for (const origin of ["*", "null", "shop.example", `${SHOP}/`, "https://*.example", "https://Shop.example"]) {
      assert.throws(() => cors({ origins: [origin] }), /must look like/);
    }
  });
});

describe("localHostOnly", () => {
  it("answers to this machine's names only", async () => {
    const app = new Hono().use(localHostOnly).get("/", (c) => c.text("ok"));
    app.onError((error, c) => c.text(error.message, 403));
    for (const host of ["localhost", "localhost:4242", "127.0.0.1:4242", "[::1]:4242", "LOCALHOST"]) {
      assert.equal((await app.request("/", { headers: { host } })).status, 200, host);
    }
    for (const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:4242", "evil.example#localhost", "10.0.0.1"]) {
      assert.equal((await app.request("/", { headers: { host } })).status, 403, host);
    }
  });
});

function appWith(options: CorsOptions | undefined): Hono {
  const app = new Hono();
  app.use(cors(options));
  app.get("/ok", (c) => c.json({ ok: true }));
  app.get("/own", () => new Response("of its own"));
  app.get("/throws", () => {
    throw new AppError("conflict", "Busy");
  });
  app.onError((error, c) => c.json({ error: error.message }, 409));
  app.notFound((c) => c.json({ error: "Not here" }, 404));
  return app;
}

function all(options: CorsOptions | undefined, origin: string): Promise<Response[]> {
  const app = appWith(options);
  return Promise.all(["/ok", "/own", "/throws", "/nowhere"].map((path) => app.request(path, { headers: { origin } })));
}

async function preflight(app: Hono, origin: string): Promise<Response> {
  const headers = { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type" };
  return app.request("/ok", { method: "OPTIONS", headers });
}
