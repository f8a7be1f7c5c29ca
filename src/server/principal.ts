import { createHash, createPublicKey, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import type { JWTPayload } from "jose";
import { AppError } from "../core/error.ts";
import type { ThreadKey } from "../core/ids.ts";

/** Who is asking: a user (own threads), an executor (calls of its tools) or an operator (the whole app). */
export type Principal =
  | { kind: "user"; app: string; user: string }
  | { kind: "executor"; app: string; name: string; tools: string[] }
  | { kind: "operator"; app: string; name: string };

/** Says who sent a request. */
export type Authenticate = (request: Request) => Identity | Promise<Identity>;

/** Who someone is, as an app may put it: `{ user }` is short for a user of the default app, `undefined` is nobody. */
export type Identity = Principal | { user: string; app?: string } | undefined;

/** The app of those who name none. */
export const DEFAULT_APP = "default";

/** What a 401 says in its `WWW-Authenticate` header. */
export const CHALLENGE = 'Bearer realm="handback"';

/** The principal of a request. Nobody, whatever the reason, is the same `unauthorized`. */
export async function principalOf(authenticate: Authenticate, request: Request): Promise<Principal> {
  const principal = complete(await authenticate(request));
  if (principal === undefined) throw new AppError("unauthorized", "Unauthorized");
  return principal;
}

/** The first of these that knows the sender. */
export function anyOf(...authenticators: Authenticate[]): Authenticate {
  return async (request) => {
    for (const authenticate of authenticators) {
      const identity = await authenticate(request);
      if (identity !== undefined) return identity;
    }
    return undefined;
  };
}

/** How the log names a principal: `user:alice`. */
export function byLabel(principal: Principal): string {
  return `${principal.kind}:${principal.kind === "user" ? principal.user : principal.name}`;
}

/** Whether a principal may see and change this thread. Those who may not are told it does not exist. */
export function mayReach(principal: Principal, { app, user }: Pick<ThreadKey, "app" | "user">): boolean {
  if (principal.app !== app) return false;
  switch (principal.kind) {
    case "user":
      return principal.user === user;
    case "operator":
      return true;
    case "executor":
      return false;
    default:
      return principal satisfies never;
  }
}

/** Whether a principal may see and settle a call of this tool in this thread. */
export function mayReachCall(principal: Principal, key: Pick<ThreadKey, "app" | "user">, tool: string): boolean {
  if (principal.kind === "executor") return principal.app === key.app && principal.tools.includes(tool);
  return mayReach(principal, key);
}

/** A key someone was given: its secret, or better only the hash of it. */
export type ApiKey = { id: string; principal: NonNullable<Identity> } & ({ hash: string } | { secret: string });

/** Knows senders by `Authorization: Bearer hb_<id>.<secret>`. A key in the query string is not looked at: URLs are logged. */
export function apiKeys({ keys }: { keys: ApiKey[] }): Authenticate {
  const known = new Map<string, { hash: Buffer; principal: Identity }>();
  for (const key of keys) {
    if (!/^[\w-]{1,64}$/.test(key.id) || known.has(key.id))
      throw new AppError("invalid", `API key id ${key.id} is malformed or used twice`);
    if ("secret" in key && key.secret.length < 16)
      throw new AppError("invalid", `The secret of API key ${key.id} is shorter than 16 characters`);
    const hash = "secret" in key ? hashApiKey(key.secret) : key.hash;
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new AppError("invalid", `The hash of API key ${key.id} is not SHA-256 in hex`);
    known.set(key.id, { hash: Buffer.from(hash, "hex"), principal: key.principal });
  }
  const nobody = { hash: randomBytes(32), principal: undefined };
  return (request) => {
    const [, id = "", secret = ""] = /^hb_([\w-]{1,64})\.(\S+)$/.exec(bearer(request)) ?? [];
    // An unknown id costs the same as a wrong secret.
    const { hash, principal } = known.get(id) ?? nobody;
    return timingSafeEqual(Buffer.from(hashApiKey(secret), "hex"), hash) ? principal : undefined;
  };
}

/** A new API key. Hand out `key`, keep `id` and `hash`. */
export function newApiKey(): { id: string; secret: string; key: string; hash: string } {
  const id = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  return { id, secret, key: `hb_${id}.${secret}`, hash: hashApiKey(secret) };
}

/** What to keep of a secret (the part of the key behind the dot). Enough for long random secrets, not for passwords. */
export function hashApiKey(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Where tokens come from and how they are checked. Everything but `principal` is required, so that nothing is left unchecked by omission. */
export type JwtOptions = {
  issuer: string;
  audience: string | string[];
  algorithms: string[];
  /** By default the `sub` claim is the user. */
  principal?: (claims: JWTPayload) => Identity | Promise<Identity>;
} & ({ jwksUrl: string } | { secret: string } | { publicKey: string | KeyObject });

/** Knows senders by a signed token in `Authorization: Bearer`. Whatever is wrong with it, it is nobody's. */
export function jwt(options: JwtOptions): Authenticate {
  const { issuer, audience, algorithms, principal = ({ sub }: JWTPayload) => (sub ? { user: sub } : undefined) } = options;
  const allowed = "secret" in options ? /^HS(256|384|512)$/ : /^((RS|PS|ES)(256|384|512)|EdDSA|Ed25519)$/;
  // jose does not check what it is given empty.
  if (!issuer || audience.length === 0 || [audience].flat().includes(""))
    throw new AppError("invalid", "JWT needs an issuer and an audience");
  if (algorithms.length === 0 || !algorithms.every((name) => allowed.test(name))) {
    throw new AppError("invalid", "JWT needs algorithms that fit its key: HS… for a secret; RS…, PS…, ES… or EdDSA otherwise");
  }
  const checks = { issuer, audience, algorithms, requiredClaims: ["exp"], clockTolerance: 30 };
  const key =
    "secret" in options ? secretKey(options.secret) : "publicKey" in options ? publicKey(options.publicKey) : new URL(options.jwksUrl);

  // jose is loaded by the first token, not at start.
  const load = async () => {
    const { createRemoteJWKSet, jwtVerify } = await import("jose");
    const source = key instanceof URL ? createRemoteJWKSet(key, { timeoutDuration: 5000 }) : key;
    return async (token: string) => (await jwtVerify(token, source, checks)).payload;
  };
  let verify: ReturnType<typeof load> | undefined;

  return async (request) => {
    const token = bearer(request);
    if (token.split(".").length !== 3) return undefined;
    verify ??= load();
    try {
      return await principal(await (await verify)(token));
    } catch {
      return undefined;
    }
  };
}

function complete(identity: Identity): Principal | undefined {
  if (identity === undefined) return undefined;
  const principal: Principal = "kind" in identity ? identity : { kind: "user", app: identity.app ?? DEFAULT_APP, user: identity.user };
  const name = principal.kind === "user" ? principal.user : principal.name;
  // Identities are often made of claims, and a claim that is missing must not become a user called "undefined".
  return [name, principal.app].every((text) => typeof text === "string" && text !== "" && text.length <= 200) ? principal : undefined;
}

function bearer(request: Request): string {
  return /^Bearer +([^\s,]+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
}

function secretKey(secret: string): Uint8Array {
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < 32) throw new AppError("invalid", "A JWT secret needs at least 32 bytes");
  return bytes;
}

function publicKey(key: string | KeyObject): KeyObject {
  return typeof key === "string" ? createPublicKey(key) : key;
}
