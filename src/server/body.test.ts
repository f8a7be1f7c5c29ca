import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import type { ErrorCode } from "../core/error.ts";
import { parse } from "../protocol/parse.ts";
import { BODY_LIMITS, readJson } from "./body.ts";

describe("readJson", () => {
  it("reads what is well-formed, prototype-like values and odd characters included", async () => {
    for (const value of [
      null,
      0,
      "x",
      [],
      {},
      { a: [1, { b: "__proto__" }], "": 'q"\\', toString: 1, hasOwnProperty: 2 },
      "\u0000\ud800\u2028😀",
    ]) {
      assert.deepEqual(await readJson(post(JSON.stringify(value))), value);
    }
    assert.deepEqual(await readJson(post(' {"a" : [ 1e3 , -0.5E-2, true ] ,\r\n "b":{"a":null}} ')), {
      a: [1000, -0.005, true],
      b: { a: null },
    });
  });

  it("takes application/json in UTF-8 and nothing else", async () => {
    for (const type of ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']) {
      assert.deepEqual(await readJson(post("{}", { "content-type": type })), {});
    }
    for (const type of ["text/plain", "", "application/json2", "application/json; charset=latin1", "text/plain, application/json"]) {
      await refuses(post("{}", { "content-type": type }), "unsupported", /application\/json/);
    }
    const bytes = new TextEncoder().encode("{}");
    await refuses(new Request("http://x/", { method: "POST", body: bytes }), "unsupported", /application\/json/);
    await refuses(post("{}", { "content-encoding": "gzip" }), "unsupported", /compressed/);
    assert.deepEqual(await readJson(post("{}", { "content-encoding": "identity" })), {});
  });

  it("stops reading at the byte limit, declared or not", async () => {
    const limits = { ...BODY_LIMITS, bytes: 10 };
    const unread = new ReadableStream({ pull: () => assert.fail("a body declared too long is not read") }, { highWaterMark: 0 });
    await refuses(post(unread, { "content-length": "11" }), "too_large", /longer than 10 bytes/, limits);
    await refuses(post('"123456789"'), "too_large", /longer than 10 bytes/, limits);
    await refuses(post('"123456789"', { "content-length": "3" }), "too_large", /longer than 10 bytes/, limits);
    assert.equal(await readJson(post('"12345678"', { "content-length": "10" }), limits), "12345678");

    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(4));
      },
      cancel() {
        cancelled = true;
      },
    });
    await refuses(post(endless), "too_large", /longer/, limits);
    assert.ok(cancelled && pulled < 6);
  });

  it("says in one line what is malformed", async () => {
    const bad = [
      "",
      "  \n",
      "{",
      '{"a":1',
      '"abc',
      "{} {}",
      "{}x",
      "[1,]",
      '{"a":NaN}',
      "[Infinity]",
      "[01]",
      "{'a':1}",
      '{"a":\n1,,}',
      '{"\\x":1}',
      '"\\',
      "}{",
      "],",
      ",".repeat(9),
    ];
    for (const text of bad) await refuses(post(text), "invalid", /^The body is (empty|not valid JSON( \(line \d+ column \d+\))?)$/);
    await refuses(post("\ufeff{}"), "invalid", /not valid JSON/);
    await refuses(post(new Uint8Array([0x22, 0xff, 0x22])), "invalid", /UTF-8/);
    await refuses(post(new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])), "invalid", /UTF-8/);
  });

  it("refuses numbers that would become Infinity", async () => {
    for (const text of ["1e400", "-1E+999", `1${"0".repeat(400)}`])
      await refuses(post(`{"a":[0,${text}]}`), "invalid", /^a\.1: holds a number too large$/, BODY_LIMITS, "a.1");
    assert.deepEqual(await readJson(post("[1e308,1e-400]")), [1e308, 0]);
  });

  it("refuses keys given twice in one object, however they are written", async () => {
    await refuses(
      post('{"messages":[{},{"role":1,"x":{"role":2},"role":3}]}'),
      "invalid",
      /^messages\.1\.role: is given twice$/,
      BODY_LIMITS,
      "messages.1.role",
    );
    await refuses(post('{"a":1,"\\u0061":2}'), "invalid", /^a: is given twice$/);
    await refuses(post('{"":1,"":2}'), "invalid", /is given twice$/);
    assert.deepEqual(await readJson(post('[{"a":{"a":[{"a":1}]}},{"a":1}]')), [{ a: { a: [{ a: 1 }] } }, { a: 1 }]);
  });

  it("refuses keys that reach prototypes", async () => {
    for (const key of ["__proto__", "constructor", "prototype", "\\u005f_proto__", "con\\u0073tructor"]) {
      await refuses(
        post(`{"a":[{"${key}":{"polluted":true}}]}`),
        "invalid",
        /^a\.0\.(__proto__|constructor|prototype): is not allowed as a key$/,
      );
    }
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  it("refuses depth and sheer number before anything is built", async () => {
    assert.equal(JSON.stringify(await readJson(post("[".repeat(64) + "]".repeat(64)))).length, 128);
    await refuses(post("[".repeat(65) + "]".repeat(65)), "invalid", /deeper than 64 levels/);
    await refuses(post('{"a":'.repeat(100_000)), "invalid", /deeper than 64 levels/);
    await refuses(post(`[${"0,".repeat(100_001)}0]`), "too_large", /more than 100000 keys and items/);
    await refuses(post(`[${"[],".repeat(100_001)}[]]`), "too_large", /more than 100000 keys and items/);
  });

  it("calls a body that breaks off invalid", async () => {
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error("ECONNRESET")) });
    await refuses(post(broken), "invalid", /ended too early/);
  });
});

describe("parse", () => {
  const message = z.union([
    z.object({ role: z.literal("user"), content: z.string() }),
    z.object({ role: z.literal("tool"), id: z.string() }),
  ]);
  const schema = z.object({ threadId: z.string(), messages: z.array(message) });

  it("gives the value as the schema reads it", () => {
    assert.deepEqual(parse(schema, { threadId: "t", messages: [], more: 1 }), { threadId: "t", messages: [] });
  });

  it("names the first wrong field", () => {
    const wrong = (value: unknown, field: string | undefined, prefix?: string) =>
      assert.throws(
        () => parse(schema, value, prefix),
        (error: { code: ErrorCode; field?: string; message: string }) => {
          assert.equal(error.code, "invalid");
          assert.equal(error.field, field);
          return field === undefined || error.message.startsWith(`${field}: `);
        },
      );
    wrong({ threadId: 1, messages: [] }, "threadId");
    wrong({ messages: [] }, "body.threadId", "body");
    wrong(7, undefined);
    wrong({ threadId: "t", messages: [{ role: "tool", id: 4 }] }, "messages.0.id");
    wrong({ threadId: "t", messages: [{ role: "user", content: "x" }, { role: "user" }] }, "messages.1.content");
  });
});

function post(body: string | Uint8Array<ArrayBuffer> | ReadableStream, headers: Record<string, string> = {}): Request {
  const init = { method: "POST", body, headers: { "content-type": "application/json", ...headers }, duplex: "half" as const };
  return new Request("http://x/", init);
}

async function refuses(request: Request, code: ErrorCode, message: RegExp, limits = BODY_LIMITS, field?: string): Promise<void> {
  await assert.rejects(readJson(request, limits), (error: Error & { code: ErrorCode; field?: string }) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.ok(!/[\r\n]/.test(error.message));
    if (field !== undefined) assert.equal(error.field, field);
    return true;
  });
}
