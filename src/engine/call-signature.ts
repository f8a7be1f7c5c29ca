import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../core/error.ts";
import type { Json } from "../core/json.ts";
import type { Store } from "../store/store.ts";

/** A call as its client shows it. */
export type SignedCall = { id: string; name: string; input: Json };

/** Says in a call's id that this server made the call, for this user, with this name and this input. */
export interface CallSignature {
  /** An id for a call, out of one that is not used elsewhere. */
  sign(owner: Owner, call: SignedCall): string;
  verify(owner: Owner, call: SignedCall): boolean;
}

type Owner = { app: string; user: string };

/** 72 bits that tell calls apart, then 132 of signature: 39 characters, since some providers take no more than 40. */
const SIGNED = /^call_([\w-]{12})([\w-]{22})$/;

/** Signs with the first secret; all of them verify, so that they can be changed over in peace. */
function callSignature(secrets: readonly string[]): CallSignature {
  const keys = secrets.map(toKey);
  const [first] = keys;
  if (!first) throw new AppError("invalid", "aisdk.secrets: name at least one", { field: "aisdk" });
  const mac = (key: Buffer, { app, user }: Owner, nonce: string, { name, input }: SignedCall) =>
    createHmac("sha256", key)
      .update(JSON.stringify(["handback-call-1", app, user, nonce, name, digest(input)]))
      .digest("base64url")
      .slice(0, 22);
  return {
    sign(owner, call) {
      const nonce = createHash("sha256").update(call.id).digest("base64url").slice(0, 12);
      return `call_${nonce}${mac(first, owner, nonce, call)}`;
    },
    verify(owner, call) {
      const [, nonce, given] = SIGNED.exec(call.id) ?? [];
      if (nonce === undefined || given === undefined) return false;
      return keys.some((key) => timingSafeEqual(Buffer.from(mac(key, owner, nonce, call)), Buffer.from(given)));
    },
  };
}

/** Signs as configured, or with a secret that lies beside the threads: calls handed out before a restart are still known after it. */
export function keptSignature(store: Pick<Store, "secret">, secrets: readonly string[] = []): () => Promise<CallSignature> {
  let kept = secrets.length > 0 ? callSignature(secrets) : undefined;
  return async () => {
    kept ??= callSignature([await store.secret("calls", randomBytes(32).toString("base64url"))]);
    return kept;
  };
}

function toKey(secret: string): Buffer {
  const key = Buffer.from(secret);
  if (key.length < 24) throw new AppError("invalid", "aisdk.secrets: a secret needs at least 24 bytes", { field: "aisdk" });
  return key;
}

const digests = new WeakMap<object, string>();

/** Says which value it is, whatever the order of its keys. One call may be held against many results. */
function digest(value: Json): string {
  const key = typeof value === "object" && value !== null ? value : undefined;
  const text =
    (key && digests.get(key)) ??
    createHash("sha256")
      .update(JSON.stringify(sorted(value)))
      .digest("base64url");
  if (key) digests.set(key, text);
  return text;
}

/** The same value whatever the order of its keys. */
function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] ?? null)]),
  );
}
