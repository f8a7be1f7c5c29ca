import type { Json } from "handback/client";

/** A command that hands the result of a call back. Pasted again it gets the same answer; changed it is refused. `secured`: the server wants a key. */
export function curlFor(call: { id: string }, baseUrl: string, output: Json = {}, { secured = false } = {}): string {
  const body = JSON.stringify({ output }).replaceAll("'", "'\\''");
  return `curl -X POST ${absolute(baseUrl)}/v1/calls/${encodeURIComponent(call.id)}/result \\\n  -H 'content-type: application/json'${secured ? " -H 'authorization: Bearer YOUR_KEY'" : ""} -d '${body}'`;
}

function absolute(baseUrl: string): string {
  return new URL(baseUrl || "/", globalThis.location?.href ?? "http://127.0.0.1:4242").href.replace(/\/+$/, "");
}
