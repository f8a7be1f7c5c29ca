import { createHash } from "node:crypto";
import { Hono } from "hono";
import { AppError } from "../core/error.ts";
import { FRAME, SCRIPT_HASH } from "./sandbox-frame.ts";

/** Where pages find the sandbox for code they have not read. */
export type SandboxOptions = {
  /** Another site than the pages', served by this same server: `https://sandbox.example.net`. On this machine none is needed. */
  origin?: string;
  /** Origins whose pages may embed it. Default: with `origin` any, without it those of this machine. */
  pages?: string[];
};

/** Where the frame is. */
export const SANDBOX_PATH = "/sandbox";

/** The frame that `handback/client/sandbox` runs code in. It holds nothing and asks nobody who they are. */
export function sandboxRoutes(options: SandboxOptions): Hono {
  const headers = headersFor(checked(options));
  const app = new Hono();
  app.get("/", (c) => {
    if (c.req.header("if-none-match") === headers.etag) return c.body(null, 304, headers);
    return c.body(FRAME, 200, { ...headers, "content-type": "text/html; charset=utf-8" });
  });
  return app;
}

function headersFor({ origin, pages = origin === undefined ? LOOPBACK : ["*"] }: SandboxOptions) {
  const policy = [
    "sandbox allow-scripts", // opaque also for who opens it in a tab
    "default-src 'none'",
    `script-src ${SCRIPT_HASH} 'unsafe-eval'`, // eval is the worker's, which inherits all of this
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${pages.join(" ")}`,
  ].join("; ");
  return {
    "content-security-policy": policy,
    "cross-origin-embedder-policy": "require-corp", // so that cross-origin isolated pages may embed it
    "cross-origin-resource-policy": "cross-origin",
    "permissions-policy": "cross-origin-isolated=(), compute-pressure=(), usb=(), serial=(), hid=()", // what a worker could ask for
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "public, max-age=300",
    etag: `"${createHash("sha256").update(`${policy}\n${FRAME}`).digest("base64url").slice(0, 22)}"`,
  };
}

const LOOPBACK = ["http:", "https:"].flatMap((scheme) => ["localhost", "*.localhost", "127.0.0.1"].map((host) => `${scheme}//${host}:*`));

const ORIGIN = /^https?:\/\/[a-z0-9._:[\]-]+$/;

function checked(options: SandboxOptions): SandboxOptions {
  const { origin, pages = [] } = options;
  if (origin !== undefined && !ORIGIN.test(origin)) {
    throw new AppError("invalid", `sandbox.origin ${origin} must look like https://sandbox.example.net`, { field: "sandbox.origin" });
  }
  const wrong = pages.find((page) => !ORIGIN.test(page));
  if (wrong !== undefined) {
    throw new AppError("invalid", `sandbox.pages ${wrong} must look like https://app.example.com`, { field: "sandbox.pages" });
  }
  return options;
}
