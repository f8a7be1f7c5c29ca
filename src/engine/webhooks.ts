import { createHmac, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { AppError } from "../core/error.ts";
import { isPublic } from "./public-address.ts";
import type { Lookup } from "./safe-post.ts";

/** How calls are announced to other systems. */
export type WebhookOptions = {
  /** `whsec_…` in base64, or any text of 24 characters or more. All of them sign, so that a receiver can change over in peace. */
  secrets: string[];
  /** Origins that may be called, whatever their addresses: `https://hooks.example.com`, `http://localhost:9000`. Without it: any public https. */
  allow?: string[];
  /** Where this server is reached from outside, told to receivers: `https://agents.example.com`. */
  publicUrl?: string;
  /** A resolver of your own. */
  lookup?: Lookup;
};

export type Webhooks = {
  options: WebhookOptions;
  /** Throws `invalid` where nothing may be sent. */
  check(url: string): URL;
  trusts(url: URL): boolean;
  /** The `webhook-signature` of a delivery. */
  sign(id: string, seconds: number, body: string): string;
  /** The right to settle one call, for whoever holds it. Derived, so nothing is stored. */
  token(call: { app: string; callId: string }, until: number): string;
  /** The call a token is for, while it lasts. */
  opened(token: string, now: number): { app: string; callId: string } | undefined;
};

/** Tells a call's token from other credentials. */
export const TOKEN_PREFIX = "hbc_";

/** Signs, checks and trusts as configured. */
export function webhooks(options: WebhookOptions): Webhooks {
  const keys = options.secrets.map(toKey);
  const [first] = keys;
  if (!first) throw new AppError("invalid", "webhooks.secrets: name at least one", { field: "webhooks" });
  const allow = options.allow?.map((origin) => {
    if (!URL.canParse(origin)) throw new AppError("invalid", `webhooks.allow: ${origin} must look like https://hooks.example.com`);
    return new URL(origin).origin;
  });
  const trusts = (url: URL) => allow?.includes(url.origin) ?? false;
  const mac = (key: Buffer, text: string) => createHmac("sha256", key).update(`call-token:${text}`).digest();
  return {
    options,
    trusts,
    check(text) {
      if (!URL.canParse(text)) throw refused("is no URL");
      const url = new URL(text);
      if (url.username !== "" || url.password !== "") throw refused("must not hold a password");
      if (trusts(url)) return url;
      if (allow) throw refused("is not on this server's list");
      if (url.protocol !== "https:") throw refused("must be https");
      if (url.port !== "" && url.port !== "8443") throw refused("must use port 443 or 8443");
      const host = url.hostname.replace(/^\[|\]$/g, "");
      const local = isIP(host) ? !isPublic(host) : /(^|\.)(localhost|local|internal)\.?$/i.test(host) || !/[^.]\.[^.]/.test(host);
      if (local) throw refused("does not lie on the public internet");
      return url;
    },
    sign: (id, seconds, body) =>
      keys.map((key) => `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`).join(" "),
    token({ app, callId }, until) {
      const text = Buffer.from(JSON.stringify([app, callId, until])).toString("base64url");
      return `${TOKEN_PREFIX}${text}.${mac(first, text).toString("base64url")}`;
    },
    opened(token, now) {
      const [, text = "", given = ""] = /^hbc_([\w-]+)\.([\w-]{43})$/.exec(token) ?? [];
      const bytes = Buffer.from(given, "base64url");
      if (bytes.length !== 32 || !keys.some((key) => timingSafeEqual(mac(key, text), bytes))) return undefined;
      const [app, callId, until] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string, string, number];
      return until > now ? { app, callId } : undefined;
    },
  };
}

function toKey(secret: string): Buffer {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
  if (key.length < 24) throw new AppError("invalid", "A webhook secret needs at least 24 bytes", { field: "webhooks" });
  return key;
}

function refused(why: string): AppError {
  return new AppError("invalid", `callbackUrl: ${why}`, { field: "callbackUrl" });
}
