import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { frameUrl } from "./frame-url.ts";

describe("where the frame is", () => {
  for (const [page, options, url] of [
    ["http://localhost:5173/a?b#c", {}, "http://127.0.0.1:5173/sandbox"],
    ["http://127.0.0.1:4242/", {}, "http://localhost:4242/sandbox"],
    ["http://[::1]:4242/", {}, "http://localhost:4242/sandbox"],
    ["http://app.localhost:4242/", {}, "http://127.0.0.1:4242/sandbox"],
    ["http://localhost:5173/", { origin: "http://localhost:4242" }, "http://127.0.0.1:4242/sandbox"],
    ["http://localhost:5173/", { origin: "http://127.0.0.1:4242" }, "http://127.0.0.1:4242/sandbox"],
    ["http://127.0.0.1:5173/", { origin: "http://127.0.0.1:4242/" }, "http://localhost:4242/sandbox"],
    ["https://app.example.com/", { origin: "https://sandbox.example.net", path: "/x/sandbox" }, "https://sandbox.example.net/x/sandbox"],
  ] as const) {
    it(`of ${page} with ${JSON.stringify(options)} it is ${url}`, () => assert.equal(frameUrl(page, options), url));
  }

  it("is never on the page's own site", () => {
    for (const origin of [undefined, "https://app.example.com", "https://app.example.com:8443", "http://APP.example.com"])
      assert.throws(() => frameUrl("https://app.example.com/", { origin }), /another site than https:\/\/app\.example\.com/);
  });

  it("is no nonsense", () => {
    for (const origin of ["sandbox.example.net", "javascript:alert(1)", "data:text/html,x", ""])
      assert.throws(() => frameUrl("http://localhost/", { origin }), /must look like https/);
  });
});
