import { createHash } from "node:crypto";
import { isLocalHost } from "./cors.ts";

/** What every answer of the console carries. */
export const CONSOLE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/**
 * What the page may do: run and style itself with its own files, speak to its own server, and frame the sandbox.
 * No inline script, no inline style, no other host.
 */
export function policy(host: string, sandboxOrigin?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    `frame-src ${sandboxOrigin ?? sandboxOrigins(host)}`,
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The sandbox is a site of its own: this machine has two names, and whichever the page has, the sandbox has the other. */
function sandboxOrigins(host: string): string {
  if (!isLocalHost(host)) return "'none'";
  const port = /:\d+$/.exec(host)?.[0] ?? "";
  return `localhost${port} 127.0.0.1${port}`;
}

/**
 * The page for one address. Its links are relative to `<base>`, and that is relative too: so it works below any path that a
 * framework or a proxy has put in front, without being told.
 */
export function shell(page: string, { base, path }: { base: string; path: string }): { html: string; etag: string } {
  const up = (depth: number) => "../".repeat(depth) || "./";
  const depth = path.slice(base.length).split("/").length - 2;
  const root = base.split("/").length - 1;
  // `/console` without its slash: the browser takes the last word for a file.
  const href = path === base && base !== "" ? `.${base.slice(base.lastIndexOf("/"))}/` : up(depth);
  const html = page.replace('<base href="/">', `<base href="${href}">`).replace('content="api-root"', `content="${up(root)}"`);
  return { html, etag: `"${createHash("sha256").update(html).digest("base64url").slice(0, 27)}"` };
}

/** For those who run from source and have not built it. */
export const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Handback</title>
<h1>The console is not built</h1>
<p>Run <code>npm run build</code> in Handback's folder and reload this page. The API works without it.</p>
`;
